"""The order within layers: few crossings, by barycentres."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

_SWEEPS = 6

Links = list[list[int]]  # for each node those it is joined to in the next layer


def arrange(layers: Sequence[Sequence[int]], above: Links, below: Links) -> list[list[int]]:
    """Each layer's nodes from left to right; the best of a few sweeps down and up."""
    current = [list(layer) for layer in layers]
    position = [0] * len(above)
    _number(current, position)
    best, fewest = current, crossings(current, above, position)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        side = above if down else below
        current = [list(layer) for layer in current]
        for layer in current if down else reversed(current):
            _sort(layer, side, position, ties_reversed=sweep % 4 >= 2)
        found = crossings(current, above, position)
        if found < fewest:
            best, fewest = current, found
    return best


def _number(layers: Sequence[Sequence[int]], position: list[int]) -> None:
    for layer in layers:
        for i, v in enumerate(layer):
            position[v] = i


def _sort(layer: list[int], side: Links, position: list[int], ties_reversed: bool) -> None:
    """By the mean position of neighbours; who has none keeps his own. Turning ties around leaves some dead ends."""
    if len(layer) > 1:
        if ties_reversed:
            layer.reverse()
        layer.sort(key=lambda v: sum([position[u] for u in side[v]]) / len(side[v]) if side[v] else position[v])
        for i, v in enumerate(layer):
            position[v] = i


def crossings(layers: Sequence[Sequence[int]], above: Links, position: Sequence[int]) -> int:
    """How many pairs of edges cross: inversions among the upper ends, read from left to right."""
    total = 0
    for layer in layers:
        ends = [u for v in layer for u in sorted([position[w] for w in above[v]])]
        if ends != (straight := sorted(ends)):
            total += _inversions(ends, straight)
    return total


def _inversions(ends: Sequence[int], straight: list[int]) -> int:
    """How many pairs stand the wrong way round; `straight`: the same numbers sorted."""
    total = 0
    for u in ends:  # what is still there and smaller comes later
        at = bisect_left(straight, u)
        total += at
        del straight[at]
    return total
