"""From tensors to a Graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adjoint_core import Tensor
from adjoint_engine import _engine
from adjoint_engine.trees import tree_flatten

from . import names as _names
from .collector import resting
from .kept import kept_by, value_of
from .model import Edge, Graph, Node, Saved, site


def outputs_of(given: Any, caller: str) -> list[Tensor]:
    """The tensors with history among the arguments: a tensor, or any nesting of containers of them."""
    tensors = [t for t in tree_flatten(given)[0] if isinstance(t, Tensor)]
    recorded = [t for t in tensors if t.requires_grad]
    if not recorded:
        what = "tensors of which none requires grad" if tensors else repr(type(given).__name__)
        raise ValueError(f"{caller}: expected tensors with a graph behind them, got {what}")
    return recorded


@resting()
def capture(outputs: Sequence[Tensor], names: Mapping[_names.Key, str]) -> Graph:
    """The graph behind tensors, newest node first; the outputs come before all."""
    records, roots = _engine.graph_nodes(list(outputs))
    rank = sorted(range(len(records)), key=lambda i: -1 if records[i]["seq"] is None else records[i]["seq"], reverse=True)
    nodes = [_output(i, t, names) for i, t in enumerate(outputs)]
    place = {record: len(nodes) + i for i, record in enumerate(rank)}
    nodes += [_node(place[i], records[i], names) for i in rank]
    edges = _edges(records, place)
    edges += [Edge(place[root], i, "data", nr, nodes[i].value) for i, (root, nr) in enumerate(roots)]
    for root, _ in roots:
        nodes[place[root]].variable = ""  # the output has that name
    for edge in edges:
        if edge.nr == 0 and nodes[edge.source].value.shape is None:
            nodes[edge.source].value = edge.value
    _share_out(records, place, nodes)
    return Graph(nodes, edges)


def _output(place: int, t: Tensor, names: Mapping[_names.Key, str]) -> Node:
    name = names.get(_engine.edge_key(t), "output" if place == 0 else f"output {place}")
    return Node(place, name, "output", value_of(t.shape, t.dtype))


def _node(place: int, record: Mapping[str, Any], names: Mapping[_names.Key, str]) -> Node:
    leaf = record["variable"]
    node = Node(place, record["name"], record["kind"], seq=record["seq"], site=site(record["site"]))
    node.hooks, node.in_place, node.released = sum(record["hooks"][:4]), record["in_place"], record["released"]
    if leaf is None:
        node.variable = names.get((record["key"], 0), "")
    else:
        node.name, node.value = names.get((record["key"], 0), "leaf"), value_of(leaf.shape, leaf.dtype)
    return node


def _edges(records: Sequence[Mapping[str, Any]], place: Mapping[int, int]) -> list[Edge]:
    edges = []
    for i, record in enumerate(records):
        for source, nr, input_, shape, dtype, _ in record["inputs"]:
            kind = "data"
            if input_ == 0 and (record["in_place"] or record["kind"] == "view"):
                kind = "write" if record["in_place"] else "view"
            edges.append(Edge(place[source], place[i], kind, nr, value_of(shape, dtype)))
    return edges


def _share_out(records: Sequence[Mapping[str, Any]], place: Mapping[int, int], nodes: list[Node]) -> None:
    """Gives each block of memory to the oldest node that keeps it; the memory of leaves to the leaves."""
    owners: dict[int, str] = {}
    for i, record in enumerate(records):
        if record["variable"] is not None:
            owners.update((block, nodes[place[i]].name) for block, *_ in _engine.memory_blocks(record["variable"]))
    for i in sorted(range(len(records)), key=lambda i: place[i], reverse=True):
        node = nodes[place[i]]
        for kept in kept_by(records[i]):
            own = [(block, bytes_) for block, bytes_, *_ in kept.blocks if block not in owners]
            shared = next((owners[block] for block, *_ in kept.blocks if block in owners), "")
            owners.update((block, f"{node.name} {node.seq}") for block, _ in own)
            node.saved.append(Saved(kept.label, kept.value, sum(b for _, b in own), shared))
