"""Sparse tensors: what they hold, what operations make of them, and their gradients."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

DENSE = [[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]]


def sparse(requires_grad: bool = False) -> Any:
    return ad.tensor(DENSE, dtype=ad.float64).to_sparse().requires_grad_(requires_grad)


def dense(requires_grad: bool = False) -> Any:
    return ad.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=ad.float64, requires_grad=requires_grad)


def test_construction() -> None:
    x = ad.sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], [3.0, 4.0, 5.0], (2, 3))
    assert (x.shape, x.layout, x.is_sparse, x.sparse_dim(), x.dense_dim(), x._nnz()) == ((2, 3), ad.sparse_coo, True, 2, 0, 3)
    assert not x.is_coalesced()
    c = x.coalesce()
    assert c.is_coalesced() and c.coalesce() is c
    assert c.indices().tolist() == [[0, 1], [2, 0]] and c.values().tolist() == [3.0, 9.0]
    assert x.to_dense().tolist() == c.to_dense().tolist() == [[0.0, 0.0, 3.0], [9.0, 0.0, 0.0]]
    assert ad.sparse_coo_tensor([[0, 4]], [1.0, 2.0]).shape == (5,)
    assert ad.sparse_coo_tensor((2, 3), dtype=ad.float64).to_dense().tolist() == [[0.0] * 3] * 2


def test_dense_dimensions() -> None:
    x = ad.sparse_coo_tensor([[2, 0]], [[1.0, 2.0], [3.0, 4.0]], (3, 2))
    assert (x.sparse_dim(), x.dense_dim()) == (1, 1)
    assert x.to_dense().tolist() == [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]]
    assert x.sum(1).to_dense().tolist() == [7.0, 0.0, 3.0]
    assert ad.ones(2, 3).to_sparse(1).values().shape == (2, 3)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (([[0, 5]], [1.0, 2.0], (3,)), IndexError, "found index 5"),
        (([[0, -1]], [1.0, 2.0], (3,)), IndexError, "found index -1"),
        (([[0, 1, 2]], [1.0, 2.0], (3,)), ad.ShapeError, "same nnz"),
        (([[0, 1]], [1.0, 2.0], (3, 2)), ad.ShapeError, "sparse_dim"),
        (([0, 1], [1.0, 2.0], (3,)), ad.ShapeError, "sparse_dim x nnz"),
        (([[0, 1]], ad.ones(2, 3), (3, 4)), ad.ShapeError, "incorrect size"),
    ],
)
def test_bad_construction(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        ad.sparse_coo_tensor(*arguments)


def test_uncoalesced_parts_are_refused() -> None:
    x = ad.sparse_coo_tensor([[0, 0]], [1.0, 2.0], (3,))
    for part in (x.values, x.indices):
        with pytest.raises(RuntimeError, match="uncoalesced"):
            part()
    with pytest.raises(RuntimeError, match="sparse_coo"):
        ad.ones(2).coalesce()


def test_repr() -> None:
    assert repr(sparse(True) * 2) == (
        "tensor(indices=tensor([[0, 1, 1],\n                       [1, 0, 2]]),\n       values=tensor([2., 4., 6.]),\n"
        "       size=(2, 3), nnz=3, dtype=float64, layout=adjoint.sparse_coo,\n       grad_fn=<MulBackward0>)"
    ).replace("dtype=float64", f"dtype={ad.float64!r}")
    assert "indices=tensor([], size=(2, 0))" in repr(ad.sparse_coo_tensor((2, 3)))


def test_copies_and_pickles() -> None:
    x = sparse(True)
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), x.clone().detach()):
        assert y.is_sparse and y.is_coalesced() and y.to_dense().tolist() == DENSE
    assert copy.deepcopy(x).requires_grad and pickle.loads(pickle.dumps(x)).requires_grad


UNARY: dict[str, Callable[[Any], Any]] = {
    "times": lambda s: s * 2,
    "number_first": lambda s: 3 * s,
    "over": lambda s: s / 2,
    "negative": lambda s: -s,
    "twice": lambda s: s + s,
    "square": lambda s: s * s,
    "power": lambda s: s**2,
    "abs": lambda s: s.abs(),
    "log1p": lambda s: s.log1p(),
    "sqrt": lambda s: s.sqrt(),
    "relu": lambda s: s.relu(),
    "transposed": lambda s: s.t(),
    "permuted": lambda s: s.permute(1, 0),
    "clone": lambda s: s.clone(),
    "itself": lambda s: s,
    "by_itself": lambda s: s @ s.t(),
}


@pytest.mark.parametrize("name", UNARY)
def test_of_one_tensor(name: str) -> None:
    f = UNARY[name]
    s, d = sparse(True), ad.tensor(DENSE, dtype=ad.float64, requires_grad=True)
    y, expected = f(s), f(d)
    assert y.is_sparse
    np.testing.assert_allclose(y.to_dense().detach().numpy(), expected.detach().numpy())
    weight = ad.arange(1.0, 1.0 + expected.numel(), dtype=ad.float64).reshape(expected.shape)
    (y.to_dense() * weight).sum().backward()
    (expected * weight).sum().backward()
    assert s.grad.is_sparse
    there = ad.tensor(DENSE) != 0
    np.testing.assert_allclose(s.grad.to_dense()[there].numpy(), d.grad[there].numpy())


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "plus": lambda s, d: d + s,
    "plus_dense": lambda s, d: s + d,
    "minus": lambda s, d: d - s,
    "times": lambda s, d: (s * d).to_dense(),
    "times_row": lambda s, d: (s * d[0]).to_dense(),
    "matmul": lambda s, d: s @ d.t(),
    "matmul_right": lambda s, d: d.t() @ s,
    "mv": lambda s, d: s.mv(d[0]),
    "sparse_mm": lambda s, d: ad.sparse.mm(s, d.t()) if s.is_sparse else s @ d.t(),
    "addmm": lambda s, d: ad.addmm(d @ d.t(), s, d.t(), beta=2, alpha=3),
}


@pytest.mark.parametrize("name", BINARY)
def test_with_a_dense_tensor(name: str) -> None:
    f = BINARY[name]
    s, d = sparse(True), dense(True)
    s2, d2 = ad.tensor(DENSE, dtype=ad.float64, requires_grad=True), dense(True)
    y, expected = f(s, d), f(s2, d2)
    assert not y.is_sparse
    np.testing.assert_allclose(y.detach().numpy(), expected.detach().numpy())
    (y * y).sum().backward()
    (expected * expected).sum().backward()
    there = ad.tensor(DENSE) != 0
    np.testing.assert_allclose(s.grad.to_dense()[there].numpy(), s2.grad[there].numpy())
    np.testing.assert_allclose(d.grad.to_dense().numpy(), d2.grad.numpy())


@pytest.mark.parametrize(
    "f",
    [
        lambda s: s.to_dense(masked_grad=True),
        lambda s: (s * 2).to_dense(),
        lambda s: ad.sparse.mm(s, ad.ones(3, 2, dtype=ad.float64)),
        lambda s: ad.sparse.sum(s),
        lambda s: ad.sparse.sum(s, 0).to_dense(),
        lambda s: ad.sparse.sum(s, (1,)).to_dense(),
        lambda s: s.coalesce().values(),
        lambda s: (s * s).sparse_mask(s.detach()).coalesce().values(),
    ],
)
def test_masked_gradcheck(f: Callable[[Any], Any]) -> None:
    assert ad.autograd.gradcheck(f, (sparse(True),), masked=True)
    assert ad.autograd.gradcheck(f, (sparse(True),), masked=True, fast_mode=True)


@pytest.mark.parametrize(
    "f", [lambda s: s.to_dense(masked_grad=False), lambda s: (s * 2).sum(), lambda s: s @ ad.ones(3, 2, dtype=ad.float64)]
)
def test_gradcheck_of_all_entries(f: Callable[[Any], Any]) -> None:
    assert ad.autograd.gradcheck(f, (sparse(True),), masked=False)


def test_gradcheck_wants_dense_outputs() -> None:
    with pytest.raises(ValueError, match="Sparse output is not supported"):
        ad.autograd.gradcheck(lambda s: s * 2, (sparse(True),), masked=True)


def test_gradients_of_dense_inputs() -> None:
    x = ad.tensor([1.0, 3.0, -2.0], dtype=ad.float64, requires_grad=True)
    mask = ad.sparse_coo_tensor([[0, 2]], [1.0, 1.0], (3,), dtype=ad.float64)
    assert ad.autograd.gradcheck(lambda x: x.to_sparse().to_dense(), (x,))
    assert ad.autograd.gradcheck(lambda x: x.sparse_mask(mask).to_dense(), (x,))
    v = ad.tensor([1.0, 2.0, 3.0], dtype=ad.float64, requires_grad=True)
    make = lambda v: ad.sparse_coo_tensor([[0, 1, 0], [1, 0, 1]], v, (2, 2))  # noqa: E731
    assert ad.autograd.gradcheck(lambda v: (make(v) * 3).to_dense(), (v,))
    assert ad.autograd.gradcheck(lambda v: make(v * v).coalesce().values(), (v,))
    assert ad.autograd.gradgradcheck(lambda v: make(v * v).to_dense() ** 2, (v,))


def test_forward_mode() -> None:
    v, t = ad.tensor([1.0, 2.0]), ad.tensor([3.0, 4.0])
    f = lambda v: ad.sparse_coo_tensor([[0, 1]], v * v, (2,)).to_dense()  # noqa: E731
    assert ad.autograd.functional.jvp(f, v, t)[1].tolist() == [6.0, 16.0]
    with ad.autograd.forward_ad.dual_level():
        d = ad.autograd.forward_ad.make_dual(sparse(), sparse())
        values = ad.autograd.forward_ad.unpack_dual((d * d).coalesce().values())
        assert values.tangent.tolist() == [2.0, 8.0, 18.0]


# ---- .grad


def coo(places: list[int], values: list[float]) -> Any:
    return ad.sparse_coo_tensor([places], values, (3,), dtype=ad.float64)


class Give(ad.autograd.Function):
    """A scalar whose gradient with respect to ``x`` is ``g``."""

    @staticmethod
    def forward(ctx: Any, x: Any, g: Any) -> Any:
        ctx.g = g
        return x.sum()

    @staticmethod
    def backward(ctx: Any, v: Any) -> Any:
        return ctx.g, None


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(("first", "second"), [("sparse", "sparse"), ("sparse", "dense"), ("dense", "sparse")])
@pytest.mark.filterwarnings("ignore:Using backward")
def test_accumulation(first: str, second: str, create_graph: bool) -> None:
    make = {"sparse": lambda: coo([0, 1], [1.0, 2.0]), "dense": lambda: ad.ones(3, dtype=ad.float64)}
    x = ad.zeros(3, dtype=ad.float64, requires_grad=True)
    a, b = make[first](), make[second]()
    total = (a.to_dense() + b.to_dense()).tolist()
    Give.apply(x, a).backward(create_graph=create_graph)
    assert x.grad.is_sparse == (first == "sparse")
    before = x.grad
    Give.apply(x, b).backward(create_graph=create_graph)
    assert x.grad.is_sparse == (first == second == "sparse")
    assert x.grad.to_dense().tolist() == total
    in_place = not create_graph and (first, second) != ("sparse", "dense")
    assert (x.grad is before) == in_place
    assert a.to_dense().tolist() == make[first]().to_dense().tolist(), "the given gradient was written to"


def test_gradients_of_two_layouts_meet_in_one_node() -> None:
    x = ad.zeros(3, dtype=ad.float64, requires_grad=True)
    y = x * 1
    seen: list[bool] = []
    y.register_hook(lambda g: seen.append(g.is_sparse))
    (Give.apply(y, coo([2], [5.0])) + Give.apply(y, ad.ones(3, dtype=ad.float64))).backward()
    assert x.grad.tolist() == [1.0, 1.0, 6.0] and seen == [False]


def test_hooks_see_sparse_gradients() -> None:
    w = ad.ones(4, 2, requires_grad=True)
    seen: list[Any] = []
    w.register_hook(lambda g: seen.append(g.is_sparse) or g * 3)
    w.register_post_accumulate_grad_hook(lambda w: seen.append(w.grad._nnz()))
    ad.nn.functional.embedding(ad.tensor([0, 2, 0]), w, sparse=True).sum().backward()
    assert seen == [True, 3] and w.grad.to_dense().tolist() == [[6.0, 6.0], [0.0, 0.0], [3.0, 3.0], [0.0, 0.0]]


def test_grad_of_a_sparse_leaf_may_be_assigned() -> None:
    w = ad.ones(3, 2, requires_grad=True)
    w.grad = ad.sparse_coo_tensor([[1]], ad.ones(1, 2), (3, 2))
    w.sum().backward()
    assert w.grad.tolist() == [[1.0, 1.0], [2.0, 2.0], [1.0, 1.0]]


# ---- in place


def test_in_place() -> None:
    x = sparse()
    version = x._version
    assert (x.mul_(2) is x, x.add_(sparse()) is x) == (True, True)
    assert x.to_dense().tolist() == [[0.0, 3.0, 0.0], [6.0, 0.0, 9.0]] and x._version == version + 2
    assert x.zero_()._nnz() == 0 and x.copy_(sparse()).to_dense().tolist() == DENSE
    d = dense()
    d += sparse()
    d.mul_(sparse())
    assert d.tolist() == [[0.0, 3.0, 0.0], [12.0, 0.0, 27.0]]
    with pytest.raises(NotImplementedError, match="add_"):
        x.add_(dense())


def test_writes_to_saved_sparse_tensors_are_seen() -> None:
    s = sparse()
    y = (dense(True) * s).to_dense().sum()
    s.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.parametrize(
    "f",
    [
        lambda s: s.exp(),
        lambda s: s == s,
        lambda s: s.tolist(),
        lambda s: s.flip(0),
    ],
)
def test_what_is_not_supported_says_so(f: Callable[[Any], Any]) -> None:
    with pytest.raises(NotImplementedError, match=r"^\w+: not supported for .* sparse_coo"):
        f(sparse())


@pytest.mark.parametrize("dtype", [ad.float32, ad.float64, ad.complex64, ad.bfloat16, ad.int64], ids=str)
@pytest.mark.parametrize("m", [1, 3, 100])
@pytest.mark.parametrize("coalesced", [False, True])
def test_large_products(coalesced: bool, m: int, dtype: Any) -> None:
    generator = ad.Generator().manual_seed(1)
    at = ad.randint(0, 60, (2, 4000), generator=generator)
    s = ad.sparse_coo_tensor(at, ad.randint(-3, 4, (4000,), generator=generator).to(dtype), (60, 60))
    s = s.coalesce() if coalesced else s
    x = ad.randint(-3, 4, (60, m), generator=generator).to(dtype)
    threads, wanted = ad.get_num_threads(), s.to_dense().to(ad.complex128) @ x.to(ad.complex128)
    try:
        for n in (1, 2, 3):  # whole numbers: the order of sums does not matter; bfloat16 rounds sums of up to 8 bits once
            ad.set_num_threads(n)
            for got in (s @ x, (x.t() @ s.t()).t()):
                assert ad.allclose(got.to(ad.complex128), wanted, rtol=2**-8 if dtype is ad.bfloat16 else 0, atol=0)
    finally:
        ad.set_num_threads(threads)


@pytest.mark.parametrize("coalesced", [False, True])
@pytest.mark.parametrize("f", [ad.bmm, lambda s, x: ad.bmm(x.mT, s.mT).mT, lambda s, x: s @ x])
def test_batches_of_products(f: Callable[[Any, Any], Any], coalesced: bool) -> None:
    at = ad.tensor([[0, 2, 2, 0, 0], [1, 3, 0, 1, 0], [4, 0, 2, 4, 1]])  # one position twice, the second matrix empty
    s = ad.sparse_coo_tensor(at, ad.arange(1.0, 6.0, dtype=ad.float64), (3, 4, 5))
    s = (s.coalesce() if coalesced else s).requires_grad_()
    d, x = s.detach().to_dense().requires_grad_(), ad.arange(30.0, dtype=ad.float64).reshape(3, 5, 2).requires_grad_()
    y = f(s, x)
    assert y.layout is ad.strided and y.tolist() == (d @ x).tolist()
    for expected, got in zip(
        ad.autograd.grad((d @ x).square().sum(), (d, x)), ad.autograd.grad(y.square().sum(), (s, x)), strict=True
    ):
        assert got.to_dense().tolist() == expected.tolist()
    assert ad.autograd.gradgradcheck(lambda x: f(s.detach(), x).square(), (x,))
    for of_another_size in (x.detach()[:1], x.detach()[None]):
        with pytest.raises(NotImplementedError, match="or a batch by as many dense ones, got shapes"):
            s @ of_another_size


# ---- embedding

INDEX = [[0, 2], [0, 1]]


def table() -> Any:
    return ad.tensor(np.arange(8.0).reshape(4, 2), requires_grad=True)


@pytest.mark.parametrize("padding", [None, 0, -4])
@pytest.mark.parametrize("by_frequency", [False, True])
def test_embedding(padding: int | None, by_frequency: bool) -> None:
    w = table()
    index = ad.tensor(INDEX)
    y = ad.nn.functional.embedding(index, w, padding, scale_grad_by_freq=by_frequency)
    assert y.tolist() == w.detach().numpy()[INDEX].tolist() and y.grad_fn.name() == "EmbeddingBackward0"
    y.sum().backward()
    expected = np.zeros((4, 2))
    np.add.at(expected, np.array(INDEX).ravel(), 1.0)
    if by_frequency:
        expected = np.minimum(expected, 1)
    if padding is not None:
        expected[0] = 0
    np.testing.assert_allclose(w.grad.numpy(), expected)
    weights = ad.tensor(np.arange(8.0).reshape(2, 2, 2))
    call = lambda w, *args: ad.nn.functional.embedding(index, w, *args) * weights  # noqa: E731
    forward = ad.autograd.functional.jacobian(
        lambda w: call(w, padding, None, 2.0, by_frequency), w, strategy="forward-mode", vectorize=True
    )
    np.testing.assert_allclose(
        forward.numpy(), ad.autograd.functional.jacobian(call, w).numpy(), err_msg="of the rows as they are read"
    )


def test_sparse_embedding() -> None:
    w, index = table(), ad.tensor(INDEX)
    ad.nn.functional.embedding(index, w, 0, sparse=True).sum().backward()
    assert w.grad.is_sparse and w.grad._indices().tolist() == [[2, 1]], "the padded row is left out"
    with pytest.raises(RuntimeError, match="scale_grad_by_freq"):
        ad.nn.functional.embedding(index, w, scale_grad_by_freq=True, sparse=True)
    (g,) = ad.autograd.grad(ad.nn.functional.embedding_bag(index, w, mode="sum", sparse=True).sum(), w)
    assert g.is_sparse and g.to_dense().sum().item() == 8
    (g,) = ad.autograd.grad((ad.nn.functional.embedding(index, w, sparse=True) ** 3).sum(), w, create_graph=True)
    (h,) = ad.autograd.grad(g.to_dense().sum(), w)
    np.testing.assert_allclose(h.to_dense()[0].numpy(), 2 * 6 * w.detach()[0].numpy())


def test_embedding_renorms_the_rows_it_uses() -> None:
    w = table().detach()
    version = w._version
    y = ad.nn.functional.embedding(ad.tensor([1, 1, 2]), w, max_norm=1.0)
    np.testing.assert_allclose(y.norm(dim=1).numpy(), 1.0, rtol=1e-6)
    assert w._version > version and w[3].tolist() == [6.0, 7.0] and y[0].tolist() == w[1].tolist()


def test_vmap_over_tables() -> None:
    w = ad.tensor(np.random.default_rng(0).normal(size=(3, 4, 2)))
    index = ad.tensor(INDEX)
    f = lambda w: ad.nn.functional.embedding(index, w, 0) * 2  # noqa: E731
    assert ad.vmap(f)(w).tolist() == ad.stack([f(q) for q in w]).tolist()
    g = ad.func.grad(lambda w: f(w).sin().sum())
    np.testing.assert_allclose(ad.vmap(g)(w).numpy(), ad.stack([g(q) for q in w]).numpy())


def test_positions_are_whole_numbers():
    assert ad.sparse_coo_tensor(ad.zeros(1, 1), ad.ones(1)).to_dense().tolist() == [1]
    with pytest.raises(TypeError, match="indices must be whole numbers"):
        ad.sparse_coo_tensor(ad.full((1, 1), 0.5), ad.ones(1))


def test_one_position_is_in_order() -> None:
    assert ad.sparse_coo_tensor([[1]], [2.0], (3,)).is_coalesced()
    assert not ad.sparse_coo_tensor([[1, 1]], [2.0, 3.0], (3,)).is_coalesced()


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cat_and_slices(dim):
    a, b = ad.tensor([[0.0, 1.0], [2.0, 0.0]]), ad.tensor([[3.0, 0.0], [0.0, 4.0]], dtype=ad.float64)
    joined = ad.cat([a.to_sparse(), b.to_sparse(), a.to_sparse()], dim)
    assert joined.is_sparse and joined.dtype == ad.float64 and ad.equal(joined.to_dense(), ad.cat([a, b, a], dim))
    hybrid = ad.arange(24.0).view(2, 4, 3)
    for places in ((slice(None), slice(1, 4, 2)), (slice(1, 2),), (slice(None), slice(None), slice(1, 3)), (slice(0, 0),)):
        assert ad.equal(hybrid.to_sparse(2)[places].to_dense(), hybrid[places])
    assert ad.equal(
        ad.cat([hybrid.to_sparse(1), hybrid.to_sparse(1)[..., :2]], 2).to_dense(), ad.cat([hybrid, hybrid[..., :2]], 2)
    )
    x = a.clone().requires_grad_()
    weight = ad.arange(8.0).view(ad.cat([a, b.float()], dim).shape)
    (ad.cat([x.to_sparse(), b.float().to_sparse()], dim).to_dense() * weight).sum().backward()
    y = a.clone().requires_grad_()
    (ad.cat([y, b.float()], dim) * weight).sum().backward()
    assert ad.equal(x.grad, y.grad * (a != 0))  # of what is stored
    with pytest.raises(ValueError, match="cat: sparse and dense"):
        ad.cat([a.to_sparse(), a], dim)
    with pytest.raises(ValueError, match="expected 2 sparse dimensions in all, got 1"):
        ad.cat([a.to_sparse(), a.to_sparse(1)], dim)


def test_dimensions_of_size_one():
    x = ad.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]])
    hybrid = ad.arange(6.0).view(2, 1, 3)
    for dim in range(-3, 3):
        wider = x.to_sparse().unsqueeze(dim)
        assert (
            wider.is_coalesced() and ad.equal(wider.to_dense(), x.unsqueeze(dim)) and ad.equal(wider.squeeze(dim).to_dense(), x)
        )
    assert hybrid.to_sparse(1).unsqueeze(0).sparse_dim() == 2 and hybrid.to_sparse(1).unsqueeze(0).dense_dim() == 2
    assert ad.equal(hybrid.to_sparse(1).unsqueeze(3).to_dense(), hybrid.unsqueeze(3))
    assert ad.equal(ad.stack([x.to_sparse(), x.to_sparse()]).to_dense(), ad.stack([x, x]))
    assert ad.equal(x.to_sparse().view(3, 2).to_dense(), x.view(3, 2))
    with pytest.raises(NotImplementedError, match="view: elements of sparse and of dense dimensions"):
        hybrid.to_sparse(1).view(3, 2)


def test_sizes_change_in_place() -> None:
    x = ad.sparse_coo_tensor([[0, 1], [1, 0]], [[1.0], [2.0]], (2, 2, 1)).coalesce()
    version = x._version
    assert x.sparse_resize_((3, 2, 2), 2, 1) is x and x.shape == (3, 2, 2) and x.is_coalesced() and x._version > version
    assert x._values().tolist() == [[1.0, 0.0], [2.0, 0.0]] and x.to_dense()[0, 1].tolist() == [1.0, 0.0]
    for size, sparse_dim, dense_dim in (((1, 2, 2), 2, 1), ((3, 2, 2), 1, 2), ((3, 2), 2, 1)):
        with pytest.raises(RuntimeError, match="sparse_resize_: "):
            x.sparse_resize_(size, sparse_dim, dense_dim)
    assert x.sparse_resize_and_clear_((4, 3), 1, 1) is x and (x._nnz(), x._values().shape) == (0, (0, 3))
    assert x.sparse_resize_((2, 2), 2, 0).sparse_dim() == 2  # of nothing every form can be made
    with pytest.raises(NotImplementedError, match="layout sparse_coo"):
        ad.ones(2).sparse_resize_((3,), 1, 0)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        sparse(requires_grad=True).sparse_resize_((4, 4), 2, 0)


def test_order_is_promised() -> None:
    x = ad.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2))
    assert x._coalesced_(True) is x and x.is_coalesced() and x.indices().tolist() == [[0, 1], [1, 0]]
    assert not x._coalesced_(False).is_coalesced()
    y = sparse(requires_grad=True)
    twice = (y * 2)._coalesced_(True)
    twice.to_dense().sum().backward()
    assert y.grad._values().tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("size", [(), (4,), (1, 4), (3, 1), (3, 4)])
def test_copies_of_sparse_tensors_broadcast(size):
    y = ad.arange(1.0, 1 + math.prod(size)).reshape(size)
    x = ad.zeros(3, 4)
    x.copy_(y.to_sparse())
    assert ad.equal(x, y.expand(3, 4))
    x.t().copy_(ad.full((3,), 5.0).to_sparse())
    assert ad.equal(x, ad.full((3, 4), 5.0))


@pytest.mark.parametrize("name", ["signbit", "isposinf", "isneginf"])
@pytest.mark.parametrize("layout", [ad.sparse_coo, ad.sparse_csr, ad.sparse_csc])
def test_signs_and_infinities(name: str, layout: Any) -> None:
    for dtype in (ad.float32, ad.int64, ad.bool):
        x = ad.tensor([[0.0, -math.inf, 2.0], [math.inf, -1.0, 0.0]]).to(dtype)
        y = getattr(ad, name)(x.to_sparse(layout=layout))
        assert y.layout is layout and y.to_dense().equal(getattr(ad, name)(x))
