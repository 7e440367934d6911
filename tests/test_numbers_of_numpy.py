"""Whole numbers of other kinds in place of Python's: integers of NumPy, and tensors without dimensions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from op_cases import CASES, Case
from op_checks.cells import results
from op_checks.numeric import agree, tensors

KINDS = {"NumPy": np.int64, "tensor": ad.tensor}


def exchanged(tree: Any, kind: Any) -> Any:
    """The arguments with each int, that is no truth value, of this kind."""
    if type(tree) is int:
        return kind(tree)
    if isinstance(tree, (tuple, list)):
        return type(tree)(exchanged(part, kind) for part in tree)
    return {key: exchanged(part, kind) for key, part in tree.items()} if isinstance(tree, dict) else tree


def holds_int(tree: Any) -> bool:
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, (tuple, list)) else ()
    return type(tree) is int or any(map(holds_int, parts))


WITH_INTS = [c for c in CASES if c.call is None and holds_int((c.args, dict(c.kwargs)))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", WITH_INTS, ids=lambda c: c.id)
def test_whole_numbers_of_another_kind_mean_the_same(case: Case, kind: str) -> None:
    given = replace(case, args=exchanged(case.args, KINDS[kind]), kwargs=exchanged(dict(case.kwargs), KINDS[kind]))
    arrays = case.sample()
    agree(results(given, tensors(arrays)), results(case, tensors(arrays)))


@pytest.mark.parametrize("made", [lambda n: ad.Tensor(n, n), lambda n: ad.FloatTensor(n, n), lambda n: ad.zeros(n, n)])
def test_sizes(made: Any) -> None:
    assert made(np.int64(2)).shape == (2, 2)


def test_tensors_of_one_element_are_sizes() -> None:
    two = ad.tensor([2])
    assert (
        ad.zeros(two, 3).shape == (2, 3)
        and ad.arange(4).view(two, two).shape == (2, 2)
        and ad.ones(2, 3).sum(two - 1).shape == (2,)
    )
    with pytest.raises(TypeError):
        ad.zeros(ad.tensor([2, 3]))


LAYERS = {
    "Conv2d": (1, 2, 3), "ConvTranspose2d": (1, 2, 3), "MaxPool2d": (2,), "AvgPool2d": (2, 1, 1), "AdaptiveAvgPool2d": (2,), "Unfold": (2,),
    "LayerNorm": (4,), "RMSNorm": (4,), "Upsample": (8,), "ZeroPad2d": (1,), "PixelUnshuffle": (2,), "GLU": (-1,),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str) -> None:
    x, layer = ad.ones(1, 1, 4, 4), getattr(ad.nn, name)
    plain, other = layer(*LAYERS[name]), layer(*map(np.int64, LAYERS[name]))
    other.load_state_dict(plain.state_dict())
    assert other(x).equal(plain(x))


def test_how_layers_show_numbers_of_numpy() -> None:
    assert repr(ad.nn.MaxPool2d(np.int64(2))) == repr(ad.nn.MaxPool2d(2)) and repr(ad.nn.CELU(np.float64(2))) == repr(
        ad.nn.CELU(2.0)
    )
