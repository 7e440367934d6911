"""The graph as text: a list for people, JSON, and the languages of Graphviz and Mermaid."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from .model import Edge, Graph, Node, size


def to_text(graph: Graph) -> str:
    """One line a node, newest first: what made it, where, what it saves, and which nodes it leads to."""
    inputs: dict[int, list[Edge]] = {}
    for e in graph.edges:
        inputs.setdefault(e.target, []).append(e)
    rows = [("", "node", "value", "saves", "line", "from")]
    for n in graph.nodes:
        if n.kind == "leaf":
            continue
        sources = ", ".join(_source(graph, e) for e in inputs.get(n.id, []))
        rows.append((f"{n.id}", _named(n), n.result, size(n.bytes) if n.bytes else "", _place(n), sources))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    lines = ["  ".join([cell.ljust(w) for cell, w in zip(row, widths)] + [row[-1]]).rstrip() for row in rows]
    return "\n".join([*lines, f"{size(graph.bytes)} saved for backward"])


def _named(n: Node) -> str:
    notes = ["in place"] * n.in_place + [f"{n.hooks} hook{'s' * (n.hooks > 1)}"] * (n.hooks > 0) + ["freed"] * n.released
    notes += [f"{sum(n.parts.values())} nodes"] * bool(n.parts)
    return n.name + (f" ({', '.join(notes)})" if notes else "")


def _place(n: Node) -> str:
    return f"{n.site.short} in {n.site.scope}" if n.site and n.kind != "leaf" else ""


def _source(graph: Graph, e: Edge) -> str:
    source = graph.nodes[e.source]
    name = source.name if source.kind == "leaf" else str(source.id)
    return name + f".{e.nr}" * (e.nr > 0) + f" x{e.count}" * (e.count > 1) + f" ({e.kind})" * (e.kind != "data")


def to_json(graph: Graph) -> str:
    """Nodes and edges with all that is known of them; ids are places in the list of nodes."""
    return json.dumps(
        {"bytes": graph.bytes, "nodes": [_plain(n) for n in graph.nodes], "edges": [_plain(e) for e in graph.edges]}, indent=1
    )


def _plain(item: Node | Edge) -> dict[str, Any]:
    """A dataclass without what is empty."""
    found = {key: value for key, value in asdict(item).items() if value not in (None, [], {}, False)}
    if isinstance(item, Node):
        found["id"], found["bytes"] = item.id, item.bytes
    return found


_SHAPES = {
    "leaf": ("oval", "#e8f1fd"),
    "output": ("oval", "#e6f6ec"),
    "function": ("box", "#f5f0ff"),
    "write": ("box", "#fff6ec"),
}
_STYLES = {"data": "solid", "view": "dashed", "write": "bold"}


def to_dot(graph: Graph) -> str:
    """The graph in Graphviz' language."""
    lines = [
        "digraph {",
        '  node [fontname="monospace", fontsize=10, style=filled, shape=box, fillcolor=white]',
        "  edge [fontsize=9]",
    ]
    for n in graph.nodes:
        shape, colour = _SHAPES.get(n.kind, ("box", "#fff6ec" if n.in_place else "white"))
        label = "\\n".join(_quoted(line) for line in _label(n))
        lines.append(f'  n{n.id} [label="{label}", shape={shape}, fillcolor="{colour}"]')
    lines += [f"  n{e.source} -> n{e.target} [style={_STYLES[e.kind]}]" for e in graph.edges]
    return "\n".join([*lines, "}"])


def to_mermaid(graph: Graph) -> str:
    """The graph in Mermaid's language, which Markdown pages draw."""
    lines = ["flowchart TD"]
    for n in graph.nodes:
        label = "<br/>".join(line.replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;") for line in _label(n))
        lines.append(f'  n{n.id}(["{label}"])' if n.kind in ("leaf", "output") else f'  n{n.id}["{label}"]')
    arrows = {"data": "-->", "view": "-.->", "write": "==>"}
    lines += [f"  n{e.source} {arrows[e.kind]} n{e.target}" for e in graph.edges]
    return "\n".join(lines)


def _label(n: Node) -> list[str]:
    lines = [_named(n), n.result, f"saves {size(n.bytes)}" if n.bytes else "", _place(n)]
    return [line for line in lines if line]


def _quoted(line: str) -> str:
    return line.replace("\\", "\\\\").replace('"', '\\"')
