"""Programs of PyTorch users with a profiler in them, run with both libraries: what they look for must be found in both."""

import json
import re

import pytest

torch = pytest.importorskip("torch")
ad = pytest.importorskip("adjoint")

pytestmark = pytest.mark.filterwarnings("ignore")


def network(lib):
    F = lib.nn.functional
    x, w, b = lib.randn(4, 8, requires_grad=True), lib.randn(5, 8, requires_grad=True), lib.zeros(5, requires_grad=True)
    return lambda: F.mse_loss(F.relu(F.linear(x, w, b)), lib.zeros(4, 5)).backward()


def image(lib):
    F = lib.nn.functional
    x, w = lib.randn(2, 3, 8, 8, requires_grad=True), lib.randn(4, 3, 3, 3, requires_grad=True)
    return lambda: F.max_pool2d(F.conv2d(x, w), 2).sum().backward()


def elementwise(lib):
    x = lib.rand(4, 8).add(0.5).requires_grad_()
    return lambda: (x.exp() * x.sin() / (x.abs() + 1) - x.sqrt().tanh()).sum().backward()


def views(lib):
    x = lib.randn(4, 8, requires_grad=True)
    return lambda: x.t().reshape(-1)[2:].view(-1).unsqueeze(0).expand(2, -1).sum().backward()


def classes(lib):
    F = lib.nn.functional
    x, t = lib.randn(4, 8, requires_grad=True), lib.arange(4)
    return lambda: (F.cross_entropy(x, t) + F.softmax(x, -1).mean() + F.log_softmax(x, -1).sum()).backward()


def products(lib):
    a, b, v = lib.randn(4, 4, requires_grad=True), lib.randn(2, 4, 4, requires_grad=True), lib.randn(4)
    return lambda: ((a @ a).sum() + (b @ b).sum() + a.mv(v).sum() + v.dot(v)).backward()


def written(lib):
    x = lib.randn(4, requires_grad=True)
    return lambda: (x * 1).mul_(2).add_(1).relu_().sum().backward()


def made(lib):
    return lambda: [
        lib.zeros(2),
        lib.ones(2),
        lib.rand(2),
        lib.randn(2),
        lib.full((2,), 1.0),
        lib.eye(2),
        lib.empty(2),
        lib.arange(3),
    ]


def read(lib):
    x = lib.randn(4, 4)
    return lambda: [x.clone(), x.detach(), x.to(lib.float64), x.sum().item(), x.t().contiguous()]


PROGRAMS = [network, image, elementwise, views, classes, products, written, made, read]


def profiled(lib, program, **options):
    run = program(lib)
    run()
    with lib.autograd.profiler.profile(**options) as prof:
        run()
    return prof


def outermost(prof):
    """What the program called, and nothing of how: names of calls outside of others. PyTorch copies what torch.tensor makes."""
    made_by_tensor = {"aten::detach_", "aten::lift_fresh"}
    calls = {e.name for e in prof.function_events if e.cpu_parent is None and e.name.startswith("aten::")}
    return calls - made_by_tensor - {"aten::ones_like", "aten::broadcast_tensors"}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_calls_have_the_same_names(program):
    assert outermost(profiled(ad, program)) == outermost(profiled(torch, program))


@pytest.mark.parametrize("program", [elementwise, written], ids=lambda p: p.__name__)
def test_nodes_have_the_same_names_and_as_many_calls(program):
    def nodes(lib):
        averages = profiled(lib, program).key_averages()
        return {a.key: a.count for a in averages if re.search("Backward|Accumulate", a.key)}

    assert nodes(ad) == nodes(torch)


@pytest.mark.parametrize(("program", "name"), [(products, "aten::bmm"), (image, "aten::conv2d"), (elementwise, "aten::mul")])
def test_calls_have_as_many_operations(program, name):
    def forward(lib):
        events = profiled(lib, program, with_flops=True).function_events
        return [e.flops for e in events if e.name == name and e.sequence_nr >= 0]

    assert forward(ad) == forward(torch)


