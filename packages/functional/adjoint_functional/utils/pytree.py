"""`utils._pytree`: nested containers taken apart and put together, under the names that libraries know from PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from adjoint_engine.trees import (
    SUPPORTED_NODES,
    LeafSpec,
    NodeDef,
    TreeSpec,
    register_pytree_node,
    tree_flatten,
    tree_map,
    tree_unflatten,
)
from adjoint_engine.trees import _get_node_type as _get_node_type
from adjoint_engine.trees import broadcast_prefix as _broadcast_prefix

from .tree_paths import (
    GetAttrKey,
    KeyEntry,
    KeyPath,
    MappingKey,
    SequenceKey,
    key_get,
    keystr,
    register_dataclass,
    tree_flatten_with_path,
    tree_leaves_with_path,
    tree_map_with_path,
)

__all__ = [
    "SUPPORTED_NODES", "Context", "GetAttrKey", "KeyEntry", "KeyPath", "LeafSpec", "MappingKey", "NodeDef", "PyTree", "SequenceKey", "TreeSpec", "arg_tree_leaves", "key_get", "keystr",
    "register_dataclass", "register_pytree_node", "tree_all", "tree_all_only", "tree_any", "tree_any_only", "tree_flatten", "tree_flatten_with_path", "tree_is_leaf", "tree_iter",
    "tree_leaves", "tree_leaves_with_path", "tree_map", "tree_map_", "tree_map_only", "tree_map_only_", "tree_map_with_path", "tree_structure", "tree_unflatten",
]  # fmt: skip

PyTree = Any
Context = Any
IsLeaf = Callable[[Any], bool] | None
_register_pytree_node = register_pytree_node


def _namedtuple_flatten(d: Any) -> tuple[list[Any], type[Any]]:
    """What `register_pytree_node` takes for a class of tuples with names."""
    return list(d), type(d)


def _namedtuple_unflatten(values: Iterable[Any], context: type[Any]) -> Any:
    """The other half of it."""
    return context(*values)


def _dict_flatten_with_keys(d: dict[Any, Any]) -> tuple[list[tuple[MappingKey, Any]], list[Any]]:
    """What `register_pytree_node` takes as `flatten_with_keys_fn` for a class of dictionaries."""
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves from left to right.

    Example::

        >>> tree_leaves({"a": 1, "b": (2, 3)})
        [1, 2, 3]
    """
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of all arguments of a call.

    Example::

        >>> arg_tree_leaves(1, [2], k=3)
        [1, 2, 3]
    """
    return tree_leaves((*args, *kwargs.values()))


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterable[Any]:
    """An iterator over the leaves."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The structure without the leaves."""
    return tree_flatten(tree, is_leaf)[1]


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether it is no container.

    Example::

        >>> tree_is_leaf(1), tree_is_leaf([1])
        (True, False)
    """
    return tree_structure(tree, is_leaf).is_leaf()


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Calls `func` for each leaf, for what it does; gives the tree."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _chosen(type_or_pred: Any) -> Callable[[Any], bool]:
    if isinstance(type_or_pred, type | tuple) or not callable(type_or_pred):
        return lambda leaf: isinstance(leaf, type_or_pred)
    return type_or_pred  # type: ignore[no-any-return]


def tree_map_only(type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """The tree with `func` applied to the leaves of these types, or of which a function says so.

    Example::

        >>> tree_map_only(int, lambda n: n + 1, [1, "a", (2,)])
        [2, 'a', (3,)]
    """
    chosen = _chosen(type_or_types_or_pred)
    return tree_map(lambda leaf: func(leaf) if chosen(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Calls `func` for those leaves, for what it does; gives the tree."""
    tree_map_only(type_or_types_or_pred, func, tree, is_leaf)
    return tree


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether it holds for a leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether it holds for every leaf."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether it holds for a leaf of these types."""
    return any(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if isinstance(leaf, type_or_types))


def tree_all_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether it holds for every leaf of these types."""
    return all(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if isinstance(leaf, type_or_types))


def _broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None) -> list[Any] | None:
    """One value of the tree for each leaf of the structure, of which the tree is a beginning; None if it is not."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    return _broadcast_prefix(tree, treespec)
