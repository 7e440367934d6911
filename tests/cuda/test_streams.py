"""Streams, events and devices: contexts, streams of other libraries, several GPUs, forked processes, the end of the process."""

import ctypes
import os
import subprocess
import sys

import pytest

import adjoint as ad

driver = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
driver.standin_log.restype = ctypes.c_char_p


def log():
    return driver.standin_log().decode().splitlines()


def python(code, **environment):
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=os.environ | environment, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, (run.returncode, run.stderr)
    return run.stdout


def test_streams_are_contexts():
    a, b = ad.cuda.Stream(), ad.cuda.Stream(device=1)
    with a as entered:
        assert entered == a == ad.cuda.current_stream()
        with b:
            assert ad.cuda.current_device() == 1 and ad.cuda.current_stream() == b and ad.cuda.current_stream(0) == a
            with a, a:
                assert ad.cuda.current_stream() == a
            assert ad.cuda.current_stream() == b
        with pytest.raises(ZeroDivisionError), b:
            raise ZeroDivisionError
        assert ad.cuda.current_stream() == a
    assert ad.cuda.current_stream() == ad.cuda.default_stream() and ad.cuda.current_device() == 0
    with pytest.raises(RuntimeError, match="this thread has entered no stream"):
        a.__exit__(None, None, None)


def test_priorities():
    least, greatest = ad.cuda.Stream.priority_range()
    assert (least, greatest) == (0, -1)
    assert [ad.cuda.Stream(priority=p).priority for p in (3, 0, -1, -7)] == [0, 0, -1, -1]
    assert ad.cuda.default_stream().priority == 0


def test_streams_of_other_libraries():
    theirs = ad.cuda.Stream()
    s = ad.cuda.ExternalStream(theirs.cuda_stream)
    assert s == theirs == ad.cuda.get_stream_from_external(theirs.cuda_stream, device="cuda:0")
    assert s.__cuda_stream__() == (0, theirs.cuda_stream) and "cuda_stream=0x" in repr(s)
    x = ad.ones(4, device="cuda", requires_grad=True)
    with s:
        y = x.clone()
    seen = []
    y.grad_fn.register_prehook(lambda g: seen.append(ad.cuda.current_stream()))
    y.backward(ad.ones(4, device="cuda"))
    assert seen == [theirs] and x.grad.tolist() == [1] * 4
    other = ad.cuda.ExternalStream(0xABC000, device=1)
    assert other.device == ad.device("cuda:1") and other != s and ad.cuda.ExternalStream(0) == ad.cuda.default_stream()


def test_other_libraries_enter_contexts_of_their_own():
    x = ad.ones(4, device="cuda:0")
    ad.ones(4, device="cuda:1")
    theirs = ctypes.c_void_p()
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(theirs), 1)
    for context in (theirs, None):
        for work in (
            lambda: ad.empty(60 << 20, dtype=ad.uint8, device="cuda:0"),
            lambda: x.fill_(2),
            lambda: x.clone(),
            lambda: ad.cuda.Event().record(ad.cuda.current_stream(0)),
            lambda: ad.cuda.synchronize(0),
        ):
            free = ad.cuda.mem_get_info(1)[0]
            assert driver.cuCtxSetCurrent(context) == 0
            kept = work()
            now = ctypes.c_void_p()
            driver.cuCtxGetCurrent(ctypes.byref(now))
            assert now.value and now.value != theirs.value and ad.cuda.mem_get_info(1)[0] == free
            del kept
        assert x.tolist() == [2] * 4
        ad.cuda.empty_cache()


def test_events():
    event = ad.cuda.Event(blocking=True)
    assert repr(event) == "<adjoint.cuda.Event uninitialized>" and event.cuda_event == 0 and event.device is None
    assert event.query()
    event.synchronize()
    event.wait()
    event.record(ad.cuda.default_stream(1))
    assert event.device == ad.device("cuda:1") and repr(event).startswith("<adjoint.cuda.Event 0x")
    event.wait(ad.cuda.default_stream(0))  # any device may wait for it
    with pytest.raises(RuntimeError, match="Event device 1 does not match recording stream's device 0"):
        event.record()
    with pytest.raises(NotImplementedError, match="interprocess=True"):
        ad.cuda.Event(interprocess=True)
    with pytest.raises(ValueError, match="Both events must be recorded"):
        ad.cuda.Event(enable_timing=True).elapsed_time(ad.cuda.Event(enable_timing=True))


def test_waiting_for_streams_and_events():
    a, b = ad.cuda.Stream(), ad.cuda.Stream()
    log()
    b.wait_event(a.record_event())
    b.wait_stream(a)
    assert [line.split()[0] for line in log()] == ["record", "wait"] * 2


