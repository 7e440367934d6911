"""Small random programs with views and in-place writes, which run alike on tensors and on NumPy arrays.

A program is a list of steps `(op, i, j)`; `i` and `j` pick operands among the live values, modulo their number. NumPy's
slices and transposes share memory as ours do, so replaying a program on arrays checks aliasing as well as arithmetic.
Operands that an operation saves are copied first: a later write may then hit anything, and no backward is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import adjoint as ad

Step = tuple[str, int, int]


class OnTensors:
    """How a program computes with tensors."""

    sin, tanh, exp, where = ad.sin, ad.tanh, ad.exp, ad.where
    cat = staticmethod(lambda xs: ad.cat(list(xs), 0))
    copy = staticmethod(lambda a: a.clone())
    sum_rows = staticmethod(lambda a: a.sum(0, keepdim=True))
    transpose = staticmethod(lambda a: a.transpose(0, 1))
    flip = staticmethod(lambda a: a.flip(0))
    positive = staticmethod(lambda a: a.detach() > 0)
    assign = staticmethod(lambda a, b: a.copy_(b))


class OnArrays:
    """How a program computes with arrays."""

    sin, tanh, exp, where = np.sin, np.tanh, np.exp, np.where
    cat = staticmethod(lambda xs: np.concatenate(list(xs), 0))
    copy = staticmethod(lambda a: a.copy(order="C"))
    sum_rows = staticmethod(lambda a: a.sum(0, keepdims=True))
    transpose = staticmethod(lambda a: a.swapaxes(0, 1))
    flip = staticmethod(lambda a: np.flip(a, 0).copy())
    positive = staticmethod(lambda a: a > 0)
    assign = staticmethod(lambda a, b: a.__setitem__(Ellipsis, b))


def _row(a: Any) -> Any:
    """A 1 x n value that fits any 2-d value of n columns."""
    return a[:1]


def _fits(a: Any, b: Any) -> bool:
    return a.shape[1] == b.shape[1]


VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "transpose": lambda on, a: on.transpose(a),
    "first_rows": lambda on, a: a[: (a.shape[0] + 1) // 2],
    "every_second_column": lambda on, a: a[:, ::2],
    "last_row": lambda on, a: a[-1][None],
    "whole": lambda on, a: a[:],
}

FRESH: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sin": lambda on, a, b: on.sin(on.copy(a)),
    "tanh": lambda on, a, b: on.copy(on.tanh(on.copy(a))),
    "bounded_exp": lambda on, a, b: on.copy(on.exp(on.sin(on.copy(a)))),
    "mul": lambda on, a, b: on.sin(on.copy(a)) * on.copy(_row(b)),
    "add": lambda on, a, b: a + _row(b),
    "div": lambda on, a, b: on.copy(_row(b)) / (on.copy(a) * on.copy(a) + 1.0),
    "cat": lambda on, a, b: on.cat((a, _row(b))),
    "sum_rows": lambda on, a, b: on.sum_rows(a),
    "flip": lambda on, a, b: on.flip(a),
    "where": lambda on, a, b: on.where(on.positive(a), on.copy(a), on.copy(_row(b)) * 0.5),
    "gather": lambda on, a, b: a[[0, -1, 0]],
}


def _iadd(on: Any, a: Any, b: Any) -> None:
    a += _row(on.copy(b))


def _isub(on: Any, a: Any, b: Any) -> None:
    a -= on.sin(on.copy(_row(b)))


def _imul(on: Any, a: Any, b: Any) -> None:
    a *= on.sin(on.copy(_row(b)))


def _halve(on: Any, a: Any, b: Any) -> None:
    a *= 0.5


def _fill_row(on: Any, a: Any, b: Any) -> None:
    a[0] = 0.25


def _put(on: Any, a: Any, b: Any) -> None:
    a[[0]] = on.copy(_row(b)) * 2.0


WRITES: dict[str, Callable[[Any, Any, Any], None]] = {
    "iadd": _iadd, "isub": _isub, "imul": _imul, "halve": _halve, "fill_row": _fill_row, "put": _put,
    "copy": lambda on, a, b: on.assign(a, _row(on.copy(b))),
    "add_itself": lambda on, a, b: a.__iadd__(a),
}  # fmt: skip

OPERATIONS = (*VIEWS, *FRESH, *WRITES)
MAX_ROWS = 8


def run(on: Any, steps: Sequence[Step], inputs: Sequence[Any]) -> list[Any]:
    """All values alive at the end of the program."""
    values = [on.copy(x) for x in inputs]
    for op, i, j in steps:
        a, b = values[i % len(values)], values[j % len(values)]
        if op in VIEWS:
            values.append(VIEWS[op](on, a))
        elif not _fits(a, b) or (op == "cat" and a.shape[0] >= MAX_ROWS):
            continue
        elif op in FRESH:
            values.append(FRESH[op](on, a, b))
        else:
            WRITES[op](on, a, b)
    return values
