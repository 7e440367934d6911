"""Reductions of few, long rows go in pieces, which a second launch joins; of short ones there is no second launch."""

import pytest
from device_checks import agree, real_parts

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


SPREAD = ["spread", "spread_of_pieces"]
DTYPES = pytest.mark.parametrize("dtype", [ad.float32, ad.float64, ad.bfloat16, ad.complex64], ids=lambda t: t.name)


@DTYPES
@pytest.mark.parametrize("shape", SHAPES)
def test_variances(shape, dtype, stand_in):
    x, dim = drawn(shape, dtype)
    same(stand_in, lambda t: (t.var(dim), t.std(dim, correction=0)), x, SPREAD * 2)


def test_variances_of_large_numbers_keep_their_digits(stand_in):
    """The mean is 4000 times the deviation, and a row begins unlike the rest."""
    x, dim = drawn("rows")
    x = x + 4096
    x[1, :1024] = 0
    expected = x.double().var(dim).float()
    device, seen = launched(stand_in, lambda: x.cuda().var(dim))
    agree(device, expected, ad.float32)
    assert (device.cpu() / expected - 1).abs().max().item() < 2e-6


def test_the_variance_of_equal_numbers_is_nothing():
    assert ad.full((3, 17000), 0.1).cuda().var(1).tolist() == [0, 0, 0]


def test_variances_of_infinities_are_nan():
    x, dim = drawn("rows")
    x[0, 16999], x[1, 0] = float("inf"), float("nan")
    assert x.cuda().std(dim).isnan().tolist() == [True, True, False]


@pytest.mark.parametrize("p", [2, 1, 0, 3.5, float("inf"), -float("inf")])
def test_norms(p, stand_in):
    for shape, dtype in (("one row", ad.float64), ("columns", ad.complex64), ("narrow columns", ad.float32)):
        x, dim = drawn(shape, dtype)
        x = x + 1j if dtype.is_complex else x
        host = ad.linalg.vector_norm(x, p, dim)
        device, seen = launched(stand_in, lambda x=x, dim=dim: ad.linalg.vector_norm(x.cuda(), p, dim))
        assert stand_in is None or abs(p) == float("inf") or seen[-2:] == ["vector_norm", "norm_of_pieces"]
        agree(device / host.cuda(), host / host, host.dtype)


@DTYPES
@pytest.mark.parametrize("shape", SHAPES)
def test_logsumexp(shape, dtype, stand_in):
    x, dim = drawn(shape, dtype)
    host = x.logsumexp(dim)
    device, seen = launched(stand_in, lambda: x.cuda().logsumexp(dim))
    assert stand_in is None or seen == ["logsumexp", "logsumexp_of_pieces"]
    agree(real_parts(device), real_parts(host), dtype)


def test_logsumexp_of_infinities():
    x, dim = drawn("rows")
    x[0] = -float("inf")
    x[1, 9] = float("inf")
    x[2, 16000] = float("nan")
    agree(x.cuda().logsumexp(dim), x.logsumexp(dim), ad.float32)


@pytest.mark.parametrize("dtype", [ad.float32, ad.float16, ad.int32, ad.bool, ad.complex64], ids=lambda t: t.name)
@pytest.mark.parametrize("shape", ["one row", "columns", "narrow columns"])
def test_sums_and_their_like(shape, dtype, stand_in):
    x, dim = drawn(shape)
    floats = dtype.is_floating_point or dtype.is_complex
    x = (x * 0.001 + 1 if floats else x * 2).to(dtype)
    names = ["sum", "prod", "all", "any"]
    names += ["mean"] * floats + ["amax", "amin"] * (not dtype.is_complex)
    for name in names:
        host = getattr(ad, name)(x, dim)
        device, seen = launched(stand_in, lambda name=name: getattr(ad, name)(x.cuda(), dim))
        assert stand_in is None or seen[-2:] == [name, f"{name}_of_pieces"]
        host, device = real_parts(host)[0], real_parts(device)[0]
        scale = host.double().abs().amax().clamp(min=1).item() if floats and host.dtype != ad.bool else None
        agree(device / scale if scale else device, host / scale if scale else host, dtype)


