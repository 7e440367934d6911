"""Traces: checked against the format that chrome://tracing and Perfetto read."""

import gzip
import json
from numbers import Real

import pytest

import adjoint as ad
from adjoint.autograd import profiler

REQUIRED = {  # https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU: fields by phase
    "X": {"name", "cat", "ts", "dur", "pid", "tid", "args"},
    "M": {"name", "pid", "args"},
    "C": {"name", "ts", "pid", "args"},
    "i": {"name", "ts", "pid", "tid", "s"},
    "s": {"name", "cat", "id", "ts", "pid", "tid"},
    "f": {"name", "cat", "id", "ts", "pid", "tid", "bp"},
}


def trace_of(path):
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt") as file:
        return json.load(file, parse_constant=lambda c: pytest.fail(f"{c} is not JSON"))


def check(events):
    """The rules of the format that a reader relies on."""
    for e in events:
        assert e.keys() >= REQUIRED[e["ph"]], e
        assert isinstance(e.get("ts", 0), Real) and e.get("ts", 0) >= 0
        assert e.get("dur", 0) >= 0
    slices = {}
    for e in events:
        if e["ph"] == "X":
            slices.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
    for spans in slices.values():  # those of a thread nest
        open_ends = []
        for start, end in sorted(spans, key=lambda s: (s[0], -s[1])):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1] + 1e-3
            open_ends.append(end)
    flows = {}
    for e in events:
        if e["ph"] in "sf":
            flows.setdefault(e["id"], []).append(e)
    for start, end in flows.values():  # each arrow begins and ends inside of a slice, forward in time
        assert (start["ph"], end["ph"], end["bp"]) == ("s", "f", "e") and start["ts"] <= end["ts"]
        for at in (start, end):
            assert any(a <= at["ts"] <= b for a, b in slices[at["pid"], at["tid"]])


@pytest.fixture
def prof():
    x = ad.randn(8, 8, requires_grad=True)
    with profiler.profile(record_shapes=True, profile_memory=True, with_flops=True, with_stack=True) as prof:
        with profiler.record_function('a "quoted"\nname', "an argument"):
            y = ((x @ x) ** 2).mul(float("inf")).sum()
        y.backward()
    return prof


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_the_format(prof, tmp_path, suffix):
    path = tmp_path / f"trace.json{suffix}"
    prof.export_chrome_trace(path, metadata={"run": "mine"})
    trace = trace_of(path)
    check(trace["traceEvents"])
    assert trace["run"] == "mine" and trace["trace_id"] == prof.trace_id and trace["baseTimeNanoseconds"] > 10**18


def test_shapes_types_flops_and_stacks_are_arguments(prof, tmp_path):
    prof.export_chrome_trace(tmp_path / "t.json")
    events = trace_of(tmp_path / "t.json")["traceEvents"]
    product = next(e for e in events if e["name"] == "aten::mm")["args"]
    assert product["Input Dims"] == [[8, 8], [8, 8]] and product["Input type"] == ["float32", "float32"]
    assert product["Input Strides"] == [[8, 1], [8, 1]] and product["FLOPs"] == 1024 and product["Bytes"] == 256
    assert __file__ in product["Call stack"]
    power = next(e for e in events if e["name"] == "aten::pow")["args"]
    assert power["Concrete Inputs"] == ["", "2"]
    mine = next(e for e in events if e["name"].startswith('a "quoted"'))
    assert mine["cat"] == "user_annotation" and mine["args"]["Concrete Inputs"] == ["an argument"]


def test_arrows_lead_from_calls_to_their_nodes(prof, tmp_path):
    prof.export_chrome_trace(tmp_path / "t.json")
    events = trace_of(tmp_path / "t.json")["traceEvents"]

    def slice_at(time, want):
        return next(e["name"] for e in events if e["ph"] == "X" and e["ts"] == time and want(e["name"]))

    starts = {e["id"]: slice_at(e["ts"], lambda n: n.startswith("aten")) for e in events if e["ph"] == "s"}
    ends = {e["id"]: slice_at(e["ts"], lambda n: n.endswith("Backward0")) for e in events if e["ph"] == "f"}
    assert {(starts[i], ends[i]) for i in starts} == {
        ("aten::mm", "MmBackward0"),
        ("aten::pow", "PowBackward0"),
        ("aten::mul", "MulBackward0"),
        ("aten::sum", "SumBackward0"),
    }


def test_arrows_of_double_backward(tmp_path):
    x = ad.randn(4, requires_grad=True)
    with profiler.profile() as prof:
        (g,) = ad.autograd.grad((x**3).sum(), x, create_graph=True)
        g.sum().backward()
    prof.export_chrome_trace(tmp_path / "t.json")
    events = trace_of(tmp_path / "t.json")["traceEvents"]
    check(events)
    nodes = [e for e in prof.function_events if e.scope == 1 and e.sequence_nr >= 0]
    assert sum(e["ph"] == "f" for e in events) == len(nodes)


def test_memory_is_a_counter(prof, tmp_path):
    prof.export_chrome_trace(tmp_path / "t.json")
    counters = [e for e in trace_of(tmp_path / "t.json")["traceEvents"] if e["ph"] == "C"]
    assert [e["args"]["bytes"] for e in counters] == [live for _, live in prof.memory_curve()]
    assert [e["ts"] for e in counters] == sorted(e["ts"] for e in counters) and len(counters) > 5


def test_event_lists_write_traces_too(prof, tmp_path):
    prof.function_events.export_chrome_trace(tmp_path / "t.json")
    check(trace_of(tmp_path / "t.json")["traceEvents"])


def test_threads_have_lanes(tmp_path):
    events = profiler.EventList([profiler.FunctionEvent(i, f"op {i}", i, 0, 10) for i in (1, 2)])
    events.export_chrome_trace(tmp_path / "t.json")
    trace = trace_of(tmp_path / "t.json")["traceEvents"]
    check(trace)
    assert {e["args"]["name"] for e in trace if e["ph"] == "M" and e["name"] == "thread_name"} == {"thread 1", "thread 2"}
