"""The books of the device allocator under random programs: allocate, release, use on other streams, capture, run out of memory."""

import ctypes
import gc
import os

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import adjoint as ad

driver = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
driver.standin_allocated.restype = ctypes.c_size_t
driver.standin_capacity.argtypes = [ctypes.c_size_t]
driver.standin_hold.argtypes = [ctypes.c_void_p, ctypes.c_int]

CAPACITY = 1 << 30
SIZES = st.one_of(
    st.integers(1, 4000), st.integers(4000, 3 << 20), st.sampled_from([512, 513, 1 << 20, (1 << 20) + 1, 10 << 20])
)
FIGURES = [
    "allocation", "allocated_bytes", "requested_bytes", "active", "active_bytes", "segment", "reserved_bytes",
    "inactive_split", "inactive_split_bytes",
]  # fmt: skip


def recount():
    """The figures, counted from the pieces of memory alone."""
    now = dict.fromkeys([f"{figure}.{pool}" for figure in FIGURES for pool in ("all", "large_pool", "small_pool")], 0)

    def add(figure, pool, amount=1):
        now[f"{figure}.all"] += amount
        now[f"{figure}.{pool}_pool"] += amount

    for segment in ad.cuda.memory_snapshot():
        pool, end = segment["segment_type"], segment["address"]
        add("segment", pool)
        add("reserved_bytes", pool, segment["total_size"])
        for block in segment["blocks"]:
            assert block["address"] == end
            end += block["size"]
            if block["state"] == "active_allocated":
                add("allocation", pool)
                add("allocated_bytes", pool, block["size"])
                add("requested_bytes", pool, block["requested_size"])
            if block["state"] != "inactive":
                add("active", pool)
                add("active_bytes", pool, block["size"])
            elif len(segment["blocks"]) > 1:
                add("inactive_split", pool)
                add("inactive_split_bytes", pool, block["size"])
        assert end == segment["address"] + segment["total_size"]
        states = [block["state"] for block in segment["blocks"]]
        assert not any(a == b == "inactive" for a, b in zip(states, states[1:], strict=False))  # neighbours have joined
    return now


