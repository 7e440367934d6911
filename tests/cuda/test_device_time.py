"""Profiles of a GPU: what ran there and when, as the stand-in driver computes it from the size of each piece of work."""

import ctypes
import json
import os
import struct
import threading

import pytest

import adjoint as ad
from adjoint.autograd import profiler
from adjoint.autograd.profiler_util import Kernel
from adjoint_core import registry

driver = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
driver.standin_fail.argtypes = [ctypes.c_char_p, ctypes.c_int]
NOW = ctypes.c_int(0)


def copy_us(bytes_):
    return 1 + bytes_ / 16e3


def fill_us(bytes_):
    return 1 + bytes_ // 1024 / 1e3


def kernel_us(blocks):
    return 2 + 0.1 * blocks


def compiler(device, specs, constants):
    """Kernels of three pointers and a number."""
    kept = [(0, 8), (1, 8), (2, 8), (3, 4)]
    image = b"STANDIN1" + struct.pack("<7I", 6, 8, 8, 8, 4, 8, 8)
    return image, "flat", 0, 128, 1, False, False, 0, kept


@pytest.fixture(autouse=True)
def kernels():
    registry.register_elementwise("hypot", (), 1024, compiler)


def profiled(run, **options):
    with profiler.profile(use_device="cuda", **options) as prof:
        run()
    return prof


def on_device(prof):
    return [e for e in prof.function_events if e.device_type == ad.autograd.DeviceType.CUDA]


def by_name(prof, name):
    (event,) = [e for e in prof.function_events if e.name == name]
    return event


def test_copies_fills_and_kernels_have_the_times_of_the_device():
    x = ad.ones(4, 1000)

    def run():
        with profiler.record_function("all"):
            y = x.cuda()
            z = ad.hypot(y, y.clone())
            z.zero_()
            z.cpu()

    prof = profiled(run)
    assert [(e.name, e.activity_type, e.time_range.elapsed_us()) for e in on_device(prof)] == [
        ("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", pytest.approx(copy_us(16000))),
        ("Memcpy DtoD (Device -> Device)", "gpu_memcpy", pytest.approx(copy_us(16000))),
        ("flat<hypot>", "kernel", pytest.approx(kernel_us(4))),
        ("Memset (Device)", "gpu_memset", pytest.approx(fill_us(16000))),
        ("Memcpy DtoH (Device -> Pageable)", "gpu_memcpy", pytest.approx(copy_us(16000))),
    ]
    whole = 3 * copy_us(16000) + kernel_us(4) + fill_us(16000)
    around, call = by_name(prof, "all"), by_name(prof, "aten::hypot")
    assert call.kernels == [Kernel("flat<hypot>", 0, pytest.approx(2.4))]
    assert call.device_time_total == call.self_device_time_total == call.device_time == pytest.approx(2.4)
    assert around.device_time_total == pytest.approx(whole) and around.self_device_time_total == pytest.approx(0, abs=1e-9)
    assert around.kernels == [] and around.use_device == "cuda"
    assert sum(e.self_device_time_total for e in on_device(prof)) == pytest.approx(whole)


def test_work_begins_after_its_call_and_in_order():
    x = ad.ones(1000).cuda()
    prof = profiled(lambda: [ad.hypot(x, x) for _ in range(20)])
    calls = [e for e in prof.function_events if e.name == "aten::hypot"]
    pieces = on_device(prof)
    by_id = {e.id: e for e in calls}
    assert [by_id[p.linked_correlation_id] for p in pieces] == calls and len({e.id for e in prof.function_events}) == 40
    ends = [p.time_range.end for p in pieces]
    for call, piece, before in zip(calls, pieces, [0, *ends], strict=False):
        queued = piece.event_metadata.queued / 1e3
        assert call.time_range.start <= queued <= call.time_range.end and before <= piece.time_range.start >= queued


def test_what_is_known_of_each_piece():
    stream = ad.cuda.Stream(device=1)
    with ad.cuda.device(1):
        x = ad.ones(3000, device="cuda")

        def run():
            with ad.cuda.stream(stream):
                ad.hypot(x, x)
                x.to("cuda:0")

        kernel, copy = on_device(profiled(run))
    facts = kernel.event_metadata
    assert (facts.grid, facts.block, facts.shared_memory) == ([3, 1, 1], [128, 1, 1], 0)
    assert facts.stream == kernel.device_resource_id == copy.device_resource_id > 0 and kernel.device_index == 1
    assert copy.name == "Memcpy PtoP (Device -> Device)" and copy.event_metadata.bytes == 12000
    assert copy.event_metadata.bandwidth_gb_s == pytest.approx(12 / copy_us(12000), rel=1e-3)


