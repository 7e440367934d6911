"""Named results of operations that return two tensors."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _pair(name: str, first: str = "values", second: str = "indices") -> Any:
    pair = namedtuple(name, (first, second), module=__name__)
    pair.__repr__ = lambda self: f"adjoint.return_types.{name}(\n{first}={self[0]!r},\n{second}={self[1]!r})"  # type: ignore[method-assign]
    return pair


max = _pair("max")
min = _pair("min")
median = _pair("median")
mode = _pair("mode")
nanmedian = _pair("nanmedian")
sort = _pair("sort")
topk = _pair("topk")
kthvalue = _pair("kthvalue")
cummax = _pair("cummax")
cummin = _pair("cummin")
aminmax = _pair("aminmax", "min", "max")
