"""The picture's geometry, on random graphs: nothing overlaps, edges point one way and pass no box."""

import random

import pytest

import adjoint as ad
from adjoint.autograd import graph
from adjoint_profiler._graph import layers, order, places
from adjoint_profiler._graph.layout import lay_out
from adjoint_profiler._graph.model import Edge, Graph, Node
from adjoint_profiler._graph.svg import label, to_svg


def random_graph(seed, cyclic=False):
    rng = random.Random(seed)
    count = rng.randint(2, 60)
    kinds = ["group", "group", "op", "view", "leaf"] if cyclic else ["op", "op", "op", "view", "leaf"]
    nodes = [Node(i, f"{'x' * rng.randint(1, 20)}{i}", rng.choice(kinds) if i else "leaf", seq=i) for i in range(count)]
    edges = []
    for v in range(1, count):
        for u in {max(0, v - rng.choice([1, 1, 1, 2, 3, 20])) for _ in range(rng.randint(1, 3))}:
            edges.append(Edge(u, v))
            if cyclic and rng.random() < 0.1:
                edges.append(Edge(v, u))
    return Graph(nodes, edges)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("cyclic", [False, True])
def test_geometry(seed, cyclic):
    layout = lay_out(g := random_graph(seed, cyclic), label)
    areas = [(b.x - b.size[0] / 2, b.y - b.size[1] / 2, b.x + b.size[0] / 2, b.y + b.size[1] / 2) for b in layout.boxes]
    assert min(a[0] for a in areas) >= -1e-6 and max(a[2] for a in areas) <= layout.width + 1e-6
    assert min(a[1] for a in areas) >= -1e-6 and max(a[3] for a in areas) <= layout.height + 1e-6
    for i, a in enumerate(areas):
        for b in areas[:i]:
            assert a[2] <= b[0] + 1e-6 or b[2] <= a[0] + 1e-6 or a[3] <= b[1] + 1e-6 or b[3] <= a[1] + 1e-6
    assert len(layout.wires) == len(g.edges)
    for wire in layout.wires:
        ys = [y for _, y in wire.points]
        assert ys == sorted(ys) and (cyclic or not wire.up)
        for (x, top), (_, bottom) in list(zip(wire.points, wire.points[1:]))[2:-1:2]:  # upright parts inside layers
            assert not any(a[0] < x < a[2] and a[1] < (top + bottom) / 2 < a[3] for a in areas)


def test_layers_are_tight():
    #   0 -> 1 -> 2 -> 3, and a leaf 4 -> 3: it stands beside 2
    assert layers.assign(5, [(0, 1), (1, 2), (2, 3), (4, 3)]) == [0, 1, 2, 3, 2]


def test_crossings_are_found_and_removed():
    above, below = [[], [], [], [1], [0], [0, 2]], [[4, 5], [3], [5], [], [], []]
    position = [0, 1, 2, 0, 1, 2]
    assert order.crossings([[0, 1, 2], [3, 4, 5]], above, position) == 2
    rows = order.arrange([[0, 1, 2], [3, 4, 5]], above, below)
    place = [0] * 6
    for row in rows:
        for i, v in enumerate(row):
            place[v] = i
    assert order.crossings(rows, above, place) == 0


def test_places_keep_their_order_and_distance():
    assert places.settle([3.0, 1.0, 2.0], [1.0, 1.0, 2.0]) == [2.0, 2.0, 2.0]
    assert places.settle([1.0, 2.0, 5.0], [1.0, 1.0, 1.0]) == [1.0, 2.0, 5.0]
    x = places.place([[0], [1, 2, 3]], [10.0] * 4, [(0, i, 1.0) for i in (1, 2, 3)], 5.0)
    assert x[2] - x[1] == pytest.approx(15) and x[3] - x[2] == pytest.approx(15) and x[0] == pytest.approx(x[2])


def test_text_fits_its_box():
    for seed in range(5):
        for box in lay_out(random_graph(seed), label).boxes:
            for kind, text in box.text:
                font = {"name": 12.5, "src": 10.0}.get(kind, 11.0)
                assert len(text) * 0.602 * font <= box.size[0]  # 0.602: DejaVu Sans Mono; others are narrower


def test_chains_stand_upright():
    w, h = ad.ones(4, 4, requires_grad=True), ad.ones(2, 4)
    for _ in range(20):
        h = (h @ w).tanh()
    layout = lay_out(graph.show(h).graph, label)
    xs = [b.x for b in layout.boxes if b.node.kind == "op"]
    assert max(xs) - min(xs) < 30
    assert sum(b.node.kind == "reference" for b in layout.boxes) >= 17  # w is not wired over the whole page


def test_wide_and_deep_graphs_stay_small():
    leaves = [ad.ones(1, requires_grad=True) for _ in range(300)]
    assert to_svg(graph.show(ad.cat(leaves), fold=None).graph).count("<path") >= 300
    x = first = ad.ones(1, requires_grad=True).exp()
    for _ in range(1500):
        x = x * first  # every node is joined to the first: bends for all would be a million
    layout = lay_out(graph.show(x, fold=None).graph, label)
    assert sum(len(w.points) for w in layout.wires) < 30_000
