"""Large graphs made small: nodes made on one line, or in one function, become one box."""

from __future__ import annotations

from collections import Counter

from .model import Edge, Graph, Node, Site, Value

_KINDS = ("line", "function")


def fold(graph: Graph, by: str) -> Graph:
    """The graph with one node for all that one source line ("line") or one function ("function") made."""
    if by not in _KINDS:
        raise ValueError(f"fold: expected 'line' or 'function', got {by!r}")
    groups: dict[object, list[Node]] = {}
    for node in graph.nodes:
        groups.setdefault(_key(node, by), []).append(node)
    place: dict[int, int] = {}
    nodes: list[Node] = []
    for members in groups.values():
        place.update((n.id, len(nodes)) for n in members)
        nodes.append(_group(len(nodes), members, by))
    edges: dict[tuple[int, int, str], Edge] = {}
    for e in graph.edges:
        u, v = place[e.source], place[e.target]
        if u == v:
            continue
        if known := edges.get((u, v, e.kind)):
            known.count += 1
        else:
            edges[u, v, e.kind] = Edge(u, v, e.kind, e.nr, e.value)
    return Graph(nodes, list(edges.values()))


def fold_to(graph: Graph, limit: int) -> Graph:
    """The graph itself if it has at most `limit` nodes, else folded by line, and if that is too much, by function."""
    for by in _KINDS:
        if len(graph.nodes) <= limit:
            break
        graph = fold(graph, by)
    return graph


def _key(node: Node, by: str) -> object:
    if node.kind == "output" or node.site is None:
        return node.id
    return node.kind == "leaf", node.site.file, node.site.function, node.site.line if by == "line" else 0


def _group(place: int, members: list[Node], by: str) -> Node:
    first = members[0]
    if len(members) == 1:
        first.id = place
        return first
    parts: Counter[str] = Counter()
    for n in members:
        parts.update(n.parts or {n.name: 1})
    leaves = all(n.kind == "leaf" for n in members)
    assert first.site
    name = f"{len(members)} leaves" if leaves else first.site.code if by == "line" and first.site.code else first.site.scope
    site = first.site if by == "line" else Site(first.site.file, 0, first.site.function)
    group = Node(place, _short(name), "group", Value(), site, parts=dict(parts.most_common()))
    group.saved = [s for n in members for s in n.saved]
    group.hooks = sum(n.hooks for n in members)
    group.seq = min((n.seq for n in members if n.seq is not None), default=None)
    group.released = all(n.released for n in members)
    return group


def _short(text: str) -> str:
    return text if len(text) <= 44 else text[:43] + "…"
