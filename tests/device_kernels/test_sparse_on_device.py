"""Sparse tensors on the device: what they hold, what is computed from them, and derivatives, as on the CPU."""

import pytest
from device_checks import agree

import adjoint as ad

INDICES = [[0, 2, 0, 1, 2], [1, 0, 1, 3, 0]]


def coo(device, dtype=ad.float64, dense=False, requires_grad=False):
    """(3, 4), or (3, 4, 2), with two positions that occur twice."""
    values = ad.arange(1, 11, dtype=ad.float64).view(5, 2) if dense else ad.arange(1, 6, dtype=ad.float64)
    values = (values % 2 == 0) if dtype == ad.bool else values.to(dtype)
    indices = ad.tensor(INDICES, device=device)
    x = ad.sparse_coo_tensor(indices, values.to(device), (3, 4, 2) if dense else (3, 4))
    return x.requires_grad_() if requires_grad else x


def numbers(x):
    """On the CPU, but for what an order of sums leaves."""
    x = x.detach().cpu()
    return (x.round(decimals=12) if x.dtype == ad.float64 else x).tolist()


def parts(x):
    """What a result holds."""
    if not x.is_sparse:
        return x.layout, x.dtype, numbers(x)
    return x.shape, x.is_coalesced(), x.detach()._indices().cpu().tolist(), x.dtype, numbers(x.detach()._values())


def matrix(device, *sizes):
    n = sizes[0] * sizes[1]
    return (ad.arange(n, dtype=ad.float64) * 0.7).sin().view(sizes).to(device)


CALLS = {
    "coalesce": lambda x: x.coalesce(),
    "values": lambda x: x.coalesce().values(),
    "to_dense": lambda x: x.to_dense(),
    "to_sparse": lambda x: (x.to_dense() * 2).to_sparse(),
    "rows": lambda x: x.to_dense().to_sparse(1),
    "transposed": lambda x: x.t(),
    "selected": lambda x: x[2],
    "times": lambda x: x * 3,
    "square": lambda x: x.square(),
    "plus": lambda x: x + x.t().t(),
    "product": lambda x: x * x,
    "with_dense": lambda x: x * matrix(x.device, 3, 4),
    "plus_dense": lambda x: matrix(x.device, 3, 4) + x,
    "masked": lambda x: matrix(x.device, 3, 4).sparse_mask(x),
    "matmul": lambda x: x @ matrix(x.device, 4, 2),
    "matmul_right": lambda x: matrix(x.device, 2, 3) @ x,
    "sparse_matmul": lambda x: x @ x.t(),
    "sum": lambda x: ad.sparse.sum(x),
    "sum_of_rows": lambda x: ad.sparse.sum(x, 1),
    "norm": lambda x: x.norm(),
    "clone": lambda x: x.clone(),
    "home": lambda x: x.cpu(),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    host, device = CALLS[name](coo("cpu")), CALLS[name](coo("cuda"))
    assert device.is_cuda == (name != "home") and parts(device) == parts(host)


@pytest.mark.parametrize("name", [n for n in CALLS if n not in ("home", "norm")])
def test_derivatives(name):  # that of norm the CPU has neither
    def gradient(device):
        x = coo(device, requires_grad=True)
        y = CALLS[name](x)
        y = y.to_dense() if y.is_sparse else y
        if not y.requires_grad:
            return []
        return ad.autograd.grad((y * y).sum(), x)

    agree([g.to_dense() for g in gradient("cuda")], [g.to_dense() for g in gradient("cpu")], ad.float64)


@pytest.mark.parametrize("dtype", [ad.float32, ad.bfloat16, ad.complex64, ad.int64, ad.uint8, ad.bool], ids=lambda t: t.name)
@pytest.mark.parametrize("dense", [False, True])
def test_element_types(dtype, dense):
    for call in (lambda x: x.coalesce(), lambda x: x.to_dense(), lambda x: x.to_dense().to_sparse(1)):
        assert parts(call(coo("cuda", dtype, dense))) == parts(call(coo("cpu", dtype, dense)))


def test_empty_ones():
    x = ad.sparse_coo_tensor((2, 3), device="cuda")
    assert x.is_cuda and x._nnz() == 0 and x.coalesce().to_dense().tolist() == [[0.0] * 3] * 2
    assert (x + x).is_cuda and (x @ x.t())._nnz() == 0 and (x * x)._nnz() == 0


def test_transfers():
    x = coo("cpu")
    there = x.cuda()
    assert there.is_sparse and there.is_cuda and there._indices().is_cuda and parts(there) == parts(x)
    v = x.detach().requires_grad_()
    (gradient,) = ad.autograd.grad((v.cuda().to_dense() ** 2).sum(), v)
    assert not gradient.is_cuda and gradient.is_sparse


def test_in_place():
    x = coo("cuda")
    x.mul_(2).add_(coo("cuda"))
    assert parts(x.to_dense()) == parts(coo("cpu").to_dense() * 3)
    assert x.zero_()._nnz() == 0 and x.is_cuda
    dense = ad.zeros(3, 4, dtype=ad.float64, device="cuda")
    dense += coo("cuda")
    assert parts(dense) == parts(coo("cpu").to_dense())


def test_gradient_of_an_embedding():
    def gradient(device):
        table = matrix("cpu", 5, 3).to(device).requires_grad_()
        ad.nn.functional.embedding(ad.tensor([[1, 4], [1, 0]], device=device), table, 0, sparse=True).square().sum().backward()
        return table.grad

    device, host = gradient("cuda"), gradient("cpu")
    assert device.is_sparse and device.is_cuda and parts(device.coalesce()) == parts(host.coalesce())


def test_what_is_refused():
    with pytest.raises(IndexError, match="found index 7"):
        ad.sparse_coo_tensor(ad.tensor([[0, 7]], device="cuda"), ad.ones(2, device="cuda"), (3,))
    for call in (lambda x: x + ad.ones(3, 4, dtype=ad.float64), lambda x: ad.ones(4, 2, dtype=ad.float64).t() @ x.t()):
        with pytest.raises(RuntimeError, match="same device"):
            call(coo("cuda"))


@pytest.mark.parametrize("name", ["coalesce", "to_sparse", "sparse_coo_tensor"])
def test_a_capture_names_it(name):
    x, dense = coo("cuda"), ad.ones(3, device="cuda")
    call = {
        "coalesce": x.coalesce,
        "to_sparse": dense.to_sparse,
        "sparse_coo_tensor": lambda: ad.sparse_coo_tensor(x._indices(), x._values(), (3, 4)),
    }[name]
    with pytest.raises(RuntimeError, match=f"not permitted when stream is capturing: {name}: its result depends on values"):
        with ad.cuda.graph(ad.cuda.CUDAGraph()):
            call()