def test_nansum_of_infinities(stand_in):
    x, dim = drawn("rows")
    x[0, 0], x[0, 16999], x[1, 3] = float("inf"), -float("inf"), float("nan")
    same(stand_in, lambda t: t.nansum(dim), x, ["nansum", "sum_of_pieces"])


F = ad.nn.functional
ROWS = {
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(1),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[1:]) if x.ndim == 2 else x,
    "rms_norm": lambda x: F.rms_norm(x, x.shape[1:]) if x.ndim == 2 else x,
    "cross_entropy": lambda x: F.cross_entropy(x, ad.zeros(x.shape[0], *x.shape[2:], dtype=ad.int64, device=x.device)),
}


@pytest.mark.parametrize("sizes", [(3, 4100), (2, 9001), (2, 100, 5), (1, 600, 40)], ids=str)
@pytest.mark.parametrize("name", ROWS)
def test_rows_that_a_program_holds_and_longer_ones(name, sizes):
    x = ad.randn(*sizes, generator=ad.Generator().manual_seed(1)) * 3
    v = ad.linspace(-1, 1, x.numel())

    def run(to):
        t = to(x).requires_grad_()
        y = ROWS[name](t)
        return y, *ad.autograd.grad(y, t, to(v[: y.numel()].reshape(y.shape)))

    agree(run(lambda t: t.cuda()), run(lambda t: t.clone()), ad.float32)


@pytest.mark.parametrize("length", [4100, 9001, 17000])
def test_softmax_of_infinities(length):
    x = ad.randn(4, length)
    x[0] = -float("inf")
    x[1, 1:] = -float("inf")
    x[2, 77], x[3, length - 1] = float("inf"), float("nan")
    agree(x.cuda().softmax(1), x.softmax(1), ad.float32)


@pytest.mark.parametrize("dtype", [ad.float64, ad.float16, ad.int32, ad.complex64], ids=lambda t: t.name)
@pytest.mark.parametrize("shape", SHAPES)
def test_running_sums_and_products(shape, dtype, stand_in):
    """The derivative of a running sum is one from the end."""
    x, dim = drawn(shape)
    x = (x * 0.01 + 1 if dtype.is_floating_point or dtype.is_complex else x * 2).to(dtype)
    steps = ["total_of_piece", "running_totals"]
    for name in ("cumsum", "cumprod"):
        host = getattr(ad, name)(x, dim)
        device, seen = launched(stand_in, lambda name=name: getattr(ad, name)(x.cuda(), dim))
        assert stand_in is None or seen[-1:] == [name]
        assert stand_in is None or (seen[-3:-1] == steps) == (name == "cumsum" or not dtype.is_complex)
        host, device = real_parts(host)[0], real_parts(device)[0]
        scale = host.double().abs().amax().item() if dtype.is_floating_point or dtype.is_complex else None
        agree(device / scale if scale else device, host / scale if scale else host, dtype)
    if dtype == ad.float64:
        v = ad.linspace(-1, 2, x.numel(), dtype=dtype).view(x.shape)
        host, device = [
            ad.autograd.grad(t.cumsum(dim), t, w)[0]
            for t, w in ((x.requires_grad_(), v), (x.detach().cuda().requires_grad_(), v.cuda()))
        ]
        agree(device, host, dtype)


@DTYPES
@pytest.mark.parametrize("shape", SHAPES)
def test_softmax_in_pieces(shape, dtype, stand_in):
    x, dim = drawn(shape, ad.float32 if dtype.is_complex else dtype)
    v = ad.linspace(-1, 2, x.numel()).view(x.shape).to(x.dtype)
    for name in ("softmax", "log_softmax"):
        soften = lambda t, name=name: getattr(t, name)(dim)  # noqa: E731
        same(stand_in, soften, x, ["exponentials_of_piece", "joined_exponentials", name])
        derive = lambda t: ad.autograd.grad(soften(t := t.detach().requires_grad_()), t, v.to(t.device))[0]  # noqa: E731, B023
        host = derive(x)
        device, seen = launched(stand_in, lambda: derive(x.cuda()))  # noqa: B023
        assert stand_in is None or seen[-3:] == ["sum_of_piece", "joined_sums", f"{name}_vjp"]
        agree(device, host, x.dtype)
