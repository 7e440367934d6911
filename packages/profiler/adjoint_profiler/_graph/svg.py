"""The picture: a self-contained SVG, without scripts."""

from __future__ import annotations

from html import escape

from .collector import resting
from .layout import Box, Size, Text, Wire, lay_out
from .model import Graph, Node, Site, size

_CHAR = 0.615  # width of a character in monospaced fonts, in units of its size
_FONT = "ui-monospace,DejaVu Sans Mono,Menlo,Consolas,monospace"
_LINE, _PAD, _MARGIN = 15.0, 10.0, 20.0
_WIDEST = 40  # characters of source that are shown; the rest is in the tooltip

# Rules name the class of the picture: in a notebook they hold for the whole page.
_RULES = f"""
text{{font-family:{_FONT};font-size:11px;fill:#3b4252}}
.name{{font-size:12.5px;font-weight:600;fill:#1b2330}}
.src{{font-size:10px;fill:#7b8494}}
.mem{{fill:#b4530a}}
.n{{stroke-width:1.2}}
.op .n{{fill:#ffffff;stroke:#8b95a7}}
.view .n{{fill:#f7f8fa;stroke:#8b95a7;stroke-dasharray:4 3}}
.write .n{{fill:#fff6ec;stroke:#d9822b}}
.inplace .n{{fill:#fff6ec;stroke:#d9822b}}
.function .n{{fill:#f5f0ff;stroke:#7c5cc4}}
.leaf .n{{fill:#e8f1fd;stroke:#3d7edb}}
.output .n{{fill:#e6f6ec;stroke:#2f9e5b}}
.group .n{{fill:#ffffff;stroke:#5b6679}}
.reference .n{{fill:#ffffff;stroke:#b9c2d0;stroke-dasharray:2 2}}
.freed{{opacity:.55}}
.bar{{fill:#e8935a}}
.e{{fill:none;stroke:#9aa4b5;stroke-width:1.3}}
.e.view{{stroke-dasharray:4 3}}
.e.write{{stroke:#d9822b;stroke-width:2}}
"""
_STYLE = "\n".join(f".adjoint-graph {rule}" for rule in _RULES.split("\n") if rule)

_HEAD = (
    '<marker id="{0}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
    '<path d="M0 .8 7.2 4 0 7.2z" fill="{1}"/></marker>'
)


@resting()
def to_svg(graph: Graph) -> str:
    """The picture of a graph: the forward pass runs from top to bottom, backward from bottom to top."""
    layout = lay_out(graph, label)
    most = max((n.bytes for n in graph.nodes), default=0)
    legend = _legend(graph)
    caption = _caption(graph)
    width = max(layout.width, _width(caption, 11), sum(_legend_width(text) for _, text in legend)) + 2 * _MARGIN
    height = layout.height + 2 * _MARGIN + 58
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="adjoint-graph" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<style>{_STYLE}</style><defs>{_HEAD.format('adjoint-arrow', '#9aa4b5')}{_HEAD.format('adjoint-write', '#d9822b')}</defs>",
        f'<rect width="100%" height="100%" fill="#fcfcfd"/><text x="{_MARGIN}" y="26">{escape(caption)}</text>',
        f'<g transform="translate({(width - layout.width) / 2:.1f} {_MARGIN + 24})">',
    ]
    parts += [_wire(w) for w in layout.wires]
    parts += [_box(b, most) for b in layout.boxes]
    parts.append("</g>")
    parts.append(_draw_legend(legend, height - 20))
    parts.append("</svg>")
    return "\n".join(parts)


def _caption(graph: Graph) -> str:
    nodes = sum(max(sum(n.parts.values()), 1) for n in graph.nodes if n.kind != "output")
    boxes = len(graph.nodes)
    folded = f", folded into {boxes} boxes" if any(n.kind == "group" for n in graph.nodes) else ""
    return f"{nodes} nodes{folded} · {size(graph.bytes)} saved for backward"


def lines_of(node: Node) -> Text:
    """(class, text) of each line in a node's box."""
    if node.kind == "reference":
        return [("src", node.name)]
    lines = [("name", node.name)]
    if node.kind == "group":
        lines += [("", f"{count} × {name}" if count > 1 else name) for name, count in list(node.parts.items())[:5]]
        if len(node.parts) > 5:
            lines[-1] = ("src", f"and {len(node.parts) - 4} others")
    elif text := node.result:
        lines.append(("", text))
    if node.bytes:
        lines.append(("mem", f"saves {size(node.bytes)}"))
    elif shared := next((s.shared for s in node.saved if s.shared), ""):
        lines.append(("src", f"keeps memory of {_cut(shared)}"))
    notes = [
        "in place" * (node.in_place and node.kind != "group"),
        f"{node.hooks} hook{'s' * (node.hooks > 1)}" * (node.hooks > 0),
        "freed" * node.released,
    ]
    if any(notes):
        lines.append(("mem", ", ".join(note for note in notes if note)))
    if node.site and node.kind not in ("leaf", "output"):
        lines.append(("src", _cut(_source(node.site, node.kind))))
    return lines