@pytest.mark.parametrize("lib", [torch, ad], ids=["torch", "adjoint"])
def test_a_script_that_reads_tables(lib):
    prof = profiled(lib, products, record_shapes=True, profile_memory=True)
    table = prof.key_averages(group_by_input_shape=True).table(sort_by="self_cpu_time_total", row_limit=50)
    head = next(line for line in table.splitlines() if "Name" in line)
    assert [t for t in re.split(r"\s{2,}", head.strip())] == [
        "Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "CPU Mem", "Self CPU Mem", "# of Calls",
        "Input Shapes",
    ]  # fmt: skip
    row = next(line.split() for line in table.splitlines() if line.split()[:1] == ["aten::mm"])
    assert row[1].endswith("%") and re.fullmatch(r"[\d.]+(us|ms|s)", row[2]) and "[[4, 4], [4, 4]]" in " ".join(row)
    assert re.search(r"^Self CPU time total: [\d.]+(us|ms|s)$", table, re.MULTILINE)


@pytest.mark.parametrize("lib", [torch, ad], ids=["torch", "adjoint"])
def test_a_script_that_reads_events(lib):
    prof = profiled(lib, products, record_shapes=True, profile_memory=True)
    slowest = max((e for e in prof.function_events if not e.cpu_children), key=lambda e: e.time_range.elapsed_us())
    assert slowest.cpu_time_total == slowest.self_cpu_time_total and slowest.thread >= 0
    forward = [e for e in prof.function_events if e.name == "aten::bmm" and e.sequence_nr >= 0]
    backward = [e for e in prof.function_events if e.name == "BmmBackward0"]
    assert forward[0].sequence_nr == backward[0].sequence_nr and forward[0].input_shapes == [[2, 4, 4], [2, 4, 4]]
    assert forward[0].cpu_parent.name == "aten::matmul" and backward[0].scope == 1
    assert {e.scope for e in prof.function_events} >= {0, 1}
    totals = {a.key: (a.count, a.cpu_time_total, a.self_cpu_memory_usage) for a in prof.key_averages()}
    assert totals["aten::mm"][2] > 0


@pytest.mark.parametrize("lib", [torch, ad], ids=["torch", "adjoint"])
def test_a_script_that_reads_traces(lib, tmp_path):
    prof = profiled(lib, elementwise, record_shapes=True)
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    slices = [e for e in events if e.get("ph") == "X" and e.get("cat") == "cpu_op"]
    product = next(e for e in slices if e["name"] == "aten::mul" and "Sequence number" in e["args"])
    assert product["args"]["Input Dims"] == [[4, 8], [4, 8]] and product["dur"] >= 0
    assert {e["ph"] for e in events if e.get("cat") == "fwdbwd"} == {"s", "f"}
    node = next(
        e for e in slices if e["name"] == "MulBackward0" and e["args"]["Sequence number"] == product["args"]["Sequence number"]
    )
    assert node["args"]["Fwd thread id"] == 1


@pytest.mark.parametrize("lib", [torch, ad], ids=["torch", "adjoint"])
def test_a_script_with_steps(lib, tmp_path):
    from importlib import import_module

    p = import_module(f"{lib.__name__}.profiler")
    ready = []

    def on_ready(prof):
        prof.export_chrome_trace(str(tmp_path / f"step{prof.step_num}.json"))
        ready.append(prof.key_averages().table(sort_by="cpu_time_total", row_limit=5))

    run = products(lib)
    with p.profile(
        activities=[p.ProfilerActivity.CPU],
        schedule=p.schedule(wait=1, warmup=1, active=2, repeat=2),
        on_trace_ready=on_ready,
        record_shapes=True,
    ) as prof:
        for _ in range(10):
            with p.record_function("step"):
                run()
            prof.step()
    assert len(ready) == 2 and sorted(f.name for f in tmp_path.iterdir()) == ["step4.json", "step8.json"]
    assert sorted({e.key for e in prof.key_averages() if "ProfilerStep" in e.key}) in (
        ["ProfilerStep#6", "ProfilerStep#7"],
        ["ProfilerStep*"],
    )
