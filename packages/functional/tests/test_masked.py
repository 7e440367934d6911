"""`masked` functions beside the same function of the elements that a mask names."""

import pytest

import adjoint as ad

X = ad.tensor([[3.0, 1.0, 2.0, 5.0], [4.0, 9.0, 7.0, 6.0], [1.0, 1.0, 1.0, 1.0]], dtype=ad.float64)
M = ad.tensor([[True, False, True, True], [False, True, True, False], [False, False, False, False]])
OF_NONE = {"sum": 0, "prod": 1, "amax": -float("inf"), "amin": float("inf"), "logsumexp": -float("inf")}
REDUCTIONS = {
    "sum": ad.sum,
    "prod": ad.prod,
    "amax": ad.amax,
    "amin": ad.amin,
    "mean": ad.mean,
    "var": ad.var,
    "std": ad.std,
    "median": ad.median,
    "norm": ad.linalg.vector_norm,
    "logsumexp": lambda x: ad.logsumexp(x, 0),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    x = X.clone().requires_grad_()
    y = getattr(ad.masked, name)(x, dim=1, mask=M)
    z = X.clone().requires_grad_()
    for row in range(2):
        expected = REDUCTIONS[name](z[row][M[row]])
        ad.testing.assert_close(y[row], expected)
        expected.backward()
    if name in OF_NONE:
        assert y[2].item() == OF_NONE[name]
    y[:2].sum().backward()
    ad.testing.assert_close(x.grad, z.grad)
    whole = getattr(ad.masked, name)(X, mask=M) if name != "median" else None
    assert whole is None or whole.shape == ()


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
def test_rows_that_sum_to_one(name):
    y = getattr(ad.masked, name)(X, 1, mask=M)
    plain = getattr(ad.nn.functional, name)
    for row in range(2):
        ad.testing.assert_close(y[row][M[row]], plain(X[row][M[row]], 0))
    assert (y[0, 1] == (-float("inf") if name == "log_softmax" else 0)).item()


def test_scans_and_positions():
    assert ad.masked.cumsum(X, 1, mask=M)[0].tolist() == [3, 3, 5, 10]
    assert ad.masked.cumprod(X, 1, mask=M)[0].tolist() == [3, 3, 6, 30]
    assert ad.masked.argmax(X, 1, mask=M).tolist()[:2] == [3, 1]
    assert ad.masked.argmin(X, 1, mask=M).tolist()[:2] == [2, 2]
    ad.testing.assert_close(ad.masked.normalize(X, 2.0, 1, mask=M)[0, 1], ad.tensor(0.0, dtype=ad.float64))
    ad.testing.assert_close(ad.masked.logaddexp(X, X + 1, input_mask=M)[0, 1], X[0, 1] + 1)


def test_integers_and_bad_arguments():
    assert ad.masked.median(X.long(), 1, mask=M | (ad.arange(4) == 0)).tolist() == [3, 7, 1]
    with pytest.raises(ValueError, match="must not be masked out"):
        ad.masked.median(X.long(), 1, mask=M)
    with pytest.raises(ValueError, match="floating point or complex"):
        ad.masked.mean(X.long(), mask=M)
    with pytest.raises(IndexError, match="at most 2 dimensions"):
        ad.masked.sum(X, mask=M[None])


def test_medians_leave_nan_out() -> None:
    nan = float("nan")
    x = ad.tensor([[3.0, nan, 1.0], [nan, nan, nan], [1.0, 2.0, 3.0]])
    mask = ad.tensor([[True, True, False], [True, True, True], [False, False, False]])
    expected = {None: [1.0, nan, 2.0], mask: [3.0, nan, nan]}
    for given, medians in expected.items():
        ad.testing.assert_close(ad.masked.median(x, 1, mask=given), ad.tensor(medians), equal_nan=True)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "softmax", "log_softmax", "softmin", "median"])
def test_one_dimension_in_other_forms(name: str) -> None:
    x, f = ad.tensor([1.0, 3.0, 2.0]), getattr(ad.masked, name)
    assert f(x, (0,)).equal(f(x, 0)) and f(x, None).equal(f(x, 0))
