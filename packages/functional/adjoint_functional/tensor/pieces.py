"""Pieces of tensors and their join, and views that are always copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all, checked, method, node
from adjoint_core._whole import is_whole

__all__ = [
    "block_diag", "dsplit", "expand_copy", "hsplit", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "view_copy",
    "vsplit",
]  # fmt: skip


# ---- pieces and joins


def _splits(name: str, dim: int, least: int) -> Callable[[Tensor, int | Sequence[int]], tuple[Tensor, ...]]:
    def split(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
        if input.ndim < least:
            raise RuntimeError(
                f"{name} requires a tensor with at least {least} dimension, but got a tensor with {input.ndim} dimensions!"
            )
        along = 0 if input.ndim == 1 else dim
        n = indices_or_sections
        if is_whole(n) and (n <= 0 or input.size(along) % n):
            raise RuntimeError(
                f"{name} attempted to split along dimension {along}, but the size of the dimension {input.size(along)} is not divisible by the split_size {n}!"
            )
        return _core.tensor_split(input, n, along)

    split.__name__ = split.__qualname__ = name
    example = f"Example::\n\n    >>> [piece.shape[{dim}] for piece in ad.{name}(ad.ones(4, 4, 4), [1])]\n    [1, 3]"
    split.__doc__ = f"Views of the pieces along dimension {dim}, as `tensor_split` makes them.\n\n{example}"

    explained = checked(split)

    def method(self: Tensor, *indices_or_sections: Any, **named: Any) -> tuple[Tensor, ...]:
        given = indices_or_sections if len(indices_or_sections) < 2 else [indices_or_sections]
        return explained(self, *given, **named)

    method.__name__, method.__doc__ = name, split.__doc__
    setattr(Tensor, name, method)
    return split


hsplit = _splits("hsplit", 1, 1)
vsplit = _splits("vsplit", 0, 2)
dsplit = _splits("dsplit", 2, 3)


@node("BlockDiagBackward0")
def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the given matrices along its diagonal and zeros elsewhere.

    Example::

        >>> ad.block_diag(ad.tensor([[1, 2]]), ad.tensor(3))
        tensor([[1, 2, 0],
                [0, 0, 3]])
    """
    return _core._block_diag(tensors)


@method
def sum_to_size(self: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """Sums over what was broadcast from `size`: the reverse of `expand`."""
    given = sizes if size is None else (size,)
    return _core._sum_to_size(self, given[0] if len(given) == 1 and not isinstance(given[0], int) else given)


# ---- other names: views that are always copies, cuts without the bookkeeping of views


def expand_copy(input: Tensor, size: Sequence[int]) -> Tensor:
    """`expand` into new memory.

    Example::

        >>> ad.expand_copy(ad.tensor([[1], [2]]), (2, 3))
        tensor([[1, 1, 1],
                [2, 2, 2]])
    """
    return input.expand(size).clone()


def view_copy(input: Tensor, size: Any = None, *, dtype: Any = None) -> Tensor:
    """`view`, of other sizes or as another type, into new memory; sizes that no view can have, too.

    Example::

        >>> ad.view_copy(ad.arange(4), (2, 2))
        tensor([[0, 1],
                [2, 3]])
    """
    size = dtype if size is None else size
    if not isinstance(size, (tuple, list)):
        return input.view(size).clone()
    y = input.reshape(size)
    return y.clone() if y._is_view() else y  # what no view can have is copied already


def _dense(x: Tensor) -> Tensor:
    return x.clone(memory_format=_core.contiguous_format)


def _copying(name: str) -> None:
    view = getattr(_core, name)

    def copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        if "split_size" in kwargs:
            kwargs["split_size_or_sections"] = kwargs.pop("split_size")
        y = view(input, *args, **kwargs)
        return tuple(_dense(x) for x in y) if isinstance(y, tuple) else _dense(y)

    copy.__name__ = name + "_copy"
    copy.__doc__ = f"`{name}` into new memory."
    _add(copy)


def _add(f: Callable[..., Any]) -> Callable[..., Any]:
    globals()[f.__name__] = f
    __all__.append(f.__name__)
    return f


@_add
def alias_copy(input: Tensor) -> Tensor:
    """The elements in new memory.

    Example::

        >>> ad.alias_copy(ad.arange(2))
        tensor([0, 1])
    """
    return input.clone()


@_add
def detach_copy(input: Tensor) -> Tensor:
    """The elements in new memory, without history.

    Example::

        >>> ad.detach_copy(ad.ones(2, requires_grad=True)).requires_grad
        False
    """
    return input.detach().clone()


@_add
def slice_copy(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """The elements from `start` to `end` at steps along `dim`, in new memory.

    Example::

        >>> ad.slice_copy(ad.arange(6), 0, 1, 5, 2)
        tensor([1, 3])
    """
    return input.movedim(dim, 0)[start:end:step].movedim(0, dim).clone()


for _name in (
    "as_strided", "diagonal", "narrow", "permute", "select", "split", "split_with_sizes", "squeeze", "t", "transpose", "unbind",
    "unfold", "unsqueeze", "view_as_complex", "view_as_real",
):  # fmt: skip
    _copying(_name)
method(globals()["narrow_copy"])


@method
def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """`split_with_sizes` in pieces that may be written in place: views, or where gradients are recorded copies, so that a write
    to one harms nothing that was computed from another.

    Example::

        >>> ad.unsafe_split_with_sizes(ad.arange(4), [1, 3])
        (tensor([0]), tensor([1, 2, 3]))
    """
    return _core._unsafe_pieces(input, split_sizes, dim)


@method
def unsafe_split(input: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """`split` in pieces that may be written in place, as those of `unsafe_split_with_sizes`.

    Example::

        >>> ad.unsafe_split(ad.arange(4), 3)
        (tensor([0, 1, 2]), tensor([3]))
    """
    return _core._unsafe_pieces(input, split_size, dim)


@method
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`chunk` in pieces that may be written in place, as those of `unsafe_split_with_sizes`.

    Example::

        >>> ad.unsafe_chunk(ad.arange(4), 2)
        (tensor([0, 1]), tensor([2, 3]))
    """
    return _core._unsafe_chunk(input, chunks, dim)


check_all(globals(), out=[name for name in __all__ if name.endswith("_copy")])
