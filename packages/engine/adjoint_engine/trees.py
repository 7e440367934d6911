"""Pytrees: nested tuples, lists, dicts and namedtuples, taken apart into leaves and put together again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from adjoint_core import Size

_DICTS = (dict, OrderedDict, defaultdict)


class TreeSpec:
    """The shape of a tree without its leaves; two trees have the same structure if their specs are equal.

    Arguments:
        type: what `_get_node_type` says of the container; None for a leaf.
        context: what it flattened to beside its children: a dict's keys, in its order, a named tuple's class.
        children_specs: the shapes of its children.

    Example::

        >>> print(tree_flatten({"a": 1, "b": (2, None)})[1])
        dict('a': *, 'b': tuple(*, *))
    """

    __slots__ = ("children_specs", "context", "num_leaves", "type")

    def __init__(self, type: Any = None, context: Any = None, children_specs: Iterable[TreeSpec] = ()) -> None:
        self.type, self.context, self.children_specs = type, context, list(children_specs)
        self.num_leaves: int = 1 if type is None else sum([child.num_leaves for child in self.children_specs])

    def is_leaf(self) -> bool:
        """Whether it is a leaf's."""
        return self.type is None

    @property
    def num_children(self) -> int:
        """How many trees are right below it."""
        return len(self.children_specs)

    @property
    def num_nodes(self) -> int:
        """How many containers and leaves it has, itself counted."""
        return 1 + sum([child.num_nodes for child in self.children_specs])

    def children(self) -> list[TreeSpec]:
        """The shapes of the trees right below it, in a list of its own."""
        return self.children_specs.copy()

    def child(self, index: int) -> TreeSpec:
        """The shape of one tree right below it."""
        return self.children_specs[index]

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """What a tree has at the places of this one's leaves, whatever is below them.

        Dictionaries of any kind fit each other if they have the same keys, in any order.

        Raises:
            ValueError: the tree is not of this structure down to there.

        Example::

            >>> tree_flatten({"a": 1, "b": 2})[1].flatten_up_to({"b": [3], "a": 4})
            [4, [3]]
        """
        if self.type is None:
            return [tree]
        children = self.children_of(tree)
        return [found for spec, child in zip(self.children_specs, children, strict=True) for found in spec.flatten_up_to(child)]

    def children_of(self, tree: Any) -> list[Any]:
        """What a tree has below its first node, in this one's order; `ValueError` if that node is another."""
        kind = _get_node_type(tree)
        if self.type in _DICTS and kind in _DICTS:
            keys = self._keys()
            self._check_arity(len(tree))
            if set(keys) != set(tree):
                raise ValueError(f"Node keys mismatch: expected {keys}, got {list(tree)}")
            return [tree[key] for key in keys]
        if kind is not self.type:
            raise ValueError(f"Node type mismatch; expected {self.type}, but got {kind}.")
        values, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        children = list(values)
        self._check_arity(len(children))
        if kind is not deque and context != self.context:
            raise ValueError(f"Node context mismatch for node type {kind}; expected {self.context}, but got {context}.")
        return children

    def _check_arity(self, given: int) -> None:
        if given != len(self.children_specs):
            raise ValueError(f"Node arity mismatch; expected {len(self.children_specs)}, but got {given}.")

    def _keys(self) -> list[Any]:
        return list(self.context[1] if self.type is defaultdict else self.context)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        own, its = (self.type, self.context, self.children_specs), (other.type, other.context, other.children_specs)
        return self is other or own == its

    def __hash__(self) -> int:
        return hash((self.type, *self.children_specs))

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        inner = [str(child) for child in self.children_specs]
        if self.type in _DICTS:
            inner = [f"{key!r}: {child}" for key, child in zip(self._keys(), inner, strict=True)]
        return f"{(self.context if self.type is namedtuple else self.type).__name__}({', '.join(inner)})"


_LEAF = TreeSpec()


class _OfLeaf(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TreeSpec) and instance.is_leaf()


class LeafSpec(TreeSpec, metaclass=_OfLeaf):
    """The shape of a leaf; each is an instance."""

    __slots__ = ()

    def __new__(cls) -> TreeSpec:  # type: ignore[misc]
        return _LEAF


