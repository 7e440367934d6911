"""profile from outside: options, states it may be in, and what it says when it is used wrongly."""

import contextlib
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from profiled import named, profiled, step

import adjoint as ad
from adjoint.autograd import profiler


def elsewhere(run):
    """In another thread, which raises here."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


def test_events_have_what_pytorch_gives_each():
    prof = profiled(profile_memory=True)
    for event in prof.function_events:
        facts = (event.flops, event.kwinputs, event.overload_name, event.trace_name, event.concrete_inputs)
        assert facts == (0, {}, "", event.name, [])
    assert str(prof.function_events[0].device_type) == "DeviceType.CPU"


def test_files_of_a_profile_that_cannot_be_written(tmp_path):
    with pytest.raises(RuntimeError, match="recorded nothing yet"):
        profiler.profile().export_chrome_trace(tmp_path / "trace.json")
    with pytest.raises(AssertionError, match=r"export_stacks\(\) requires with_stack=True"):
        profiled().export_stacks(tmp_path / "stacks.txt")
    assert not list(tmp_path.iterdir())


def test_whether_a_profile_runs():
    enabled = ad.autograd._profiler_enabled
    assert not enabled()
    with profiler.profile(), profiler.profile(enabled=False):
        with profiler.profile():
            assert enabled()
        assert enabled()
        assert not elsewhere(enabled)
    assert not enabled()


def test_profiles_nest_as_deep_as_observers_may():
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(profiler.profile())
        ninth = profiler.profile()
        with pytest.raises(RuntimeError, match="add_observer: at most 8 observers and profiles .* got one more"):
            ninth.__enter__()
        assert not ninth.recording
    with ninth:  # it did not begin before
        ad.ones(1)
    assert [e.name for e in ninth.function_events] == ["aten::ones"]


@pytest.mark.parametrize("with_stack", [False, True])
def test_a_profile_ends_in_its_own_thread(with_stack):
    prof = profiler.profile(with_stack=with_stack)
    prof.__enter__()
    with pytest.raises(RuntimeError, match="profile: it ends in the thread in which it began, got another"):
        elsewhere(prof.__exit__)
    assert prof.recording and not prof.function_events
    ad.ones(1)
    prof.__exit__()
    assert "aten::ones" in {e.name for e in prof.function_events}


@pytest.mark.parametrize("drop", [list.clear, lambda held: elsewhere(held.clear)], ids=["here", "elsewhere"])
def test_profiles_that_are_dropped_stop_watching(drop):
    for _ in range(20):  # more than may watch at once
        held = [profiler.profile(with_stack=True)]
        held[0].__enter__()
        drop(held)
    assert not ad.autograd._profiler_enabled() and sys.getprofile() is None


def test_used_once_disabled_or_not_at_all():
    prof = profiler.profile()
    assert repr(prof) == str(prof) == "<unfinished adjoint.autograd.profile>"
    assert len(prof.key_averages()) == 0 and prof.table() == "" and prof.self_cpu_time_total == 0
    assert prof.total_average().key == "Total"
    with prof, pytest.raises(RuntimeError, match="not reentrant"):
        prof.__enter__()
    with pytest.raises(RuntimeError, match="not reentrant"):
        prof.__enter__()
    with profiler.profile(enabled=False) as nothing:
        ad.ones(1)
    assert nothing is None


def test_events_add_up_over_cycles():
    prof = profiler.profile(acc_events=True)
    for _ in range(2):
        with prof:
            ad.ones(1).sin()
    assert len(named(prof, "aten::sin")) == 2 and len({e.id for e in prof.function_events}) == 4
    starts = [e.time_range.start for e in prof.function_events]
    assert starts == sorted(starts)


def test_recording_pauses():
    cpu = [profiler.ProfilerActivity.CPU]
    with profiler.profile() as prof:
        ad.ones(1).sin()
        prof.toggle_collection_dynamic(False, cpu)
        ad.ones(1).cos()
        prof.toggle_collection_dynamic(True, cpu)
        ad.ones(1).tan()
    assert [e.name for e in prof.function_events] == ["aten::ones", "aten::sin", "aten::ones", "aten::tan"]


def test_events_end_when_the_block_ends_with_an_error():
    prof = profiler.profile()
    with pytest.raises(KeyError), prof, profiler.record_function("open"):
        raise KeyError
    assert named(prof, "open")[0].cpu_time_total > 0


def test_filters_and_timeouts():
    def run(x):
        with profiler.record_function("mine"):
            x.sin()

    kept = profiled(run, activity_filters={profiler.ProfilerActivity.CPU: {"user_annotation"}})
    assert [e.name for e in kept.function_events] == ["mine"]
    assert len(profiled(run, post_processing_timeout_s=0).function_events) == 0
    assert len(profiled(run, post_processing_timeout_s=60).function_events) == 2


def test_configuration():
    prof = profiled(record_shapes=True, custom_trace_id_callback=lambda: "my id")
    config = prof.config()
    assert config.report_input_shapes and not config.with_stack and config.trace_id == prof.trace_id == "my id"
    assert config.state is profiler.ProfilerState.CPU
    assert len(profiled().trace_id) == 32


def test_arguments_that_make_no_sense():
    with pytest.raises(ValueError, match="use_kineto"):
        profiler.profile(use_cpu=False)
    with pytest.raises(ValueError, match="non-negative, got -1"):
        profiler.profile(post_processing_timeout_s=-1)
    with pytest.raises(ValueError, match="nothing to record"):
        profiler.profile(use_cpu=False, use_kineto=True)
    with pytest.warns(UserWarning, match="The tpu is not a valid device option."):
        assert profiler.profile(use_device="tpu").use_device is None


@pytest.mark.skipif(ad.cuda.is_available(), reason="there is a GPU")
def test_devices_that_are_not_there():
    with pytest.warns(UserWarning, match="CUDA is not available"):
        assert profiler.profile(use_device="cuda").use_device is None
    with pytest.warns(UserWarning, match="CUDA is not available"), pytest.warns(FutureWarning, match="use_cuda"):
        profiler.profile(use_cuda=True)


def test_nothing_is_printed(capfd):
    str(profiled(with_stack=True, profile_memory=True, record_shapes=True))
    assert capfd.readouterr() == ("", "")


def test_results_do_not_change_under_a_profile():
    x = ad.randn(4, 4, requires_grad=True)
    step(x)
    expected = x.grad.clone()
    x.grad = None
    with profiler.profile(with_stack=True, profile_memory=True, record_shapes=True):
        step(x)
    assert ad.equal(x.grad, expected)
