"""A graph as plain data: what pictures are made from."""

from __future__ import annotations

import linecache
import os
from dataclasses import dataclass, field
from functools import cached_property

from adjoint_core import _core


@dataclass(frozen=True)
class Site:
    """A line of the user's program; line 0: a whole function."""

    file: str
    line: int
    function: str

    @property
    def short(self) -> str:
        """``train.py:12``."""
        name = os.path.basename(self.file)
        return f"{name}:{self.line}" if self.line else name

    @property
    def scope(self) -> str:
        """The function without those around it."""
        return self.function.rpartition("<locals>.")[2]

    @cached_property
    def code(self) -> str:
        """The text of the line; empty where the source is not at hand."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}" if self.line else f"{self.function} in {self.file}"


_sites: dict[int, Site | None] = {}


def site(number: int) -> Site | None:
    """The line behind a site number of core; None for number 0."""
    if number not in _sites:
        info = _core._site_info(number)
        _sites[number] = Site(*info) if info else None
    return _sites[number]


@dataclass(frozen=True)
class Value:
    """Shape and element type of what flows along an edge; None where the graph does not know."""

    shape: tuple[int, ...] | None = None
    dtype: str | None = None

    def __str__(self) -> str:
        if self.shape is None:
            return ""
        return f"{self.dtype or ''}[{', '.join(map(str, self.shape))}]"


@dataclass
class Saved:
    """One tensor that a node keeps for backward. `bytes`: of its memory, where this node is the first to keep it."""

    label: str
    value: Value
    bytes: int
    shared: str = ""  # who holds the same memory already


@dataclass
class Node:
    """A node of the graph (or an output of the program, or a folded group); `id` is its place in `Graph.nodes`."""

    id: int
    name: str
    kind: str  # op, view, write, function, leaf, output, group, reference
    value: Value = Value()
    site: Site | None = None
    variable: str = ""  # what the user calls the value; a leaf's and an output's is the name
    saved: list[Saved] = field(default_factory=list)
    hooks: int = 0  # of the user: retain_grad is none
    in_place: bool = False
    released: bool = False
    seq: int | None = None
    parts: dict[str, int] = field(default_factory=dict)  # of a group: names and how often they occur

    @property
    def result(self) -> str:
        """The value with its name: ``h float32[4, 3]``."""
        return f"{self.variable} {self.value}".strip()

    @property
    def bytes(self) -> int:
        """Bytes kept for backward that no node made earlier keeps too."""
        return sum([s.bytes for s in self.saved])


@dataclass
class Edge:
    """From the node that made a value to the one that used it."""

    source: int
    target: int
    kind: str = "data"  # data, view (the target looks at the source's memory), write (the target wrote to it)
    nr: int = 0  # which output of the source
    value: Value = Value()
    count: int = 1


@dataclass
class Graph:
    """Nodes, newest first (the order of backward), and edges in the direction of the forward pass."""

    nodes: list[Node]
    edges: list[Edge]

    @property
    def bytes(self) -> int:
        """Bytes kept for backward, each block of memory counted once, leaves not counted."""
        return sum(n.bytes for n in self.nodes)


def size(count: int) -> str:
    """A number of bytes for people: 1.5 MiB."""
    for unit, step in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(count) >= step:
            return f"{count / step:.4g} {unit}"
    return f"{count} B"
