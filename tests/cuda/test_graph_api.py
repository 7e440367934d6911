"""What else graphs can do: written to a file, external events, inputs watched, modes of other threads, generators."""

import ctypes
import os
import threading

import pytest

import adjoint as ad

driver = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
driver.standin_log.restype = ctypes.c_char_p


def log():
    return driver.standin_log().decode().splitlines()


def captured(**options):
    graph, y = ad.cuda.CUDAGraph(), ad.zeros(4, device="cuda")
    with ad.cuda.graph(graph, **options):
        y.fill_(2)
    return graph, y


def test_debug_dump(tmp_path):
    path = tmp_path / "graph.dot"
    graph, y = captured()
    with pytest.warns(UserWarning, match="CUDA Graphs debug not enabled"):
        graph.debug_dump(path)
    graph.reset()
    graph.enable_debug_mode()
    with pytest.raises(RuntimeError, match="debug_dump: there is no captured graph"):
        graph.debug_dump(path)
    with ad.cuda.graph(graph):
        y.fill_(3)
    graph.debug_dump(path)
    assert path.read_text().startswith("digraph dot {\n  n0;")
    graph.replay()
    assert y.tolist() == [3] * 4
    with pytest.raises(RuntimeError, match="in cuGraphDebugDotPrint"):
        graph.debug_dump(tmp_path / "nowhere" / "graph.dot")
    kept = ad.cuda.CUDAGraph(keep_graph=True)
    with ad.cuda.graph(kept):
        y.fill_(4)
    kept.debug_dump(str(path))
    kept.replay()
    kept.instantiate()
    assert y.tolist() == [4] * 4


def test_annotations_are_refused():
    with pytest.raises(NotImplementedError, match="enable_annotations"):
        ad.cuda.graph(ad.cuda.CUDAGraph(), enable_annotations=True)


def test_inputs_that_are_gone():
    x, y = ad.ones(1000, device="cuda"), ad.zeros(1000, device="cuda")
    graph = ad.cuda.CUDAGraph()
    with ad.cuda.graph(graph, check_input_liveness=True):
        inside = x.clone()
        y.copy_(inside)
        del inside
    graph.replay()
    assert y[0].item() == 1
    del x
    for _ in range(2):
        with pytest.raises(RuntimeError, match="replay: memory of 1 of 2 tensors .* was released since its capture"):
            graph.replay()
        again = ad.ones(1000, device="cuda")  # the same address, another tensor
    del again
    graph.reset()
    with ad.cuda.graph(graph):
        y.copy_(ad.ones(1000, device="cuda"))
    graph.replay()


def test_external_events_are_nodes():
    event, end = (ad.cuda.Event(enable_timing=True, external=True) for _ in range(2))
    x, y = ad.ones(16000, dtype=ad.uint8, device="cuda"), ad.zeros(16000, dtype=ad.uint8, device="cuda")
    graph = ad.cuda.CUDAGraph()
    with ad.cuda.graph(graph):
        event.record()
        y.copy_(x)
        end.record()
        end.wait()
    log()
    graph.replay()
    assert [line.split()[0] for line in log()] == ["replay", "record", "on_device", "record"]
    assert end.query() and event.elapsed_time(end) == pytest.approx(0.002)
    event.record()  # outside of a capture as all others
    event.wait()
    assert event.query()


def in_thread(call):
    errors = []

    def run():
        try:
            call()
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_other_threads_go_on(mode):
    """What the driver calls unsafe, in this thread and another, spoils no capture: the stand-in is as strict as its documentation."""
    event, other, graph = ad.cuda.Event(), ad.cuda.Stream(), ad.cuda.CUDAGraph()
    event.record(other)
    y = ad.zeros(4, device="cuda")

    def unsafe():
        assert event.query() and other.query()
        event.synchronize()
        other.synchronize()
        with other:
            ad.empty(30 << 20, dtype=ad.uint8, device="cuda").fill_(1)
        ad.ones(100_000).pin_memory()

    with ad.cuda.graph(graph, capture_error_mode=mode):
        y.fill_(1)
        unsafe()
        in_thread(unsafe)
        y.fill_(2)
    graph.replay()
    assert y.tolist() == [2] * 4


@pytest.mark.parametrize(("mode", "own", "others"), [("global", 900, 900), ("thread_local", 900, 0), ("relaxed", 0, 0)])
def test_the_stand_in_is_strict(mode, own, others):
    """As cuThreadExchangeStreamCaptureMode documents it, for a thread that has not changed its mode."""
    pointer = ctypes.c_uint64()

    def allocate():
        return driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(1 << 20))

    def elsewhere():
        ad.cuda.default_stream().query()  # enters the device
        found.append(allocate())

    found = []
    y = ad.zeros(4, device="cuda")
    for run, expected in ((lambda: found.append(allocate()), own), (lambda: in_thread(elsewhere), others)):
        graph = ad.cuda.CUDAGraph()
        try:
            with ad.cuda.graph(graph, capture_error_mode=mode):
                y.fill_(1)
                run()
        except RuntimeError as error:
            assert expected and "cuStreamEndCapture" in str(error)
        else:
            assert not expected
        assert found.pop() == expected
        if not expected:
            driver.cuMemFree_v2(pointer)


def test_seeds_have_64_bits():
    g = ad.Generator("cuda")
    for seed, kept in ((-1, 2**64 - 1), (-(2**63), 2**63), (2**63, 2**63), (2**64 - 1, 2**64 - 1), (5, 5)):
        assert ad.manual_seed(seed).initial_seed() == kept == ad.initial_seed() == ad.cuda.initial_seed()
        assert g.manual_seed(seed).initial_seed() == kept
        ad.cuda.manual_seed_all(seed)
        ad.cuda.manual_seed(seed)
        assert ad.cuda.initial_seed() == kept
        state = g.get_state()
        assert ad.Generator().set_state(state).initial_seed() == kept
    assert ad.manual_seed(1.5).initial_seed() == 1 == ad.manual_seed(True).initial_seed()
    for seed in (2**64, -(2**63) - 1):
        for restart in (ad.manual_seed, g.manual_seed, ad.cuda.manual_seed, ad.cuda.manual_seed_all):
            with pytest.raises(ValueError, match="Overflow when unpacking long long"):
                restart(seed)
    for seed in (1.5, "x", None):
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            g.manual_seed(seed)
    for seed, kind in (("x", ValueError), (None, TypeError)):
        with pytest.raises(kind):
            ad.manual_seed(seed)


def test_seeds_within_a_capture():
    ad.manual_seed(3)
    graph, y = ad.cuda.CUDAGraph(), ad.zeros(4, device="cuda")
    with ad.cuda.graph(graph):
        y.fill_(1)
        ad.manual_seed(3)
        ad.cuda.manual_seed(3)
        for restart in (ad.manual_seed, ad.cuda.manual_seed):
            with pytest.raises(RuntimeError, match="within a capture the seed can only be the one it has"):
                restart(4)
        with pytest.raises(RuntimeError, match="within a capture the seed"):
            ad.cuda.seed()
    assert ad.initial_seed() == 3 == ad.cuda.initial_seed()
    graph.replay()
