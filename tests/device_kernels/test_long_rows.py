"""Reductions of few, long rows go in pieces, which a second launch joins; of short ones there is no second launch."""

import pytest
from device_checks import agree

import adjoint as ad

SHAPES = {
    "one row": ((16400,), 0),
    "rows": ((3, 17000), 1),
    "columns": ((1030, 40), 0),
    "narrow columns": ((2, 9001, 5), 1),
}


def drawn(name, dtype=ad.float32):
    sizes, dim = SHAPES[name]
    return ad.randn(*sizes, generator=ad.Generator().manual_seed(3)).to(dtype), dim


def launched(stand_in, call):
    before = 0 if stand_in is None else len(stand_in.launched)
    result = call()
    return result, [] if stand_in is None else stand_in.launched[before:]


def same(stand_in, call, x, steps):
    host = call(x)
    device, seen = launched(stand_in, lambda: call(x.cuda()))
    assert stand_in is None or seen == steps
    agree(device, host, x.dtype)


EXTREMES = ["extreme", "extreme_of_pieces"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_extremes(name, shape, stand_in):
    x, dim = drawn(shape)
    same(stand_in, lambda t: getattr(ad, name)(t, dim), x, EXTREMES)


@pytest.mark.parametrize("dtype", [ad.float16, ad.int64, ad.uint8, ad.bool], ids=lambda t: t.name)
def test_the_first_of_equal_extremes(dtype, stand_in):
    x, dim = drawn("rows")
    same(stand_in, lambda t: (t.max(dim), t.min(dim)), (x * 2).to(ad.int32).to(dtype), EXTREMES * 2)


def test_the_first_nan_is_the_extreme(stand_in):
    x, dim = drawn("rows")
    x[0, 16999] = x[1, 9000] = x[1, 16000] = float("nan")
    x[2] = 1.0
    same(stand_in, lambda t: (t.argmax(dim), t.argmin(dim)), x, EXTREMES * 2)


def test_short_rows_take_one_launch(stand_in):
    same(stand_in, lambda t: (t.max(1), t.argmin(0)), ad.randn(40, 300), ["extreme"] * 2)
