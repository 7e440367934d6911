"""Positions and dimensions that a tensor does not have, and numbers beyond those of a type."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import adjoint as ad

MISSED = [
    lambda x, at: x.gather(0, at), lambda x, at: x.scatter(0, at, 1.0), lambda x, at: x.scatter_add(0, at, ad.ones(1)),
    lambda x, at: x.scatter_(0, at, ad.ones(1)), lambda x, at: x.scatter_reduce(0, at, ad.ones(1), "amax"),
    lambda x, at: x.index_select(0, at), lambda x, at: x.index_add(0, at, ad.ones(1)), lambda x, at: x.index_copy(0, at, ad.ones(1)),
    lambda x, at: x.index_reduce(0, at, ad.ones(1), "mean"), lambda x, at: x.index_fill(0, at, 1.0), lambda x, at: x[at],
    lambda x, at: x.take(at), lambda x, at: x.take_along_dim(at, 0),
]  # fmt: skip


@pytest.mark.parametrize("rows", [0, 3])
@pytest.mark.parametrize("call", MISSED)
def test_positions(call: Callable[[ad.Tensor, ad.Tensor], ad.Tensor], rows: int) -> None:
    """Programs for PyTorch catch one error or the other."""
    for caught in (IndexError, RuntimeError, ad.OutOfRangeError):
        with pytest.raises(caught, match="out of bounds for dimension 0 with size"):
            call(ad.ones(rows), ad.tensor([3]))


def test_dimensions() -> None:
    with pytest.raises(IndexError, match="Dimension out of range"):
        ad.renorm(ad.ones(1, 3), 1, 2, 1.0)
    with pytest.raises(IndexError, match="stride: Dimension specified as 0 but tensor has no dimensions"):
        ad.ones(()).stride(0)
    with pytest.raises(RuntimeError, match="dim 0 appears multiple times"):
        ad.ones(1, 2).squeeze((0, -2))
    with pytest.raises(RuntimeError, match=r"Number of indices \(1\) should be equal to source.size"):
        ad.ones(3).index_reduce(0, ad.tensor([0]), ad.ones(3), "mean")


def test_counts() -> None:
    with pytest.raises(RuntimeError, match="'size' must be a non-negative integer, got -1"):
        ad.nonzero_static(ad.ones(2), size=-1)
    with pytest.raises(RuntimeError, match="p has to be greater than or equal to 1, got 0"):
        ad.mvlgamma(ad.ones(2), 0)


def test_wholes_beyond_int64() -> None:
    big = 2**64 - 1
    u = ad.tensor([big, 2**63], dtype=ad.uint64)
    assert u[0].item() == int(u[0]) == big
    assert u.tolist() == [big, 2**63]
    assert (u == big).tolist() == [True, False]
    assert ad.full((1,), 2**63, dtype=ad.uint64).item() == 2**63
    assert (ad.tensor([1.0], dtype=ad.float64) + 2**63).item() == 2.0**63
    assert (ad.tensor([1]) ^ 0xCBF29CE484222325).item() == (0xCBF29CE484222325 ^ 1) - 2**64  # operands wrap
    assert ad.tensor(2**70, dtype=ad.float64).item() == 2.0**70
    for refused in (lambda: ad.tensor(2**63), lambda: ad.tensor([2**64]), lambda: ad.tensor([-(2**63) - 1])):
        with pytest.raises(ValueError, match="without overflow|beyond 64 bits"):
            refused()
    with pytest.raises(OverflowError, match="too big"):
        u * 2**64
    for product in (lambda: ad.ones(2) @ 10**400, lambda: 10**400 @ ad.ones(2), lambda: ad.ones(2) @ 3):
        with pytest.raises(TypeError, match="unsupported operand"):
            product()
    with pytest.raises(RuntimeError, match="pow: value cannot be converted"):
        ad.tensor([2]) ** 2**63
    with pytest.raises(RuntimeError, match="arange: value cannot be converted"):
        ad.arange(2**63, 2**63 + 2)


def test_steps_that_vanish_as_whole_numbers() -> None:
    with pytest.raises(ValueError, match="arange: step must be nonzero, got 0.5"):
        ad.arange(0, 64, 0.5, dtype=ad.int64)


def test_numbers_beside_whole_tensors() -> None:
    x = ad.tensor([0, 2])
    assert ad.special.xlog1py(x, 0.5).tolist() == pytest.approx([0.0, 2 * math.log(1.5)])
    assert ad.special.xlog1py(x, -1).tolist() == [0.0, -math.inf]
    found = ad.special.xlog1py(x, -2).tolist()  # 0 times what is no number is 0 here
    assert found[0] == 0 and math.isnan(found[1])
    for number in (0.5, -1, -1.0):
        assert ad.special.xlog1py(x, number).dtype is ad.float32
        for dtype in (ad.float16, ad.float32, ad.float64):
            assert ad.special.xlog1py(x.to(dtype), number).dtype is dtype


def test_ldexp_promotes_and_keeps_the_range_of_its_type() -> None:
    x = ad.tensor([1.0], dtype=ad.float64)
    assert ad.ldexp(x, ad.tensor([200])).item() == 2.0**200
    assert ad.ldexp(ad.ones(1), x).dtype is ad.float64
    assert ad.ldexp(ad.ones(1, dtype=ad.float16), ad.tensor([1])).dtype is ad.float16


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hann", "kaiser"])
def test_windows_of_halves(name: str) -> None:
    window = getattr(ad, name + "_window")
    assert window(5, dtype=ad.bfloat16).equal(window(5, dtype=ad.float64).bfloat16())
    with pytest.raises(RuntimeError, match=f"{name}_window expects floating point dtypes, got: adjoint.int64"):
        window(5, dtype=ad.int64)


@pytest.mark.parametrize("half", [False, True])
def test_rows_are_counted_from_the_front(half: bool) -> None:
    table = ad.arange(6.0).reshape(2, 3)
    with pytest.raises(IndexError, match="embedding: index -1 is out of bounds for dimension 0 with size 2"):
        ad.nn.functional.embedding(ad.tensor([0, -1]), table.half() if half else table)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: ad.meshgrid(x, x, indexing="ij"), "meshgrid: Expected 0D or 1D tensors"),
        (ad.combinations, "combinations: expected a 1D vector"),
        (ad.vander, "vander: x must be a one-dimensional tensor"),
        (lambda x: ad.inner(x, ad.ones(2, 1)), "inner: the last dimension must match"),
        (lambda x: ad.channel_shuffle(x, 1), "channel_shuffle expects input with > 2 dims"),
        (lambda x: ad.repeat_interleave(x, 2, output_size=5), "repeat_interleave: Invalid output_size, expected 12 but got 5"),
        (lambda x: ad.repeat_interleave(x, ad.tensor([1, 2]), 0, output_size=5), "Invalid output_size, expected 3 but got 5"),
        (lambda x: ad.nn.functional.cosine_embedding_loss(x, x, ad.ones(())), "0D target tensor expects 1D input tensors"),
        (lambda x: ad.nn.functional.cosine_embedding_loss(x, x, x), "0D or 1D target tensor expected"),
    ],
)
def test_shapes(call: Callable[[ad.Tensor], ad.Tensor], text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        call(ad.ones(2, 3))


def test_dimensions_of_a_number() -> None:
    for call in (lambda x: x.flatten(-2), lambda x: ad.mode(x, 1)):
        with pytest.raises(IndexError, match="Dimension out of range"):
            call(ad.tensor(1.0))
    assert ad.tensor(1.0).flatten(-1).tolist() == [1.0]


def test_what_writes_and_scales() -> None:
    x = ad.ones(2)
    assert x.copy_(0.5).tolist() == [0.5, 0.5]
    assert ad.tensor([True, False]).add(ad.tensor([False, True]), alpha=2).tolist() == [True, True]
    with pytest.raises(ValueError, match="batch_norm: eps must be non-negative, but got -1"):
        ad.nn.functional.batch_norm(ad.ones(2, 3), ad.ones(3), ad.ones(3), eps=-1.0)


def test_rows_of_an_embedding_are_those_of_its_own_lane():
    weight = ad.arange(12.0).view(2, 3, 2)
    for index in (-1, 3):
        with pytest.raises(IndexError, match="out of bounds"):
            ad.vmap(lambda w: ad.nn.functional.embedding(ad.tensor([index]), w))(weight)
        with pytest.raises(IndexError, match="out of bounds"):
            ad.vmap(ad.nn.functional.embedding)(ad.tensor([[index], [0]]), weight)


def test_nothing_is_shortened_where_a_row_is_missing():
    weight = ad.full((3, 2), 5.0)
    for index in (-1, 3):
        with pytest.raises(IndexError):
            ad.nn.functional.embedding(ad.tensor([0, index]), weight, max_norm=1.0)
    assert weight.eq(5).all()
