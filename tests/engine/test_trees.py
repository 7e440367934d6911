"""Pytrees."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import NamedTuple

import pytest

import adjoint as ad
from adjoint_engine.trees import (
    SUPPORTED_NODES,
    LeafSpec,
    TreeSpec,
    _get_node_type,
    register_pytree_node,
    tree_flatten,
    tree_map,
    tree_unflatten,
)


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
    assert spec.num_children == len(spec.children()) == len(spec.children_specs)
    assert spec.num_nodes == 1 + sum(spec.child(i).num_nodes for i in range(spec.num_children))


def test_none_is_a_leaf_and_dicts_keep_their_order() -> None:
    assert tree_flatten({"b": 1, "a": (2, None)})[0] == [1, 2, None]


def test_map_over_several_trees() -> None:
    assert tree_map(lambda a, b: a + b, {"x": (1, 2)}, {"x": (10, 20)}) == {"x": (11, 22)}


def test_map_looks_only_as_far_as_the_first_tree_goes() -> None:
    assert tree_map(lambda a, b: (a, b), [1, {"x": 2, "y": 3}], [None, {"y": 5, "x": (4,)}]) == [
        (1, None),
        {"x": (2, (4,)), "y": (3, 5)},
    ]
    assert tree_map(max, defaultdict(int, a=1), {"a": 2}) == {"a": 2}


def test_structure_is_checked() -> None:
    with pytest.raises(ValueError, match="type mismatch; expected <class 'tuple'>, but got <class 'list'>"):
        tree_map(max, (1, 2), [1, 2])
    with pytest.raises(ValueError, match="arity mismatch; expected 2, but got 3"):
        tree_map(max, (1, 2), (1, 2, 3))
    with pytest.raises(ValueError, match="arity mismatch; expected 1, but got 2"):
        tree_flatten({"a": 1})[1].flatten_up_to({"a": 1, "b": 2})
    with pytest.raises(ValueError, match=r"keys mismatch: expected \['a'\], got \['b'\]"):
        tree_map(max, {"a": 1}, {"b": 2})
    with pytest.raises(ValueError, match="`leaves` has length 1 but .* holds 2 items"):
        tree_unflatten([1], tree_flatten((1, 2))[1])


def test_dims_of_dictionaries_go_by_key() -> None:
    """PyTorch gives them by position, whatever the keys."""
    x = {"a": ad.ones(2), "b": ad.arange(3.0)}
    for kind in (dict, OrderedDict):
        found = ad.vmap(lambda x: {"sum": x["a"].sum() + x["b"], "a": x["a"] * x["b"]}, (kind(b=0, a=None),), kind(a=1, sum=0))(
            x
        )
        assert found["sum"].tolist() == [2, 3, 4] and found["a"].shape == (2, 3)
    with pytest.raises(ValueError, match="not compatible with the structure"):
        ad.vmap(lambda x: x["b"], in_dims=({"b": 0},))(x)


def test_defaultdicts_keep_their_factory():
    tree = defaultdict(list, x=ad.ones(2))
    g = ad.func.grad(lambda n: (n["x"] * 2).sum())(tree)
    assert type(g) is defaultdict and g.default_factory is list and g["x"].tolist() == [2, 2]


def test_structures_made_by_hand() -> None:
    pair = TreeSpec(list, None, [LeafSpec(), LeafSpec()])
    assert (
        pair == tree_flatten([1, 2])[1]
        and pair.num_leaves == 2
        and isinstance(LeafSpec(), LeafSpec)
        and not isinstance(pair, LeafSpec)
    )
    spec = TreeSpec(dict, ["a", "b"], [LeafSpec(), pair])
    assert tree_unflatten([1, 2, 3], spec) == {"a": 1, "b": [2, 3]} and spec != tree_flatten({"a": 1, "c": [2, 3]})[1]
    assert hash(spec) == hash(tree_flatten({"a": 1, "b": [2, 3]})[1]) and str(spec) == "dict('a': *, 'b': list(*, *))"
    assert str(tree_flatten(Pair(1, 2))[1]) == "Pair(*, *)"


@pytest.mark.parametrize(
    "tree", [(1, 2), [1, 2], {"a": 1, "b": 2}, OrderedDict(a=1, b=2), defaultdict(int, a=1, b=2), Pair(1, 2)], ids=str
)
def test_containers_are_taken_apart_by_their_type(tree: object) -> None:
    node = SUPPORTED_NODES[_get_node_type(tree)]
    children, context = node.flatten_fn(tree)
    again = node.unflatten_fn(list(children), context)
    assert again == tree and type(again) is type(tree)


def test_registered_classes_say_how_keys_are_found() -> None:
    class Box:
        def __init__(self, inside: object) -> None:
            self.inside = inside

    assert _get_node_type(Box(1)) not in SUPPORTED_NODES
    register_pytree_node(
        Box, lambda b: ((b.inside,), None), lambda c, _: Box(*c), flatten_with_keys_fn=lambda b: ([("in", b.inside)], None)
    )
    assert SUPPORTED_NODES[Box].flatten_with_keys_fn(Box(3)) == ([("in", 3)], None)
    assert ad.func.vmap(lambda b: b.inside * 2, in_dims=(Box(0),))(Box(ad.arange(3))).tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match="already registered"):
        register_pytree_node(Box, lambda b: ((b.inside,), None), lambda c, _: Box(*c))


def test_sizes_are_containers() -> None:
    """A class of tensors that maps over its results must find an end below `x.shape`."""
    leaves, spec = tree_flatten({"shape": ad.ones(2, 3).shape})
    assert leaves == [2, 3] and tree_unflatten(leaves, spec) == {"shape": (2, 3)}
    assert tree_map(lambda n: n + 1, ad.Size([1, 2])) == (2, 3)
