"""Capture and replay on the stand-in driver: what runs when, at which addresses, and from which memory."""

import ctypes
import gc
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

import adjoint as ad

driver = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
driver.standin_log.restype = ctypes.c_char_p
driver.standin_allocated.restype = ctypes.c_size_t


def log():
    return driver.standin_log().decode().splitlines()


def test_nothing_runs_before_the_replay():
    x = ad.arange(4.0).cuda()
    y = ad.zeros(4, device="cuda")
    g = ad.cuda.CUDAGraph()
    assert not ad.cuda.is_current_stream_capturing()
    log()
    with ad.cuda.graph(g):
        assert ad.cuda.is_current_stream_capturing()
        y.copy_(x)
    assert not [line for line in log() if line.startswith("on_device")]
    assert y.tolist() == [0] * 4
    g.replay()
    assert y.tolist() == [0, 1, 2, 3]
    x.copy_(ad.ones(4))
    with ad.cuda.stream(ad.cuda.Stream()):
        g.replay()
    assert y.tolist() == [1] * 4
    assert len([line for line in log() if line.startswith("replay 1 ")]) == 2


def test_captured_memory_is_nobody_elses():
    g = ad.cuda.CUDAGraph()
    with ad.cuda.graph(g):
        kept = ad.zeros(1000, device="cuda")
        address = ad.ones(1000, device="cuda").data_ptr()  # freed at once, and the graph writes there
        again = ad.ones(1000, device="cuda")
    assert again.data_ptr() == address
    others = [ad.full((1000,), 7.0, device="cuda") for _ in range(50)]
    ad.cuda.empty_cache()
    g.replay()
    assert all(t[0].item() == 7 for t in others)
    assert kept[3].item() == 0 and again[3].item() == 1
    spans = [(t.data_ptr(), t.data_ptr() + 4000) for t in (kept, again)]
    assert not any(a < t.data_ptr() + 4000 and t.data_ptr() < b for t in others for a, b in spans)


def test_memory_goes_back_when_graph_and_tensors_are_gone():
    gc.collect()
    ad.cuda.empty_cache()
    reserved, allocated, held = ad.cuda.memory_reserved(), ad.cuda.memory_allocated(), driver.standin_allocated(0)
    g = ad.cuda.CUDAGraph()
    with ad.cuda.graph(g):
        y = ad.ones(1 << 20, device="cuda")
    assert ad.cuda.memory_allocated() == allocated + (4 << 20)
    del y
    ad.cuda.empty_cache()
    assert ad.cuda.memory_allocated() == allocated and ad.cuda.memory_reserved() > reserved  # the graph still writes there
    g.reset()
    ad.cuda.empty_cache()
    assert ad.cuda.memory_reserved() == reserved and driver.standin_allocated(0) == held


def test_memory_released_in_a_capture_that_another_stream_used():
    side = ad.cuda.Stream()
    x = ad.empty(3000, device="cuda")
    with ad.cuda.stream(side):
        copied = x.clone()
    g = ad.cuda.CUDAGraph()
    with ad.cuda.graph(g):
        del x
        y = ad.zeros(3, device="cuda")
    assert ad.cuda.memory_stats()["waiting.all.current"] == 1
    ad.empty(1, device="cuda")
    ad.empty(1, device="cuda")
    assert ad.cuda.memory_stats()["waiting.all.current"] == 0
    del copied, y


def test_pinned_copies_are_replayed():
    x, y = ad.arange(4.0).pin_memory(), ad.zeros(4, device="cuda")
    g = ad.cuda.CUDAGraph()
    with ad.cuda.graph(g):
        y.copy_(x, non_blocking=True)
        result = y.to("cpu", non_blocking=True)
    assert result.is_pinned()
    x.fill_(3)
    address = x.data_ptr()
    del x  # the graph keeps it
    assert ad.ones(4).pin_memory().data_ptr() != address
    g.replay()
    ad.cuda.synchronize()
    assert y.tolist() == [3] * 4 == result.tolist()
    with pytest.raises(RuntimeError, match="copies of pinned memory with non_blocking=True"):
        with ad.cuda.graph(ad.cuda.CUDAGraph()):
            y.copy_(ad.ones(4))


def test_pinned_memory_of_a_replay_is_not_handed_out_before_it_is_done():
    x, s, g = ad.ones(1 << 14).pin_memory(), ad.cuda.Stream(), ad.cuda.CUDAGraph()
    address = x.data_ptr()
    with ad.cuda.graph(g):
        y = x.to("cuda", non_blocking=True)
    del x
    hold = ctypes.c_void_p(s.cuda_stream)
    with ad.cuda.stream(s):
        driver.standin_hold(hold, 1)
        g.replay()
        g.reset()
        assert ad.zeros(1 << 14).pin_memory().data_ptr() != address
        driver.standin_hold(hold, 0)
    again = [ad.zeros(1 << 14).pin_memory() for _ in range(2)]
    assert address in [t.data_ptr() for t in again]
    del y


