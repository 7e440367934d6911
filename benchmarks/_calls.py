"""Calls of every operation, as data: from the table of cases, and from PyTorch's own samples where it is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from op_cases import CASES, Case

Arrays = list[np.ndarray]
Shapes = Sequence[tuple[int, ...]]


@dataclass(frozen=True)
class Call:
    """`bind(library, tensors)` is the call, to be made many times; `draw(shapes)` gives its arrays, at their own shapes if `shapes` is None."""

    name: str
    shapes: Shapes
    draw: Callable[[Shapes | None], Arrays]
    bind: Callable[[Any, Sequence[Any]], Callable[[], Any]]
    elementwise: bool = False


def from_case(case: Case) -> Call:
    return Call(case.id, [i.shape for i in case.inputs], lambda shapes: case.sample(shapes=shapes), case.bind, case.elementwise)


def cases() -> Iterator[Call]:
    """One call for each line of `tests/op_cases`."""
    return map(from_case, CASES)


def grown(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The values over and over, up to the shape."""
    return np.tile(
        array, [-(-n // max(m, 1)) for n, m in zip(shape, (1,) * (len(shape) - array.ndim) + array.shape, strict=True)]
    )[tuple(map(slice, shape))].copy()


def from_sample(info: Any, sample: Any, torch: Any) -> Call:
    """A call of `info.name` with a sample's arguments."""
    arrays: Arrays = []

    def parted(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            arrays.append(value.detach().resolve_conj().numpy().copy())
            return _Slot(len(arrays) - 1)
        if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
            return type(value)(map(parted, value))
        if isinstance(value, torch.dtype):
            return _DType(str(value).rpartition(".")[2])
        return tuple(value) if isinstance(value, torch.Size) else value

    args = parted([sample.input, *sample.args])
    kwargs = {k: parted(v) for k, v in sample.kwargs.items()}

    def bind(lib: Any, tensors: Sequence[Any]) -> Callable[[], Any]:
        filled = [_fill(a, lib, tensors) for a in args]
        return partial(find(lib, info.name), *filled, **{k: _fill(v, lib, tensors) for k, v in kwargs.items()})

    def draw(shapes: Shapes | None) -> Arrays:
        return [a.copy() for a in arrays] if shapes is None else [grown(a, s) for a, s in zip(arrays, shapes, strict=True)]

    return Call(info.name, [a.shape for a in arrays], draw, bind)


@dataclass(frozen=True)
class _Slot:
    at: int


@dataclass(frozen=True)
class _DType:
    name: str


def _fill(value: Any, lib: Any, tensors: Sequence[Any]) -> Any:
    if isinstance(value, _Slot):
        return tensors[value.at]
    if isinstance(value, _DType):
        return getattr(lib, value.name)
    return type(value)(_fill(v, lib, tensors) for v in value) if type(value) in (list, tuple) else value


def find(lib: Any, path: str) -> Callable[..., Any]:
    """The function of this name, or the method."""
    function = lib
    for part in path.split("."):
        function = getattr(function, part, None)
    return function or getattr(lib.Tensor, path)


def samples() -> Iterator[Call]:
    """One call for each entry of PyTorch's table of operators that both libraries have: the largest of its own samples."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    import adjoint as ad

    for info in op_db:
        try:
            find(ad, info.name)
            found = [from_sample(info, s, torch) for s in info.sample_inputs("cpu", torch.float32)]
        except Exception:  # an entry that is for other types, or a function that the other library has not
            continue
        for call in sorted(found, key=lambda c: -sum(map(np.prod, c.shapes)) if c.shapes else 1):
            try:
                for lib in (ad, torch):
                    call.bind(lib, [lib.from_numpy(a) for a in call.draw(None)])()
            except Exception:
                continue
            yield Call(f"{call.name} {info.variant_test_name}".strip(), call.shapes, call.draw, call.bind)
            break
