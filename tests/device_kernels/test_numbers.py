"""What cases of operations do not show: sums of many half numbers, norms in batches, transforms of scans."""

import pytest
from device_checks import agree

import adjoint as ad


def test_sums_of_many_half_numbers_are_rounded_once():
    index = ad.zeros(3000, dtype=ad.int64)
    for dtype in (ad.bfloat16, ad.float16):
        one = ad.ones(3000, 2, dtype=dtype)
        host = ad.zeros(1, 2, dtype=dtype).index_add(0, index, one)
        assert host.tolist() == [[3008.0 if dtype == ad.bfloat16 else 3000.0] * 2]
        agree(ad.zeros(1, 2, dtype=dtype).cuda().index_add(0, index.cuda(), one.cuda()), host, ad.float64)
        table = ad.ones(4, 2, dtype=dtype, device="cuda", requires_grad=True)
        ad.nn.functional.embedding(index.cuda(), table).sum().backward()
        assert table.grad[0].tolist() == host[0].tolist()


@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm"])
def test_norms_with_a_weight_for_each_lane(norm):
    x, w = ad.randn(4, 5, 6), ad.randn(4, 6)

    def run(x, w):
        return ad.vmap(lambda a, v: getattr(ad.nn.functional, norm)(a, (6,), v))(x, w)

    agree(run(x.cuda(), w.cuda()), run(x, w), ad.float32)
    agree(run(x[:1].expand(4, 5, 6).cuda(), w.cuda()), run(x[:1].expand(4, 5, 6), w), ad.float32)


@pytest.mark.parametrize("dtype", [ad.float64, ad.float32, ad.float16, ad.bfloat16], ids=lambda t: t.name)
@pytest.mark.parametrize("n", [1, 31, 3000])
@pytest.mark.parametrize("op", ["softmax", "log_softmax", "layer_norm"])
def test_derivatives_of_normalised_rows(op, n, dtype):
    def run(device):
        x = (ad.arange(6 * n, dtype=ad.float64) * 0.7).sin().view(2, 3, n).to(device, dtype).requires_grad_()
        y = ad.nn.functional.layer_norm(x, (n,)) if op == "layer_norm" else getattr(x, op)(-1)
        v = (ad.arange(6 * n, dtype=ad.float64) * 1.3).cos().view(2, n, 3).to(device, dtype).mT  # not row-major
        first = ad.autograd.grad(y, x, v, create_graph=True)
        return [*first, *ad.autograd.grad(first, x, v)]

    host = run("cpu")
    agree(run("cuda"), host, dtype)


@pytest.mark.parametrize("shape", [(3, 4, 5), (3, 4, 5, 2), (2000, 3), (1, 2, 3000)])
def test_batch_norm(shape):
    x, w, b = ad.randn(*shape), ad.randn(shape[1]), ad.randn(shape[1])
    run = lambda x, w, b: ad.nn.functional.batch_norm(x, None, None, w, b, training=True)  # noqa: E731
    agree(run(x.cuda(), w.cuda(), b.cuda()), run(x, w, b), ad.float32)
    lanes = ad.vmap(run, in_dims=(0, None, None))
    y = ad.stack([x, x * 2 + 1])
    agree(lanes(y.cuda(), w.cuda(), b.cuda()), lanes(y, w, b), ad.float32)


@pytest.mark.parametrize("n", [1, 31, 3000])
@pytest.mark.parametrize("op", ["cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"])
def test_scans_over_several_blocks(op, n):
    x = ad.linspace(-1, 1, 2 * n, dtype=ad.float64).view(2, n).sin().roll(n // 3)

    def run(x):
        x = x.detach().requires_grad_()
        y = getattr(x, op)(1)
        y = y if isinstance(y, ad.Tensor) else y.values
        return y, ad.autograd.grad(y.sum(), x)[0]

    agree(run(x.cuda()), run(x), ad.float64)


def test_running_extremes_at_the_edges():
    x = ad.tensor([1.0, 3.0, 3.0, float("nan"), 5.0, float("nan"), -float("inf"), float("inf")])
    for op in (ad.cummax, ad.cummin):
        agree(tuple(op(x.cuda(), 0)), tuple(op(x, 0)), ad.float32)


@pytest.mark.parametrize("size", [(2, 5), (4, 3), (1, 1), (4, 7), (0, 2), (4, 0)])
@pytest.mark.parametrize("dim", [0, 1])
def test_fewer_positions_than_the_tensor_has(dim, size):
    x = ad.linspace(-1, 1, 20, dtype=ad.float64).view(4, 5)
    size = tuple(min(s, 7 if d == dim else (4, 5)[d]) for d, s in enumerate(size))
    index = (ad.arange(size[0] * size[1]) * 3).view(size) % x.shape[dim]
    source = ad.linspace(2, 3, 63, dtype=ad.float64).view(9, 7)

    def run(x, index, source):
        x, source = x.detach().requires_grad_(), source.detach().requires_grad_()
        gathered = x.gather(dim, index)
        reduced = [x.scatter_reduce(dim, index, source, how) for how in ("sum", "prod", "amax", "mean")]
        results = [
            gathered,
            x.scatter(dim, index, source),
            x.scatter_add(dim, index, source),
            x.scatter(dim, index, 2.0),
            *reduced,
        ]
        return results, ad.autograd.grad(sum((y * y).sum() for y in results), (x, source))

    agree(run(x.cuda(), index.cuda(), source.cuda()), run(x, index, source), ad.float64)
    agree(run(x.t().contiguous().t().cuda(), index.cuda(), source.cuda()), run(x, index, source), ad.float64)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("n", [0, 1, 5, 64, 100])
def test_positions_in_sorted_sequences(n, right):
    x, v = ad.linspace(-1, 1, 3 * n).view(3, n) if n else ad.zeros(3, 0), ad.linspace(-2, 2, 21).view(3, 7)
    nan = ad.full((3, 1), float("nan"))
    search = lambda x, v: ad.searchsorted(x, v, right=right)  # noqa: E731
    for dtype in (ad.float32, ad.bfloat16, ad.int32):
        agree(search(x.to(dtype).cuda(), v.to(dtype).cuda()), search(x.to(dtype), v.to(dtype)), ad.int64)
    v = ad.cat([v, nan, -nan], 1)
    agree(search(x.cuda(), v.cuda()), search(x, v), ad.int64)
    agree(search(x[0].contiguous().cuda(), v.cuda()), search(x[0].contiguous(), v), ad.int64)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3)])
