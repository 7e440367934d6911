"""Profiling a program step by step: the counterpart of torch.profiler."""

from __future__ import annotations

import enum
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

from ._config import ExperimentalConfig as _ExperimentalConfig  # noqa: F401
from ._config import ProfilerActivity as ProfilerActivity
from ._config import kineto_available as kineto_available
from ._config import supported_activities as supported_activities
from ._profile import profile as _Recording
from ._quantities import DeviceType as DeviceType
from ._ranges import record_function as record_function
from ._steps import KinetoStepTracker

if TYPE_CHECKING:
    from ._average import FunctionEventAvg
    from ._event_list import EventList
    from ._events import Path

__all__ = [
    "DeviceType", "ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule",
    "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerAction(enum.Enum):
    """What a profile does during one step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


Schedule: TypeAlias = Callable[[int], ProfilerAction]
_RECORDS = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Schedule:
    """Which steps are recorded: after `skip_first` steps, cycles of `wait`, `warmup` and `active` ones.

    Arguments:
        repeat: the number of cycles; 0: no end.
        skip_first_wait: not 0: the first cycle does not wait.

    Raises:
        ValueError: a negative number, or no active step.

    Example::

        >>> plan = schedule(wait=1, warmup=1, active=2)
        >>> [plan(step).name for step in range(4)]
        ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise ValueError(
            f"schedule: steps must not be negative and active must be positive, got {wait=}, {warmup=}, {active=}, {repeat=}, {skip_first=}"
        )
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise ValueError(f"schedule: steps are counted from 0, got {step}")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        if repeat and step // cycle >= repeat:
            return ProfilerAction.NONE
        at = step % cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if at == cycle - 1 else ProfilerAction.RECORD

    return action


def _always(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[profile], None]:
    """For `on_trace_ready`: writes each trace into a directory, under the names that TensorBoard looks for.

    Arguments:
        dir_name: made if it is not there.
        worker_name: None: the machine's name and the process.
        use_gzip: whether files are compressed.
        use_python_export: accepted; there is one way to write.
    """

    def handler(prof: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handler


class profile:
    """Records the steps of a program that a schedule picks.

    Arguments:
        activities: what to record: ProfilerActivity.CPU, ProfilerActivity.CUDA, or dicts from these to the types of events to
            keep; None: all that there is.
        schedule: a function from the number of a step to a ProfilerAction; None: everything is recorded.
        on_trace_ready: called with this profile when a cycle has ended.
        record_shapes, profile_memory, with_stack, with_flops, with_modules, experimental_config, acc_events,
            custom_trace_id_callback, post_processing_timeout_s: see autograd.profiler.profile.
        execution_trace_observer: an object whose start() and stop() are called around what is recorded.
        use_cuda: deprecated: adds ProfilerActivity.CUDA to the activities, or takes it away.

    Example::

        >>> from adjoint.profiler import profile, schedule
        >>> with profile(schedule=schedule(wait=1, warmup=0, active=1)) as prof:
        ...     for step in range(2):
        ...         y = ad.ones(2) + step
        ...         prof.step()
        >>> [e.key for e in prof.key_averages()]
        ['ProfilerStep*', 'aten::ones', 'aten::add']
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity | dict[ProfilerActivity, list[str]]] | None = None,
        schedule: Schedule | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        self.activities, self._filters = _activities(activities)
        if use_cuda is not None:
            warnings.warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning, stacklevel=2)
            (self.activities.add if use_cuda else self.activities.discard)(ProfilerActivity.CUDA)
        self.schedule = schedule or _always
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.with_modules = with_modules
        self.experimental_config = experimental_config
        self.execution_trace_observer = execution_trace_observer
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.step_num = 0
        self.current_action = ProfilerAction.NONE
        self.profiler: _Recording | None = None
        self._marks_steps = schedule is not None
        self._step: record_function | None = None
        self._metadata: dict[str, Any] = {}

    def start(self) -> None:
        """Begins with step 0."""
        KinetoStepTracker.init_step_count("ProfilerStep")
        self._enter(self.schedule(self.step_num))

    def stop(self) -> None:
        """Ends the last step, and the cycle if one is being recorded.

        Raises:
            AssertionError: it was not started, and its schedule begins with recording.
        """
        if self.profiler is None and self.schedule(self.step_num) in _RECORDS:
            raise AssertionError("Profiler must be initialized before stopping trace")
        self._leave(ended=True)
        self.current_action = ProfilerAction.NONE
        KinetoStepTracker.erase_step_count("ProfilerStep")

    def step(self) -> None:
        """Says that the next step begins."""
        before = self.current_action
        self.step_num += 1
        KinetoStepTracker.increment_step("ProfilerStep")
        self._leave(ended=before == ProfilerAction.RECORD_AND_SAVE)
        self._enter(self.schedule(self.step_num))

    def _enter(self, action: ProfilerAction) -> None:
        self.current_action = action
        if action in _RECORDS and (self.profiler is None or not self.profiler.recording):
            if self.profiler is None or not self.acc_events:
                self.profiler = self._recording()
            self.profiler.__enter__()
            if self.execution_trace_observer is not None:
                self.execution_trace_observer.start()
        if self._marks_steps and action in _RECORDS:
            self._step = record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _leave(self, ended: bool) -> None:
        step, self._step = self._step, None
        if step is not None:
            step.__exit__(None, None, None)
        if not ended or self.profiler is None or not self.profiler.recording:
            return
        if self.execution_trace_observer is not None:
            self.execution_trace_observer.stop()
        self.profiler.__exit__(None, None, None)
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _recording(self) -> _Recording:
        return _Recording(
            record_shapes=self.record_shapes,
            with_flops=self.with_flops,
            profile_memory=self.profile_memory,
            with_stack=self.with_stack,
            with_modules=self.with_modules,
            use_kineto=True,
            use_cpu=ProfilerActivity.CPU in self.activities,
            use_device="cuda" if ProfilerActivity.CUDA in self.activities else None,
            experimental_config=self.experimental_config,
            acc_events=self.acc_events,
            custom_trace_id_callback=self.custom_trace_id_callback,
            post_processing_timeout_s=self.post_processing_timeout_s,
            activity_filters=self._filters,
        )

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    @property
    def _done(self) -> _Recording:
        if self.profiler is None:
            raise AssertionError("profile: expected one that has recorded a step, got none recorded yet")
        return self.profiler

    def events(self) -> EventList:
        """All events of the last cycle; of all cycles with `acc_events`."""
        return self._done.function_events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Events of the same name added up."""
        return self._done.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        """All events added up."""
        return self._done.total_average()

    def export_chrome_trace(self, path: Path) -> None:
        """Writes a trace that chrome://tracing and ui.perfetto.dev open; compressed if `path` ends with .gz."""
        self._done.export_chrome_trace(path, metadata=self._metadata)

    def export_stacks(self, path: Path, metric: str = "self_cpu_time_total") -> None:
        """Writes stacks for flame graphs. Needs `with_stack`."""
        self._done.export_stacks(path, metric)

    def html(self, path: Path, title: str = "Profile") -> None:
        """Writes a report as one file that needs no network: a flame chart, the curve of memory and the table."""
        self._done.html(path, title)

    def add_metadata(self, key: str, value: str) -> None:
        """Adds a text to the traces that are written."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Adds a value, given as JSON, to the traces that are written."""
        import json

        self._metadata[key] = json.loads(value)

    preset_metadata_json = add_metadata_json

    def get_trace_id(self) -> str | None:
        """The id of the last cycle's trace; None before the first."""
        return None if self.profiler is None else self.profiler.trace_id

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Sets what makes the ids of the cycles to come."""
        self.custom_trace_id_callback = callback

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Pauses recording in the middle of a cycle, or goes on."""
        if self.profiler is not None:
            self.profiler.toggle_collection_dynamic(enable, activities)


def _activities(
    given: Iterable[ProfilerActivity | dict[ProfilerActivity, list[str]]] | None,
) -> tuple[set[ProfilerActivity], dict[ProfilerActivity, set[str]] | None]:
    """The activities, and which types of events are kept of them."""
    if given is None:
        return supported_activities(), None
    found: set[ProfilerActivity] = set()
    filters: dict[ProfilerActivity, set[str]] = {}
    for item in given:
        for activity in item if isinstance(item, dict) else (item,):
            if not isinstance(activity, ProfilerActivity):
                raise TypeError(f"profile: activities are of ProfilerActivity, got {activity!r}")
            if activity in found:
                raise ValueError(f"profile: an activity may be named once, got {activity} again")
            found.add(activity)
        if isinstance(item, dict):
            filters.update({activity: set(kinds) for activity, kinds in item.items()})
    if not found:
        raise ValueError("profile: at least one activity is needed, got none")
    return found, filters or None
