"""Products with sparse matrices whose rows are reduced otherwise than by a sum."""

from __future__ import annotations

import pytest

import adjoint as ad


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin"])
def test_rows_of_a_product_are_reduced(reduce: str) -> None:
    values = ad.tensor([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0], [3.0, 0.0, 4.0]], dtype=ad.float64)
    b = ad.tensor([[1.0, -2.0], [3.0, 4.0], [-5.0, 6.0]], dtype=ad.float64, requires_grad=True)
    products = [values[i, values[i] != 0, None] * b[values[i] != 0] for i in range(3)]
    expected = ad.stack([getattr(p, reduce)(0) if len(p) else b.new_zeros(2) for p in products])
    for x in (values.to_sparse_csr(), values.to_sparse()):
        y = ad.sparse.mm(x, b, reduce)
        ad.testing.assert_close(y, expected)
        ad.testing.assert_close(ad.autograd.grad(y.sum(), b), ad.autograd.grad(expected.sum(), b, retain_graph=True))
    x = values.to_sparse_csr().requires_grad_()
    found = ad.autograd.grad(ad.sparse.mm(x, b, reduce=reduce).sum(), x)[0].to_dense()
    assert found[1].tolist() == [0.0] * 3 and (found[0, 0], found[2, 1]) == (0.0, 0.0) and bool((found[0, 1:] != 0).all())


def test_reductions_of_products_that_are_none() -> None:
    x = ad.eye(2).to_sparse_csr()
    with pytest.raises(RuntimeError, match="one of sum, mean, amax, amin, got 'prod'"):
        ad.sparse.mm(x, ad.ones(2, 2), "prod")
    with pytest.raises(RuntimeError, match="only the first matrix is sparse"):
        ad.sparse.mm(x, x, "mean")
    with pytest.raises(RuntimeError, match=r"got shapes \[2, 2\] and \[3, 2\]"):
        ad.sparse.mm(x, ad.ones(3, 2), "mean")