def test_pinned_copies_say_so():
    x = ad.ones(100).pin_memory()

    def run():
        y = x.to("cuda", non_blocking=True).requires_grad_()
        with ad.autograd.graph.save_on_cpu(pin_memory=True):
            ad.hypot(y, y)

    prof = profiled(run)
    assert {e.name for e in on_device(prof)} >= {"Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pinned)"}


def test_tables():
    x = ad.ones(4000).cuda()
    averages = profiled(lambda: [ad.hypot(x, x) for _ in range(3)]).key_averages()
    text = averages.table(sort_by="self_cuda_time_total", row_limit=1)
    lines = text.splitlines()
    for title in ("Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg"):
        assert f" {title} " in lines[1]
    assert "7.200us" in lines[3] and "100.00%" in lines[3] and "2.400us" in lines[3] and "Self CUDA time total: 7.200us" in text
    for key in ("device_time_total", "cuda_time_total", "self_device_time_total", "device_time", "cuda_time"):
        assert averages.table(sort_by=key).splitlines()[3].split()[0] in ("aten::hypot", "flat<hypot>")
    (call,) = [a for a in averages if a.key == "aten::hypot"]
    assert call.count == 3 and call.device_time_total == pytest.approx(7.2) and call.device_time_str == "2.400us"
    assert "Self CUDA time total: 0.007ms" in averages.table(time_unit="ms")
    assert "CUDA" not in profiled(lambda: ad.ones(3) + 1).key_averages().table()


def test_differences():
    x = ad.ones(4000).cuda()
    before, after = (profiled(lambda n=n: [ad.hypot(x, x) for _ in range(n)]) for n in (1, 3))
    diff = before.diff(after)
    (kernel,) = [c for c in diff.changes if c.key == "flat<hypot>"]
    assert kernel.count == (1, 3) and kernel.time_change == pytest.approx(4.8)
    (row,) = [line for line in diff.table().splitlines() if "flat<hypot>" in line]
    assert row.split()[-2:] == ["2.400us", "7.200us"] and "Self device before" in diff.table()


def test_memory_of_the_device():
    kept = []

    def run():
        with profiler.record_function("kept"):
            kept.append(ad.ones(1000, device="cuda"))
        with profiler.record_function("gone"):
            ad.ones(3000, device="cuda")
        ad.ones(10)
        kept.clear()

    prof = profiled(run, profile_memory=True)
    assert by_name(prof, "kept").device_memory_usage == 4096 and by_name(prof, "kept").cpu_memory_usage == 0
    gone = by_name(prof, "gone")
    assert gone.device_memory_usage == 0 and gone.self_device_memory_usage == -12288
    outside = [(e.cpu_memory_usage, e.device_memory_usage) for e in prof.function_events if e.name == "[memory]"]
    assert outside == [(-40, 0), (0, -4096)]
    assert [live for _, live in prof.memory_curve("cuda:0")] == [4096, 16384, 4096, 0]
    assert [live for _, live in prof.memory_curve()] == [40, 0]
    text = prof.key_averages().table(sort_by="cuda_memory_usage")
    assert "CUDA Mem" in text and "Self CUDA Mem" in text and "4.00 KB" in text and "-12.00 KB" in text


