"""Names of GPUs and accelerators that programs use on any machine: ranges, older names of memory, what a tensor is not on."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import adjoint as ad
from adjoint import _places
from adjoint_functional import absent_devices
from adjoint_functional import nvtx as room


def test_ranges_without_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nvtx", None)
    room._tool.cache_clear()
    nvtx: Any = ad.cuda.nvtx
    assert (nvtx.range_push("a"), nvtx.range_push("b"), nvtx.range_pop(), nvtx.range_pop(), nvtx.range_pop()) == (
        0,
        1,
        1,
        0,
        -1,
    )
    nvtx.mark("here")
    nvtx.range_end(nvtx.range_start("c"))
    room._tool.cache_clear()


def test_ranges_reach_the_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    names = ("push_range", "pop_range", "start_range", "end_range", "mark")
    tool = SimpleNamespace(**{name: lambda *args, name=name: told.append((name, *args)) or 7 for name in names})
    monkeypatch.setitem(sys.modules, "nvtx", tool)
    room._tool.cache_clear()
    with ad.cuda.nvtx.range("step {}", 3):
        ad.cuda.nvtx.mark("here")
    ad.cuda.nvtx.range_end(ad.cuda.nvtx.range_start("c"))
    assert told == [("push_range", "step 3"), ("mark", "here"), ("pop_range",), ("start_range", "c"), ("end_range", 7)]
    room._tool.cache_clear()


def test_other_names_of_memory() -> None:
    assert ad.cuda.memory_cached is ad.cuda.memory_reserved and ad.cuda.max_memory_cached is ad.cuda.max_memory_reserved
    assert (
        ad.accelerator.memory_allocated is ad.cuda.memory_allocated and ad.accelerator.get_memory_info is ad.cuda.mem_get_info
    )
    assert (
        ad.cuda.init() is ad.cuda.ipc_collect() is None and ad.cuda.get_arch_list() == [] and ad.cuda.get_gencode_flags() == ""
    )
    with pytest.raises(AttributeError, match="memory_shelved"):
        ad.cuda.memory_shelved  # noqa: B018


def test_what_a_tensor_is_not_on() -> None:
    x = ad.eye(2)
    assert not any((x.is_ipu, x.is_maia, x.is_mps, x.is_mtia, x.is_vulkan, x.is_xla, x.is_xpu))
    assert x.to_sparse_coo().layout is ad.sparse_coo and x.to_sparse_csr().to_sparse_coo().layout is ad.sparse_coo


def test_no_device_to_make_current() -> None:
    with ad.accelerator.device_index(None):
        assert ad.ones(1).device == ad.device("cpu")


@pytest.mark.parametrize("device", ["mps", "xpu", "hpu", "mtia", "xla"])
def test_nothing_is_mixed_on_devices_that_are_not_there(device: str) -> None:
    with ad.autocast("cpu"):
        assert not ad.is_autocast_enabled(device) and ad.is_autocast_enabled("cpu")
    with pytest.raises(RuntimeError, match="'cpu' or 'cuda' expected, got 'bogus'"):
        ad.is_autocast_enabled("bogus")


def test_nothing_is_asked_of_devices_that_are_not_there() -> None:
    assert {_places.PLACES[name] for name in ("mps", "xpu", "mtia")} == {absent_devices.__name__}
    assert not absent_devices.is_available() and absent_devices.device_count() == 0
    assert absent_devices.manual_seed(0) is absent_devices.seed() is absent_devices.empty_cache() is None
    for asked in (absent_devices.synchronize, absent_devices.current_device, absent_devices.get_rng_state, absent_devices.init):
        with pytest.raises(RuntimeError, match=f"{asked.__name__}: there is no such device"):
            asked()
