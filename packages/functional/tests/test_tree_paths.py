"""Trees with the paths to their leaves, and dimensions by name."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque
from typing import Any, NamedTuple

import pytest

import adjoint as ad
from adjoint.utils import _pytree as tree


class Point(NamedTuple):
    x: Any
    y: Any


TREE = {"a": [1, (2, 3)], "p": Point(4, OrderedDict(z=5)), "d": defaultdict(list, {1: 6}), "q": deque([7], maxlen=2)}
PATHS = ["['a'][0]", "['a'][1][0]", "['a'][1][1]", "['p'].x", "['p'].y['z']", "['d'][1]", "['q'][0]"]


def test_paths() -> None:
    found, spec = tree.tree_flatten_with_path(TREE)
    assert [tree.keystr(path) for path, _ in found] == PATHS
    assert [tree.key_get(TREE, path) for path, _ in found] == [leaf for _, leaf in found] == tree.tree_leaves(TREE)
    assert spec == tree.tree_structure(TREE)
    assert tree.tree_flatten_with_path(3)[0] == [((), 3)]
    assert tree.tree_leaves_with_path([1, [2]], is_leaf=lambda x: x == [2])[1] == ((tree.SequenceKey(1),), [2])
    again = tree.tree_map(lambda x: x, TREE)
    assert again == TREE and again["q"].maxlen == 2


def test_map_with_paths() -> None:
    mapped = tree.tree_map_with_path(lambda path, x, y: (tree.keystr(path), x + y), [1, {"k": 2}], [10, {"k": 20}])
    assert mapped == [("[0]", 11), {"k": ("[1]['k']", 22)}]
    with pytest.raises(ValueError, match="type mismatch"):
        tree.tree_map_with_path(lambda path, x, y: x, [1], (1,))


def test_dataclasses() -> None:
    @dataclasses.dataclass
    class Kept:
        a: int
        b: int = 0

    tree.register_dataclass(Kept, drop_field_names=["b"])
    assert tree.tree_leaves_with_path(Kept(1, 2)) == [((tree.GetAttrKey("a"),), 1)]
    assert tree.tree_map(lambda x: x + 1, Kept(1, 2)) == Kept(2)
    with pytest.raises(ValueError, match="must be specified"):
        tree.register_dataclass(int)

    @dataclasses.dataclass
    class Other:
        a: int
        b: int

    for names, match in ((["a"], "Missing"), (["a", "b", "c"], "Unexpected")):
        with pytest.raises(ValueError, match=match):
            tree.register_dataclass(Other, field_names=names)


def test_classes_that_do_not_say_how_they_are_reached() -> None:
    class Box:
        def __init__(self, x: Any) -> None:
            self.x = x

    tree.register_pytree_node(Box, lambda b: ([b.x], None), lambda children, _: Box(*children))
    with pytest.raises(ValueError, match="flatten_with_keys_fn"):
        tree.tree_flatten_with_path(Box(1))


@pytest.mark.parametrize(
    ("pattern", "sizes", "expected"),
    [
        ("a b c -> c a b", {}, lambda x: x.permute(2, 0, 1)),
        ("a b c -> (a b) c", {}, lambda x: x.reshape(6, 4)),
        ("a b (c d) -> a (b d) c", {"d": 2}, lambda x: x.reshape(2, 3, 2, 2).permute(0, 1, 3, 2).reshape(2, 6, 2)),
        ("... c -> c ...", {}, lambda x: x.permute(2, 0, 1)),
        ("a ... -> ... a 1", {}, lambda x: x.permute(1, 2, 0)[..., None]),
        ("a ... (c d) -> a (...) c d", {"d": 2}, lambda x: x.reshape(2, 3, 2, 2)),
        ("... -> (...) ()", {}, lambda x: x.reshape(24, 1)),
    ],
)
def test_rearrange(pattern: str, sizes: dict[str, int], expected: Any) -> None:
    x = ad.arange(24).reshape(2, 3, 4)
    assert ad.equal(ad.func.rearrange(x, pattern, **sizes), expected(x))
    assert ad.equal(ad.vmap(lambda x: ad.func.rearrange(x, pattern, **sizes))(x[None])[0], expected(x))
    assert ad.equal(ad.func.rearrange(list(x), pattern, **sizes), expected(x))


@pytest.mark.parametrize(
    ("pattern", "sizes", "match"),
    [
        ("a b c", {}, "single '->'"),
        ("a b c -> a b", {}, "only on one side"),
        ("a b -> b a", {}, "Number of dimensions"),
        ("a a b -> b a", {}, "duplicate"),
        ("a ( b c -> a b c", {}, "parentheses"),
        ("a b (c d) -> a b c d", {}, "cannot infer"),
        ("a b (c d) -> a b c d", {"c": 3}, "does not fit"),
        ("a b c -> a b c", {"x": 1}, "not found"),
        ("a b c -> a b c 2", {}, "expected names"),
        ("(... a) b -> a b ...", {}, "on the right alone"),
    ],
)
def test_patterns_that_do_not_fit(pattern: str, sizes: dict[str, int], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        ad.func.rearrange(ad.zeros(2, 3, 4), pattern, **sizes)
