"""How far results and gradients of half types are from those of the same numbers in double precision.

The unit is the type's eps times the largest number of a tensor: one rounding costs half a unit at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from op_cases import CASES, Case, half

TYPES = ("float16", "bfloat16")
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38}
SMALLEST = {"float16": 2.0**-14, "bfloat16": 2.0**-126}

MEASURED: list[Case] = [
    c for c in (*CASES, *half.CASES) if "half" not in c.skip and any(i.draw(c.rng()).dtype.kind == "f" for i in c.inputs)
]
"All cases with a floating-point input."

Arrays = list[np.ndarray]


def distance(actual: Sequence[np.ndarray], exact: Sequence[np.ndarray], dtype: str) -> float:
    """The largest error among several tensors, in units of each; numbers that the type does not have are left out."""
    worst = 0.0
    for a, e in zip(actual, exact, strict=True):
        inside = np.isfinite(e) & (np.abs(e) <= LARGEST[dtype])
        if inside.any():
            scale = max(np.abs(e[inside]).max(), SMALLEST[dtype])
            worst = max(worst, float(np.nan_to_num(np.abs(a[inside] - e[inside]) / (EPS[dtype] * scale), nan=np.inf).max()))
    return worst


def computed(lib: Any, case: Case, stored: str, dtype: str) -> tuple[Arrays, Arrays]:
    """Results and gradients of the case in `lib`, computed in `dtype` from inputs and cotangents that are rounded to `stored`."""
    arrays, rng = case.sample(), case.rng(1)
    cast = lambda t: t.to(getattr(lib, stored)).to(getattr(lib, dtype))  # noqa: E731
    inputs = [lib.from_numpy(np.array(a, order="C")) for a in arrays]
    inputs = [cast(t) if t.is_floating_point() else t for t in inputs]
    xs = [inputs[i].requires_grad_() for i in case.differentiable]
    result = case.run(lib, inputs)
    ys = [y for y in (result if isinstance(result, (tuple, list)) else [result]) if is_real(y)]
    us = [cast(lib.from_numpy(np.asarray(rng.standard_normal(tuple(y.shape))))) for y in ys]
    on_graph = [k for k, y in enumerate(ys) if y.requires_grad]
    given = [[t[k] for k in on_graph] for t in (ys, us)]
    gradients = lib.autograd.grad(given[0], xs, given[1], allow_unused=True, materialize_grads=True) if on_graph else ()
    return [numbers(y) for y in ys], [numbers(g) for g in gradients]


def is_real(y: Any) -> bool:
    return hasattr(y, "is_floating_point") and bool(y.is_floating_point())


def numbers(t: Any) -> np.ndarray:
    return np.asarray(t.detach().double().numpy(force=True))


def distances(lib: Any, case: Case, dtype: str, exact: tuple[Arrays, Arrays]) -> tuple[float, float]:
    """How far results and gradients of the case in `lib` are from the exact ones."""
    values, gradients = computed(lib, case, dtype, dtype)
    return distance(values, exact[0], dtype), distance(gradients, exact[1], dtype)


def report(rows: list[tuple[str, float, float]]) -> str:
    """The distribution of both distances and the worst ten of each; rows of a name, a value's and a gradient's distance."""
    lines = []
    for at, what in ((1, "values"), (2, "gradients")):
        share = np.quantile([r[at] for r in rows], [0.5, 0.9, 0.99, 1])
        lines.append(
            f"{what}: " + ", ".join(f"{q} {s:.2f}" for q, s in zip(("half", "90 %", "99 %", "all"), share, strict=True))
        )
        lines += [f"  {r[at]:8.2f}  {r[0]}" for r in sorted(rows, key=lambda r: -r[at])[:10]]
    return "\n".join(lines)
