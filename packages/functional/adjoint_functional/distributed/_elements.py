"""Element types and reductions in MPI's words.

MPI has no half precision. As bytes or as integers such elements travel right but are summed wrong, so their reductions are operations
of our own. Bool is reduced as logical values.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

from ._backend import ReduceOp

_TYPES: dict[core.dtype, str] = {
    core.float32: "FLOAT",
    core.float64: "DOUBLE",
    core.float16: "UINT16_T",
    core.bfloat16: "UINT16_T",
    core.complex64: "C_FLOAT_COMPLEX",
    core.complex128: "C_DOUBLE_COMPLEX",
    core.bool: "C_BOOL",
    core.int8: "INT8_T",
    core.int16: "INT16_T",
    core.int32: "INT32_T",
    core.int64: "INT64_T",
    core.uint8: "UINT8_T",
    core.uint16: "UINT16_T",
    core.uint32: "UINT32_T",
    core.uint64: "UINT64_T",
}
_PLAIN = {
    ReduceOp.SUM: "SUM",
    ReduceOp.PRODUCT: "PROD",
    ReduceOp.MIN: "MIN",
    ReduceOp.MAX: "MAX",
    ReduceOp.BAND: "BAND",
    ReduceOp.BOR: "BOR",
    ReduceOp.BXOR: "BXOR",
}
_LOGICAL = {
    ReduceOp.SUM: "LOR",
    ReduceOp.PRODUCT: "LAND",
    ReduceOp.MIN: "LAND",
    ReduceOp.MAX: "LOR",
    ReduceOp.BAND: "LAND",
    ReduceOp.BOR: "LOR",
    ReduceOp.BXOR: "LXOR",
}
PAIRWISE: dict[ReduceOp, Callable[[Tensor, Tensor], Tensor]] = {
    ReduceOp.SUM: core.add,
    ReduceOp.PRODUCT: core.mul,
    ReduceOp.MIN: core.minimum,
    ReduceOp.MAX: core.maximum,
}
_HALVES = (core.float16, core.bfloat16)


@functools.cache
def element_type(dtype: core.dtype) -> Any:
    """MPI's type of the elements."""
    from mpi4py import MPI

    return getattr(MPI, _TYPES[dtype])


def check_reduction(name: str, dtype: core.dtype, op: ReduceOp) -> None:
    """Raises if elements cannot be reduced so.

    Raises:
        ValueError: an average of integers, an order of complex numbers, or bits of what has none.
    """
    if op is ReduceOp.SUM:
        return
    whole = not (dtype.is_floating_point or dtype.is_complex)
    ordered = op in (ReduceOp.MIN, ReduceOp.MAX)
    bits = op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)
    if (op is ReduceOp.AVG and whole) or (ordered and dtype.is_complex) or (bits and not whole):
        raise ValueError(f"{name}: ReduceOp.{op.name} is not defined for elements of {dtype}")


@functools.cache
def reduction(op: ReduceOp, dtype: core.dtype) -> Any:
    """MPI's operation for a reduction of elements of ``dtype``."""
    from mpi4py import MPI

    if dtype in _HALVES:
        return MPI.Op.Create(_of_halves(PAIRWISE[op], dtype), commute=True)
    return getattr(MPI, (_LOGICAL if dtype is core.bool else _PLAIN)[op])


def _of_halves(pairwise: Callable[[Tensor, Tensor], Tensor], dtype: core.dtype) -> Callable[[Any, Any, Any], None]:
    """What MPI calls for a stretch of elements: ``both[i] = pairwise(given[i], both[i])``."""

    def reduce(given: Any, both: Any, _: Any) -> None:
        count = both.nbytes // 2
        a, b = (tensor_at(m.address, count, dtype) for m in (given, both))
        y = pairwise(a, b)
        ctypes.memmove(both.address, y.data_ptr(), both.nbytes)

    return reduce


def tensor_at(address: int, count: int, dtype: core.dtype) -> Tensor:
    """A copy of ``count`` elements in memory."""
    copy = core.empty(count, dtype=dtype, device="cpu")
    ctypes.memmove(copy.data_ptr(), address, count * copy.element_size())
    return copy


def from_bytes(data: bytes) -> Tensor:
    """Bytes as a tensor of uint8."""
    copy = core.empty(len(data), dtype=core.uint8, device="cpu")
    ctypes.memmove(copy.data_ptr(), data, len(data))
    return copy


def to_bytes(t: Tensor) -> bytes:
    """The bytes of a contiguous tensor."""
    return ctypes.string_at(t.data_ptr(), t.numel() * t.element_size()) if t.numel() else b""