class NodeDef(NamedTuple):
    """How containers of a type are taken apart into children and a context, and put together of these."""

    type: Any
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]]
    unflatten_fn: Callable[[Any, Any], Any]
    flatten_with_keys_fn: Callable[[Any], Any] | None = None


SUPPORTED_NODES: dict[Any, NodeDef] = {
    node.type: node
    for node in (
        NodeDef(tuple, lambda x: (x, None), lambda children, _: tuple(children)),
        NodeDef(Size, lambda x: (x, None), lambda children, _: tuple(children)),
        NodeDef(list, lambda x: (x, None), lambda children, _: list(children)),
        NodeDef(dict, lambda x: (x.values(), list(x)), lambda children, keys: dict(zip(keys, children, strict=True))),
        NodeDef(
            OrderedDict, lambda x: (x.values(), list(x)), lambda children, keys: OrderedDict(zip(keys, children, strict=True))
        ),
        NodeDef(
            defaultdict,
            lambda x: (x.values(), [x.default_factory, list(x)]),
            lambda children, made: defaultdict(made[0], zip(made[1], children, strict=True)),
        ),
        NodeDef(deque, lambda x: (x, x.maxlen), lambda children, most: deque(children, most)),
        NodeDef(namedtuple, lambda x: (x, type(x)), lambda children, kind: kind(*children)),
    )
}


def register_pytree_node(
    cls: type[Any],
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_fn: Callable[[Any, Any], Any],
    *args: Any,
    flatten_with_keys_fn: Callable[[Any], Any] | None = None,
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
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


def _get_node_type(tree: Any) -> Any:
    """Its type, under which `SUPPORTED_NODES` has it if it is a container; `namedtuple` for all named tuples."""
    kind = type(tree)
    unknown = kind not in SUPPORTED_NODES and issubclass(kind, tuple) and hasattr(kind, "_fields")
    return namedtuple if unknown else kind


def _collect(tree: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    kind = _get_node_type(tree)
    node = SUPPORTED_NODES.get(kind)
    if node is None or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return _LEAF
    values, context = node.flatten_fn(tree)
    return TreeSpec(kind, context, [_collect(value, leaves, is_leaf) for value in values])


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """Takes a tree apart: its leaves from left to right, and its structure.

    Containers are tuple, list, dict, OrderedDict, defaultdict, deque, namedtuples, `Size` (which comes back as a tuple) and registered classes;
    everything else is a leaf, None too, and so is what `is_leaf` names one.

    Example::

        >>> tree_flatten({"a": 1, "b": (2, None)})[0]
        [1, 2, None]
    """
    leaves: list[Any] = []
    spec = _collect(tree, leaves, is_leaf)
    return leaves, spec


def _build(spec: TreeSpec, leaves: Iterable[Any]) -> Any:
    if spec.type is None:
        return next(iter(leaves))
    return SUPPORTED_NODES[spec.type].unflatten_fn([_build(child, leaves) for child in spec.children_specs], spec.context)


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
        rule = f"the spec refers to a pytree that holds {spec.num_leaves} items ({spec})"
        raise ValueError(f"tree_unflatten: `leaves` has length {len(leaves)} but {rule}")
    return _build(spec, iter(leaves))


def tree_map(fn: Callable[..., Any], tree: Any, *others: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Applies ``fn`` leaf by leaf to a tree and to what others have at the places of its leaves.

    Raises:
        ValueError: another tree is not of this one's structure down to its leaves.

    Example::

        >>> tree_map(lambda a, b: a + b, (1, [2]), (10, [20]))
        (11, [22])
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *map(spec.flatten_up_to, others)]
    return tree_unflatten([fn(*row) for row in zip(*columns, strict=True)], spec)


def broadcast_prefix(prefix: Any, spec: TreeSpec) -> list[Any] | None:
    """One value of ``prefix`` per leaf of a tree; ``prefix`` is a value for all below it. None if it does not fit.

    Dictionaries fit each other by their keys.

    Example::

        >>> broadcast_prefix((0, None), tree_flatten((1, [2, 3]))[1])
        [0, None, None]
    """
    if prefix is None or isinstance(prefix, int):
        return [prefix] * spec.num_leaves
    try:
        values = spec.children_of(prefix)
    except ValueError:
        return None
    found: list[Any] = []
    for value, child in zip(values, spec.children_specs, strict=True):
        below = broadcast_prefix(value, child)
        if below is None:
            return None
        found += below
    return found
