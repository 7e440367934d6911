"""What is said of a function that would be compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class ExplainOutput:
    """How many graphs a function is, and what broke it; here a function is one, whole, and none is made of it."""

    graphs: list[Any]
    graph_count: int
    graph_break_count: int
    break_reasons: list[Any]
    op_count: int
    ops_per_graph: list[Any] | None = None
    out_guards: list[Any] | None = None
    compile_times: str | None = None
