"""What Python's own words do with tensors: operators, sequences as data and as positions, names of arguments."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

x = ad.arange(6).view(2, 3)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: x @ 2, TypeError),
        (lambda: 2.5 @ x, TypeError),
        (lambda: operator.imatmul(x, True), TypeError),
        (lambda: pow(x, 2, 3), TypeError),
        (lambda: ~ad.ones(2), TypeError),
        (lambda: +ad.tensor([True]), RuntimeError),
        (lambda: ad.tensor("a"), TypeError),
        (lambda: ad.tensor([None]), RuntimeError),
        (lambda: ad.tensor(None, dtype=ad.float32), TypeError),
        (lambda: x.to("foo"), RuntimeError),
        (lambda: ad.device("cuda:0", 0), RuntimeError),
        (lambda: ad.finfo("float32"), TypeError),
    ],
)
def test_what_python_expects_of_errors(call: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_other_sequences_are_data() -> None:
    class Pair:
        def __len__(self) -> int:
            return 2

        def __getitem__(self, i: int) -> int:
            return (7, 8)[i]

    assert ad.tensor([range(2), range(1, 3)]).tolist() == [[0, 1], [1, 2]]
    assert ad.tensor([[1, 2], Pair()], dtype=ad.float32).tolist() == [[1, 2], [7, 8]]
    assert ad.tensor([[Pair()], [range(2)]]).shape == (2, 1, 2)
    with pytest.raises(ValueError, match="expected sequence of length 2"):
        ad.tensor([range(2), range(3)])


@pytest.mark.parametrize("at", [[1.0, 0.0], np.array([1.0, 0.0]), np.array([1.7, 0.2]), np.array([1 + 0j, 0])])
def test_numbers_of_any_type_are_positions_in_lists_and_arrays(at: Any) -> None:
    assert x[at].equal(x[[1, 0]])
    assert x[:, at].equal(x[:, [1, 0]])
    y = x.clone()
    y[at] = 9
    assert (y == 9).all()
    with pytest.raises(IndexError):
        x[ad.tensor(np.real(at).tolist())]


def test_an_empty_array_is_no_position() -> None:
    assert x[np.array([])].shape == (0, 3) and x[0, np.array([])].shape == (0,)


@pytest.mark.parametrize("dtype", [ad.float32, ad.int64, ad.uint8, ad.float16])
def test_one_element_of_another_type_fills_where_a_mask_is_true(dtype: ad.dtype) -> None:
    mask = ad.tensor([[True, False, True], [False, True, False]])
    for value in (ad.tensor(2), ad.tensor([2.0]), ad.tensor([[2.0]], dtype=ad.float64)):
        y = x.to(dtype)
        y[mask] = value
        assert y.equal(x.to(dtype).masked_fill(mask, 2)) and y.dtype is dtype
        y[:, mask[1]] = value
        assert (y[:, 1] == 2).all()
    for wrong in (
        lambda: y.index_put_((mask,), ad.tensor(2j)),
        lambda: y.index_put_((ad.tensor([0]),), ad.tensor(1, dtype=ad.int16)),
    ):
        with pytest.raises(RuntimeError, match="dtypes match"):
            wrong()


def test_names_of_arguments_of_methods() -> None:
    y = ad.ones(4, 4, 4)
    for split in (y.hsplit, y.vsplit, y.dsplit):
        assert len(split(sections=2)) == len(split(indices=[1])) == 2
    assert y.sum_to_size(size=(1, 4, 1)).shape == (1, 4, 1)
    assert ad.ones(4).resize_(size=(2, 2)).shape == (2, 2)
    assert ad.tensor([2, 1]).sort(stable=None).values.tolist() == ad.sort(ad.tensor([2, 1]), stable=None).values.tolist()
    assert ad.eye(2).matrix_exp().equal(ad.matrix_exp(input=ad.eye(2)))


def test_limits_of_one_type_are_equal() -> None:
    assert ad.finfo(ad.float32) == ad.finfo() != ad.finfo(ad.float64)
    assert len({ad.iinfo(ad.int8), ad.iinfo(ad.int8)}) == 1


class Endless:
    """Each element is another one."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, at: int) -> Endless:
        return Endless()


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@pytest.mark.parametrize("made", [lambda x: ad.tensor([x]), lambda x: ad.as_tensor(x), lambda x: ad.ones(3)[[x]]])
def test_sequences_without_end_are_refused(made) -> None:
    for x in (Endless(), collections.UserString("ab")):
        with pytest.raises((ValueError, TypeError), match="too many dimensions"):
            made(x)
    for x in ({1: 2}, b"ab"):
        with pytest.raises((RuntimeError, TypeError)):
            ad.tensor([x])


@pytest.mark.parametrize(
    "call",
    [
        lambda n: ad.full((), n),
        lambda n: ad.full_like(x, n),
        lambda n: x.new_full((2,), n),
        lambda n: ad.arange(n),
        lambda n: x.add(x, alpha=n),
        lambda n: ad.tensor(n, dtype=ad.float32),
    ],
)
def test_numbers_beyond_every_type_overflow(call: Callable[[int], Any]) -> None:
    with pytest.raises(OverflowError):
        call(10**400)


@pytest.mark.parametrize(
    "made",
    [
        lambda t: ad.zeros(1, dtype=t),
        lambda t: ad.hann_window(3, dtype=t),
        lambda t: ad.fft.fftfreq(3, dtype=t),
        lambda t: ad.frombuffer(bytearray(8), dtype=t),
        lambda t: ad.nn.Linear(1, 1).to(t).weight,
        lambda t: ad.nn.Linear(1, 1).to("cpu", dtype=t).weight,
    ],
)
def test_float_is_a_type_of_double_precision(made: Callable[[Any], Any]) -> None:
    assert made(float).dtype is ad.float64


@pytest.mark.parametrize(
    ("apart", "together"),
    [
        (lambda t: t.squeeze(0, 2), lambda t: t.squeeze((0, 2))),
        (lambda t: t.broadcast_to(2, 4, 1), lambda t: t.broadcast_to((2, 4, 1))),
        (lambda t: t.hsplit(1, 3), lambda t: t.hsplit([1, 3])),
        (lambda t: t.mT.dsplit(2, 3), lambda t: t.mT.dsplit([2, 3])),
        (lambda t: t.vsplit(0, 1), lambda t: t.vsplit([0, 1])),
    ],
)
def test_numbers_apart_mean_a_sequence_in_methods(apart: Callable[[Any], Any], together: Callable[[Any], Any]) -> None:
    t = ad.arange(4.0).view(1, 4, 1)
    ad.testing.assert_close(apart(t), together(t), rtol=0, atol=0)


eye = ad.eye(2)
NAMED = {
    "linalg.cholesky": {"input": eye}, "linalg.eigvals": {"input": eye}, "linalg.vector_norm": {"input": eye},
    "linalg.householder_product": {"input": eye, "tau": eye[0]}, "special.airy_ai": {"x": eye}, "special.scaled_modified_bessel_k0": {"x": eye},
    "nn.functional.one_hot": {"input": eye.long()}, "cholesky_solve": {"input": eye, "input2": eye}, "ldexp": {"input": eye, "x2": eye},
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_arguments_by_the_names_that_pytorch_takes_besides(name: str) -> None:
    call = operator.attrgetter(name)(ad)
    ad.testing.assert_close(call(**NAMED[name]), call(*NAMED[name].values()), rtol=0, atol=0)
