"""What losses do with the losses of elements."""

from __future__ import annotations

from typing import NoReturn

from adjoint_core import Tensor
from adjoint_core._compose import warn


def reduction_of(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """`reduction`, or what the two older arguments ask for."""
    if size_average is None and reduce is None:
        return reduction if reduction in ("mean", "sum", "none", "batchmean") else refused(reduction)
    today = "none" if reduce is False else "sum" if size_average is False else "mean"
    warn(f"size_average and reduce args will be deprecated, please use reduction='{today}' instead.")
    return today


def refused(reduction: str) -> NoReturn:
    raise ValueError(f"{reduction} is not a valid value for reduction")


def reduced(x: Tensor, reduction: str) -> Tensor:
    if reduction == "mean":
        return x.mean()
    if reduction == "sum":
        return x.sum()
    return x if reduction == "none" else refused(reduction)
