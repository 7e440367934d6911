"""Medians of what is not NaN: against a stable sort of the numbers of each line."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad

SHAPES = [((5,), 0), ((4, 12), 1), ((3, 700), 1), ((130, 4), 0), ((2, 3, 50), -2), ((2, 20000), 1)]


def expected(line: np.ndarray) -> tuple[float, int]:
    order = np.argsort(line, kind="stable")  # NaN comes last
    at = order[max(np.count_nonzero(~np.isnan(line)) - 1, 0) // 2]
    return line[at], at


@pytest.mark.parametrize("share", [0.0, 0.3, 0.97, 1.0])
@pytest.mark.parametrize("dtype", [ad.float32, ad.float64, ad.float16, ad.bfloat16], ids=lambda t: t.name)
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
def test_lines(shape, dim, dtype, share):
    r = np.random.default_rng(0)
    x = np.round(r.standard_normal(shape) * 8)  # many are equal
    x[r.random(shape) < share] = np.nan
    lines = np.moveaxis(x, dim, -1)
    wanted = [expected(line) for line in lines.reshape(-1, lines.shape[-1])]
    for given in (ad.tensor(x).to(dtype), ad.tensor(np.swapaxes(x, 0, -1)).to(dtype).transpose(0, -1)):
        values, indices = ad.nanmedian(given, dim)
        np.testing.assert_array_equal(values.double().numpy().reshape(-1), [v for v, _ in wanted])
        np.testing.assert_array_equal(indices.numpy().reshape(-1), [i for _, i in wanted])


def test_gradients_go_to_the_median():
    x = ad.tensor([[1.0, float("nan"), 3.0, 2.0], [float("nan"), 5.0, 5.0, 1.0]], requires_grad=True)
    ad.nanmedian(x, 1).values.sum().backward()
    assert x.grad.tolist() == [[0, 0, 0, 1], [0, 1, 0, 0]]
    x.grad = None
    ad.nanmedian(x).backward()  # of 1 1 2 3 5 5
    assert x.grad.tolist() == [[0, 0, 0, 1], [0, 0, 0, 0]]
