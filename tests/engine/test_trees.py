"""Pytrees."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import NamedTuple

import pytest

import adjoint as ad
from adjoint_engine.trees import tree_flatten, tree_map, tree_unflatten


class Pair(NamedTuple):
    left: object
    right: object


TREES = [
    1,
    None,
    (),
    [],
    {},
    (1, [2, (3,)]),
    {"b": 1, "a": (2, None)},
    Pair(1, [2]),
    OrderedDict(x=1, y={"z": 2}),
]


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_round_trip(tree: object) -> None:
    leaves, spec = tree_flatten(tree)
    again = tree_unflatten(leaves, spec)
    assert again == tree
    assert type(again) is type(tree)
    assert spec.num_leaves == len(leaves)


def test_none_is_a_leaf_and_dicts_keep_their_order() -> None:
    assert tree_flatten({"b": 1, "a": (2, None)})[0] == [1, 2, None]


def test_map_over_several_trees() -> None:
    assert tree_map(lambda a, b: a + b, {"x": (1, 2)}, {"x": (10, 20)}) == {"x": (11, 22)}


def test_structure_is_checked() -> None:
    with pytest.raises(ValueError, match=r"same structure, got tuple\(\*, \*\) and list\(\*, \*\)"):
        tree_map(max, (1, 2), [1, 2])
    with pytest.raises(ValueError, match="2 leaves, got 1"):
        tree_unflatten([1], tree_flatten((1, 2))[1])


def test_defaultdicts_keep_their_factory():
    tree = defaultdict(list, x=ad.ones(2))
    g = ad.func.grad(lambda n: (n["x"] * 2).sum())(tree)
    assert type(g) is defaultdict and g.default_factory is list and g["x"].tolist() == [2, 2]
