"""The observers that profiles and debugging tools are built on: what they are told, in which order, and of which thread."""

import gc
import threading

import pytest

import adjoint as ad
from adjoint_engine import _engine

KIND, NAME, START, END, PARENT, SEQUENCE, SITE, FAILED, RANK, RANK2, ARGS, NODE, OPERANDS, RESULTS = range(14)


def log_of(run, *, shapes=False, memory=False, sites=False):
    log = _engine.EventLog(shapes=shapes, memory=memory, sites=sites)
    log.start()
    try:
        run()
    finally:
        log.stop()
    return log


def names(log, kind="op"):
    return [e[NAME] for e in log.events() if e[KIND] == kind]


def test_every_call_is_seen_once_recorded_or_not():
    x, y = ad.ones(3), ad.ones(3, requires_grad=True)

    def run():
        x * 2
        y.sin()
        y.detach().add_(1)
        x[1:]
        with ad.no_grad():
            y.cos()

    log = log_of(run)
    assert names(log) == ["mul", "sin", "slice", "cos"] and names(log, "in_place") == ["add"]


def test_spans_nest_in_time_and_by_parent():
    x = ad.ones(3, requires_grad=True)
    events = log_of(lambda: (x.sin() * 2).sum().backward()).events()
    for e in events:
        assert e[START] <= e[END]
        if e[PARENT] is not None:
            outer = events[e[PARENT]]
            assert outer[START] <= e[START] and e[END] <= outer[END]
    inner = next(e for e in events if (e[KIND], e[NAME]) == ("node", "SinBackward0"))
    assert events[inner[PARENT]][KIND] == "evaluation" and events[events[inner[PARENT]][PARENT]][KIND] == "backward"
    assert [e[NAME] for e in events if e[PARENT] == events.index(inner)] == ["cos", "mul"]


def test_calls_and_nodes_share_sequence_numbers():
    x = ad.ones(3, requires_grad=True)
    y = x.clone()
    base = y[0]
    log = log_of(lambda: (x.exp(), base.mul_(2), y.sum().backward()))
    forward = {e[NAME]: e[SEQUENCE] for e in log.events() if e[KIND] in ("op", "in_place") and e[SEQUENCE] is not None}
    backward = {e[NAME]: e[SEQUENCE] for e in log.events() if e[KIND] == "node"}
    assert forward["sum"] == backward["SumBackward0"]
    assert forward["mul"] == backward["MulBackward0"]  # inside of CopySlices
    assert backward["AccumulateGrad"] is None and "exp" in forward


def test_double_backward_links_to_the_nodes_that_backward_made():
    x = ad.ones(3, requires_grad=True)

    def run():
        (g,) = ad.autograd.grad((x**3).sum(), x, create_graph=True)
        g.sum().backward()

    events = log_of(run).events()
    made = {e[SEQUENCE] for e in events if e[KIND] == "op" and e[SEQUENCE] is not None and e[PARENT] is not None}
    ran = [e[SEQUENCE] for e in events if e[KIND] == "node" and e[NAME] == "MulBackward0"]
    assert ran and made.issuperset(ran)