@pytest.mark.parametrize("dtype", [ad.float32, ad.bfloat16, ad.int32, ad.bool, ad.complex64], ids=lambda t: t.name)
def test_reductions_of_nothing(dtype, shape):
    x = ad.zeros(shape, dtype=dtype)
    names = ["sum", "prod", "all", "any"] + ["mean", "var", "std", "logsumexp"] * (dtype.is_floating_point or dtype.is_complex)
    for name in names:
        for dim in range(len(shape)):
            host, device = getattr(ad, name)(x, dim), getattr(ad, name)(x.cuda(), dim)
            assert host.dtype == device.dtype and host.shape == device.shape
            if dtype.is_complex:
                host, device = ad.view_as_real(host + 0j), ad.view_as_real(device + 0j)
            agree(device, host, ad.float32)


def test_upper_incomplete_gamma_of_small_order():
    order = ad.tensor([0.0, 1e-300, 1e-10, 1e-10, 1e-3, 0.0099, 0.0101, 0.5, 1e-10], dtype=ad.float64)
    x = ad.tensor([1.0, 0.5, 1.0, 1e-20, 0.5, 0.7, 0.7, 0.7, 3.0], dtype=ad.float64)
    host, device = ad.special.gammaincc(order, x), ad.special.gammaincc(order.cuda(), x.cuda()).cpu()
    assert device.tolist() == pytest.approx(host.tolist(), rel=1e-13, abs=0)


def test_the_sign_of_zero_chooses_the_side_of_the_cut_of_log1p():
    z = ad.tensor([complex(-2.0, -0.0), complex(-2.0, 0.0)], dtype=ad.complex128)
    agree(z.cuda().log1p().imag, z.log1p().imag, ad.float64)


@pytest.mark.parametrize("dtype", [ad.float16, ad.bfloat16], ids=lambda t: t.name)
@pytest.mark.parametrize("n", [5, 3000])
def test_numbers_beside_halves_are_not_rounded(n, dtype):
    x = (ad.arange(2 * n, dtype=ad.float64) * 0.7).sin().view(2, n).to(dtype)
    number = ad.tensor(0.1)  # on the host beside both
    calls = [
        lambda x: x * 0.1,
        lambda x: 0.1 * x,
        lambda x: x.mT * number,
        lambda x: x / 3.3,
        lambda x: number / x,
        lambda x: x // 0.3,
    ]
    calls += [lambda x: ad.div(x, 0.3, rounding_mode="trunc"), lambda x: x.clone().mul_(0.1), lambda x: x.clone().mT.div_(3.3)]
    calls += [lambda x: ad.func.jvp(lambda a: a * 0.1, (x,), (x,)), lambda x: ad.vmap(lambda a: a / 3.3)(x)]
    for call in calls:
        agree(call(x.cuda()), call(x), ad.int64)  # bit by bit


@pytest.mark.parametrize("cells", [(4, 3), (2, 1), (3, 2), (8, 6)])
def test_maxima_of_equal_and_of_other_parts(cells):
    def run(x):
        x = x.detach().requires_grad_()
        y, at = ad.nn.functional.adaptive_max_pool2d(x, cells, return_indices=True)
        return y, at, ad.autograd.grad((y.nan_to_num() ** 2).sum(), x)[0]

    x = (ad.arange(2 * 3 * 8 * 6, dtype=ad.float64) * 0.7).sin().view(2, 3, 8, 6)
    x[0, 0, 5, 3] = float("nan")
    agree(run(x.cuda()), run(x), ad.float64)


@pytest.mark.parametrize("dtype", [ad.float64, ad.bfloat16], ids=lambda t: t.name)
@pytest.mark.parametrize(("rows", "classes"), [(70, 1), (130, 5), (3, 600)])
def test_margins(rows, classes, dtype):
    """Of one target for each row, over one block or two; of several, some of them twice."""
    x = (ad.arange(rows * classes, dtype=ad.float64) * 0.7).sin().view(rows, classes).to(dtype)
    one = (ad.arange(rows) * 3 + 2) % classes
    several = (ad.arange(rows * classes).view(rows, classes) * 7) // 2 % classes
    several[:, 4:] = -1

    def run(x, one, several):
        x = x.detach().requires_grad_()
        losses = [ad.nn.functional.multi_margin_loss(x, one, reduction="none")]
        if classes < 100:
            losses.append(ad.nn.functional.multilabel_margin_loss(x, several, reduction="none"))
        return losses, ad.autograd.grad(sum((y * y).sum() for y in losses), x)

    agree(run(x.cuda(), one.cuda(), several.cuda()), run(x, one, several), dtype)
