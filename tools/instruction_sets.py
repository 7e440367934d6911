"""Compare the results of all operations between instruction sets and machines.

    python tools/instruction_sets.py inputs FILE              write the arguments of every case
    python tools/instruction_sets.py results INPUTS FILE      write what this process computes from them: values and gradients
    python tools/instruction_sets.py compare [--same] A B     print how far two of these are apart; --same: fail unless all bits are equal

ADJOINT_ISA chooses the instruction set of a process; an emulator in front of it chooses the processor.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import adjoint as ad

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from op_cases import CASES, Case  # noqa: E402

TYPES = ("float64", "float32", "bfloat16", "float16", "complex128", "complex64")
EPSILON = {name: ad.finfo(getattr(ad, name)).eps for name in TYPES}
LINE = 1003  # elements of an elementwise case: some vectors, and a rest
F = ad.nn.functional

# Sizes at which kernels take the ways of large arrays: blocks, panels, several threads.
LARGE: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "matmul": (lambda a, b: a @ b, [(150, 200), (200, 170)]),
    "bmm": (ad.bmm, [(20, 33, 17), (20, 17, 40)]),
    "conv2d": (F.conv2d, [(2, 8, 20, 20), (16, 8, 3, 3)]),
    "sum": (lambda x: x.sum(), [(70000,)]),
    "var": (lambda x: x.var(1), [(50, 1500)]),
    "softmax": (lambda x: x.softmax(1), [(50, 1000)]),
    "layer_norm": (lambda x: F.layer_norm(x, (1000,)), [(50, 1000)]),
    "cumsum": (lambda x: x.cumsum(1), [(50, 1000)]),
    "solve": (ad.linalg.solve, [(80, 80), (80, 20)]),
    "qr": (lambda x: ad.linalg.qr(x)[1], [(90, 60)]),
    "eigvalsh": (lambda x: ad.linalg.eigvalsh(x + x.mT), [(70, 70)]),
    "fft": (lambda x: ad.fft.fft(x), [(20, 1000)]),
}


def write_inputs(path: str) -> None:
    """Drawn once: NumPy itself rounds a few numbers otherwise on another processor."""
    drawn = {c.id: c.sample(shapes=[(LINE,)] * len(c.inputs) if c.elementwise else None) for c in CASES}
    for name, (_, shapes) in LARGE.items():
        rng = np.random.default_rng(0)
        drawn["large " + name] = [rng.standard_normal(shape) for shape in shapes]
    rng = np.random.default_rng(0)
    drawn["training"] = [rng.standard_normal((128, 64)), rng.standard_normal((64, 10))]
    Path(path).write_bytes(pickle.dumps(drawn))


def calls() -> Iterator[tuple[str, Callable[..., Any], bool]]:
    """The name of each call, the call, and whether it takes complex numbers."""
    for case in CASES:
        yield case.id, lambda *xs, case=case: case.run(ad, xs), takes_complex(case)
    for name, (function, _) in LARGE.items():
        yield "large " + name, function, False


def takes_complex(case: Case) -> bool:
    return case.complex and "complex" not in case.skip


def evaluate(function: Callable[..., Any], arrays: list[np.ndarray], dtype: str) -> list[np.ndarray]:
    """Values, and gradients of a sum of them with uneven weights: of an even one, many are zero."""
    xs = [ad.from_numpy(a.copy()) for a in arrays]
    xs = [x.to(getattr(ad, dtype)) if x.is_floating_point() or x.is_complex() else x for x in xs]
    leaves = [x.requires_grad_() for x in xs if x.is_floating_point() or x.is_complex()]
    ad.manual_seed(0)
    result = function(*xs)
    results = [t for t in (result if isinstance(result, (tuple, list)) else [result]) if isinstance(t, ad.Tensor)]
    total = sum(weighted(abs(t) if t.is_complex() else t) for t in results if t.requires_grad)
    gradients = ad.autograd.grad(total, leaves, allow_unused=True) if isinstance(total, ad.Tensor) else []
    return [numbers(t.detach()) for t in (*results, *gradients) if t is not None]


def weighted(t: Any) -> Any:
    weights = ad.from_numpy(np.random.default_rng(1).uniform(0.5, 1.5, tuple(t.shape)))
    return (t * weights.to(t.dtype)).sum()


def train(images: np.ndarray, weight: np.ndarray) -> list[np.ndarray]:
    """The losses of thirty steps of a small convolutional network, and where its weights end."""
    ad.manual_seed(0)
    model = ad.nn.Sequential(
        ad.nn.Conv2d(1, 8, 3), ad.nn.ReLU(), ad.nn.Flatten(), ad.nn.Linear(288, 64), ad.nn.GELU(), ad.nn.Linear(64, 10)
    )
    optimizer = ad.optim.AdamW(model.parameters(), lr=1e-2)
    x = ad.from_numpy(images).float().view(-1, 1, 8, 8)
    digits = (x.flatten(1) @ ad.from_numpy(weight).float()).argmax(1)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), digits)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    return [np.array(losses), *(p.detach().numpy() for p in model.parameters())]


def numbers(t: Any) -> np.ndarray:
    if t.dtype in (ad.bfloat16, ad.float16):
        return t.float().numpy()
    return t.resolve_conj().resolve_neg().numpy()


def write_results(inputs: str, path: str) -> None:
    drawn = pickle.loads(Path(inputs).read_bytes())
    found: dict[tuple[str, str], Any] = {}
    for name, function, is_complex in calls():
        for dtype in TYPES if is_complex else TYPES[:4]:
            try:
                found[name, dtype] = evaluate(function, drawn[name], dtype)
            except (
                RuntimeError,
                TypeError,
                ValueError,
                NotImplementedError,
            ) as error:  # a type that the operation does not take
                found[name, dtype] = str(error)
    found["training", "float32"] = train(*drawn["training"])
    Path(path).write_bytes(pickle.dumps(found))


def distance(a: Any, b: Any) -> float:
    """The largest difference, relative to the largest finite number of all results; infinite where one is NaN or infinite alone."""
    if isinstance(a, str) or isinstance(b, str):
        return 0.0 if isinstance(a, str) and isinstance(b, str) else np.inf
    scale = max((np.abs(x[np.isfinite(x)]).max(initial=0) for x in a if x.dtype.kind in "fc"), default=0) or 1
    worst = 0.0
    for x, y in zip(a, b, strict=True):
        if x.tobytes() == y.tobytes():
            continue
        finite = np.isfinite(x)
        if x.dtype.kind not in "fc" or (finite != np.isfinite(y)).any():
            return np.inf
        worst = max(worst, float(np.abs(x[finite] - y[finite]).max(initial=0) / scale))
    return worst


def compare(first: str, second: str, same: bool) -> int:
    a, b = (pickle.loads(Path(path).read_bytes()) for path in (first, second))
    apart = {key: distance(a[key], b[key]) / EPSILON[key[1]] for key in a}
    differ = sorted((d, key) for key, d in apart.items() if d > 0)
    computed = sum(not isinstance(value, str) for value in a.values())
    print(
        f"{Path(first).stem} and {Path(second).stem}: {computed} of {len(a)} cells computed, {computed - len(differ)} the same bits"
    )
    for d, (name, dtype) in reversed(differ[-10:]):
        print(f"  {d:10.3g} eps  {dtype:10} {name}")
    return 1 if same and differ else 0


def main() -> int:
    command, *rest = sys.argv[1:] or ["--help"]
    if command == "inputs":
        write_inputs(*rest)
    elif command == "results":
        write_results(*rest)
    elif command == "compare":
        return compare(rest[-2], rest[-1], "--same" in rest)
    else:
        print(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
