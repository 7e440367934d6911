"""Arguments that come as tensors, numbers or sequences, and what is said of those that do not fit."""

import numpy as np
import pytest

import adjoint as ad


@pytest.mark.parametrize("n", [1, 5, 10])
@pytest.mark.parametrize("where", [1, 3, 12, [0, 3], [3, 1], [-2], [7, 30], []])
def test_tensor_split_is_numpys_array_split(n: int, where: int | list[int]) -> None:
    a = np.arange(n * 2).reshape(n, 2)
    expected = [p.tolist() for p in np.array_split(a, where)]
    given = ad.tensor(where, dtype=ad.int64)
    for pieces in (ad.tensor_split(ad.from_numpy(a), where), ad.from_numpy(a).tensor_split(given)):
        assert [p.tolist() for p in pieces] == expected


def test_many_pieces() -> None:
    x = ad.arange(200_001)
    for pieces in (x.split(2), x.chunk(100_001), ad.tensor_split(x, 100_001)):  # in linear time, or this takes minutes
        assert len(pieces) == 100_001 and ad.equal(ad.cat(pieces), x)


def test_tensor_split_refuses() -> None:
    x = ad.ones(4)
    assert len(ad.tensor_split(x, sections=2)) == len(ad.tensor_split(x, indices=(1,))) == 2
    for call, message in (
        (lambda: ad.ones(()).tensor_split(1), "at least a 1-dimensional"),
        (lambda: x.tensor_split(0), "must be larger than 0, got 0"),
        (lambda: x.tensor_split(ad.tensor([1.0])), "dtype of long"),
        (lambda: x.tensor_split(ad.tensor([[1]])), "zero-dimensional or one-dimensional"),
        (lambda: x.narrow(0, ad.tensor(0.0), 1), "0-dim integral"),
        (lambda: x.narrow(0, ad.tensor([0]), 1), "0-dim integral"),
        (lambda: ad.broadcast_shapes((1,), (-1,)), "negative dimension"),
        (lambda: ad.take_along_dim(x, ad.zeros(1, dtype=ad.int32), 0), "should be Long"),
        (lambda: ad.empty(2**61 - 1, dtype=ad.float64), "Storage size calculation overflowed"),
    ):
        with pytest.raises(RuntimeError, match=message):
            call()


@pytest.mark.parametrize(
    ("indices", "shape", "error"),
    [(0.5, (2, 2), TypeError), (1, ad.tensor([2]), TypeError), (1, (1, 2.0), TypeError), (1, (1, -2), ValueError)],
)
def test_unravel_index_refuses(indices: float, shape: object, error: type) -> None:
    with pytest.raises(error):
        ad.unravel_index(ad.tensor(indices), shape)


def test_types_of_numbers_and_of_alpha() -> None:
    assert ad.result_type(1.0, 1) is ad.float32 and ad.result_type(True, False) is ad.bool
    assert ad.result_type(ad.tensor(1), 2.0) is ad.float32 and ad.result_type(1j, 1) is ad.complex64
    x = ad.ones(2, dtype=ad.int32)
    assert ad.add(x > 0, x > 0, alpha=True).dtype is ad.bool
    for call, message in (
        (lambda: ad.add(x, x, alpha=1.5), "must not be a floating point"),
        (lambda: x.sub_(x, alpha=1.5), "must not be a floating point"),
        (lambda: ad.rsub(x, x, alpha=1.5), "must not be a floating point"),
        (lambda: ad.add(x, x, alpha=True), "Boolean alpha"),
        (lambda: ad.add(x.double(), x.double(), alpha=1j), "must not be a complex"),
        (lambda: ad.addcdiv(x, x, x), "^Integer division"),
    ):
        with pytest.raises(RuntimeError, match=message):
            call()


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_second_derivative_of_products_at_zeros(zeros: int) -> None:
    source = ad.tensor([0.0] * zeros + [2.0, 3.0, 1.5][zeros:] + [0.5], dtype=ad.float64, requires_grad=True)
    x = ad.tensor([0.7, 0.3], dtype=ad.float64, requires_grad=True)
    index = ad.tensor([0, 0, 0, 1])
    for product in (ad.scatter_reduce, ad.index_reduce):
        assert ad.autograd.gradgradcheck(lambda x, s, f=product: f(x, 0, index, s, "prod"), (x, source))


@pytest.mark.parametrize("n", [2**24 + 1, 2**31, 2**32, 2**60 + 3, 2**63 - 1])
def test_chunks_of_nothing_are_not_endless(n: int) -> None:
    assert len(ad.chunk(ad.ones(2, 0), 5, 1)) == 5
    with pytest.raises(RuntimeError, match="at most 2"):
        ad.chunk(ad.ones(2, 0), n, 1)
