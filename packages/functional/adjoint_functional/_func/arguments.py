"""func: which arguments to differentiate (argnums), and what a function may return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from adjoint_engine import _engine

from .._backend import Tensor, TreeSpec, tree_flatten, tree_map, tree_unflatten

ArgNums: TypeAlias = int | tuple[int, ...]


def _position(argnum: Any, count: int) -> int:
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def positions(argnums: ArgNums, count: int) -> tuple[int, ...]:
    """``argnums`` as non-negative positions among ``count`` arguments; RuntimeError where they are none."""
    if isinstance(argnums, int):
        return (_position(argnums, count),)
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    found = tuple(_position(argnum, count) for argnum in argnums)
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return found


def _own(arg: Any) -> Any:
    """An argument as the function may write to it: tensors, like the differentiated ones, belong to the level."""
    if isinstance(arg, Tensor):
        return arg if arg.requires_grad else _engine.argument(arg)
    return tree_map(_own, arg) if isinstance(arg, (list, tuple, dict)) else arg


@dataclass(frozen=True)
class Selection:
    """The arguments picked by ``argnums``: their tensors, and the way back into the argument list."""

    args: tuple[Any, ...]
    where: tuple[int, ...]
    leaves: list[Tensor]
    spec: TreeSpec
    single: bool

    def replaced(self, leaves: Sequence[Any]) -> list[Any]:
        """The whole argument list with other leaves in the picked places, for a call on the level that is open now."""
        args = [a if i in self.where else _own(a) for i, a in enumerate(self.args)]
        for position, value in zip(self.where, tree_unflatten(leaves, self.spec), strict=True):
            args[position] = value
        return args

    def shaped(self, leaves: Sequence[Any]) -> Any:
        """Leaves in the structure of the picked arguments: of the only one if ``argnums`` was an int."""
        values = tree_unflatten(leaves, self.spec)
        return values[0] if self.single else values


def select(args: tuple[Any, ...], argnums: ArgNums, api: str) -> Selection:
    """Picks arguments; every leaf of them must be a tensor."""
    where = positions(argnums, len(args))
    leaves, spec = tree_flatten(tuple(args[i] for i in where))
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise ValueError(f"{api}: differentiated arguments must be Tensors or trees of Tensors, got {type(leaf)}")
    return Selection(args, where, leaves, spec, isinstance(argnums, int))


def split_aux(result: Any, has_aux: bool, api: str) -> tuple[Any, Any]:
    """``(output, aux)`` of a function's result; aux is None without ``has_aux``."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return result


def tensor_leaves(output: Any, api: str) -> tuple[list[Tensor], TreeSpec]:
    """The tensors of a function's output and their structure; RuntimeError for anything else."""
    leaves, spec = tree_flatten(output)
    if not leaves or output is None:
        raise RuntimeError(f"{api}: Expected f to be a function that has non-empty output (got output = {output})")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{api}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)}")
    return leaves, spec


def lowered(value: Any, lower: Callable[[Tensor], Tensor]) -> Any:
    """A tree with ``lower`` applied to its tensors; other leaves stay as they are."""
    leaves, spec = tree_flatten(value)
    return tree_unflatten([lower(leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves], spec)
