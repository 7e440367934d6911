"""The ledger: what is kept, by whom, from where; equal to the allocator's books; the peak of backward; leaks named."""

import gc
import subprocess
import sys

import pytest

import adjoint as ad
from adjoint.autograd import graph
from adjoint_core import _core


def layer(h, w):
    return (h @ w).tanh()


def network(width=128, batch=64, depth=3):
    x = ad.randn(batch, width)
    ws = [(ad.randn(width, width) / 16).requires_grad_() for _ in range(depth)]
    h = x
    for w in ws:
        h = layer(h, w)
    return (h * h).mean(), ws


def test_rows_name_owner_label_line_and_sharing():
    w = ad.ones(1000, requires_grad=True)
    h = w.exp()
    loss = (h * h.sin()).sum()
    book = graph.ledger(loss)
    saved = {(r.owner, r.label): r for r in book.rows if r.kind == "saved"}
    assert saved["ExpBackward0", "result"].bytes == 4000 and saved["ExpBackward0", "result"].site.code == "h = w.exp()"
    assert saved["SinBackward0", "self"].shared == "ExpBackward0" and saved["SinBackward0", "self"].bytes == 0
    assert saved["MulBackward0", "other"].bytes == 4000 and saved["MulBackward0", "self"].bytes == 0
    (leaf,) = (r for r in book.rows if r.kind == "leaf")
    assert (leaf.owner, leaf.bytes, str(leaf.value)) == ("w", 4000, "float32[1000]")
    assert book.saved_bytes == 8000
    loss.backward()
    assert [r.owner for r in graph.ledger(w * 1).rows if r.kind == "grad"] == ["w.grad"]


def test_what_the_graph_saves_is_what_the_allocator_lost():
    x, w = ad.randn(64, 256), (ad.randn(256, 256) / 16).requires_grad_()
    before = _core._memory_stats()[0]
    loss = ((x @ w).tanh().exp() * 2).sigmoid().sum()
    grown = _core._memory_stats()[0] - before
    book = graph.ledger(loss)
    assert sum(r.booked for r in book.rows if r.kind == "saved" and r.owner != "MmBackward0") == grown > 0
    assert book.live == before + grown
    loss.backward()
    assert graph.ledger(loss).saved_bytes == 0
    assert _core._memory_stats()[0] == before + _core._booked_bytes(w.grad.nbytes)


PROGRAM = """
import adjoint as ad
from adjoint.autograd import graph
from adjoint_core import _core

class Model:
    def __init__(self):
        self.w = [(ad.randn(200, 200) / 16).requires_grad_() for _ in range(3)]
    def __call__(self, x):
        for w in self.w:
            x = (x @ w).tanh()
        return x

def main():
    model, data, kept = Model(), {"x": ad.randn(64, 200)}, []
    moments = [[ad.zeros(200, 200) for _ in model.w]]
    state = iter([ad.ones(5000)])
    for _ in range(3):
        loss = model(data["x"]).pow(2).mean()
        loss.backward(retain_graph=True)
        kept.append(loss)
    view = model(data["x"])[:2]
    (g,) = ad.autograd.grad(view.exp().sum(), model.w[0], create_graph=True)
    def closure():
        return data, g
    h = model(data["x"])
    h.retain_grad()
    h.exp().sum().backward(create_graph=True)
    del h
    hidden = model.w[1].exp()
    hidden.retain_grad()
    hidden.sum().backward()
    book = graph.ledger()
    assert book.booked == book.live == _core._memory_stats()[0], (book.booked, book.live, book)
    assert book.live > 2_000_000

main()
"""


def test_the_ledger_of_a_program_is_the_allocators():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def convolutions():
    f = ad.nn.functional
    first, second, w = ((ad.randn(*s) * 0.1).requires_grad_() for s in ((16, 3, 3, 3), (32, 16, 3, 3), (2048, 10)))
    h = f.max_pool2d(f.conv2d(ad.randn(8, 3, 32, 32), first, padding=1).relu(), 2)
    h = f.max_pool2d(f.conv2d(h, second, padding=1).relu(), 2)
    return f.cross_entropy(h.reshape(8, -1) @ w, ad.zeros(8, dtype=ad.int64))


def attention():
    x, (q, k, v, o) = ad.randn(4, 64, 128), ((ad.randn(128, 128) * 0.1).requires_grad_() for _ in range(4))
    a = ((x @ q) @ (x @ k).mT / 11).softmax(-1)
    return ((a @ (x @ v)) @ o).pow(2).sum()


def recurrent():
    w, h, x = (ad.randn(128, 128) * 0.1).requires_grad_(), ad.zeros(32, 128), ad.randn(32, 128)
    for _ in range(50):
        h = (h @ w + x).sigmoid()
    return h.sum()


