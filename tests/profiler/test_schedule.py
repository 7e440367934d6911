"""adjoint.profiler: profiling by steps, as torch.profiler does."""

import json

import pytest

import adjoint as ad
from adjoint.autograd.profiler import EnforceUnique, KinetoStepTracker
from adjoint.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler


def run(prof, steps):
    for step in range(steps):
        ad.ones(step + 1).sin()
        prof.step()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"wait": 1, "warmup": 1, "active": 2}, "nwrsnwrs"),
        ({"wait": 1, "warmup": 0, "active": 1, "repeat": 2}, "nsnsnnnn"),
        ({"wait": 0, "warmup": 1, "active": 1, "skip_first": 3}, "nnnwswsw"),
        ({"wait": 2, "warmup": 0, "active": 1, "skip_first_wait": 1}, "snnsnnsn"),
    ],
)
def test_schedules(options, expected):
    plan = schedule(**options)
    letters = dict(zip(ProfilerAction, "nwrs", strict=True))
    assert "".join(letters[plan(step)] for step in range(8)) == expected


def test_schedules_that_make_no_sense():
    with pytest.raises(ValueError, match="active"):
        schedule(wait=0, warmup=0, active=0)
    with pytest.raises(ValueError, match="counted from 0"):
        schedule(wait=0, warmup=0, active=1)(-1)


def test_cycles_end_with_a_call():
    seen = []
    with profile(
        schedule=schedule(wait=1, warmup=1, active=2), on_trace_ready=lambda p: seen.append([e.trace_name for e in p.events()])
    ) as prof:
        run(prof, 8)
    assert [[n for n in names if n.startswith("ProfilerStep")] for names in seen] == [
        ["ProfilerStep#2", "ProfilerStep#3"],
        ["ProfilerStep#6", "ProfilerStep#7"],
    ]
    assert [names.count("aten::sin") for names in seen] == [2, 2]


def test_steps_are_one_row_of_the_table_and_numbered_in_traces(tmp_path):
    with profile(schedule=schedule(wait=0, warmup=1, active=2, repeat=1)) as prof:
        run(prof, 4)
    assert [(e.key, e.count) for e in prof.key_averages() if e.key.startswith("ProfilerStep")] == [("ProfilerStep*", 2)]
    prof.export_chrome_trace(tmp_path / "t.json")
    names = [e["name"] for e in json.loads((tmp_path / "t.json").read_text())["traceEvents"]]
    assert [n for n in names if n.startswith("ProfilerStep")] == ["ProfilerStep#1", "ProfilerStep#2"]


def test_without_a_schedule_all_is_recorded():
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof, record_function("mine"):
        run(prof, 3)
    assert [e.count for e in prof.key_averages() if e.key == "aten::sin"] == [3]
    assert len([e for e in prof.key_averages(group_by_input_shape=True) if e.key == "aten::sin"]) == 3
    assert prof.total_average().count == len(prof.events()) == 7


def test_events_add_up_over_cycles():
    with profile(schedule=schedule(wait=1, warmup=0, active=1), acc_events=True) as prof:
        run(prof, 4)
    assert [e.count for e in prof.key_averages() if e.key == "aten::sin"] == [2]


def test_steps_are_counted_for_the_program():
    before = KinetoStepTracker.current_step()
    with profile() as prof:
        run(prof, 3)
    assert prof.step_num == 3 and KinetoStepTracker.current_step() == before + 3
    assert not KinetoStepTracker.erase_step_count("ProfilerStep")


def test_traces_for_tensorboard(tmp_path):
    with profile(
        schedule=schedule(wait=0, warmup=0, active=1, repeat=1),
        on_trace_ready=tensorboard_trace_handler(str(tmp_path / "log"), "worker"),
    ) as prof:
        prof.add_metadata("note", "text")
        prof.add_metadata_json("data", "[1, 2]")
        run(prof, 3)
    (file,) = (tmp_path / "log").iterdir()
    trace = json.loads(file.read_text())
    assert file.name.startswith("worker.") and file.name.endswith(".pt.trace.json")
    assert trace["note"] == "text" and trace["data"] == [1, 2] and prof.get_trace_id() == trace["trace_id"]


def test_activities():
    with profile(activities=[{ProfilerActivity.CPU: ["user_annotation"]}]) as prof, record_function("mine"):
        ad.ones(1)
    assert [e.name for e in prof.events()] == ["mine"]
    with pytest.raises(TypeError, match="ProfilerActivity, got 'cpu'"):
        profile(activities=["cpu"])
    with pytest.raises(ValueError, match="once"):
        profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CPU])
    with pytest.raises(ValueError, match="at least one"):
        profile(activities=[])


def test_stopped_before_it_was_started():
    with pytest.raises(AssertionError, match="must be initialized before stopping trace"):
        profile().stop()
    profile(schedule=schedule(wait=1, warmup=0, active=1)).stop()  # it would record nothing yet


def test_nothing_recorded_yet():
    prof = profile(schedule=schedule(wait=5, warmup=0, active=1))
    with prof:
        assert prof.get_trace_id() is None
        with pytest.raises(AssertionError, match="none recorded yet"):
            prof.key_averages()


def test_the_observer_of_executions_is_told():
    calls = []

    class Observer:
        def start(self):
            calls.append("start")

        def stop(self):
            calls.append("stop")

    with profile(schedule=schedule(wait=1, warmup=0, active=1), execution_trace_observer=Observer()) as prof:
        run(prof, 4)
    assert calls == ["start", "stop"] * 2


def test_keys_that_may_come_once():
    unique = EnforceUnique()
    unique.see("a", 1)
    unique.see("a", 2)
    with pytest.raises(RuntimeError, match="duplicate key"):
        unique.see("a", 1)


def test_optimizers_are_ranges():
    weight = ad.ones(3, requires_grad=True)
    optimizer = ad.optim.Adam([weight])
    with profile() as prof:
        weight.sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    names = [e.name for e in prof.events() if e.is_user_annotation]
    assert names == ["Optimizer.step#Adam.step", "Optimizer.zero_grad#Adam.zero_grad"]


def test_names_of_pytorch_that_tools_use():
    assert not ad.autograd.profiler._is_profiler_enabled
    with profile(experimental_config=ad._C._profiler._ExperimentalConfig(verbose=True)):
        assert ad.autograd.profiler._is_profiler_enabled
    assert ad.profiler._ExperimentalConfig is ad._C._profiler._ExperimentalConfig
    util = ad.autograd.profiler_util
    assert (util._format_time(1500), util._format_memory(2048), util._format_time_share(1, 4)) == (
        "1.500ms",
        "2.00 KB",
        "25.00%",
    )
    for module in (ad._C, ad.autograd.profiler):
        with pytest.raises(AttributeError, match="no attribute 'nope'"):
            module.nope  # noqa: B018
