"""Compressed sparse layouts: they hold what the dense tensor does, through operations, gradients, files and copies."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import adjoint as ad

LAYOUTS = {"sparse_csr": None, "sparse_csc": None, "sparse_bsr": (1, 3), "sparse_bsc": (2, 1)}
DENSE = [[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]]
each_layout = pytest.mark.parametrize("name", LAYOUTS)


def compressed(name: str, x: Any = None) -> Any:
    x = ad.tensor(DENSE, dtype=ad.float64) if x is None else x
    return x.to_sparse(layout=getattr(ad, name), blocksize=LAYOUTS[name])


def parts(x: Any) -> tuple[Any, Any, Any]:
    by_columns = x.layout in (ad.sparse_csc, ad.sparse_bsc)
    return (x.ccol_indices(), x.row_indices(), x.values()) if by_columns else (x.crow_indices(), x.col_indices(), x.values())


@st.composite
def matrices(draw: Any) -> tuple[np.ndarray, tuple[int, int], int]:
    block = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    rows, columns = (draw(st.integers(0, 3)) * n for n in block)
    dense = draw(st.integers(0, 2))
    values = draw(arrays.arrays(np.float64, (rows, columns, *[2] * dense), elements=st.sampled_from([0.0, 0.0, 1.0, 2.0])))
    return values, block, dense


@settings(max_examples=60)
@given(matrices(), st.sampled_from(list(LAYOUTS)))
def test_made_of_its_parts_again(case: Any, name: str) -> None:
    values, block, dense = case
    layout = getattr(ad, name)
    x = ad.tensor(values).to_sparse(layout=layout, blocksize=block if name.startswith("sparse_b") else None, dense_dim=dense)
    assert (x.layout, x.shape, x.sparse_dim(), x.dense_dim()) == (layout, values.shape, 2, dense)
    np.testing.assert_array_equal(x.to_dense().numpy(), values)
    again = ad.sparse_compressed_tensor(*parts(x), x.shape, layout=layout)
    assert [p.tolist() for p in parts(again)] == [p.tolist() for p in parts(x)]
    np.testing.assert_array_equal(again.to_dense().numpy(), values)
    np.testing.assert_array_equal(again.to_sparse().to_dense().numpy(), values)


@each_layout
@pytest.mark.parametrize("other", LAYOUTS)
def test_conversions(name: str, other: str) -> None:
    x = compressed(other, compressed(name))
    assert x.layout is getattr(ad, other) and x.to_dense().tolist() == DENSE


def test_batches_have_values_each() -> None:
    x = ad.tensor([[[1.0, 0.0], [0.0, 2.0]], [[0.0, 3.0], [4.0, 0.0]]])
    for name in ("sparse_csr", "sparse_csc"):
        s = compressed(name, x)
        assert [p.shape for p in parts(s)] == [(2, 3), (2, 2), (2, 2)] and s._nnz() == 2
        assert (s + s).to_dense().tolist() == (x + x).tolist() and s[1].to_dense().tolist() == x[1].tolist()
        assert ad.sparse_compressed_tensor(*parts(s), layout=s.layout).to_dense().tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="same number of specified elements per batch"):
        ad.tensor([[[1.0, 0.0]], [[1.0, 1.0]]]).to_sparse_csr()


OPERATIONS: dict[str, tuple[Callable[[Any], Any], str | None]] = {
    "neg": (lambda s: -s, "same"),
    "sin": (lambda s: s.sin(), "same"),
    "times": (lambda s: s * 3, "same"),
    "half": (lambda s: s / 2, "same"),
    "add": (lambda s: s + s, "same"),
    "add others": (lambda s: s + (s * 0).to_sparse(), "sparse_csr"),
    "product": (lambda s: s * s, "same"),
    "dense product": (lambda s: s * (ad.ones_like(s.to_dense()) * 3), "same"),
    "transpose": (lambda s: s.t(), "flipped"),
    "clone": (lambda s: s.clone(), "same"),
    "to": (lambda s: s.to(ad.float32).to(ad.float64), "same"),
    "masked": (lambda s: (s * s).sparse_mask(s), "same"),
    "select": (lambda s: s[1], "sparse_coo"),
    "sum": (lambda s: s.sum(), "strided"),
    "rows": (lambda s: s.sum(1, keepdim=True), "sparse_csr"),
    "plus dense": (lambda s: s + ad.ones_like(s.to_dense()), "strided"),
    "by dense": (lambda s: s @ ad.ones(3, 2, dtype=ad.float64), "strided"),
    "of dense": (lambda s: ad.ones(2, 2, dtype=ad.float64) @ s, "strided"),
    "by vector": (lambda s: s @ ad.ones(3, dtype=ad.float64), "strided"),
    "by sparse": (lambda s: s @ s.t(), "sparse_csr"),
}
FLIPPED = {"sparse_csr": "sparse_csc", "sparse_csc": "sparse_csr", "sparse_bsr": "sparse_bsc", "sparse_bsc": "sparse_bsr"}


def strided(x: Any) -> Any:
    return x if x.layout is ad.strided else x.to_dense()


@each_layout
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations(operation: str, name: str) -> None:
    f, wanted = OPERATIONS[operation]
    got = f(compressed(name))
    coordinates = ad.tensor(DENSE, dtype=ad.float64).to_sparse()
    assert strided(got).tolist() == strided(f(coordinates)).tolist()
    assert got.layout is getattr(ad, {"same": name, "flipped": FLIPPED[name]}.get(wanted or "", wanted or ""))


@each_layout
def test_gradients_flow_to_the_values(name: str) -> None:
    x = compressed(name)
    of, by, values = parts(x)
    weights = ad.tensor([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]], dtype=ad.float64, requires_grad=True)

    def f(v: Any, w: Any) -> Any:
        return ad.sparse_compressed_tensor(of, by, v, (2, 3), layout=x.layout) @ w

    assert ad.autograd.gradcheck(f, (values.clone().requires_grad_(), weights), check_forward_ad=True)
    assert ad.autograd.gradgradcheck(f, (values.clone().requires_grad_(), weights))


@each_layout
@pytest.mark.parametrize(
    "f", [lambda s: s.to_dense().square().sum(), lambda s: s.values().square().sum(), lambda s: (s * s).sum(),
          lambda s: ad.sparse.mm(s, ad.ones(3, 1, dtype=ad.float64)).square().sum(), lambda s: s.to_sparse().to_dense().square().sum()],
)  # fmt: skip
def test_gradients_have_the_layout(f: Callable[[Any], Any], name: str) -> None:
    s = compressed(name).requires_grad_()
    f(s).backward()
    assert s.grad.layout is s.layout and s.grad.values().shape == s.values().shape
    step = 1e-6
    t = compressed(name).requires_grad_()
    moved = ad.sparse_compressed_tensor(*parts(t)[:2], t.values().detach() + step, (2, 3), layout=t.layout)
    assert abs((f(moved) - f(t)).item() / step - s.grad.sum().item()) < 1e-4


@each_layout
@pytest.mark.parametrize("masked", [False, True])
def test_gradcheck_takes_them(masked: bool, name: str) -> None:
    s = compressed(name).requires_grad_()

    def f(x: Any) -> Any:
        return (x * 2).to_dense(masked_grad=masked).square() + ad.sparse.mm(x, ad.ones(3, 3, dtype=ad.float64)) * masked

    assert ad.autograd.gradcheck(f, s, masked=masked)


@each_layout
def test_gradient_of_the_dense_tensor(name: str) -> None:
    x = ad.tensor(DENSE, dtype=ad.float64, requires_grad=True)
    (compressed(name, x) @ ad.ones(3, 2, dtype=ad.float64)).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [[2.0] * 3] * 2


@each_layout
def test_copies_files_and_pickles(name: str) -> None:
    x = compressed(name).requires_grad_()
    file = io.BytesIO()
    ad.save({"x": x}, file)
    file.seek(0)
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), ad.load(file)["x"]):
        assert y.layout is x.layout and [p.tolist() for p in parts(y)] == [p.tolist() for p in parts(x)]
    assert copy.deepcopy(x).requires_grad and pickle.loads(pickle.dumps(x)).requires_grad


def test_int32_indices_stay() -> None:
    x = ad.sparse_csr_tensor(ad.tensor([0, 1, 3], dtype=ad.int32), ad.tensor([1, 0, 2], dtype=ad.int32), [1.0, 2.0, 3.0])
    for y in (x, x * 2, x.t(), pickle.loads(pickle.dumps(x))):
        assert {p.dtype for p in parts(y)[:2]} == {ad.int32}


def test_order_and_repeats_within_a_row() -> None:
    x = ad.sparse_csr_tensor([0, 3, 4], [2, 0, 2, 1], [1.0, 2.0, 3.0, 4.0], (2, 3))
    assert x.col_indices().tolist() == [0, 2, 1] and x.values().tolist() == [2.0, 4.0, 4.0]


def test_repr() -> None:
    assert repr(compressed("sparse_csc").float()) == (
        "tensor(ccol_indices=tensor([0, 1, 2, 3]),\n       row_indices=tensor([1, 0, 1]),\n"
        "       values=tensor([2., 1., 3.]), size=(2, 3), nnz=3,\n       layout=adjoint.sparse_csc)"
    )


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (([0, 1], [1, 0, 2], [1.0, 2.0, 3.0]), ad.ShapeError, "begin with 0 and end with nnz, 3"),
        (([1, 1, 3], [1, 0, 2], [1.0, 2.0, 3.0]), ad.ShapeError, "begin with 0"),
        (([0, 2, 1, 3], [1, 0, 2], [1.0, 2.0, 3.0]), ad.ShapeError, "must not descend"),
        (([0, 1, 3], [1, 0, 5], [1.0, 2.0, 3.0], (2, 3)), IndexError, r"lie in \[0, 3\), got 0 to 5"),
        (([0, 1, 3], [1, 0, -1], [1.0, 2.0, 3.0]), IndexError, "got -1 to 1"),
        (([0, 1, 3], [1, 0, 2], [1.0, 2.0]), ad.ShapeError, "same batches and nnz"),
        (([0, 1, 3], [1, 0, 2], [1.0, 2.0, 3.0], (4, 3)), ad.ShapeError, "must be 5"),
        (([0, 1, 3], [1, 0, 2], [1.0, 2.0, 3.0], (2, 3, 4)), ad.ShapeError, "size must be"),
        (([0.0, 1.0], [1], [1.0]), TypeError, "int32 or int64"),
        ((0, 1, 2.0), ad.ShapeError, "must have a dimension at least"),
    ],
)
def test_bad_construction(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        ad.sparse_csr_tensor(*arguments)


def test_bad_conversion() -> None:
    with pytest.raises(ad.ShapeError, match=r"divisible by given blocksize \(2,2\)"):
        ad.ones(2, 3).to_sparse_bsr((2, 2))
    for given_size in ((0, 1), (1,), 2, (1.0, 2.0)):
        with pytest.raises(RuntimeError, match="blocksize must be two positive integers"):
            ad.ones(2, 3).to_sparse_bsr(given_size)
    with pytest.raises(RuntimeError, match="without blocksize"):
        ad.ones(2, 3).to_sparse(layout=ad.sparse_bsr)
    with pytest.raises(RuntimeError, match="crow_indices: expected a tensor of layout"):
        compressed("sparse_csc").crow_indices()
    with pytest.raises(ad.ShapeError, match="a matrix is needed"):
        ad.ones(2).to_sparse_csr()
    with pytest.raises(NotImplementedError, match="exp: not supported for a tensor of layout sparse_csr"):
        compressed("sparse_csr").exp()


def test_without_values() -> None:
    for make in (ad.zeros, ad.empty):
        for layout in (ad.sparse_coo, ad.sparse_csr, ad.sparse_csc):
            x = make(2, 10**6, layout=layout, dtype=ad.float64)
            assert (x.layout, x.dtype, x._nnz(), x.shape) == (layout, ad.float64, 0, (2, 10**6))
    assert ad.zeros(2, layout=ad.strided).tolist() == [0.0, 0.0] and ad.zeros_like(compressed("sparse_csr"))._nnz() == 0


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_softmax(dim: int) -> None:
    x = ad.tensor([[[1.0, 2.0], [0.0, 0.0]], [[3.0, 4.0], [-1.0, 5.0]]], dtype=ad.float64)
    there = (x != 0).any(2, keepdim=True)
    wanted = x.masked_fill(~there, -ad.inf).softmax(dim).nan_to_num() * there
    got = ad.sparse.softmax(x.to_sparse(2), dim).to_dense()
    assert ad.allclose(got, wanted)
    logarithm = ad.sparse.log_softmax(x.to_sparse(2), dim)
    assert ad.allclose(logarithm.values().exp(), ad.sparse.softmax(x.to_sparse(2), dim).values())
    assert ad.autograd.gradcheck(
        lambda v: ad.sparse.softmax(ad.sparse_coo_tensor(x.to_sparse(2).indices(), v, x.shape), dim).values(),
        x.to_sparse(2).values().requires_grad_(),
    )


def test_sampled_addmm() -> None:
    s, a, b = (
        compressed("sparse_csr"),
        ad.arange(8.0, dtype=ad.float64).view(2, 4),
        ad.arange(12.0, dtype=ad.float64).view(4, 3),
    )
    got = ad.sparse.sampled_addmm(s, a, b, beta=2.0, alpha=0.5)
    assert got.layout is ad.sparse_csr
    assert got.to_dense().tolist() == ((2 * s.to_dense() + 0.5 * (a @ b)) * (s.to_dense() != 0)).tolist()
    with pytest.raises(ad.ShapeError, match=r"expected shapes \(n, m\), \(n, k\) and \(k, m\)"):
        ad.sparse.sampled_addmm(s, a, a)
    with pytest.raises(RuntimeError, match="expected input of layout sparse_csr"):
        ad.sparse.sampled_addmm(s.to_sparse(), a, b)


def test_spdiags() -> None:
    diagonals = ad.arange(9.0).view(3, 3)
    got = ad.sparse.spdiags(diagonals, ad.tensor([0, -1, 2]), (4, 3), layout=ad.sparse_csr)
    assert got.layout is ad.sparse_csr
    assert got.to_dense().tolist() == [[0.0, 0.0, 8.0], [3.0, 1.0, 0.0], [0.0, 4.0, 2.0], [0.0, 0.0, 5.0]]
    with pytest.raises(ValueError, match="k different offsets"):
        ad.sparse.spdiags(diagonals, ad.tensor([0, 0, 1]), (3, 3))
