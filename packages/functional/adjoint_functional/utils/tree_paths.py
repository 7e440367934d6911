"""Leaves of nested containers with the way that leads to each: part of `utils._pytree`."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from adjoint_engine.trees import (
    SUPPORTED_NODES,
    NodeDef,
    TreeSpec,
    _get_node_type,
    register_pytree_node,
    tree_flatten,
    tree_unflatten,
)

__all__ = [
    "GetAttrKey", "KeyEntry", "KeyPath", "MappingKey", "SequenceKey", "key_get", "keystr", "register_dataclass", "tree_flatten_with_path",
    "tree_leaves_with_path", "tree_map_with_path",
]  # fmt: skip

IsLeaf = Callable[[Any], bool] | None


class KeyEntry(Protocol):
    """A step of a path."""

    def get(self, parent: Any) -> Any:
        """What it leads to from a container."""


KeyPath = tuple[KeyEntry, ...]


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """A step of a path to a leaf: the place in a list or a tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """What the sequence has in the place."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """A step of a path to a leaf: the key of a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """What the mapping has under the key."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """A step of a path to a leaf: the name of an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """The attribute."""
        return getattr(obj, self.name)


def _steps(tree: Any, kind: Any, node: NodeDef) -> Iterable[tuple[KeyEntry, Any]]:
    """The children of a container, each with the step that leads to it."""
    if node.flatten_with_keys_fn is not None:
        return node.flatten_with_keys_fn(tree)[0]  # type: ignore[no-any-return]
    if kind is namedtuple:
        return [(GetAttrKey(name), value) for name, value in zip(type(tree)._fields, tree, strict=True)]
    if kind in (dict, OrderedDict, defaultdict):
        return [(MappingKey(key), value) for key, value in tree.items()]
    if kind in (tuple, list, deque):
        return [(SequenceKey(i), value) for i, value in enumerate(tree)]
    raise ValueError(f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass one to register_pytree_node.")


def _walk(tree: Any, path: KeyPath, is_leaf: IsLeaf) -> Iterable[tuple[KeyPath, Any]]:
    kind = _get_node_type(tree)
    node = SUPPORTED_NODES.get(kind)
    if node is None or (is_leaf is not None and is_leaf(tree)):
        yield path, tree
        return
    for step, child in _steps(tree, kind, node):
        yield from _walk(child, (*path, step), is_leaf)


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """The leaves from left to right, each behind the steps that lead to it.

    Raises:
        ValueError: a class of containers was registered without saying how its children are reached.

    Example::

        >>> tree_leaves_with_path({"a": [1]})
        [((MappingKey(key='a'), SequenceKey(idx=0)), 1)]
    """
    return list(_walk(tree, (), is_leaf))


def tree_flatten_with_path(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """The leaves with their paths, and the structure.

    Example::

        >>> tree_flatten_with_path([1])
        ([((SequenceKey(idx=0),), 1)], list(*))
    """
    return tree_leaves_with_path(tree, is_leaf), tree_flatten(tree, is_leaf)[1]


def tree_map_with_path(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """The tree with `func(path, leaf, *leaves of rests)` in place of its leaves.

    Raises:
        ValueError: another tree is not of this one's structure down to its leaves.

    Example::

        >>> tree_map_with_path(lambda path, leaf: keystr(path), {"a": (1, 2)})
        {'a': ("['a'][0]", "['a'][1]")}
    """
    paths, spec = tree_flatten_with_path(tree, is_leaf)
    rows = zip(paths, *map(spec.flatten_up_to, rests), strict=True)
    return tree_unflatten([func(*found, *others) for found, *others in rows], spec)


def keystr(kp: KeyPath) -> str:
    """A path as Python would write it behind the name of the tree.

    Example::

        >>> keystr((MappingKey("a"), SequenceKey(0), GetAttrKey("grad")))
        "['a'][0].grad"
    """
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What a path leads to.

    Example::

        >>> key_get({"a": [1, 2]}, (MappingKey("a"), SequenceKey(1)))
        2
    """
    for step in kp:
        obj = step.get(obj)
    return obj


def register_dataclass(
    cls: type[Any],
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Makes a class with these fields a container: those of a dataclass that its constructor takes, without those dropped.

    Raises:
        ValueError: no dataclass, and no names; or names that are not those of its fields; or a container already.

    Example::

        >>> @dataclasses.dataclass
        ... class Pair:
        ...     left: int
        ...     right: int
        >>> register_dataclass(Pair)
        >>> [keystr(path) for path, _ in tree_leaves_with_path([Pair(1, 2)])]
        ['[0].left', '[0].right']
    """
    dropped = drop_field_names or []
    if dataclasses.is_dataclass(cls):
        fields = [field.name for field in dataclasses.fields(cls) if field.init and field.name not in dropped]
        names = fields if field_names is None else list(field_names)
        for what, wrong in (("Missing", set(fields) - set(names)), ("Unexpected", set(names) - set(fields))):
            if wrong:
                raise ValueError(f"field_names does not include all dataclass fields. {what} fields in `field_names`: {wrong}.")
    elif field_names is None:
        raise ValueError(
            f"field_names must be specified with a list of all fields used to initialize {cls}, as it is not a dataclass."
        )
    else:
        names = list(field_names)

    def flatten(x: Any) -> tuple[list[Any], list[str]]:
        return [getattr(x, name) for name in names], names

    def flatten_with_keys(x: Any) -> tuple[list[tuple[KeyEntry, Any]], list[str]]:
        return [(GetAttrKey(name), getattr(x, name)) for name in names], names

    register_pytree_node(
        cls, flatten, lambda children, _: cls(**dict(zip(names, children, strict=True))), flatten_with_keys_fn=flatten_with_keys
    )
