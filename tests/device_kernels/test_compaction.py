"""Results whose size depends on values: nonzero, masks and unique, on the device as on the CPU."""

import numpy as np
import pytest
from device_checks import agree, arrays
from test_sorting import TYPES, made

import adjoint as ad


def same(call, x):
    for d, h in zip(arrays(call(x.cuda())), arrays(call(x)), strict=True):
        assert d.dtype == h.dtype and d.shape == h.shape
        np.testing.assert_array_equal(d, h)


def with_zeros(shape, dtype):
    return (made(shape, ad.int32, 1).abs() > 27).to(dtype)


@pytest.mark.parametrize("dtype", [*TYPES, ad.complex64, ad.complex128], ids=lambda t: t.name)
def test_positions_of_what_is_not_zero(dtype):
    for shape in ((), (7,), (3, 4, 5), (2, 0, 3), (1, 1, 6, 1)):
        same(lambda x: x.nonzero(), ad.zeros(shape, dtype=dtype) if 0 in shape else with_zeros(shape, dtype))


@pytest.mark.parametrize("shape", [(3000,), (50, 60), (60, 50)])
def test_over_several_blocks(shape):
    x = with_zeros(shape, ad.bool)
    same(lambda x: x.nonzero(), x if shape[0] != 60 else x.t())
    same(lambda x: ad.nonzero(x, as_tuple=True), x)


def test_imaginary_parts_and_nan_count():
    x = ad.tensor([0, 1j, 0, -0.0 + 0j, float("nan")], dtype=ad.complex64)
    assert x.cuda().nonzero().tolist() == [[1], [4]]


def test_masks():
    def run(x):
        x = x.requires_grad_()
        y = x[x > 0.5]
        (gradient,) = ad.autograd.grad((y * y).sum(), x)
        return [y.detach(), x.masked_select(x < 0).detach(), gradient]

    x = ad.arange(48, dtype=ad.float64).view(6, 8).sin()
    agree(run(x.cuda()), run(x.clone()), ad.float64)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: t.name)
def test_distinct_values(dtype):
    for shape in ((0,), (1,), (5, 6), (700,)) if dtype == ad.int8 else ((1,), (5, 6)):
        x = ad.zeros(0, dtype=dtype) if shape == (0,) else made(shape, dtype)
        same(lambda x: x.unique(return_inverse=True, return_counts=True), x)


def test_distinct_values_have_derivatives():
    def run(x):
        x = x.requires_grad_()
        values = x.unique()
        (gradient,) = ad.autograd.grad((values * values).sum(), x)
        return [values.detach(), gradient]

    x = (ad.arange(12, dtype=ad.float64) % 5).view(3, 4)
    agree(run(x.cuda()), run(x.clone()), ad.float64)


@pytest.mark.parametrize("name", ["nonzero", "unique"])
def test_a_capture_names_it(name):
    x = ad.ones(3, device="cuda")
    with pytest.raises(RuntimeError, match=f"not permitted when stream is capturing: {name}: its result depends on values"):
        with ad.cuda.graph(ad.cuda.CUDAGraph()):
            getattr(x, name)()
