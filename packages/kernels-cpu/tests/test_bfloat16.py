"""Products and attention of half types, by tiles where the processor has them: sizes around those of tiles, in every layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_checks import check

import adjoint as ad

F = ad.nn.functional
SIZES = [1, 4, 15, 16, 17, 31, 32, 33, 65, 130]


def drawn(rng: np.random.Generator, *shape: int, dtype: Any = ad.bfloat16) -> Any:
    """Rows, columns, or a part of wider rows whose other elements are NaN."""
    x, way = rng.normal(size=shape), rng.integers(3)
    if way == 0:
        return ad.from_numpy(x).to(dtype)
    if way == 1:
        return ad.from_numpy(np.ascontiguousarray(x.swapaxes(-1, -2))).to(dtype).mT
    wide = np.full((*shape[:-1], shape[-1] + 5), np.nan)
    wide[..., 3:-2] = x
    return ad.from_numpy(wide).to(dtype)[..., 3:-2]


@pytest.mark.parametrize("batch", [1, 3])
def test_products_around_the_sizes_of_tiles(batch: int) -> None:
    rng = np.random.default_rng(batch)
    for _ in range(150):
        m, k, n = (int(d) for d in rng.choice(SIZES, 3))
        a, b = drawn(rng, batch, m, k), drawn(rng, batch, k, n)
        exact, sizes = a.double() @ b.double(), a.double().abs() @ b.double().abs()
        check("matmul", lambda: a @ b, 0.5)  # noqa: B023
        assert ((a @ b).double() - exact).abs().le(2**-8 * exact.abs() + 2**-18 * sizes).all(), (m, k, n)


def test_what_lies_beside_a_tile_does_not_matter() -> None:
    a, b = ad.ones(40, 40, dtype=ad.bfloat16), ad.ones(40, 40, dtype=ad.bfloat16)
    a[3], b[:, 5] = np.nan, np.inf
    y = a @ b
    assert y[3].isnan().all() and y[:3, 5].isinf().all()
    y[3], y[:, 5] = 40, 40
    assert (y == 40).all()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("form", ["plain", "causal", "mask", "hidden"])
def test_attention_and_its_gradients(form: str, dtype: str) -> None:
    rng, unit = np.random.default_rng(7), 2.0 ** (-8 if dtype == "bfloat16" else -11)
    for _ in range(25):
        heads, q, k, f, o = int(rng.integers(1, 4)), *(int(d) for d in rng.choice(SIZES, 4))
        k = q if form == "causal" else k
        shapes = (2, heads, q, f), (2, heads, k, f), (2, heads, k, o)
        operands = [drawn(rng, *shape, dtype=getattr(ad, dtype)) for shape in shapes]
        mask = {"mask": drawn(rng, q, k, dtype=operands[0].dtype), "hidden": ad.from_numpy(rng.random((q, k)) < 0.7)}.get(form)
        w = drawn(rng, 2, heads, q, o, dtype=operands[0].dtype)

        def attend(*x: Any) -> Any:
            floats = mask is not None and mask.is_floating_point()  # noqa: B023
            m = mask.to(x[0].dtype) if floats else mask  # noqa: B023
            return F.scaled_dot_product_attention(*x, m, is_causal=form == "causal")

        def gradients(t: Any) -> list[Any]:
            x = [a.detach().to(t).requires_grad_() for a in operands]  # noqa: B023
            y = attend(*x)
            return [y.detach(), *ad.autograd.grad(y, x, w.to(t))]  # noqa: B023

        check("attention", lambda: attend(*operands), 8 * unit)  # noqa: B023
        for found, exact in zip(gradients(w.dtype), gradients(ad.float64), strict=True):
            assert (found.double() - exact).abs().max() <= 3 * unit * (exact.abs().max() + 1e-3), (heads, q, k, f, o)