def test_functions_that_are_no_records_are_seen_too():
    class Twice(ad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = ad.ones(3, requires_grad=True)
    without = x.detach()
    events = log_of(lambda: (ad.randn(2), Twice.apply(x), Twice.apply(without))).events()
    assert [e[NAME] for e in events] == ["randn", "Twice", "mul", "Twice", "mul"]
    assert events[2][PARENT] == 1 and events[1][SEQUENCE] is not None and events[3][SEQUENCE] is None


def test_levels_show_the_calls_below_as_children():
    log = log_of(lambda: ad.vmap(lambda v: v.sin())(ad.ones(2, 3)))
    events = log.events()
    outer = next(i for i, e in enumerate(events) if e[NAME] == "sin")
    assert any(e[NAME] == "sin" and e[PARENT] == outer for e in events)


def test_a_failed_call_ends():
    x = ad.ones(2, 3)

    def run():
        with pytest.raises(RuntimeError):
            x @ x
        x.sin()

    events = log_of(run).events()
    assert [(e[KIND], e[NAME], e[FAILED], e[PARENT]) for e in events] == [
        ("function", "matmul", False, None),
        ("op", "matmul", True, 0),
        ("op", "sin", False, None),
    ]


def test_details_of_operands_and_results():
    x = ad.ones(2, 3, dtype=ad.float64).t()
    (event,) = log_of(lambda: x * 2, shapes=True).events()
    (sizes, strides, dtype, number), two = event[OPERANDS]
    assert (tuple(sizes), tuple(strides), dtype, number) == ((3, 2), (1, 3), ad.float64, None) and two[3] == 2
    assert tuple(event[RESULTS][0][0]) == (3, 2)


def test_memory_is_counted_where_it_comes_and_goes():
    kept = []

    def run():
        kept.append(ad.ones(1000))
        kept[0].sin()

    memory = log_of(run, memory=True).memory()
    assert [(bytes, event) for _, bytes, event, _ in memory] == [(4000, 0), (4000, 1), (-4000, None)]


def test_memory_of_others_is_not_ours():
    numpy = pytest.importorskip("numpy")
    assert log_of(lambda: ad.from_numpy(numpy.ones(10)), memory=True).memory() == []


def test_sites_are_the_users_lines():
    x = ad.ones(1)
    (event,) = log_of(lambda: x.sin(), sites=True).events()
    file, _, function = ad._core._core._site_info(event[SITE])
    assert file == __file__ and "test_sites_are_the_users_lines" in function


def test_other_threads_are_not_seen():
    def run():
        t = threading.Thread(target=lambda: ad.ones(1).cosh())
        t.start()
        t.join()
        ad.ones(1).sinh()

    assert names(log_of(run)) == ["sinh"]


def test_threads_have_numbers_of_their_own():
    logs = []
    threads = [threading.Thread(target=lambda: logs.append(log_of(lambda: ad.ones(1).sin()))) for _ in range(3)]
    for t in threads:
        t.start()
        t.join()
    assert len({log.thread for log in logs}) == 3


def test_several_at_once_each_with_its_own_span_of_time():
    outer, inner = (_engine.EventLog(shapes=False, memory=False, sites=False) for _ in range(2))
    outer.start()
    ad.ones(1).sin()
    inner.start()
    ad.ones(1).cos()
    outer.stop()
    ad.ones(1).tan()
    inner.stop()
    assert names(outer) == ["sin", "cos"] and names(inner) == ["cos", "tan"]


def test_ranges_end_in_any_order():
    x = ad.ones(1)
    log = _engine.EventLog(shapes=False, memory=False, sites=False)
    before = _engine.Range("before")
    log.start()
    a = _engine.Range("a")
    _engine.Range("b")  # dropped
    c = _engine.Range("c")
    a.end()  # ends c too
    c.end()
    before.end()
    x.sin()
    left = _engine.Range("left")
    log.stop()
    left.end()
    events = log.events()
    assert [(e[NAME], e[PARENT]) for e in events] == [("a", None), ("b", 0), ("c", 0), ("sin", None), ("left", None)]
    assert all(e[END] >= e[START] > 0 for e in events)


def test_starting_in_the_middle_of_backward():
    log = _engine.EventLog(shapes=False, memory=False, sites=False)
    x = ad.ones(1, requires_grad=True)
    y = x.sin()
    y.register_hook(lambda g: log.start())
    y.cos().backward()
    log.stop()
    assert "SinBackward0" in names(log, "node")


def test_callbacks_see_names_sequence_numbers_and_shapes():
    seen = []
    watch = _engine.Callbacks(lambda *a: seen.append(a), lambda: seen.append("end"))
    x = ad.ones(2, requires_grad=True)
    watch.start()
    y = x.sin()
    y.sum().backward()
    watch.stop()
    x.tanh()
    assert seen[0] == ("op", "sin", (1, -1), y.grad_fn._sequence_nr(), [ad.Size([2])]) and seen[1] == "end"
    assert ("node", "SinBackward0", (1, -1), y.grad_fn._sequence_nr(), [ad.Size([2])]) in seen
    assert seen.count("end") * 2 == len(seen) and not any(s[1] == "tanh" for s in seen)


def test_what_a_callback_runs_itself_is_not_watched_and_its_errors_do_no_harm(monkeypatch):
    raised = []
    monkeypatch.setattr("sys.unraisablehook", lambda u: raised.append(u.exc_value))

    def begin(kind, name, ranks, sequence, shapes):
        ad.ones(2).sin()
        raise KeyError(name)

    x = ad.ones(1)
    watch = _engine.Callbacks(begin, lambda: None)
    watch.start()
    x.cos()
    watch.stop()
    assert [e.args for e in raised] == [("cos",)]


def test_a_watching_log_may_be_dropped():
    log = _engine.EventLog(shapes=False, memory=False, sites=False)
    log.start()
    stop = log.stop
    del log
    gc.collect()
    ad.ones(1).sin()
    stop()


def test_only_so_many():
    logs = [_engine.EventLog(shapes=False, memory=False, sites=False) for _ in range(9)]
    with pytest.raises(RuntimeError, match="observers"):
        for log in logs:
            log.start()
    for log in logs:
        log.stop()


def test_none_twice():
    log = _engine.EventLog(shapes=False, memory=False, sites=False)
    watch = _engine.Callbacks(lambda *a: None, lambda: None)
    for observer in (log, watch):
        observer.start()
        with pytest.raises(RuntimeError, match="already|once"):
            observer.start()
        observer.stop()
        observer.stop()


def test_stopping_in_the_middle_of_what_is_watched():
    log = _engine.EventLog(shapes=False, memory=False, sites=False)
    watch = _engine.Callbacks(lambda *a: watch.stop(), lambda: None)
    x = ad.ones(1, requires_grad=True)
    y = x.sin()
    y.register_hook(lambda g: log.stop())
    log.start()
    watch.start()
    y.cos().backward()
    assert names(log, "node")[:1] == ["CosBackward0"] and all(e[END] >= e[START] for e in log.events())
