"""Where everything stands: layers, order, places put together, and the ways of the edges."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from . import layers, order, places
from .model import Edge, Graph, Node

GAP, CHANNEL = 22.0, 34.0  # between neighbours in a layer, between layers
_NEAR = 3  # a leaf used farther away than so many layers gets a reference there
_MOST_BENDS = 5000  # in a whole picture; edges that are longer still end at a reference too
# How much an edge wants to be vertical: what comes from the longest chain does, so that chains stand upright; and bends do.
_MAIN, _SIDE, _LEAF, _BENDS = 1.0, 0.03, 0.005, 4.0

Point = tuple[float, float]
Size = tuple[float, float]
Text = list[tuple[str, str]]  # (class, text) of each line


@dataclass
class Box:
    """A node, or a reference to one, with its text and place; x and y are of its centre."""

    node: Node
    text: Text
    size: Size
    x: float = 0.0
    y: float = 0.0


@dataclass
class Wire:
    """An edge and the points that it passes, from the upper end to the lower one; `up`: it points upwards.

    Its parts are in turn upright, inside a layer, and curved, between two layers.
    """

    edge: Edge
    points: list[Point]
    up: bool = False


@dataclass
class Layout:
    boxes: list[Box]
    wires: list[Wire]
    width: float
    height: float


@dataclass
class _Plan:
    """Nodes, references and bends, with their layers; `ways` are the stations of each edge."""

    boxes: list[Box | None]  # None: a bend
    layer: list[int]
    ways: list[tuple[Edge, list[int], bool]] = field(default_factory=list)

    def add(self, box: Box | None, layer: int) -> int:
        self.boxes.append(box)
        self.layer.append(layer)
        return len(self.boxes) - 1


def lay_out(graph: Graph, label: Callable[[Node], tuple[Text, Size]]) -> Layout:
    """Places for all nodes and edges of a graph."""
    plan = _plan(graph, label)
    count = len(plan.boxes)
    above: order.Links = [[] for _ in range(count)]
    below: order.Links = [[] for _ in range(count)]
    links = []
    for (_, way, _), pull in zip(plan.ways, _pulls(plan), strict=True):
        for u, v in zip(way, way[1:]):
            above[v].append(u)
            below[u].append(v)
            links.append((u, v, _BENDS if plan.boxes[u] is None and plan.boxes[v] is None else pull))
    rows = order.arrange(_first_order(plan.layer, above), above, below)
    widths = [box.size[0] if box else 6.0 for box in plan.boxes]
    x = places.place(rows, widths, links, GAP)
    tops, height = _heights(rows, plan.boxes)
    for row, (top, bottom) in zip(rows, tops, strict=True):
        for v in row:
            if box := plan.boxes[v]:
                box.x, box.y = x[v], (top + bottom) / 2
    width = max((x[v] + widths[v] / 2 for v in range(count)), default=0.0)
    return Layout([b for b in plan.boxes if b], _wires(plan, x, tops), width, height)


def _plan(graph: Graph, label: Callable[[Node], tuple[Text, Size]]) -> _Plan:
    ends = [(e.source, e.target) for e in graph.edges]
    back = _back_edges(graph)
    forward = [(v, u) if i in back else (u, v) for i, (u, v) in enumerate(ends)]
    plan = _Plan([Box(n, *label(n)) for n in graph.nodes], layers.assign(len(graph.nodes), forward))
    spans = [plan.layer[v] - plan.layer[u] for u, v in forward]
    budget = min(3 * len(graph.nodes) + 200, _MOST_BENDS)
    for i in sorted(range(len(spans)), key=spans.__getitem__):
        u, v = forward[i]
        upper = graph.nodes[u]
        budget -= spans[i] - 1
        if (spans[i] > _NEAR and upper.kind == "leaf") or budget < 0:
            reference = _reference(upper)
            u = plan.add(Box(reference, *label(reference)), plan.layer[v] - 1)
        bends = [plan.add(None, layer) for layer in range(plan.layer[u] + 1, plan.layer[v])]
        plan.ways.append((graph.edges[i], [u, *bends, v], i in back))
    return plan


def _back_edges(graph: Graph) -> set[int]:
    """Edges against the order of the program: a loop that was folded. Without them there is no cycle."""
    if not any(n.kind == "group" for n in graph.nodes):
        return set()
    first = {"leaf": -1.0, "output": math.inf}
    rank = [(first[n.kind] if n.kind in first else -1.0 if n.seq is None else float(n.seq), n.id) for n in graph.nodes]
    return {i for i, e in enumerate(graph.edges) if rank[e.source] > rank[e.target]}


def _pulls(plan: _Plan) -> list[float]:
    """The weight of each edge."""
    main: dict[int, int] = {}
    for k, (_, way, _) in enumerate(plan.ways):
        known = main.setdefault(way[-1], k)
        if plan.layer[way[0]] > plan.layer[plan.ways[known][1][0]]:
            main[way[-1]] = k
    pulls = []
    for k, (_, way, _) in enumerate(plan.ways):
        source = plan.boxes[way[0]]
        small = source is not None and source.node.kind in ("leaf", "reference")
        pulls.append(_LEAF if small else _MAIN if main[way[-1]] == k else _SIDE)
    return pulls


def _reference(node: Node) -> Node:
    """Stands for a node that is far away."""
    name = node.name if node.kind in ("leaf", "output") else f"{node.name} {node.seq}"
    return Node(node.id, name, "reference", node.value, node.site)


def _first_order(layer: Sequence[int], above: order.Links) -> list[list[int]]:
    """Nodes in the order of a walk from the bottom upwards: what belongs together stands together."""
    rows: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    seen = [False] * len(layer)
    for root in sorted(range(len(layer)), key=lambda v: -layer[v]):
        stack = [root]
        while stack:
            v = stack.pop()
            if seen[v]:
                continue
            seen[v] = True
            rows[layer[v]].append(v)
            stack.extend(reversed(above[v]))
    return rows


def _heights(rows: Sequence[Sequence[int]], boxes: Sequence[Box | None]) -> tuple[list[tuple[float, float]], float]:
    """Top and bottom of each layer, and the height of all."""
    tops, y = [], 0.0
    for row in rows:
        height = max((box.size[1] for v in row if (box := boxes[v])), default=0.0)
        tops.append((y, y + height))
        y += height + CHANNEL
    return tops, max(y - CHANNEL, 0.0)


def _wires(plan: _Plan, x: Sequence[float], tops: Sequence[tuple[float, float]]) -> list[Wire]:
    leaving, entering = _ports(plan, x, outgoing=True), _ports(plan, x, outgoing=False)
    wires = []
    for k, (edge, way, up) in enumerate(plan.ways):
        first, last = plan.boxes[way[0]], plan.boxes[way[-1]]
        assert first and last
        points = [(leaving[k], first.y + first.size[1] / 2), (leaving[k], tops[plan.layer[way[0]]][1])]
        for v in way[1:-1]:
            points += [(x[v], y) for y in tops[plan.layer[v]]]
        points += [(entering[k], tops[plan.layer[way[-1]]][0]), (entering[k], last.y - last.size[1] / 2)]
        wires.append(Wire(edge, points, up))
    return wires


def _ports(plan: _Plan, x: Sequence[float], outgoing: bool) -> list[float]:
    """Where each edge leaves (enters) its node: side by side, in the order of where they come from."""
    at: dict[int, list[int]] = {}
    for k, (_, way, _) in enumerate(plan.ways):
        at.setdefault(way[0] if outgoing else way[-1], []).append(k)
    ports = [0.0] * len(plan.ways)
    for v, ways in at.items():
        ways.sort(key=lambda k: x[plan.ways[k][1][1 if outgoing else -2]])
        box = plan.boxes[v]
        step = min(18.0, (box.size[0] - 20) / len(ways)) if box else 0.0
        for i, k in enumerate(ways):
            ports[k] = x[v] + (i - (len(ways) - 1) / 2) * step
    return ports
