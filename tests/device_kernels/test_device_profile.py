"""Profiles of training on the device: which call and which node of backward its time belongs to. Also true on a GPU."""

import pytest

import adjoint as ad
from adjoint.autograd import DeviceType, profiler


@pytest.fixture(scope="module")
def prof():
    x = ad.linspace(-1, 1, 4096).view(64, 64).cuda().requires_grad_()
    (x @ x).sin().sum().backward()  # kernels are compiled
    with profiler.profile(use_device="cuda", record_shapes=True, profile_memory=True) as prof:
        with profiler.record_function("outer"):
            with profiler.record_function("forward"):
                loss = (x @ x).sin().sum()
            loss.backward()
        loss.item()
    return prof


def named(prof, name):
    (event,) = [e for e in prof.function_events if e.name == name]
    return event


def kernels(event):
    return len(event.kernels) + sum(map(kernels, event.cpu_children))


def test_every_call_that_ran_there_has_time(prof):
    for name in ("aten::sin", "aten::sum", "aten::mul", "SinBackward0", "MmBackward0", "outer", "forward"):
        event = named(prof, name)
        assert event.device_time_total > 0 and kernels(event) > 0, name
    assert any(e.device_time_total > 0 for e in prof.key_averages())


def test_times_add_up(prof):
    pieces = [e for e in prof.function_events if e.device_type == DeviceType.CUDA]
    outer, forward = named(prof, "outer"), named(prof, "forward")
    assert outer.device_time_total > forward.device_time_total > 0 and outer.self_device_time_total == pytest.approx(
        0, abs=1e-6
    )
    on_cpu = [e for e in prof.function_events if e.device_type == DeviceType.CPU]
    whole = sum(p.time_range.elapsed_us() for p in pieces)
    assert sum(e.self_device_time_total for e in on_cpu) == pytest.approx(whole, rel=1e-6, abs=1e-3)
    assert sum(len(e.kernels) for e in on_cpu) == len(pieces) > 5
    for before, after in zip(pieces, pieces[1:], strict=False):  # of one stream
        assert before.time_range.end <= after.time_range.start + 1


def test_backward_is_joined_to_forward(prof):
    for call, node in (("aten::sin", "SinBackward0"), ("aten::sum", "SumBackward0")):
        assert named(prof, call).sequence_nr == named(prof, node).sequence_nr >= 0
        assert named(prof, node).fwd_thread == named(prof, call).thread
    rule = named(prof, "SinBackward0")
    assert rule.self_device_time_total == 0 and {c.name for c in rule.cpu_children} >= {"aten::mul"}
    assert rule.cpu_parent.name == "autograd::engine::evaluate_function: SinBackward0"


def test_memory_and_shapes(prof):
    product = next(e for e in prof.function_events if e.name == "aten::mm")
    assert (
        product.device_memory_usage == 64 * 64 * 4 and product.cpu_memory_usage == 0 and product.input_shapes == [[64, 64]] * 2
    )


def test_tables_sort_by_the_device(prof):
    for key in ("self_cuda_time_total", "device_time_total", "self_device_memory_usage"):
        text = prof.key_averages(group_by_input_shape=True).table(sort_by=key)
        assert "Self CUDA time total" in text and "CUDA Mem" in text and "[[64, 64], [64, 64]]" in text


def test_streams():
    x = ad.ones(256, 256).cuda()
    stream = ad.cuda.Stream()
    stream.wait_stream(ad.cuda.current_stream())
    with profiler.profile(use_device="cuda") as prof:
        with ad.cuda.stream(stream):
            x.exp()
        x.exp()
    first, second = [e for e in prof.function_events if e.device_type == DeviceType.CUDA]
    assert first.device_resource_id != second.device_resource_id == 0 and first.name == second.name
    ad.cuda.synchronize()


def test_double_backward():
    x = ad.linspace(-1, 1, 8).cuda().requires_grad_()
    with profiler.profile(use_device="cuda") as prof:
        (g,) = ad.autograd.grad((x**3).sum(), x, create_graph=True)
        g.sum().backward()
    numbers = {e.sequence_nr for e in prof.function_events if not e.fwd_thread and e.sequence_nr >= 0}
    nodes = [e for e in prof.function_events if e.name == "PowBackward0"]
    assert len(nodes) == 2 and all(n.sequence_nr in numbers and n.device_time_total > 0 for n in nodes)
