"""The graph captured: names, values, lines, memory, hooks, views and writes; and what is written from it."""

import json
import re
import xml.etree.ElementTree as ET

import pytest

import adjoint as ad
from adjoint.autograd import graph


class Square(ad.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.extra = ad.ones(100)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]


def nodes_of(drawing):
    return {n.name: n for n in drawing.graph.nodes}


def edges_of(drawing):
    nodes = drawing.graph.nodes
    return {(nodes[e.source].name, nodes[e.target].name, e.kind) for e in drawing.graph.edges}


def test_names_values_and_edges():
    x, w = ad.ones(4, 3), ad.ones(3, 5, requires_grad=True)
    b = ad.ones(5, requires_grad=True, dtype=ad.float64)
    h = x @ w + b
    loss = h.sum()
    drawing = graph.show(loss)
    assert nodes_of(drawing)["AddBackward0"].variable == "h" and not nodes_of(drawing)["MmBackward0"].variable
    assert edges_of(drawing) == {
        ("w", "MmBackward0", "data"),
        ("MmBackward0", "AddBackward0", "data"),
        ("b", "AddBackward0", "data"),
        ("AddBackward0", "SumBackward0", "data"),
        ("SumBackward0", "loss", "data"),
    }
    values = {name: str(n.value) for name, n in nodes_of(drawing).items()}
    assert values["MmBackward0"] == "float32[4, 5]" and values["b"] == "float64[5]"
    assert values["AddBackward0"] == "float64[4, 5]" and values["loss"] == "float64[]"


class Layer:
    def __init__(self):
        self.weight = ad.ones(3, 3, requires_grad=True)

    def __call__(self, x):
        return x @ self.weight


def test_names_are_found_below_variables_or_given():
    model, table = [Layer(), Layer()], {"bias": ad.ones(3, requires_grad=True)}
    y = model[1](model[0](ad.ones(2, 3))) + table["bias"]
    names = set(nodes_of(graph.show([y])))
    assert {"model[0].weight", "model[1].weight", "table['bias']", "y"} <= names
    assert "bias" in nodes_of(graph.show(y, names={"bias": table["bias"]}))


def test_lines():
    w = ad.ones(3, requires_grad=True)
    y = w.sin()
    z = Layer()(ad.ones(1, 3)) * y
    nodes = nodes_of(graph.show(z))
    assert nodes["SinBackward0"].site.code == "y = w.sin()" and nodes["SinBackward0"].site.function == "test_lines"
    assert nodes["MmBackward0"].site.code == "return x @ self.weight"
    assert nodes["MmBackward0"].site.function == "Layer.__call__"
    assert nodes["w"].site.code == "w = ad.ones(3, requires_grad=True)"


def test_memory_is_counted_once_and_leaves_not_at_all():
    w = ad.ones(1000, requires_grad=True)
    h = w.exp()
    y = h.sin() * h.cos() + w * w
    nodes = nodes_of(graph.show(y))
    assert nodes["ExpBackward0"].bytes == 4000 and nodes["ExpBackward0"].saved[0].label == "result"
    assert nodes["SinBackward0"].bytes == 0 and "ExpBackward0" in nodes["SinBackward0"].saved[0].shared
    of_leaf = [s for n in graph.show(y).graph.nodes for s in n.saved if s.shared == "w"]
    assert len(of_leaf) == 2 and not any(s.bytes for s in of_leaf)
    assert graph.show(y).graph.bytes == 3 * 4000  # exp's result, and the operands sin and cos of the product


def test_views_writes_hooks_functions():
    w = ad.ones(4, 4, requires_grad=True)
    y = (w * 2).t()
    y[0].mul_(3)
    z = y.add_(1).unsqueeze(0)
    z.register_hook(print)
    s = Square.apply(z)
    edges = edges_of(graph.show(s))
    assert ("MulBackward0", "CopySlices", "write") in edges
    assert ("TransposeBackward0", "UnsqueezeBackward0", "view") in edges and (
        "UnsqueezeBackward0",
        "SquareBackward",
        "data",
    ) in edges
    nodes = nodes_of(graph.show(s))
    assert nodes["CopySlices"].in_place and nodes["CopySlices"].kind == "write"
    assert nodes["UnsqueezeBackward0"].hooks == 1 and nodes["SquareBackward"].kind == "function"
    assert [n.label for n in nodes["SquareBackward"].saved] == ["saved_tensors[0]", "ctx.extra"]
    x = ad.ones(3, requires_grad=True) * 1
    x.mul_(x.exp())
    assert [n.in_place for n in graph.show(x).graph.nodes if n.name == "MulBackward0"] == [True, False]


