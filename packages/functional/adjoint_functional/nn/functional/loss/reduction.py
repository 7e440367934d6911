"""What losses do with the losses of elements."""

from __future__ import annotations

from typing import NoReturn

from adjoint_core import Tensor
from adjoint_core._warnings import warn


def reduction_of(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """`reduction`, or what the two older arguments ask for."""
    if size_average is None and reduce is None:
        return reduction if reduction in ("mean", "sum", "none", "batchmean") else refused(reduction)
    return legacy_get_string(size_average, reduce)


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The reduction that the two older arguments ask for, where None is True."""
    today = "none" if reduce is False else "sum" if size_average is False else "mean"
    if emit_warning:
        warn(f"size_average and reduce args will be deprecated, please use reduction='{today}' instead.")
    return today


def get_enum(reduction: str) -> int:
    """The number that PyTorch's operators take for a reduction."""
    numbers = {"none": 0, "mean": 1, "sum": 2}
    return numbers[reduction] if reduction in numbers else refused(reduction)


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number of the reduction that the two older arguments ask for."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))


def refused(reduction: str) -> NoReturn:
    raise ValueError(f"{reduction} is not a valid value for reduction")


def reduced(x: Tensor, reduction: str) -> Tensor:
    if reduction == "mean":
        return x.mean()
    if reduction == "sum":
        return x.sum()
    return x if reduction == "none" else refused(reduction)
