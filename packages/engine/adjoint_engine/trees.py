"""Pytrees: nested tuples, lists, dicts and namedtuples, taken apart into leaves and put together again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class TreeSpec(NamedTuple):
    """The shape of a tree without its leaves; two trees have the same structure if their specs are equal.

    ``kind`` is the container's type, or None for a leaf; ``keys`` are a dict's keys, in its order,
    ``factory`` a defaultdict's, ``context`` what a registered class flattened to beside its children.

    Example::

        >>> print(tree_flatten({"a": 1, "b": (2, None)})[1])
        dict('a': *, 'b': tuple(*, *))
    """

    kind: type[Any] | None = None
    keys: tuple[Any, ...] = ()
    children: tuple[TreeSpec, ...] = ()
    num_leaves: int = 1
    factory: Callable[[], Any] | None = None
    context: Any = None

    def is_leaf(self) -> bool:
        """Whether it is a leaf's."""
        return self.kind is None

    def __str__(self) -> str:
        if self.kind is None:
            return "*"
        inner = [str(child) for child in self.children]
        if self.keys:
            inner = [f"{key!r}: {child}" for key, child in zip(self.keys, inner, strict=True)]
        return f"{self.kind.__name__}({', '.join(inner)})"


_LEAF = TreeSpec()
_DICTS = (dict, OrderedDict, defaultdict)
_registered: dict[type[Any], tuple[Callable[[Any], tuple[Iterable[Any], Any]], Callable[[Any, Any], Any]]] = {}


def register_pytree_node(
    cls: type[Any],
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_fn: Callable[[Any, Any], Any],
    *args: Any,
    **kwargs: Any,
) -> None:
    """Makes a class a container: ``flatten_fn(x)`` gives its children and a context, ``unflatten_fn(children, context)`` puts them together.

    What PyTorch takes beyond these, for writing structures to files, is not looked at.

    Raises:
        ValueError: the class is one already.

    Example::

        >>> class Pair:
        ...     def __init__(self, a, b):
        ...         self.a, self.b = a, b
        >>> register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda children, _: Pair(*children))
        >>> tree_flatten([Pair(1, 2), 3])[0]
        [1, 2, 3]
    """
    if cls in _registered or cls in _DICTS or cls in (tuple, list):
        raise ValueError(f"{cls} is already registered as pytree node.")
    _registered[cls] = flatten_fn, unflatten_fn


def _is_namedtuple(kind: type[Any]) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def _collect(tree: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    kind: type[Any] = type(tree)
    context = None
    if is_leaf is not None and is_leaf(tree):
        leaves.append(tree)
        return _LEAF
    if kind in _registered:
        (values, context), keys = _registered[kind][0](tree), ()
    elif kind is tuple or kind is list or _is_namedtuple(kind):
        keys, values = (), tree
    elif kind in _DICTS:
        keys, values = tuple(tree), tree.values()
    else:
        leaves.append(tree)
        return _LEAF
    start = len(leaves)
    children = tuple([_collect(value, leaves, is_leaf) for value in values])
    return TreeSpec(kind, keys, children, len(leaves) - start, tree.default_factory if kind is defaultdict else None, context)


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """Takes a tree apart: its leaves from left to right, and its structure.

    Containers are tuple, list, dict, OrderedDict, defaultdict, namedtuples and registered classes; everything else is a leaf, None
    too, and so is what `is_leaf` names one.

    Example::

        >>> tree_flatten({"a": 1, "b": (2, None)})[0]
        [1, 2, None]
    """
    leaves: list[Any] = []
    spec = _collect(tree, leaves, is_leaf)
    return leaves, spec


def _build(spec: TreeSpec, leaves: Iterable[Any]) -> Any:
    if spec.kind is None:
        return next(iter(leaves))
    values = [_build(child, leaves) for child in spec.children]
    if spec.kind in _registered:
        return _registered[spec.kind][1](values, spec.context)
    if spec.kind in _DICTS:
        items = zip(spec.keys, values, strict=True)
        return defaultdict(spec.factory, items) if spec.kind is defaultdict else spec.kind(items)
    return spec.kind(*values) if _is_namedtuple(spec.kind) else spec.kind(values)


def tree_unflatten(leaves: Iterable[Any], spec: TreeSpec) -> Any:
    """Puts leaves back into the structure ``spec``: the inverse of ``tree_flatten``.

    Raises:
        ValueError: the number of leaves is not that of the structure.

    Example::

        >>> leaves, spec = tree_flatten([1, (2, 3)])
        >>> tree_unflatten([10 * leaf for leaf in leaves], spec)
        [10, (20, 30)]
    """
    leaves = list(leaves)
    if len(leaves) != spec.num_leaves:
        raise ValueError(f"tree_unflatten: {spec} has {spec.num_leaves} leaves, got {len(leaves)}")
    return _build(spec, iter(leaves))


def tree_map(fn: Callable[..., Any], tree: Any, *others: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Applies ``fn`` leaf by leaf to one or more trees of one structure.

    Raises:
        ValueError: the trees differ in structure.

    Example::

        >>> tree_map(lambda a, b: a + b, (1, [2]), (10, [20]))
        (11, [22])
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves]
    for other in others:
        more, other_spec = tree_flatten(other, is_leaf)
        if other_spec != spec:
            raise ValueError(f"tree_map: trees must have the same structure, got {spec} and {other_spec}")
        columns.append(more)
    return tree_unflatten([fn(*row) for row in zip(*columns, strict=True)], spec)


def broadcast_prefix(prefix: Any, spec: TreeSpec) -> list[Any] | None:
    """One value of ``prefix`` per leaf of a tree; ``prefix`` is a value for all below it. None if it does not fit.

    Example::

        >>> broadcast_prefix((0, None), tree_flatten((1, [2, 3]))[1])
        [0, None, None]
    """
    if prefix is None or isinstance(prefix, int):
        return [prefix] * spec.num_leaves
    if type(prefix) in _registered and type(prefix) is spec.kind:
        values = [*_registered[type(prefix)][0](prefix)[0]]
        return broadcast_prefix(tuple(values), spec._replace(kind=tuple))
    if (
        type(prefix) is not spec.kind
        or not hasattr(prefix, "__len__")
        or len(prefix) != len(spec.children)
        or (spec.keys and tuple(prefix) != spec.keys)
    ):
        return None
    found: list[Any] = []
    for value, child in zip(prefix.values() if isinstance(prefix, dict) else prefix, spec.children, strict=True):
        below = broadcast_prefix(value, child)
        if below is None:
            return None
        found += below
    return found