def test_capture_by_hand_and_kept_graphs():
    s, y = ad.cuda.Stream(), ad.zeros(4, device="cuda")
    g = ad.cuda.CUDAGraph(keep_graph=True)
    with pytest.raises(RuntimeError, match="non-default stream"):
        g.capture_begin()
    with ad.cuda.stream(s):
        g.capture_begin(pool=ad.cuda.graph_pool_handle(), capture_error_mode="thread_local")
        y.fill_(2.5)
        g.capture_end()
    assert g.raw_cuda_graph()
    with pytest.raises(RuntimeError, match="no executable graph"):
        g.raw_cuda_graph_exec()
    g.replay()
    assert g.raw_cuda_graph_exec() and y.tolist() == [2.5] * 4
    g.reset()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        g.replay()


def test_wrong_uses():
    g = ad.cuda.CUDAGraph()
    for call in (g.replay, g.pool, g.capture_end, g.instantiate):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(RuntimeError, match="Unknown capture error mode.*got nowhere"):
        with ad.cuda.graph(g, capture_error_mode="nowhere"):
            pass
    for pool in ((1, 2), (0, 0)):
        with pytest.raises(ValueError, match="capture_begin: pool"):
            with ad.cuda.graph(g, pool=pool):
                pass
    with pytest.warns(UserWarning, match="The CUDA Graph is empty"):
        with ad.cuda.graph(g):
            pass
    with pytest.raises(RuntimeError, match="already holds a graph"):
        with ad.cuda.graph(g):
            pass
    assert ad.cuda.current_stream() == ad.cuda.default_stream()
    with pytest.raises(RuntimeError, match="same stream it began on"):
        with ad.cuda.graph(ad.cuda.CUDAGraph()):
            ad.cuda.set_stream(ad.cuda.Stream())
    assert ad.cuda.current_stream() == ad.cuda.default_stream()
    other = ad.cuda.CUDAGraph()
    with ad.cuda.stream(ad.cuda.Stream()):
        other.capture_begin()
        other.reset()
        assert not ad.cuda.is_current_stream_capturing()
    ad.cuda.synchronize()


def elsewhere(call):
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(call).result()


def test_another_thread_does_not_end_a_capture():
    s, y, g = ad.cuda.Stream(), ad.zeros(4, device="cuda"), ad.cuda.CUDAGraph()

    def end():
        with ad.cuda.stream(s):
            g.capture_end()

    with ad.cuda.stream(s):
        g.capture_begin()
        for call in (end, g.reset):
            with pytest.raises(RuntimeError, match="CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"):
                elsewhere(call)
            assert ad.cuda.is_current_stream_capturing()
        y.fill_(3)
        g.capture_end()
        assert not ad.cuda.is_current_stream_capturing()
        g.replay()
        assert y.tolist() == [3] * 4
        g.reset()
        g.capture_begin(capture_error_mode="relaxed")
        y.fill_(4)
        elsewhere(end)
    g.replay()
    assert y.tolist() == [4] * 4


@pytest.mark.parametrize("function", ["cuStreamBeginCapture_v2", "cuStreamGetCaptureInfo_v2"])
def test_a_capture_that_does_not_begin(function):
    with ad.cuda.stream(ad.cuda.Stream()):
        g = ad.cuda.CUDAGraph()
        driver.standin_fail(function.encode(), 700)
        with pytest.raises(RuntimeError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
            g.capture_begin()
        assert not ad.cuda.is_current_stream_capturing()
        ad.cuda.synchronize()
        g.capture_begin()
        ad.zeros(4, device="cuda")
        g.capture_end()


def test_work_that_does_not_come_back_spoils_the_capture():
    side, x = ad.cuda.Stream(), ad.zeros(4, device="cuda")
    g = ad.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="CUDA_ERROR_STREAM_CAPTURE_UNJOINED"):
        with ad.cuda.graph(g):
            side.wait_stream(ad.cuda.current_stream())
            with ad.cuda.stream(side):
                x.fill_(1)
    with ad.cuda.graph(g):
        x.fill_(2)
    g.replay()
    assert x.tolist() == [2] * 4


def test_events_of_a_capture_are_not_asked():
    event, before = ad.cuda.Event(), ad.cuda.Event()
    before.record()
    x = ad.zeros(4, device="cuda")
    with ad.cuda.graph(ad.cuda.CUDAGraph()):
        x.fill_(1)
        event.record()
        assert before.query()
    with pytest.raises(RuntimeError, match="recorded into a graph"):
        event.query()
    event.record()
    assert event.query()


def test_copies_between_devices():
    x, y = ad.arange(4.0).to("cuda:0"), ad.zeros(4, device="cuda:1")
    g, other = ad.cuda.CUDAGraph(), ad.cuda.Stream(device=1)
    with ad.cuda.graph(g):
        with pytest.raises(RuntimeError, match="a copy between GPUs of which one does not take part"):
            x.to("cuda:1")
        main = ad.cuda.current_stream()
        other.wait_stream(main)
        with ad.cuda.stream(other):
            with ad.cuda.stream(main):
                y.copy_(x)
        main.wait_stream(other)
    x.copy_(ad.ones(4))
    g.replay()
    assert y.tolist() == [1] * 4
