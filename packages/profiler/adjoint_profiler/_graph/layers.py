"""Layers: every edge points from a smaller number to a larger one, and is short."""

from __future__ import annotations

from collections.abc import Sequence


def assign(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """A layer for each node of a graph without cycles: its longest path from a source, then as near its users as helps."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for u, v in edges:
        above[v].append(u)
        below[u].append(v)
    waiting = [len(a) for a in above]
    order = [v for v in range(count) if not waiting[v]]
    for u in order:
        for v in below[u]:
            waiting[v] -= 1
            if not waiting[v]:
                order.append(v)
    layer = [0] * count
    for v in order:
        layer[v] = max((layer[u] + 1 for u in above[v]), default=0)
    for u in reversed(order):
        if below[u] and len(above[u]) <= len(below[u]):
            layer[u] = min(layer[v] for v in below[u]) - 1
    lowest = min(layer, default=0)
    return [i - lowest for i in layer]
