"""From a kernel and a variant to an image that core can load: Triton's compiler, and images on disk by their content.

What counts is the text of the kernel and of what it calls, not where it stands. Neither a GPU
nor its driver is needed to compile.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from types import FunctionType, ModuleType
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

from . import _store
from ._store import Image
from ._variant import Signature


@dataclass(frozen=True)
class Options:
    """How to compile."""

    warps: int = 4
    stages: int = 3


def content(function: JITFunction[Any], seen: set[int] | None = None) -> list[str]:
    """The texts of a kernel, of the functions it calls, and the values it reads of its module and of functions around it."""
    seen = set() if seen is None else seen
    if id(function) in seen:
        return []
    seen.add(id(function))
    texts = [function.src]
    for used, value in _used(function.fn):
        if isinstance(value, JITFunction):
            texts += content(value, seen)
        elif isinstance(value, (int, float, str, triton.language.constexpr, triton.language.dtype)):
            texts.append(f"{used} = {value}")
    return texts


def _used(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function reads from outside, by its names: also from modules, but Triton's, whose version is in the key."""
    scope = function.__globals__ | inspect.getclosurevars(function).nonlocals
    names = [*function.__code__.co_names, *function.__code__.co_freevars]
    places, modules = [{name: scope[name] for name in names if name in scope}], set()
    for place in places:  # and those of modules that are found on the way
        yield from place.items()
        for module in place.values():
            if isinstance(module, ModuleType) and not module.__name__.startswith("triton") and module not in modules:
                modules.add(module)
                places.append({name: getattr(module, name) for name in names if hasattr(module, name)})


def _key(function: JITFunction[Any], signature: Signature, arch: int, options: Options) -> str:
    texts = content(function)
    for value in signature.constants.values():
        if isinstance(value, JITFunction):
            texts += content(value)
    constants = [(str(k), v.fn.__qualname__ if isinstance(v, JITFunction) else v) for k, v in signature.constants.items()]
    rest = [
        triton.__version__,
        _store.settings(),
        arch,
        asdict(options),
        signature.types,
        constants,
        sorted(map(str, signature.hints.items())),
    ]
    return hashlib.sha256(repr([texts, rest]).encode()).hexdigest()


def compiled(function: JITFunction[Any], signature: Signature, arch: int, options: Options) -> Any:
    """Triton's result, with its `asm` and `metadata`. Floating point is IEEE: products and sums are not fused."""
    source = ASTSource(fn=function, signature=signature.types, constexprs=signature.constants, attrs=signature.hints)
    chosen = {"num_warps": options.warps, "num_stages": options.stages, "enable_fp_fusion": False}
    with triton.knobs.compilation.scope():
        triton.knobs.compilation.disable_line_info = True
        return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=chosen)


def image(function: JITFunction[Any], signature: Signature, arch: int, options: Options) -> Image:
    """The compiled kernel for compute capability `arch` (90 for 9.0), from the cache where it is there."""
    key = _key(function, signature, arch, options)
    found = _store.read_image(_store.cache_folder(), key)
    if found is None:
        result = compiled(function, signature, arch, options)
        m = result.metadata
        found = Image(
            image=result.asm["cubin"], entry=m.name, shared=m.shared, threads=32 * m.num_warps, clusters=m.num_ctas,
            cooperative=m.launch_cooperative_grid, dependent=m.launch_pdl, scratch=m.global_scratch_size,
            parameters=signature.parameters, key=key,
        )  # fmt: skip
        _store.write_image(_store.cache_folder(), found)
    return found
