"""What one node keeps for backward: saved tensors, what pack hooks made of them, tensors on the context of a Function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adjoint_core import Tensor
from adjoint_engine import _engine
from adjoint_engine.trees import tree_flatten

from .model import Value

_LABELS = ("self", "other")

Block = tuple[int, int, int, int]  # identity, bytes, bytes in the allocator's books, how many tensors stand on it


@dataclass(frozen=True)
class Kept:
    """One tensor that a node keeps alive, and its blocks of memory."""

    label: str
    value: Value
    blocks: list[Block]


def value_of(shape: Any, dtype: Any) -> Value:
    """A Value from what the engine says."""
    return Value(None if shape is None else tuple(shape), None if dtype is None else str(dtype).rpartition(".")[2])


def kept_by(record: Mapping[str, Any]) -> Iterator[Kept]:
    """What a node of ``_engine.graph_nodes`` keeps; labels are PyTorch's: self, other, result."""
    for entry in record["saved"]:
        if entry["number"]:
            continue
        label = _label(record["kind"], entry)
        if entry["packed"] is None:
            yield Kept(label, value_of(entry["shape"], entry["dtype"]), entry["blocks"])
        else:
            yield from _tensors_in(f"{label}, packed", entry["packed"])
    for name, value in vars(record["context"]).items() if record["context"] is not None else ():
        yield from _tensors_in(f"ctx.{name}", value)


def _label(kind: str, entry: Mapping[str, Any]) -> str:
    index = entry["index"]
    if kind == "function":
        return f"saved_tensors[{index}]"
    if entry["output"]:
        return "result" if index == 0 else f"result{index}"
    return _LABELS[index] if index < len(_LABELS) else f"input{index}"


def _tensors_in(label: str, value: Any) -> Iterator[Kept]:
    for t in tree_flatten(value)[0]:
        if isinstance(t, Tensor):
            yield Kept(label, value_of(t.shape, t.dtype), _engine.memory_blocks(t))
