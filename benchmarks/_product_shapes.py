"""Products of matrices of many generated shapes: tall, wide, transposed, in batches, small, of each type, with gradient."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

TYPES = ("float32", "float64", "bfloat16", "complex64")
MOST = 1 << 27  # multiplications of one product
ELEMENTS = 1 << 22  # of one operand
Thunk = Callable[[], object]
Operands = list[tuple[tuple[int, ...], bool]]  # shapes, and whether it lies transposed


@dataclass(frozen=True)
class Product:
    """`call(library, *operands)`, with a title that says all of it."""

    title: str
    call: Callable[..., Any]
    operands: Operands
    dtype: str

    def make(self, lib: Any, grad: bool) -> Thunk:
        xs = [_operand(lib, shape, flip, self.dtype, i) for i, (shape, flip) in enumerate(self.operands)]
        if not grad:
            return lambda: self.call(lib, *xs)
        leaves = [x.requires_grad_() for x in xs]
        v = lib.ones_like(self.call(lib, *xs).detach())
        return lambda: lib.autograd.grad(self.call(lib, *xs), leaves, v)


def _operand(lib: Any, shape: tuple[int, ...], flip: bool, dtype: str, seed: int) -> Any:
    at = (*shape[:-2], shape[-1], shape[-2]) if flip else shape
    x = lib.from_numpy(np.random.default_rng(seed).standard_normal(at).astype(np.float32)).to(getattr(lib, dtype))
    return x.mT if flip else x


# Of each form: the call, and its operands for m, n, k and a batch.
FORMS: dict[str, tuple[Callable[..., Any], Callable[[int, int, int, int], list[tuple[int, ...]]]]] = {
    "matmul": (lambda lib, a, b: a @ b, lambda m, n, k, s: [(m, k), (k, n)]),
    "linear": (lambda lib, x, w, b: lib.nn.functional.linear(x, w, b), lambda m, n, k, s: [(m, k), (n, k), (n,)]),
    "addmm": (lambda lib, c, a, b: lib.addmm(c, a, b, beta=0.5, alpha=2), lambda m, n, k, s: [(m, n), (m, k), (k, n)]),
    "bmm": (lambda lib, a, b: lib.bmm(a, b), lambda m, n, k, s: [(s, m, k), (s, k, n)]),
    "baddbmm": (lambda lib, c, a, b: lib.baddbmm(c, a, b), lambda m, n, k, s: [(s, m, n), (s, m, k), (s, k, n)]),
    "einsum": (lambda lib, a, b: lib.einsum("bij,bkj->bik", a, b), lambda m, n, k, s: [(s, m, k), (s, n, k)]),
    "mv": (lambda lib, a, b: lib.mv(a, b), lambda m, n, k, s: [(m, k), (k,)]),
    "dot": (lambda lib, a, b: lib.dot(a, b), lambda m, n, k, s: [(m * k,), (m * k,)]),
    "outer": (lambda lib, a, b: lib.outer(a, b), lambda m, n, k, s: [(m,), (n,)]),
}
BATCHED = ("bmm", "baddbmm", "einsum")


def _sides(draw: random.Random, most: int) -> tuple[int, int, int]:
    """Each between 1 and 2 to the power of `most`, small as often as large; every second one a multiple of 16 or a power of two."""
    m, n, k = (round(2 ** draw.uniform(0, most)) for _ in range(3))
    kind = draw.randrange(4)
    if kind == 0:
        m, n, k = (max(16, s // 16 * 16) for s in (m, n, k))
    elif kind == 1:
        m, n, k = (1 << s.bit_length() - 1 for s in (m, n, k))
    return m, n, k


def generate(count: int, seed: int = 0) -> Iterator[Product]:
    """The same products each time; of the first type twice as many as of the others."""
    draw = random.Random(seed)
    while count:
        form = draw.choice(["matmul"] * 4 + list(FORMS))
        batch = round(2 ** draw.uniform(1, 10)) if form in BATCHED else 1
        m, n, k = _sides(draw, 8 if form in BATCHED else 12)
        dtype = draw.choice((TYPES[0], *TYPES))
        call, shapes = FORMS[form]
        sizes = shapes(m, n, k, batch)
        work = batch * m * n * (1 if form == "outer" else k)
        if work > MOST // (4 if dtype == "complex64" else 1) or max(np.prod(s) for s in sizes) > ELEMENTS or work < 8:
            continue
        operands = [(s, len(s) > 1 and draw.random() < 0.3) for s in sizes]
        lying = "".join("T" if flip else "N" for _, flip in operands)
        many = f"{batch} x " if batch > 1 else ""
        count -= 1
        yield Product(f"{form} {many}{m} x {n} x {k} {lying}", call, operands, dtype)
