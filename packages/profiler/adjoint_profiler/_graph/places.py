"""Horizontal places: each node near the mean of its neighbours, in the given order, without overlaps."""

from __future__ import annotations

from collections.abc import Sequence

_ROUNDS, _FEW, _LARGE = 12, 4, 2000  # above so many nodes a few rounds do: nobody sees the difference

Links = list[tuple[int, float]]  # of one node: a neighbour, and how near it wants to be


def settle(targets: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The non-decreasing numbers nearest to `targets` in weighted least squares (pool adjacent violators)."""
    blocks: list[tuple[float, float, int]] = []  # mean, weight, how many
    for target, weight in zip(targets, weights, strict=True):
        mean, total, count = target, weight, 1
        while blocks and blocks[-1][0] > mean:
            other, more, n = blocks.pop()
            mean = (mean * total + other * more) / (total + more)
            total += more
            count += n
        blocks.append((mean, total, count))
    return [mean for mean, _, count in blocks for _ in range(count)]


def place(
    layers: Sequence[Sequence[int]], widths: Sequence[float], links: Sequence[tuple[int, int, float]], gap: float
) -> list[float]:
    """The centre of each node. `links` are (upper, lower, weight): heavy ones are drawn straighter."""
    above: list[Links] = [[] for _ in widths]
    below: list[Links] = [[] for _ in widths]
    for u, v, weight in links:
        above[v].append((u, weight))
        below[u].append((v, weight))
    rows = [(layer, _offsets(layer, widths, gap)) for layer in layers]
    x = [0.0] * len(widths)
    for layer, offsets in rows:
        for v, o in zip(layer, offsets, strict=True):
            x[v] = o - offsets[-1] / 2
    both = [a + b for a, b in zip(above, below, strict=True)]
    rounds = _ROUNDS if len(widths) < _LARGE else _FEW
    for turn in range(rounds):
        side = both if turn >= rounds - 2 else below if turn % 2 else above
        for layer, offsets in reversed(rows) if turn % 2 else rows:
            _pull(layer, offsets, side, x)
    left = min((x[v] - widths[v] / 2 for v in range(len(widths))), default=0.0)
    return [v - left for v in x]


def _offsets(layer: Sequence[int], widths: Sequence[float], gap: float) -> list[float]:
    """Where each node of a layer stands at the least, from the first one's centre."""
    offsets = [0.0] * len(layer)
    for i in range(1, len(layer)):
        offsets[i] = offsets[i - 1] + (widths[layer[i - 1]] + widths[layer[i]]) / 2 + gap
    return offsets


def _pull(layer: Sequence[int], offsets: Sequence[float], side: Sequence[Links], x: list[float]) -> None:
    """Moves a layer towards its neighbours."""
    targets, weights = [], []
    for v, offset in zip(layer, offsets, strict=True):
        total = sum_ = 0.0
        for u, w in side[v]:
            total += w
            sum_ += x[u] * w
        targets.append((sum_ / total if total else x[v]) - offset)
        weights.append(total or 0.001)
    if len(layer) == 1:
        x[layer[0]] = targets[0]
        return
    for v, offset, found in zip(layer, offsets, settle(targets, weights), strict=True):
        x[v] = found + offset