def held():
    kept = []
    h = (ad.randn(64, 512) * 0.1).requires_grad_()
    for _ in range(5):
        h = h.tanh()
        kept.append(h)
    loss = h.exp().sum()
    loss.kept = kept  # backward gives nothing of it back
    return loss


@pytest.mark.parametrize("program", [lambda: network()[0], convolutions, attention, recurrent, held])
def test_the_peak_is_predicted(program):
    loss = program()
    gc.collect()
    book = graph.ledger(loss)
    _core._reset_peak_memory()
    loss.backward()
    actual = _core._memory_stats()[1]
    assert actual > book.live
    assert book.predicted_peak == pytest.approx(actual, rel=0.1)


def test_a_leak_through_a_list_is_named():
    ws, losses = network()[1], []

    def step():
        h = ad.ones(64, 128)
        for w in ws:
            h = layer(h, w)
        losses.append(h.mean())

    step()
    before = graph.ledger()
    step()
    step()
    diff = graph.ledger() - before
    top = diff.changes[0]
    assert (top.count, top.site.scope) == (6, "layer") and top.bytes == 6 * 64 * 128 * 4
    assert {c.owner for c in diff if c.count == 6} == {"MmBackward0", "TanhBackward0"}
    held = [c for c in diff if c.kind == "tensor"]
    assert [(c.owner, c.label, c.count, c.site.code) for c in held] == [
        ("losses[...]", "local of test_a_leak_through_a_list_is_named", 2, "losses.append(h.mean())")
    ]
    assert "return (h @ w).tanh()" in repr(diff) and "+6" in repr(diff)
    losses.clear()
    assert (graph.ledger() - before).bytes < 0


kept = {"batches": []}


def test_plain_tensors_are_named_by_the_variable_that_holds_them():
    class Model:
        pass

    outs, model = [], Model()
    before = graph.ledger()
    for i in range(2):
        outs.append(ad.ones(300 + i))
    model.buf = ad.ones(500)
    kept["batches"].append(ad.ones(700))
    diff = graph.ledger() - before
    kept["batches"].clear()
    here = "local of test_plain_tensors_are_named_by_the_variable_that_holds_them"
    assert {(c.owner, c.label, c.bytes) for c in diff} == {
        ("outs[...]", here, 1200),
        ("outs[...]", here, 1204),
        ("model.buf", here, 2000),
        ("kept[...][...]", f"global of {__name__}", 2800),
    }


def test_a_sum_that_keeps_every_graph_is_named():
    w, total = ad.ones(1000, requires_grad=True), 0.0
    books = []
    for _ in range(3):
        total = total + (w * 2).sin().sum()  # should be .item()
        books.append(graph.ledger(total))
    diff = books[2] - books[1]
    assert [(c.owner, c.count, c.bytes) for c in diff if c.bytes] == [("SinBackward0", 1, 4000)]
    assert diff.changes[0].site.code.startswith("total = total + ") and diff.bytes == 4000


def test_steps_that_leak_nothing_do_not_differ():
    ws = network()[1]

    def step():
        h = ad.ones(64, 128)
        for w in ws:
            h = layer(h, w)
        h.mean().backward()

    step()
    gc.collect()  # what other tests left behind
    before = graph.ledger()
    step()
    assert len(graph.ledger() - before) == 0 and repr(graph.ledger() - before) == "nothing changed"


def test_a_look_keeps_nothing_alive():
    def inner():
        loss, ws = network()
        graph.ledger(loss)
        graph.show(loss)
        graph.ledger()
        live = _core._memory_stats()[0]
        del loss
        return live - _core._memory_stats()[0]

    assert inner() > 100_000


def test_tables():
    loss, ws = network()
    text = repr(graph.ledger(loss, names={"first": ws[0]}))
    assert "saved for backward" in text and "backward will need up to" in text
    assert "return (h @ w).tanh()" in text and "test_ledger.py" in text and "first" in text
    html = graph.ledger(loss)._repr_html_()
    assert html.startswith("<div>") and html.count("<tr>") >= 3
    assert "<table>" in (graph.ledger(loss) - graph.ledger(loss))._repr_html_()


def test_bad_input():
    with pytest.raises(ValueError, match="ledger: expected tensors with a graph behind them"):
        graph.ledger(ad.ones(3))


def test_profiles_count_the_same_bytes():
    x, ws = ad.randn(64, 128), [(ad.randn(128, 128) / 16).requires_grad_() for _ in range(2)]
    before = graph.ledger()
    with ad.autograd.profiler.profile(profile_memory=True) as prof:
        h = x
        for w in ws:
            h = layer(h, w)
        loss = (h * h).mean()
    grown = sum(e.self_cpu_memory_usage for e in prof.key_averages())
    assert grown == (graph.ledger() - before).bytes >= 4 * 64 * 128 * 4
    loss.backward()