def test_packed_tensors_are_looked_into():
    with graph.saved_tensors_hooks(lambda t: (t.clone(), "packed"), lambda p: p[0]):
        y = ad.ones(500, requires_grad=True).exp()
    assert [(s.label, s.bytes) for s in nodes_of(graph.show(y))["ExpBackward0"].saved] == [("result, packed", 2000)]


def test_looking_leaves_no_trace():
    w = ad.ones(3, requires_grad=True)
    y = (w.sin() * w).sum()
    graph.to_svg(y)
    y.backward()
    assert w.grad.tolist() == pytest.approx((w.cos() * w + w.sin()).tolist())
    assert nodes_of(graph.show(y))["MulBackward0"].released
    assert "freed" in repr(graph.show(y))
    leaf = ad.ones(2, requires_grad=True)
    assert edges_of(graph.show(leaf)) == {("leaf", "leaf", "data")}


def test_folding_by_line_and_by_function():
    w = ad.ones(8, 8, requires_grad=True)

    def step(h):
        h = h @ w
        return h.tanh()

    h = ad.ones(2, 8)
    for _ in range(10):
        h = step(h)
    loss = h.sum()
    by_line = graph.show(loss, fold="line").graph
    groups = {n.name: n for n in by_line.nodes if n.kind == "group"}
    assert groups["h = h @ w"].parts == {"MmBackward0": 10} and groups["return h.tanh()"].parts == {"TanhBackward0": 10}
    counts = {(by_line.nodes[e.source].name, by_line.nodes[e.target].name): e.count for e in by_line.edges}
    assert counts["h = h @ w", "return h.tanh()"] == 10 and counts["return h.tanh()", "h = h @ w"] == 9
    by_function = graph.show(loss, fold="function").graph
    group = next(n for n in by_function.nodes if n.kind == "group")
    assert group.name == "step" and group.parts == {"MmBackward0": 10, "TanhBackward0": 10}
    assert len(graph.show(loss, limit=10).graph.nodes) == len(by_line.nodes)
    assert graph.show(loss, fold="line").graph.bytes == graph.show(loss, fold=None).graph.bytes


def program():
    w = ad.ones(8, 8, requires_grad=True)
    y = (w @ w).tanh() if 1 < 2 else "<&>"
    y[0].mul_(2)
    return Square.apply(y.t()).sum()


def test_svg_is_well_formed_and_complete():
    loss = program()
    root = ET.fromstring(graph.to_svg(loss))
    texts = ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]
    for name in ("MmBackward0", "TanhBackward0", "CopySlices", "SquareBackward", "loss", "in place"):
        assert name in texts
    assert any(
        'y = (w @ w).tanh() if 1 < 2 else "<&>"' in "".join(t.itertext()) for t in root.iter() if t.tag.endswith("title")
    )
    assert graph.show(loss)._repr_svg_() == graph.to_svg(loss)


def test_dot_mermaid_and_json(tmp_path):
    loss = program()
    count = len(graph.show(loss).graph.nodes)
    dot, mermaid = graph.to_dot(loss), graph.to_mermaid(loss)
    assert dot.count("[label=") == count and dot.startswith("digraph {") and dot.endswith("}")
    assert len(re.findall(r'^  n\d+\(?\["', mermaid, re.MULTILINE)) == count
    plain = json.loads(graph.to_json(loss))
    assert [n["id"] for n in plain["nodes"]] == list(range(count))
    assert plain["nodes"][1]["site"]["function"] == "program" and plain["bytes"] == graph.show(loss).graph.bytes
    for ending, start in ((".svg", "<svg"), (".dot", "digraph"), (".mmd", "flowchart"), (".json", "{"), (".txt", " ")):
        graph.show(loss).save(tmp_path / f"g{ending}")
        assert (tmp_path / f"g{ending}").read_text().startswith(start)
    with pytest.raises(ValueError, match=r"save: expected a file name that ends in .svg, .*, got '.*g.png'"):
        graph.show(loss).save(tmp_path / "g.png")


def test_bad_input():
    with pytest.raises(ValueError, match="show: expected tensors with a graph behind them, got tensors of which none"):
        graph.show(ad.ones(3))
    with pytest.raises(ValueError, match="to_dot: expected tensors with a graph behind them, got 'int'"):
        graph.to_dot(3)
    with pytest.raises(ValueError, match="fold must be .* got 'file'"):
        graph.show(program(), fold="file")
