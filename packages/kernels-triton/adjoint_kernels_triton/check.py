"""Checks kernels of one's own: python -m adjoint_kernels_triton.check MODULE [--gpu]

Importing the module declares its kernels. Each runs its sample (`sample=` of the decorator; an elementwise kernel has one without) for
all floating-point types and several layouts, on the device and on the CPU, whose kernel is the reference. Without a GPU that goes in
two processes on the stand-in driver (ADJOINT_CUDA_DRIVER): one computes in Triton's interpreter; the other compiles what was asked for
for sm_80, sm_90 and sm_100, and loads and launches it, so that the parameters in the compiled kernel are those that are packed.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import adjoint_core as core

from . import _build, _compile, _kinds, _registered
from ._cubin import frame_size
from ._store import Image

TOLERANCE = {"float64": 1e-11, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
ARCHS = (80, 90, 100)
Draw = Callable[..., Any]


def plain(x: Any) -> Any:
    return x


def transposed(x: Any) -> Any:
    order = tuple(reversed(range(x.dim())))
    return x.permute(order).contiguous().permute(order)


def strided(x: Any) -> Any:
    """Every second element of larger memory."""
    return core.stack([core.zeros_like(x), x], x.dim())[..., 1]


def draws(dtype: str, layout: Callable[[Any], Any], device: str) -> Draw:
    """x(3, 4) makes a tensor of numbers between 0.1 and 1.9, the next call one of others."""
    made = [0]

    def draw(*shape: int) -> Any:
        made[0] += 1
        n = core.zeros(shape).numel()
        x = (core.arange(n, dtype=core.float64) * 0.71 + made[0]).sin() * 0.9 + 1
        return layout(x.view(shape).to(getattr(core, dtype)).to(device))

    return draw


def own() -> list[str]:
    """Operations whose kernels come from elsewhere than this package."""
    every = dict.fromkeys(_registered.operation_of(name) for name in _build.DECLARED)
    return [name for name in every if name not in _registered.OWN]


def samples(name: str) -> Iterator[Callable[[Draw], Any]]:
    """Calls that run a kernel.

    Raises:
        ValueError: the declaration has no sample, and none can be made up.
    """
    declared = _build.DECLARED.get(name)  # none of a sequence
    if name in _build.SAMPLES:
        yield _build.SAMPLES[name]
    elif isinstance(declared, _kinds.Elementwise) and not declared.fields and hasattr(core, name):
        call, operands = getattr(core, name), declared.operands
        for shape in ((), (0,), (1,), (5, 7), (1023,), (1024,), (1025,)):
            yield lambda x, shape=shape: call(*(x(*shape) for _ in range(operands)))
        yield lambda x: call(*(x(*((3, 4) if i == 0 else (4,))) for i in range(operands)))
    else:
        raise ValueError(f"{name}: give the declaration a sample, as sample=lambda x: x(3, 100).softmax(-1)")


def differs(name: str, sample: Callable[[Draw], Any], dtype: str, layout: Callable[[Any], Any]) -> str:
    """How the device's result differs from the CPU's; empty if it does not."""
    host = sample(draws(dtype, layout, "cpu"))
    there = sample(draws(dtype, layout, "cuda")).cpu()
    if (host.dtype, host.shape) != (there.dtype, there.shape):
        return f"expected {host.dtype} {tuple(host.shape)}, got {there.dtype} {tuple(there.shape)}"
    a, b = host.to(core.float64), there.to(core.float64)
    if core.allclose(a, b, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], equal_nan=True):
        return ""
    return f"differs by up to {(a - b).abs().max().item():.3g}"


def compare() -> int:
    """Runs the samples of all kernels; how many failed."""
    failed = 0
    for name in own():
        for dtype in TOLERANCE:
            notes = set()
            for layout in (plain, transposed, strided):
                try:
                    notes |= {f"{layout.__name__}: {note}" for s in samples(name) if (note := differs(name, s, dtype, layout))}
                except Exception as error:
                    notes.add(f"{layout.__name__}: {type(error).__name__}: {error}")
            failed += bool(notes)
            print(f"{name} {dtype}: {'; '.join(sorted(notes)) or 'ok'}", flush=True)
    return failed


def compile_all() -> int:
    """Launches the samples, whose kernels are compiled for all targets; how many spill registers or need a stack."""
    spilling: dict[str, int] = {}
    variants: dict[str, int] = {}

    def made(function: Any, signature: Any, arch: int, options: _compile.Options) -> Image:
        images = {target: _compile.image(function, signature, target, options) for target in {*ARCHS, arch}}
        label = _label(function, signature)
        variants[label] = variants.get(label, 0) + 1
        spilling[label] = max(spilling.get(label, 0), *(frame_size(image.image) for image in images.values()))
        return images[arch]

    _build.compile_image = made
    for name in own():
        for dtype in TOLERANCE:
            for layout in (plain, strided):
                for sample in samples(name):
                    sample(draws(dtype, layout, "cuda"))
    kernels = [declared for name, declared in _build.DECLARED.items() if _registered.operation_of(name) in own()]
    names = [n for n in variants if n in {declared.function.fn.__name__ for declared in kernels}]
    for label in names:
        print(f"{label}: {variants[label]} variants compile for sm_80, sm_90 and sm_100; {spilling[label]} bytes of stack")
    return sum(spilling[label] > 0 for label in names)


def _label(function: Any, signature: Any) -> str:
    """The kernel's name; of one that runs in a template, the function's."""
    inner = signature.constants.get("FUNCTION")
    return (inner or function).fn.__name__


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m adjoint_kernels_triton.check", description=__doc__.splitlines()[0])
    parser.add_argument("module", help="what declares the kernels, as `import` takes it")
    parser.add_argument("--gpu", action="store_true", help="on this machine's GPU")
    parser.add_argument("--part", choices=("compare", "compile"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    sys.path.insert(0, os.getcwd())
    if given.part is None and not given.gpu:
        if "ADJOINT_CUDA_DRIVER" not in os.environ:
            parser.error("without a GPU, set ADJOINT_CUDA_DRIVER to the stand-in driver: see docs/add_a_kernel.md")
        command = [sys.executable, "-m", f"{__package__}.check", given.module, "--part"]
        runs = [([*command, "compare"], "1"), ([*command, "compile"], "0")]
        return max([subprocess.call(run, env=os.environ | {"TRITON_INTERPRET": interpret}) for run, interpret in runs])
    if given.part == "compare":
        importlib.import_module(f"{__package__}.testing").interpret()
    _registered.indices = []
    _registered.declare()
    importlib.import_module(given.module)
    if not own():
        parser.error(f"{given.module} declares no kernels")
    return min(1, compile_all() if given.part == "compile" else compare())


if __name__ == "__main__":
    sys.exit(main())
