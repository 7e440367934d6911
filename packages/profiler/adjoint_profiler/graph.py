"""The graph behind tensors, drawn: ``show``, ``to_svg``, ``to_dot``, ``to_mermaid``, ``to_json``, ``to_text``.

Pictures need nothing but a browser. Large graphs are folded: what one source line (or one function) made becomes one box.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from ._graph import fold as _fold
from ._graph import names as _names
from ._graph import text as _text
from ._graph.capture import capture, outputs_of
from ._graph.model import Graph
from ._graph.svg import to_svg as _svg

__all__ = ["Drawing", "show", "to_dot", "to_json", "to_mermaid", "to_svg", "to_text"]

_LIMIT = 1000


class Drawing:
    """What ``show`` returns: a picture in notebooks, a list in terminals; ``save`` writes it to a file.

    ``graph`` holds it as plain data: ``graph.nodes`` (name, kind, value, site, saved, hooks, ...) and ``graph.edges``.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def _repr_svg_(self) -> str:
        return _svg(self.graph)

    def __repr__(self) -> str:
        return _text.to_text(self.graph)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file in the format of its name: .svg, .dot, .mmd, .json or .txt.

        Raises:
            ValueError: the name has another ending.
        """
        ending = Path(path).suffix
        if ending not in _WRITERS:
            raise ValueError(f"save: expected a file name that ends in {', '.join(_WRITERS)}, got {str(path)!r}")
        Path(path).write_text(_WRITERS[ending](self.graph), encoding="utf-8")


_WRITERS = {".svg": _svg, ".dot": _text.to_dot, ".mmd": _text.to_mermaid, ".json": _text.to_json, ".txt": _text.to_text}


def _graph(
    caller: str, frame: FrameType | None, outputs: Any, names: Mapping[str, Any] | None, by: str | None, limit: int
) -> Graph:
    if by not in ("auto", "line", "function", None):
        raise ValueError(f"{caller}: fold must be 'auto', 'line', 'function' or None, got {by!r}")
    tensors = outputs_of(outputs, caller)
    graph = capture(tensors, _names.of_frame(frame) | _names.of_mapping(names or {}))
    if by == "auto":
        return _fold.fold_to(graph, limit)
    return _fold.fold(graph, by) if by else graph


def show(outputs: Any, *, names: Mapping[str, Any] | None = None, fold: str | None = "auto", limit: int = _LIMIT) -> Drawing:
    """Draws the graph behind tensors: in a notebook as a picture, in a terminal as a list; ``show(loss).save("loss.svg")``.

    Each node shows its name, the shape and type of its value, the bytes that it alone keeps for backward, hooks, and the
    line that called it; views are dashed, in-place writes orange. The forward pass runs from top to bottom.

    Arguments:
        outputs: a tensor, or any nesting of containers of tensors; at least one requires grad.
        names: what to call tensors, such as ``dict(model.named_parameters())``; the variables of the caller are found anyhow.
        fold: make one box of all that one source line ("line") or function ("function") made; "auto": only above `limit`
            nodes; None: never.
        limit: for "auto".

    Raises:
        ValueError: nothing here requires grad, or `fold` is unknown.

    Example::

        >>> w = ad.ones(2, 3, requires_grad=True)
        >>> [n.name for n in show((w * w).sum()).graph.nodes]
        ['output', 'SumBackward0', 'MulBackward0', 'w']
    """
    return Drawing(_graph("show", sys._getframe(1), outputs, names, fold, limit))


def to_svg(outputs: Any, *, names: Mapping[str, Any] | None = None, fold: str | None = "auto", limit: int = _LIMIT) -> str:
    """The picture that ``show`` draws, as SVG.

    Example::

        >>> to_svg(ad.ones(1, requires_grad=True) * 2)[:4]
        '<svg'
    """
    return _svg(_graph("to_svg", sys._getframe(1), outputs, names, fold, limit))


def to_dot(outputs: Any, *, names: Mapping[str, Any] | None = None, fold: str | None = "auto", limit: int = _LIMIT) -> str:
    """The graph in Graphviz' language; arguments as for ``show``.

    Example::

        >>> print(to_dot(ad.ones(1, requires_grad=True) * 2).splitlines()[0])
        digraph {
    """
    return _text.to_dot(_graph("to_dot", sys._getframe(1), outputs, names, fold, limit))


def to_mermaid(outputs: Any, *, names: Mapping[str, Any] | None = None, fold: str | None = "auto", limit: int = _LIMIT) -> str:
    """The graph in Mermaid's language, for Markdown pages; arguments as for ``show``.

    Example::

        >>> print(to_mermaid(ad.ones(1, requires_grad=True) * 2).splitlines()[0])
        flowchart TD
    """
    return _text.to_mermaid(_graph("to_mermaid", sys._getframe(1), outputs, names, fold, limit))


def to_json(outputs: Any, *, names: Mapping[str, Any] | None = None, fold: str | None = None, limit: int = _LIMIT) -> str:
    """Nodes and edges as JSON, unfolded unless asked; arguments as for ``show``.

    Example::

        >>> import json
        >>> json.loads(to_json(ad.ones(1, requires_grad=True) * 2))["edges"][0]["value"]["shape"]
        [1]
    """
    return _text.to_json(_graph("to_json", sys._getframe(1), outputs, names, fold, limit))


def to_text(outputs: Any, *, names: Mapping[str, Any] | None = None, fold: str | None = "auto", limit: int = _LIMIT) -> str:
    """One line a node, newest first; arguments as for ``show``.

    Example::

        >>> print(to_text(ad.ones(1, requires_grad=True) * 2).splitlines()[1].split()[1])
        output
    """
    return _text.to_text(_graph("to_text", sys._getframe(1), outputs, names, fold, limit))