class Allocator(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        gc.collect()
        ad.cuda.empty_cache()
        ad.cuda.reset_peak_memory_stats()
        ad.cuda.reset_accumulated_memory_stats()
        self.before = ad.cuda.memory_stats()
        self.streams = [ad.cuda.default_stream(), ad.cuda.Stream(), ad.cuda.Stream()]
        self.held = set()
        self.live = []  # tensors, each filled with a number of its own
        self.graphs = []
        self.peaks = {figure: self.before[f"{figure}.all.current"] for figure in FIGURES}
        self.number = 0

    def make(self, size, stream):
        with ad.cuda.stream(stream):
            t = ad.empty(size, dtype=ad.uint8, device="cuda")
        self.number = self.number % 250 + 1
        return t

    @rule(size=SIZES, stream=st.integers(0, 2))
    def allocate(self, size, stream):
        t = self.make(size, self.streams[stream])
        with ad.cuda.stream(self.streams[stream]):
            t.fill_(self.number)
        self.live.append((t, self.number))

    @precondition(lambda self: self.live)
    @rule(which=st.integers(0, 10**6), stream=st.integers(0, 2))
    def use_elsewhere(self, which, stream):
        self.live[which % len(self.live)][0].record_stream(self.streams[stream])

    @precondition(lambda self: self.live)
    @rule(which=st.integers(0, 10**6))
    def release(self, which):
        self.check_values(self.live.pop(which % len(self.live)))

    @rule(stream=st.integers(1, 2), hold=st.booleans())
    def hold(self, stream, hold):
        driver.standin_hold(self.streams[stream].cuda_stream, hold)
        (self.held.add if hold else self.held.discard)(stream)

    @rule()
    def empty_cache(self):
        ad.cuda.empty_cache()

    @rule(size=SIZES, keep=st.booleans())
    def capture(self, size, keep):
        graph = ad.cuda.CUDAGraph()
        pool = self.graphs[-1].pool() if self.graphs else None
        with ad.cuda.graph(graph, pool=pool):
            t = self.make(size, ad.cuda.current_stream())
            t.fill_(self.number)
            ad.zeros(size, dtype=ad.uint8, device="cuda")
        self.graphs.append(graph)
        graph.replay()
        if keep:
            self.live.append((t, self.number))

    @precondition(lambda self: self.graphs)
    @rule()
    def reset_graph(self):
        self.graphs.pop().reset()

    @rule(size=SIZES)
    def run_out(self, size):
        driver.standin_capacity(driver.standin_allocated(0))
        before = recount()
        try:
            self.live.append((self.make(size, self.streams[0]).fill_(self.number), self.number))
        except ad.OutOfMemoryError as error:
            assert "CUDA out of memory. Tried to allocate" in str(error)
            after = recount()
            assert all(after[k] == before[k] for k in after if k.startswith(("allocat", "request")))
        finally:
            driver.standin_capacity(CAPACITY)

    def check_values(self, entry):
        t, number = entry
        values = t.cpu()
        assert int(values.min()) == int(values.max()) == number

    @invariant()
    def books(self):
        stats, counted = ad.cuda.memory_stats(), recount()
        for key, value in counted.items():
            assert stats[f"{key}.current"] == value, key
            assert stats[f"{key}.allocated"] - stats[f"{key}.freed"] == value - self.before[f"{key}.current"], key
            assert stats[f"{key}.peak"] >= value
        for figure in FIGURES:
            self.peaks[figure] = max(self.peaks[figure], stats[f"{figure}.all.current"])
            if "split" not in figure:
                assert stats[f"{figure}.all.peak"] >= self.peaks[figure]
        grown = stats["allocation.all.current"] - self.before["allocation.all.current"]
        assert grown == len(self.live)
        assert stats["reserved_bytes.all.current"] == driver.standin_allocated(0)
        assert (
            stats["num_device_alloc"] - stats["num_device_free"]
            == stats["segment.all.current"] - self.before["segment.all.current"]
        )

    def teardown(self):
        for stream in self.held:
            driver.standin_hold(self.streams[stream].cuda_stream, 0)
        while self.live:
            self.check_values(self.live.pop())
        for graph in self.graphs:
            graph.reset()
        ad.cuda.empty_cache()
        after = ad.cuda.memory_stats()
        for figure in FIGURES:
            assert after[f"{figure}.all.current"] == self.before[f"{figure}.all.current"], figure


Allocator.TestCase.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
test_random_programs = Allocator.TestCase


def resident():
    """Bytes of this process's memory."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("own", [False, True], ids=["context", "by hand"])
def test_a_thousand_captures_leave_nothing_behind(own):
    driver.standin_log.restype = ctypes.c_char_p
    y, s = ad.zeros(100, device="cuda"), ad.cuda.Stream()

    def once():
        graph = ad.cuda.CUDAGraph()
        if own:
            with s:
                graph.capture_begin()
                y.copy_(ad.ones(100, device="cuda"))
                graph.capture_end()
        else:
            with ad.cuda.graph(graph):
                y.copy_(ad.ones(100, device="cuda"))
        graph.replay()
        graph.reset()
        ad.cuda.empty_cache()
        driver.standin_log()

    for _ in range(200):
        once()
    gc.collect()
    before, books, held = resident(), ad.cuda.memory_stats(), driver.standin_allocated(0)
    for _ in range(1000):
        once()
    gc.collect()
    after = ad.cuda.memory_stats()
    assert all(after[k] == books[k] for k in books if k.endswith("current")) and driver.standin_allocated(0) == held
    assert resident() - before < 2 << 20  # a list of free pieces alone was 16.5 kB


def test_requests_beyond_the_limit():
    total = ad.cuda.get_device_properties().total_memory
    assert ad.cuda.get_per_process_memory_fraction() == 1.0
    try:
        ad.cuda.set_per_process_memory_fraction(0.25)
        assert ad.cuda.get_per_process_memory_fraction(0) == 0.25 and ad.cuda.get_per_process_memory_fraction("cuda:1") == 1.0
        with pytest.raises(ad.OutOfMemoryError) as error:
            ad.empty(total // 2, dtype=ad.uint8, device="cuda")
        text = str(error.value)
        assert "Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 1.00 GiB of which" in text
        assert "set_per_process_memory_fraction allows 256.00 MiB in all" in text
    finally:
        ad.cuda.set_per_process_memory_fraction(1.0)
    assert ad.empty(total // 2, dtype=ad.uint8, device="cuda").numel() == total // 2
    ad.cuda.empty_cache()
    for wrong, kind in ((1, TypeError), (1.5, ValueError), (-0.1, ValueError)):
        with pytest.raises(kind, match="raction"):
            ad.cuda.set_per_process_memory_fraction(wrong)


def test_what_an_error_advises():
    with pytest.raises(ad.OutOfMemoryError, match=r"Smaller batches.*save_on_cpu need less\."):
        ad.empty(4 << 30, dtype=ad.uint8, device="cuda")
    with ad.cuda.graph(ad.cuda.CUDAGraph()):
        ad.empty(10, device="cuda").fill_(1)
        with pytest.raises(ad.OutOfMemoryError, match=r"During a capture nothing goes back to the driver"):
            ad.empty(4 << 30, dtype=ad.uint8, device="cuda")


def test_figures_and_tables():
    ad.cuda.empty_cache()
    ad.cuda.reset_peak_memory_stats()
    before = ad.cuda.memory_stats()
    x = ad.empty(1000, dtype=ad.uint8, device="cuda")
    nested = ad.cuda.memory_stats_as_nested_dict()
    assert nested["requested_bytes"]["small_pool"]["current"] == before["requested_bytes.small_pool.current"] + 1000
    assert nested["allocated_bytes"]["all"]["current"] == before["allocated_bytes.all.current"] + 1024
    del x
    ad.cuda.reset_accumulated_memory_stats()
    assert ad.cuda.memory_stats()["allocation.all.freed"] == 0
    table = ad.cuda.memory_summary()
    assert {len(line) for line in table.splitlines()} == {77} and "GPU reserved memory" in table
    assert len(ad.cuda.memory_summary(abbreviated=True)) < 0.6 * len(table)


def test_memory_lent_to_other_libraries():
    before = ad.cuda.memory_allocated()
    address = ad.cuda.caching_allocator_alloc(2000)
    other = ad.cuda.caching_allocator_alloc(2000, stream=ad.cuda.Stream(device=1))
    assert ad.cuda.memory_allocated() == before + 2048 and ad.cuda.memory_allocated(1) >= 2048
    assert ad.cuda.current_device() == 0
    for a in (address, other):
        ad.cuda.caching_allocator_delete(a)
    assert ad.cuda.memory_allocated() == before
    with pytest.raises(ValueError, match="caching_allocator_delete: expected an address"):
        ad.cuda.caching_allocator_delete(address)
    with pytest.raises(ValueError, match="size must not be negative"):
        ad.cuda.caching_allocator_alloc(-1)


def test_pinned_memory_goes_back_too():
    x = ad.ones(5000).pin_memory()
    driver.standin_log.restype = ctypes.c_char_p
    ad.cuda.empty_cache()
    del x
    driver.standin_log()
    ad.cuda.empty_cache()
    y = ad.ones(5000).pin_memory()
    assert b"host_allocate 32768" in driver.standin_log() and y.is_pinned()


def test_pinned_memory_that_is_kept_makes_room():
    ad.cuda.empty_cache()
    kept = ad.ones(70_000).pin_memory()
    kept.to("cuda", non_blocking=True)
    del kept
    driver.standin_fail(b"cuMemHostAlloc", 2)  # out of memory, once
    assert ad.ones(5_000_000).pin_memory().is_pinned()
    driver.standin_log()
    assert ad.ones(70_000).pin_memory().is_pinned() and b"host_allocate 524288" in driver.standin_log()  # it had gone back
