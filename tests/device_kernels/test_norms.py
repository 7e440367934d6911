"""The gradients of layer_norm, rms_norm and batch_norm in one kernel each: shapes, types, weights, and where they are composed instead."""

import pytest

import adjoint as ad

F = ad.nn.functional


def gradients(norm, x, options, create_graph):
    x = x.detach().requires_grad_()
    options = {k: v.detach().to(x.device).requires_grad_() for k, v in options.items()}
    y = norm(x, options)
    v = ad.linspace(-1, 2, y.numel(), dtype=y.dtype, device=x.device).reshape(y.shape)
    return ad.autograd.grad(y, [x, *options.values()], v, create_graph=create_graph)


@pytest.mark.parametrize("dtype", [ad.float64, ad.float32, ad.float16], ids=lambda t: t.name)
@pytest.mark.parametrize("dims", [1, 2])
@pytest.mark.parametrize("sizes", [(4, 6), (2, 3, 1100), (6, 5), (300, 70)], ids=str)
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_as_on_the_cpu(name, affine, sizes, dims, dtype):
    ad.manual_seed(0)
    x = (ad.randn(sizes) * 2 + 1).to(dtype)
    parts = ("weight", "bias") if name == "layer_norm" else ("weight",)
    options = {k: ad.rand(sizes[-dims:]).to(dtype) for k in parts if affine}
    tolerance = {8: 1e-10, 4: 1e-4, 2: 2e-2}[dtype.itemsize]
    for create_graph in (False, True):
        results = [
            gradients(lambda x, o: getattr(F, name)(x, sizes[-dims:], **o), at, options, create_graph) for at in (x.cuda(), x)
        ]
        for got, wanted in zip(*results, strict=True):
            ad.testing.assert_close(got.cpu(), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [ad.float64, ad.float32, ad.float16], ids=lambda t: t.name)
@pytest.mark.parametrize("sizes", [(6, 4), (2, 3, 70, 10), (3, 600, 2)], ids=str)
@pytest.mark.parametrize("affine", [False, True])
def test_batch_norm(affine, sizes, dtype):
    ad.manual_seed(0)
    x = (ad.randn(sizes) * 2 + 1).to(dtype)
    options = {k: ad.rand(sizes[1]).to(dtype) for k in ("weight", "bias") if affine}
    tolerance = {8: 1e-10, 4: 2e-4, 2: 3e-2}[dtype.itemsize]
    layouts = [x, x.to(memory_format=ad.channels_last)] if x.ndim == 4 else [x]
    for create_graph, laid in [(False, laid) for laid in layouts] + [(True, x)]:
        results = [
            gradients(lambda x, o: F.batch_norm(x, None, None, training=True, **o), at, options, create_graph)
            for at in (laid.cuda(), laid)
        ]
        for got, wanted in zip(*results, strict=True):
            ad.testing.assert_close(got.cpu(), wanted, rtol=tolerance, atol=tolerance)


PIECES = ["statistics_of_pieces", "batch_norm_of_pieces", "sums_of_pieces", "batch_norm_vjp_of_pieces"]


@pytest.mark.parametrize("dtype", [ad.float64, ad.float32, ad.bfloat16], ids=lambda t: t.name)
@pytest.mark.parametrize("sizes", [(8200, 3), (600, 70), (17, 3, 1000), (4100, 2, 2, 2)], ids=str)
def test_batch_norm_of_long_channels(sizes, dtype, stand_in):
    """They go in pieces, in three launches; what the weight gets in two."""
    ad.manual_seed(0)
    x = (ad.randn(sizes) * 2 + 100).to(dtype)
    options = {"weight": ad.rand(sizes[1]).to(dtype), "bias": ad.rand(sizes[1]).to(dtype)}
    before = 0 if stand_in is None else len(stand_in.launched)
    got, wanted = [
        gradients(lambda x, o: F.batch_norm(x, None, None, training=True, **o), at, options, False) for at in (x.cuda(), x)
    ]
    seen = [] if stand_in is None else stand_in.launched[before:]
    assert stand_in is None or set(PIECES) <= set(seen)
    rtol, atol = {8: (1e-9, 1e-9), 4: (2e-3, 2e-3), 2: (5e-2, 5e-2)}[dtype.itemsize]
    for a, b in zip(got, wanted, strict=True):
        ad.testing.assert_close(a.cpu(), b, rtol=rtol, atol=atol * max(1, b.abs().max().item()))


@pytest.mark.parametrize("dtype, kept", [(ad.float32, ad.float32), (ad.float16, ad.float16), (ad.float16, ad.float32)])
def test_running_statistics(dtype, kept):
    """As in double precision, in x's type or beside halves in single precision; they have counted one write."""
    x = (ad.randn(6, 4, 3) * 2 + 1).to(dtype)
    values = x.double().transpose(0, 1).flatten(1)
    before = ad.linspace(-1, 3, 4).to(kept)
    for at in ("cpu", "cuda"):
        mean, spread = before.to(at, copy=True), before.to(at, copy=True)
        F.batch_norm(x.to(at), mean, spread, training=True, momentum=0.25)
        for got, new in ((mean, values.mean(1)), (spread, values.var(1))):
            tolerance = 2e-3 if kept is ad.float16 else 1e-5
            ad.testing.assert_close(got.cpu().double(), before.double() * 0.75 + new * 0.25, rtol=tolerance, atol=tolerance)
            assert got.dtype == kept and got._version == 1


def test_strided_and_overflowing_squares():
    x = ad.randn(5, 7, dtype=ad.float64)
    results = [gradients(lambda x, o: F.rms_norm(x.T, (5,)), at, {}, False)[0].cpu() for at in (x.cuda(), x)]
    ad.testing.assert_close(*results)
    huge = [
        gradients(lambda x, o: F.rms_norm(x, (3,), eps=1e-6), at, {}, False)[0].tolist()
        for at in (ad.full((1, 3), 1e30, device="cuda"), ad.full((1, 3), 1e30))
    ]
    assert huge[0] == huge[1] == [[0.0, 0.0, 0.0]]


def test_levels():
    x = ad.randn(4, 5, dtype=ad.float64)

    def each(x):
        return ad.func.vmap(ad.func.grad(lambda row: F.layer_norm(row, (5,)).square().sum().sin()))(x)

    ad.testing.assert_close(each(x.cuda()).cpu(), each(x))