def _source(site: Site, kind: str) -> str:
    return f"{site.short}  {site.code}" if site.code and kind != "group" else site.short


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _width(text: str, font: float) -> float:
    return len(text) * _CHAR * font


_FONTS = {"name": 12.5, "src": 10.0}


def label(node: Node) -> tuple[Text, Size]:
    """The text of a node, and the size of a box that holds it."""
    lines = lines_of(node)
    width = max(_width(text, _FONTS.get(kind, 11.0)) for kind, text in lines)
    return lines, (width + 2 * _PAD, len(lines) * _LINE + (6 if node.kind == "reference" else 11))


def _box(box: Box, most: int) -> str:
    node, (w, h) = box.node, box.size
    x, y = box.x - w / 2, box.y - h / 2
    round_ = h / 2 if node.kind in ("leaf", "output") and h < 50 else 4
    kinds = [node.kind, *["inplace"] * (node.in_place and node.kind != "group"), *["freed"] * node.released]
    parts = [f'<g class="{" ".join(kinds)}"><title>{escape(_tooltip(node))}</title>']
    if node.kind == "group":
        parts.append(f'<rect class="n" x="{x + 4:.1f}" y="{y + 4:.1f}" width="{w:.1f}" height="{h:.1f}" rx="{round_:.0f}"/>')
    parts.append(f'<rect class="n" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="{round_:.0f}"/>')
    if node.bytes:
        parts.append(
            f'<rect class="bar" x="{x + 1:.1f}" y="{y + h - 4:.1f}" width="{max(2.0, (w - 2) * node.bytes / most):.1f}" height="3"/>'
        )
    centred = node.kind in ("leaf", "output", "reference")
    for i, (kind, text) in enumerate(box.text):
        at = f'x="{box.x:.1f}" text-anchor="middle"' if centred else f'x="{x + _PAD:.1f}"'
        of = f' class="{kind}"' if kind else ""
        parts.append(f'<text{of} {at} y="{y + (i + 1) * _LINE + 1:.1f}">{escape(text)}</text>')
    parts.append("</g>")
    return "".join(parts)


def _tooltip(node: Node) -> str:
    lines = [f"{node.name} {node.result}" + (f", call {node.seq}" if node.seq is not None and not node.parts else "")]
    lines += [f"{count} × {name}" for name, count in node.parts.items()]
    for s in node.saved[:12]:
        lines.append(f"saves {s.label} {s.value}: " + (f"memory of {s.shared}" if s.shared and not s.bytes else size(s.bytes)))
    if node.site:
        lines += [str(node.site), node.site.code]
    return "\n".join(line for line in lines if line)


def _wire(wire: Wire) -> str:
    (x, y), *rest = wire.points
    path = f"M{x:.1f} {y:.1f}"
    for i, (to_x, to_y) in enumerate(rest):
        if i % 2 == 0:
            path += f"V{to_y:.1f}" if to_y - y > 0.1 else ""
        else:
            half = (to_y - y) / 2
            path += f"C{x:.1f} {y + half:.1f} {to_x:.1f} {to_y - half:.1f} {to_x:.1f} {to_y:.1f}"
        x, y = to_x, to_y
    head = "write" if wire.edge.kind == "write" else "arrow"
    title = f"{wire.edge.value}" + (f" × {wire.edge.count}" if wire.edge.count > 1 else "")
    kind = f"e {wire.edge.kind}" if wire.edge.kind != "data" else "e"
    return f'<path class="{kind}" d="{path}" marker-{"start" if wire.up else "end"}="url(#adjoint-{head})"><title>{escape(title)}</title></path>'


_KINDS = {
    "leaf": "leaf",
    "op": "operation",
    "view": "view",
    "write": "write through a view",
    "inplace": "in place",
    "function": "custom Function",
    "group": "several nodes",
    "output": "output",
}


def _legend(graph: Graph) -> list[tuple[str, str]]:
    """(class, text) of the kinds that occur."""
    found = {n.kind for n in graph.nodes} | {"inplace" for n in graph.nodes if n.in_place and n.kind not in ("write", "group")}
    return [(kind, text) for kind, text in _KINDS.items() if kind in found] + ([("bar", "bytes saved")] if graph.bytes else [])


def _legend_width(text: str) -> float:
    return _width(text, 10) + 42


def _draw_legend(legend: list[tuple[str, str]], y: float) -> str:
    parts, x = [], _MARGIN
    for kind, text in legend:
        mark = (
            f'<rect class="bar" x="{x}" y="{y - 4}" width="16" height="3"/>'
            if kind == "bar"
            else f'<g class="{kind}"><rect class="n" x="{x}" y="{y - 9}" width="16" height="11" rx="3"/></g>'
        )
        parts.append(f'{mark}<text class="src" x="{x + 22:.1f}" y="{y}">{text}</text>')
        x += _legend_width(text)
    return "".join(parts)
