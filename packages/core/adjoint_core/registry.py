"""The records of all operations: what documentation, tests and coverage tables are made from."""

from __future__ import annotations

from dataclasses import dataclass

from . import _core


@dataclass(frozen=True)
class Record:
    """What is known about one operation."""

    name: str
    doc: str
    kind: str
    outputs: int
    variadic: bool
    view: bool
    differentiable: tuple[int, ...]
    batched: bool
    kernels: tuple[str, ...]


def names() -> list[str]:
    """The names of all records, sorted.

    Example::

        >>> names()[:3]
        ['abs', 'acos', 'acosh']
    """
    return _core._op_names()


def record(name: str) -> Record:
    """The record of one operation.

    Raises:
        KeyError: no operation has this name.

    Example:
        >>> record("sin").kind
        'elementwise'
    """
    return Record(**_core._op_record(name))