class TestSeveralDevices:
    def test_visible_devices(self):
        code = "import adjoint as ad; n = ad.cuda.device_count(); print(n, *map(ad.cuda.get_device_name, range(n)))"
        assert python(code).strip() == "2 Stand-in GPU 0 Stand-in GPU 1"
        assert python(code, CUDA_VISIBLE_DEVICES="1").strip() == "1 Stand-in GPU 1"
        assert python(code, CUDA_VISIBLE_DEVICES="1,0").strip() == "2 Stand-in GPU 1 Stand-in GPU 0"
        assert python(code, CUDA_VISIBLE_DEVICES="0,7,1").strip() == "1 Stand-in GPU 0"
        assert python(code, CUDA_VISIBLE_DEVICES="").strip() == "0"

    def test_contexts(self):
        x = ad.zeros(2, device="cuda:1")
        with ad.cuda.device_of(x):
            assert ad.cuda.current_device() == 1
            with ad.cuda.device_of(ad.zeros(2)), ad.cuda.device(None):
                assert ad.cuda.current_device() == 1
            with ad.cuda.device("cuda:0"):
                assert ad.cuda.current_device() == 0
        assert ad.cuda.current_device() == 0
        assert ad.cuda.can_device_access_peer(0, 1) and not ad.cuda.can_device_access_peer("cuda:0", 0)
        assert ad.cuda.is_initialized() and ad.cuda.is_bf16_supported()

    def test_copies_are_ordered_by_both_streams(self):
        x = ad.arange(6.0).view(2, 3).to("cuda:0")
        a, b = ad.cuda.Stream(0), ad.cuda.Stream(1)
        with a, b:
            y = x.to("cuda:1")
            z = y.clone()
        back = z.to("cuda:0")
        assert back.tolist() == x.tolist() and y.device.index == z.device.index == 1
        w = ad.zeros(2, 3, device="cuda:1")
        w.copy_(x)
        assert w.tolist() == x.tolist()
        w.requires_grad_()
        w.to("cuda:0").cpu().sum().backward()
        assert w.grad.device == w.device and w.grad.tolist() == [[1] * 3] * 2

    def test_each_device_has_its_own_books(self):
        before = [ad.cuda.memory_allocated(i) for i in (0, 1)]
        x = ad.zeros(1000, device="cuda:1")
        assert [ad.cuda.memory_allocated(i) for i in (0, 1)] == [before[0], before[1] + 4096]
        del x

    def test_no_memory_of_one_device_for_another(self):
        x, y = ad.ones(3, device="cuda:0"), ad.ones(3, device="cuda:1")
        for call in (lambda: x + y, lambda: x.add_(y), lambda: ad.cat([x, y])):
            with pytest.raises(RuntimeError, match="cuda:0 and cuda:1|cuda:1 and cuda:0"):
                call()


FORKED = """
import os, sys
import adjoint as ad
x = ad.ones(3, device="cuda")
y, graph, event = x.cpu().pin_memory(), ad.cuda.CUDAGraph(), ad.cuda.Event()
event.record()
with ad.cuda.graph(graph):
    x.fill_(2)
side = ad.cuda.Stream()
x.record_stream(side)
sys.stdout.flush()
child = os.fork()
if child == 0:
    seen = set()
    for call in (lambda: ad.ones(3, device="cuda"), lambda: x.fill_(1), x.cpu, graph.replay, event.synchronize, side.synchronize,
                 lambda: ad.ones(3).pin_memory(), ad.cuda.synchronize, lambda: ad.cuda.Stream(), x.tolist):
        try:
            call()
            seen.add("nothing")
        except RuntimeError as error:
            seen.add(str(error).split(".")[0])
    print(seen, ad.ones(3).sum().item(), flush=True)
    del x, y, graph, event, side
    sys.exit(7)   # through the interpreter's end
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), x.tolist())
graph.replay()
print(x.tolist())
"""


def test_a_forked_process_says_so():
    lines = python(FORKED).splitlines()
    assert lines == ["{'Cannot re-initialize CUDA in forked subprocess'} 3.0", "7 [1.0, 1.0, 1.0]", "[2.0, 2.0, 2.0]"]


ALIVE = """
import adjoint as ad
x = ad.ones(3, device="cuda", requires_grad=True)
streams = [ad.cuda.Stream(i % 2) for i in range(40)]
events = [s.record_event() for s in streams]
pinned = ad.ones(3000).pin_memory()
y = pinned.to("cuda", non_blocking=True)
graph = ad.cuda.CUDAGraph()
with ad.cuda.graph(graph):
    z = y.clone()
graph.replay()
under_way = ad.cuda.CUDAGraph()
ad.cuda.set_stream(streams[0])
if WITHIN:
    under_way.capture_begin()
    w = y.clone()
x.clone().backward(ad.ones(3, device="cuda")) if not WITHIN else None
class Cycle: pass
c = Cycle(); c.self, c.all = c, (graph, under_way, streams, events, pinned, y, z, x)
print("end")
"""


@pytest.mark.parametrize("within", [True, False])
def test_the_process_ends_with_everything_alive(within):
    assert python(ALIVE.replace("WITHIN", str(within))) == "end\n"


def test_threads_that_allocate_at_once():
    code = """
import threading, random
import adjoint as ad
streams = [ad.cuda.Stream() for _ in range(4)]
errors = []
def work(seed):
    try:
        rng, kept = random.Random(seed), []
        with streams[seed % 4]:
            for i in range(300):
                size = rng.choice([1, 100, 5000, 300_000, 2_000_000])
                t = ad.empty(size, dtype=ad.uint8, device="cuda").fill_(seed)
                t.record_stream(streams[rng.randrange(4)])
                kept.append(t)
                if len(kept) > 5:
                    old = kept.pop(rng.randrange(len(kept)))
                    assert old.clone().cpu().tolist()[-1] == seed
                if i % 50 == 0:
                    ad.cuda.empty_cache()
                    ad.ones(1000).pin_memory().to("cuda", non_blocking=True)
    except BaseException as error:
        errors.append(error)
threads = [threading.Thread(target=work, args=(i + 1,)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
ad.cuda.empty_cache()
print(errors, ad.cuda.memory_allocated(), ad.cuda.memory_reserved())
"""
    assert python(code).strip() == "[] 0 0"
