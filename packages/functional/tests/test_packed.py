"""Packed sequences, and recurrent layers on them beside one sequence after the other."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import adjoint as ad

rnn = ad.nn.utils.rnn
LENGTHS = [2, 5, 1, 3, 5]


@pytest.mark.parametrize("first", [False, True])
def test_there_and_back(first: bool) -> None:
    sequences = [ad.randn(n, 2, 3, requires_grad=True) for n in LENGTHS]
    packed = rnn.pack_sequence(sequences, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [5, 4, 3, 2, 2] and packed.data.shape == (16, 2, 3)
    for x, y in zip(sequences, rnn.unpack_sequence(packed)):
        assert ad.equal(x, y)
    padded, lengths = rnn.pad_packed_sequence(packed, first, padding_value=-1.0, total_length=6)
    assert (
        lengths.tolist() == LENGTHS
        and padded.shape == ((5, 6, 2, 3) if first else (6, 5, 2, 3))
        and (padded == -1).sum() == 14 * 6
    )
    again = rnn.pack_padded_sequence(padded, lengths, first, enforce_sorted=False)
    assert ad.equal(again.data, packed.data) and packed.double().data.dtype is ad.float64 and not packed.is_cuda
    weights = ad.randn(16, 2, 3)
    (again.data * weights).sum().backward()
    assert ad.allclose(sum(x.grad.sum() for x in sequences), weights.sum(), atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "options"), [("RNN", {}), ("GRU", {}), ("LSTM", {}), ("LSTM", {"proj_size": 2}), ("RNN", {"bias": False})]
)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("given", [False, True])
def test_layers(kind: str, options: dict[str, Any], bidirectional: bool, given: bool) -> None:
    layer = getattr(ad.nn, kind)(3, 4, num_layers=2, bidirectional=bidirectional, dtype=ad.float64, **options)
    sequences = [ad.randn(n, 3, dtype=ad.float64, requires_grad=True) for n in LENGTHS]
    parts = [options.get("proj_size", 4), 4] if kind == "LSTM" else [4]
    states = [ad.randn(4 if bidirectional else 2, len(LENGTHS), n, dtype=ad.float64) for n in parts]
    whole = (tuple(states) if kind == "LSTM" else states[0]) if given else None
    packed, ends = layer(rnn.pack_sequence(sequences, enforce_sorted=False), whole)
    ends = ends if kind == "LSTM" else (ends,)
    total: Any = 0
    for k, (x, y) in enumerate(zip(sequences, rnn.unpack_sequence(packed))):
        one = (tuple(s[:, k] for s in states) if kind == "LSTM" else states[0][:, k]) if given else None
        expected, last = layer(x, one)
        assert ad.allclose(y, expected)
        for e, s in zip(ends, last if kind == "LSTM" else (last,)):
            assert ad.allclose(e[:, k], s)
        total = total + expected.sin().sum() + (last[0] if kind == "LSTM" else last).cos().sum()
    (packed.data.sin().sum() + ends[0].cos().sum()).backward()
    for x, g in zip(sequences, ad.autograd.grad(total, sequences)):
        assert ad.allclose(x.grad, g)


def test_sequences_in_order_stay_in_order() -> None:
    packed = rnn.pack_sequence([ad.ones(3, 2), ad.zeros(1, 2)])
    assert packed.sorted_indices is None and packed.unsorted_indices is None
    y, h = ad.nn.GRU(2, 4)(packed)
    assert isinstance(y, rnn.PackedSequence) and y.data.shape == (4, 4) and h.shape == (1, 2, 4)


def test_errors() -> None:
    x = ad.ones(3, 2, 4)
    for make, error, words in [
        (
            lambda: rnn.pack_padded_sequence(x, [1, 3]),
            RuntimeError,
            "must be sorted in decreasing order when `enforce_sorted` is True",
        ),
        (lambda: rnn.pack_padded_sequence(x, [3, 2, 1]), RuntimeError, "to be equal to batch_size, but got 3"),
        (lambda: rnn.pack_padded_sequence(x, [3, 0]), RuntimeError, "has to be greater than 0"),
        (lambda: rnn.pack_padded_sequence(x, [4, 1]), RuntimeError, "at most the number of steps 3, got 4"),
        (
            lambda: rnn.pack_padded_sequence(x, ad.tensor([[1, 1]])),
            RuntimeError,
            "should be a 1D CPU int64 tensor, but got 2D cpu Long",
        ),
        (lambda: rnn.pack_padded_sequence(x[:0], [1, 1]), RuntimeError, "Cannot pack empty tensors"),
        (
            lambda: rnn.pad_packed_sequence(rnn.pack_sequence([x]), total_length=2),
            ValueError,
            "Expected total_length to be at least",
        ),
        (
            lambda: ad.nn.RNN(4, 2)(rnn.pack_sequence([ad.ones(3, 5)])),
            RuntimeError,
            "input.size.-1. must be equal to input_size",
        ),
    ]:
        with pytest.raises(error, match=words):
            make()


def test_the_inverse_order_follows_from_the_order() -> None:
    packed = rnn.PackedSequence(ad.arange(3.0), ad.tensor([2, 1]), ad.tensor([1, 0]))
    assert rnn.pad_packed_sequence(packed)[0].tolist() == [[1, 0], [0, 2]]
    assert copy.deepcopy(packed.double()).unsorted_indices.tolist() == [1, 0]


def test_types_of_the_elements() -> None:
    packed = rnn.pack_sequence([ad.ones(1), ad.ones(2)], enforce_sorted=False)
    for name in ("half", "float", "double", "char", "byte", "short", "int", "long"):
        as_type = getattr(packed, name)()
        assert as_type.data.dtype is getattr(packed.data, name)().dtype and as_type.sorted_indices.tolist() == [1, 0]
    assert not packed.is_pinned() and not packed.is_cuda