def test_traces(tmp_path):
    x = ad.ones(1000).cuda()
    prof = profiled(lambda: ad.hypot(x, x), profile_memory=True)
    prof.export_chrome_trace(tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    (kernel,) = [e for e in events if e.get("cat") == "kernel"]
    (call,) = [e for e in events if e["name"] == "aten::hypot"]
    assert (kernel["pid"], kernel["tid"], kernel["dur"]) == (0, 0, pytest.approx(2.1))
    assert kernel["args"]["grid"] == [1, 1, 1] and kernel["args"]["External id"] == call["args"]["External id"]
    start, end = [e for e in events if e.get("cat") == "ac2g"]
    assert (start["ph"], start["pid"], start["tid"]) == ("s", call["pid"], call["tid"]) and start["id"] == end["id"]
    assert (end["ph"], end["pid"], end["tid"], end["ts"], end["bp"]) == ("f", 0, 0, kernel["ts"], "e")
    assert call["ts"] <= start["ts"] <= call["ts"] + call["dur"]
    names = {(e["pid"], e["name"]): e["args"]["name"] for e in events if e["ph"] == "M" and "name" in e["args"]}
    assert names[0, "process_name"] == "GPU 0" and names[0, "thread_name"] == "stream 0"
    assert {e["name"] for e in events if e["ph"] == "C"} == {"Memory of tensors on cuda:0"}


def test_reports(tmp_path):
    x = ad.ones(1000).cuda()
    prof = profiled(lambda: ad.hypot(x, x), profile_memory=True)
    prof.html(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    lanes = [data["lanes"][row[4]] for row in data["events"]]
    assert lanes[-1] == "GPU 0, stream 0" and lanes[0].startswith("thread ") and data["started"] == [[1, 0]]
    assert data["kinds"][data["events"][1][5]] == "device" and "grid [1, 1, 1]" in data["details"][data["events"][1][7]]
    assert "Self device (µs)" in data["table"]["columns"] and list(data["memory"]) == ["cuda:0"]
    assert dict(data["summary"])["time on devices"] == "2.100us"


def test_an_exception_in_the_middle():
    x = ad.ones(1000).cuda()
    prof = profiler.profile(use_device="cuda")
    with pytest.raises(KeyError), prof, profiler.record_function("range"):
        ad.hypot(x, x)
        raise KeyError
    assert by_name(prof, "range").device_time_total == pytest.approx(2.1)


@pytest.mark.filterwarnings("ignore:profile")
def test_launches_that_fail_have_no_time():
    x = ad.ones(1000).cuda()
    prof = profiler.profile(use_device="cuda")
    with prof:
        driver.standin_fail(b"cuLaunchKernel", 1)
        with pytest.raises(RuntimeError, match="invalid argument"):
            ad.hypot(x, x)
        ad.hypot(x, x)
    assert [len(e.kernels) for e in prof.function_events if e.name == "aten::hypot"] == [0, 1] and len(on_device(prof)) == 1


@pytest.mark.parametrize("call", [b"cuEventRecordWithFlags", b"cuEventElapsedTime"])
def test_events_that_fail_are_told_and_the_program_goes_on(call):
    x = ad.ones(1000).cuda()
    prof = profiler.profile(use_device="cuda")
    with prof:
        ad.hypot(x, x)
        driver.standin_fail(call, 1)
        y = ad.hypot(x, x)
    assert y.shape == (1000,)
    with pytest.warns(UserWarning, match=r"not all work on the device has a time.*invalid argument"):
        assert len(on_device(prof)) <= 1
    driver.standin_fail(call, 0)


def test_threads_are_told_apart():
    x = ad.ones(1000).cuda()
    own = []

    def other():
        own.append(profiled(lambda: x.clone()))

    def run():
        ad.hypot(x, x)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    assert [e.name for e in on_device(profiled(run))] == ["flat<hypot>"]
    assert [e.name for e in on_device(own[0])] == ["Memcpy DtoD (Device -> Device)"]


def test_cycles_add_up_and_pauses_are_left_out():
    x = ad.ones(1000).cuda()
    prof = profiler.profile(use_device="cuda", acc_events=True)
    for _ in range(2):
        with prof:
            ad.hypot(x, x)
    assert len(on_device(prof)) == 2 and len({e.id for e in prof.function_events}) == 4
    by = {e.id: e for e in prof.function_events}
    assert all(by[e.linked_correlation_id].name == "aten::hypot" for e in on_device(prof))

    both = [ad.profiler.ProfilerActivity.CPU, ad.profiler.ProfilerActivity.CUDA]
    with ad.profiler.profile(activities=both) as steps:
        ad.hypot(x, x)
        steps.toggle_collection_dynamic(False, both)
        ad.hypot(x, x)
        steps.toggle_collection_dynamic(True, both)
        ad.hypot(x, x)
    assert len([e for e in steps.events() if e.name == "flat<hypot>"]) == 2


def test_the_device_alone_and_kinds_that_are_wanted():
    activity = ad.profiler.ProfilerActivity
    x = ad.ones(1000).cuda()

    def names(**options):
        with ad.profiler.profile(**options) as prof:
            ad.hypot(x, x)
            x.clone()
        return [e.name for e in prof.events()]

    assert activity.CUDA in ad.profiler.supported_activities()
    assert names() == names(activities=[activity.CPU, activity.CUDA])
    assert names(activities=[activity.CUDA]) == ["flat<hypot>", "Memcpy DtoD (Device -> Device)"]
    assert names(activities=[activity.CPU]) == ["aten::hypot", "aten::clone"]
    assert names(activities=[{activity.CUDA: ["gpu_memcpy"]}]) == ["Memcpy DtoD (Device -> Device)"]
    with pytest.warns(FutureWarning, match="use_cuda"):
        assert names(use_cuda=False) == ["aten::hypot", "aten::clone"]
    with profiler.profile(use_device="cuda", use_cpu=False, use_kineto=True) as prof:
        ad.hypot(x, x)
    assert [e.name for e in prof.function_events] == ["flat<hypot>"]


def test_the_older_parameter_and_module():
    x = ad.ones(1000).cuda()
    for make in (profiler.profile, ad.autograd.profiler_legacy.profile):
        with pytest.warns(FutureWarning, match="use_cuda"):
            prof = make(use_cuda=True)
        with prof:
            ad.hypot(x, x)
        assert by_name(prof, "aten::hypot").device_time_total == pytest.approx(2.1)


def test_events_of_the_driver_are_used_again():
    x = ad.ones(1000).cuda()

    def made():
        return len([e for e in on_device(profiled(lambda: [ad.hypot(x, x) for _ in range(50)]))])

    assert made() == 50
    driver.standin_fail(b"cuEventCreate", 1)  # nobody creates any
    assert made() == 50
    driver.standin_fail(b"cuEventCreate", 0)


def test_a_replay_is_one_piece_of_work_and_a_capture_none():
    x = ad.ones(1000).cuda()
    ad.hypot(x, x)
    graph = ad.cuda.CUDAGraph()

    def run():
        with profiler.record_function("capture"), ad.cuda.graph(graph):
            ad.hypot(x, ad.hypot(x, x))
        with profiler.record_function("replay"):
            graph.replay()

    prof = profiled(run)
    assert by_name(prof, "capture").device_time_total == 0
    assert by_name(prof, "replay").kernels == [Kernel("CUDA graph", 0, pytest.approx(4.2))]
    assert len(on_device(profiled(graph.replay))) == 1


def test_a_profile_begins_within_a_capture():
    x, graph = ad.zeros(1024, device="cuda"), ad.cuda.CUDAGraph()
    prof = profiler.profile(use_device="cuda")
    with ad.cuda.graph(graph):
        prof.__enter__()
        x.fill_(1.0)
    graph.replay()
    prof.__exit__()
    (event,) = on_device(prof)
    assert event.name == "CUDA graph" and event.time_range.elapsed_us() == pytest.approx(fill_us(4096))
    assert x[5].item() == 1


def test_a_replay_is_one_piece_of_work():
    x, g = ad.zeros(1024, device="cuda"), ad.cuda.CUDAGraph()

    def run():
        with ad.cuda.graph(g):
            x.fill_(1.0)
            x.fill_(2.0)
        g.replay()

    (event,) = on_device(profiled(run))
    assert event.name == "CUDA graph" and event.time_range.elapsed_us() == pytest.approx(2 * fill_us(4096))
    assert x[5].item() == 2


def test_times_stay_fine_in_long_profiles():
    """The driver's float32 milliseconds are 31 us apart after five minutes; what lies between two copies is 1.25 us."""
    x = ad.ones(1000, device="cuda")
    driver.standin_skip.argtypes = [ctypes.c_int64]

    def run():
        x.clone()
        for _ in range(3):
            driver.standin_skip(300_000_000_000)
            x.clone()
            x.clone()

    copies = on_device(profiled(run))
    assert len(copies) == 7
    starts = [e.time_range.start for e in copies]
    for first, second in ((1, 2), (3, 4), (5, 6)):
        assert 1.2 <= starts[second] - starts[first] < 500
        assert copies[second].time_range.elapsed_us() == pytest.approx(copy_us(4000), abs=0.01)
    fine = {round(s * 1000) % 1000 for s in starts[3:]}  # nanoseconds: no multiples of a coarse step
    assert starts[-1] - starts[0] > 899_999_000 and len(fine) > 1
