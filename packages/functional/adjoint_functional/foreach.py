"""`_foreach_add_` and its family: one operation on each tensor of a list, with one operand for all or a list with one for each.

Those that write give their list, all others a tuple."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

Groups = dict[tuple[Any, Any], tuple[list[list[Tensor | None]], list[int]]]
NAMES = (
    "abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min clone copy cos cosh div erf erfc exp expm1 floor frac lerp lgamma log log10 "
    "log1p log2 max maximum minimum mm mul neg norm pow powsum reciprocal round rsqrt sigmoid sign sin sinh sqrt sub tan tanh trunc zero"
).split()
_ONLY_IN_PLACE, _NEVER_IN_PLACE = ("copy", "zero"), ("clone", "max", "mm", "norm", "powsum")
_OPERANDS = (
    "self other tensors1 tensor1 tensor2 weight weights exponent scalar scalars src".split()
)  # in the order of their places
_OTHER: dict[str, Callable[..., Any]] = {
    "norm": lambda x, ord=2, dtype=None: core.linalg.vector_norm(x, ord, dtype=dtype),
    "powsum": lambda x, ord=2, dtype=None: core.abs(x).to(dtype).pow(ord).sum(),
    "pow": core.pow,  # a number with tensors too
    "clamp_min": lambda x, other: core.clamp(x, min=other),
    "clamp_max": lambda x, other: core.clamp(x, max=other),
}


def _one(operation: Callable[..., Any], ternary: bool, operands: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    if ternary and len(operands) == 4:
        return operation(*operands[:3], value=operands[3])
    return operation(*operands, **kwargs)


def foreach(name: str) -> Callable[..., Any]:
    """The function `_foreach_<name>`; one whose name ends in `_` writes into the tensors of its first list.

    Raises:
        AttributeError: there is no such operation.
    """
    plain, inplace = name.removesuffix("_"), name.endswith("_")
    if plain not in NAMES or plain in (_NEVER_IN_PLACE if inplace else _ONLY_IN_PLACE):
        raise AttributeError(f"there is no _foreach_{name}")
    operation = getattr(Tensor, name) if inplace else _OTHER.get(plain) or getattr(Tensor, plain)

    def call(*lists: Any, **kwargs: Any) -> Any:
        lists += tuple(kwargs.pop(operand) for operand in _OPERANDS if operand in kwargs)
        count = next((len(a) for a in lists if isinstance(a, (list, tuple))), None)
        if count is None:
            raise TypeError(f"_foreach_{name}: expected a list of tensors, got {[type(a).__name__ for a in lists]}")
        if count == 0:
            raise RuntimeError(f"_foreach_{name}: Tensor list must have at least one tensor.")
        if any(isinstance(a, (list, tuple)) and len(a) != count for a in lists):
            raise RuntimeError(
                f"_foreach_{name}: Tensor lists must have the same number of tensors, got {[len(a) for a in lists]}"
            )
        spread = [a if isinstance(a, (list, tuple)) else [a] * count for a in _scalars(lists)]
        results = tuple(_one(operation, plain.startswith("addc"), operands, kwargs) for operands in zip(*spread))
        return lists[0] if inplace else results

    def _scalars(lists: tuple[Any, ...]) -> list[Any]:
        """A tensor in the fourth place of addcmul holds a number for each."""
        fourth = plain.startswith("addc") and len(lists) == 4 and isinstance(lists[3], Tensor)
        return [*lists[:3], lists[3].tolist()] if fourth else list(lists)

    call.__name__ = call.__qualname__ = f"_foreach_{name}"
    call.__doc__ = f"`{name}` of each tensor of a list."
    return call


def group_by_device_and_dtype(tensorlistlist: Sequence[Sequence[Tensor | None]], with_indices: bool = False) -> Groups:
    """Lists that belong together, place by place, taken apart by the device and the type of the first list's tensors.

    Arguments:
        tensorlistlist: lists as long as the first, whose entries may be None, or empty ones.
        with_indices: also say the places; none otherwise.

    Raises:
        RuntimeError: no list, a None in the first, or a list of another length.

    Example::

        >>> groups = group_by_device_and_dtype([[ad.ones(1), ad.ones(1).double()], [None, ad.zeros(1)]], with_indices=True)
        >>> {str(dtype): places for (_, dtype), (_, places) in groups.items()}
        {'adjoint.float32': [0], 'adjoint.float64': [1]}
    """
    if not tensorlistlist or any(tensor is None for tensor in tensorlistlist[0]):
        raise RuntimeError("_group_tensors_by_device_and_dtype: the first list must be there and hold tensors alone")
    if any(len(tensors) not in (0, len(tensorlistlist[0])) for tensors in tensorlistlist):
        raise RuntimeError(
            f"_group_tensors_by_device_and_dtype: lists must be of one length, got {[len(each) for each in tensorlistlist]}"
        )
    groups: Groups = {}
    for place, first in enumerate(tensorlistlist[0]):
        lists, indices = groups.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))  # type: ignore[union-attr]
        for own, tensors in zip(lists, tensorlistlist, strict=True):
            own.extend(tensors[place : place + 1])
        if with_indices:
            indices.append(place)
    return groups
