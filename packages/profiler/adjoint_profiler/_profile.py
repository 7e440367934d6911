"""profile: records what a thread runs, and answers with tables, traces and reports."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter_ns, time_ns
from types import TracebackType
from typing import TYPE_CHECKING, Any
from weakref import ReferenceType, ref

from adjoint_core import cuda
from adjoint_engine import _engine

from ._collect import Collector, Session, Wanted
from ._config import ProfilerActivity, ProfilerConfig, ProfilerState
from ._event_list import EventList
from ._frames import Frames
from ._quantities import DeviceType

_here = threading.local()

if TYPE_CHECKING:
    from ._average import FunctionEventAvg
    from ._diff import Diff
    from ._event import FunctionEvent
    from ._events import Path


class profile:
    """Records the calls, nodes of backward and labelled ranges of this thread, and how long each took.

    Other threads are not seen, and it ends in the thread in which it began. A profile is used once, unless
    `acc_events` is set.

    Arguments:
        enabled: False makes it do nothing.
        use_cuda, use_device: the device whose times are recorded too, if it is there.
        record_shapes: the shapes and types of operands; needed to group by them.
        with_flops: floating-point operations of products, convolutions and elementwise arithmetic.
        profile_memory: bytes of tensors allocated and freed.
        with_stack: the Python stack of each event, and Python functions as events of their own. Slow.
        with_modules: accepted; `with_stack` shows calls of modules as events.
        use_kineto: accepted; the engine records for itself.
        use_cpu: False asks for a device alone, and needs `use_kineto` and a device.
        experimental_config: accepted.
        acc_events: it may be entered again, and events add up.
        custom_trace_id_callback: makes the id of the trace; None: a random one.
        post_processing_timeout_s: seconds after which events are left out.
        activity_filters: which types of events are kept of an activity: cpu_op, user_annotation, python_function.

    Raises:
        RuntimeError: entered twice, or left in another thread.
        ValueError: nothing to record, or a negative timeout.

    Example::

        >>> x = ad.ones(8, 8, requires_grad=True)
        >>> with ad.autograd.profiler.profile() as prof:
        ...     (x @ x).sum().backward()
        >>> [e.key for e in prof.key_averages() if "Backward" in e.key and "::" not in e.key]
        ['SumBackward0', 'MmBackward0']
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        activity_filters: dict[ProfilerActivity, set[str]] | None = None,
    ) -> None:
        self.enabled = enabled
        self.use_cuda = use_cuda
        self.use_device = _device(use_cuda, use_device) if enabled else None
        self.record_shapes = record_shapes
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.use_kineto = use_kineto
        self.use_cpu = use_cpu
        self.experimental_config = experimental_config
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.activity_filters = activity_filters
        self.entered = False
        self.trace_id = ""
        self._open: Session | None = None
        self._sessions: list[Session] = []
        self._events: EventList | None = None
        self._origin = 0  # of times: nanoseconds of the monotonic clock
        self._origin_of_day = 0  # the same moment since the epoch
        if post_processing_timeout_s is not None and post_processing_timeout_s < 0:
            raise ValueError(f"profile: post_processing_timeout_s must be non-negative, got {post_processing_timeout_s}")
        if enabled and not use_cpu:
            if not use_kineto:
                raise ValueError("profile: events of a device alone need use_kineto=True, got use_cpu=False")
            if self.use_device is None:
                raise ValueError("profile: nothing to record, got use_cpu=False and no device")

    def default_trace_id(self) -> str:
        """A random id."""
        return uuid.uuid4().hex.upper()

    def create_trace_id(self) -> str:
        """A new id: from the callback, if there is one."""
        return self.custom_trace_id_callback() if self.custom_trace_id_callback else self.default_trace_id()

    def config(self, create_trace_id: bool = False) -> ProfilerConfig:
        """What it was asked to record."""
        if create_trace_id:
            self.trace_id = self.create_trace_id()
        return ProfilerConfig(
            ProfilerState.CPU,
            self.record_shapes,
            self.profile_memory,
            self.with_stack,
            self.with_flops,
            self.with_modules,
            self.experimental_config,
            self.trace_id,
        )

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self._open is not None or (self.entered and not self.acc_events):
            raise RuntimeError("Profiler context manager is not reentrant")
        self.config(create_trace_id=True)
        self._start()
        self.entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None = None, value: BaseException | None = None, trace: TracebackType | None = None
    ) -> bool | None:
        if not self.enabled:
            return None
        self._stop()
        return False

    @property
    def recording(self) -> bool:
        """Whether it records now."""
        return self._open is not None

    def _start(self) -> None:
        device = self.use_device is not None
        log = _engine.EventLog(self.record_shapes or self.with_flops, self.profile_memory, self.with_stack, device)
        frames = Frames() if self.with_stack else None
        now = perf_counter_ns()
        if not self._sessions:
            self._origin, self._origin_of_day = now, time_ns()
        _forget_dropped()
        log.start()
        self._open = Session(log, frames, now, now)
        _running()[id(log)] = self._open, ref(self)
        if frames is not None:
            frames.start()

    def _stop(self) -> None:
        if self._open is None:
            return
        if id(self._open.log) not in _running():
            raise RuntimeError("profile: it ends in the thread in which it began, got another thread")
        session, self._open = self._open, None
        _end(session)
        self._sessions.append(Session(session.log, session.frames, session.began, perf_counter_ns()))
        self._events = None

    def __del__(self) -> None:
        session = self.__dict__.get("_open")
        if session is not None and id(session.log) in _running():
            _end(session)
            _dropped().append(session)  # its log may be writing an event now

    def toggle_collection_dynamic(self, enabled: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Pauses recording in the middle of a profile, or goes on, if the CPU is among the activities."""
        if not self.enabled or not self.entered or ProfilerActivity.CPU not in set(activities):
            return
        if enabled and self._open is None:
            self._start()
        elif not enabled:
            self._stop()

    @property
    def function_events(self) -> EventList:
        """All events, as they began; empty before the profile has ended."""
        if self._events is None:
            self._events = self._collect()
        return self._events

    def _collect(self) -> EventList:
        events = EventList(use_device=self.use_device, profile_memory=self.profile_memory, with_flops=self.with_flops)
        if self._open is not None:
            return events
        limit = self.post_processing_timeout_s
        wanted = Wanted(
            self.record_shapes,
            self.with_flops,
            self.profile_memory,
            self.use_device,
            None if limit is None else time.monotonic() + limit,
        )
        with _without_collector():
            for session in self._sessions:
                first_id = 1 + max((e.id for e in events), default=0)
                events.extend(Collector(session, wanted, self._origin, first_id).events())
        events[:] = [e for e in events if self._keeps(e)]
        return events

    def _keeps(self, event: FunctionEvent) -> bool:
        on_cpu = event.device_type == DeviceType.CPU
        if on_cpu and not self.use_cpu:
            return False
        kinds = (self.activity_filters or {}).get(ProfilerActivity.CPU if on_cpu else ProfilerActivity.CUDA)
        return kinds is None or (event.activity_type or "").lower() in {k.lower() for k in kinds}

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """All events as a table: see EventList.table."""
        return self.function_events.table(
            sort_by,
            row_limit,
            max_src_column_width,
            max_name_column_width,
            max_shapes_column_width,
            header,
            top_level_events_only,
        )

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Events of the same name added up: see EventList.key_averages."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        """All events added up."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds on the CPU of all events together, each counted once."""
        return self.function_events.self_cpu_time_total

    def memory_curve(self, device: str = "cpu") -> list[tuple[float, int]]:
        """Bytes of tensors that live, as far as this profile saw them come: pairs of (microseconds, bytes).

        It begins at zero; memory that was there before and is freed counts below zero. Empty without `profile_memory`.

        Arguments:
            device: whose memory: "cpu", or "cuda:0" and so on.
        """
        return self._memory_curves().get(device, [])

    def _memory_curves(self) -> dict[str, list[tuple[float, int]]]:
        """Of each device that had memory allocated or freed."""
        live: dict[str, int] = {}
        curves: dict[str, list[tuple[float, int]]] = {}
        for session in self._sessions:
            for at, size, _, index in session.log.memory():
                device = "cpu" if index < 0 else f"cuda:{index}"
                live[device] = live.get(device, 0) + size
                curves.setdefault(device, []).append(((at - self._origin) / 1e3, live[device]))
        return curves

    def export_chrome_trace(self, path: Path, metadata: dict[str, Any] | None = None, use_python_export: bool = False) -> None:
        """Writes a trace that chrome://tracing and ui.perfetto.dev open; compressed if `path` ends with .gz.

        Arguments:
            path: of the file.
            metadata: entries of the trace's top level, such as the name of a run.
            use_python_export: accepted; there is one way to write.

        Raises:
            RuntimeError: nothing was recorded yet.
        """
        from ._trace import Trace

        if not self._sessions:
            raise RuntimeError("export_chrome_trace: expected a profile that has run, got one that recorded nothing yet")

        facts = {"trace_id": self.trace_id, "baseTimeNanoseconds": self._origin_of_day, **(metadata or {})}
        Trace(self.function_events, self._memory_curves(), facts).write(path)

    def export_stacks(self, path: Path, metric: str = "self_cpu_time_total") -> None:
        """Writes stacks for flame graphs: see EventList.export_stacks.

        Raises:
            AssertionError: the profile was made without `with_stack`.
        """
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)

    def html(self, path: Path, title: str = "Profile") -> None:
        """Writes a report as one file that needs no network: a flame chart, the curve of memory and the table.

        Arguments:
            path: of the file.
            title: what it is called in the browser.
        """
        from ._report import write_report

        write_report(path, title, self.function_events, self._memory_curves())

    def diff(self, other: profile) -> Diff:
        """What changed from this profile to `other`, name by name: see Diff."""
        return self.function_events.diff(other.function_events)

    def __str__(self) -> str:
        return self.table() if self._sessions else repr(self)

    def __repr__(self) -> str:
        if not self._sessions:
            return "<unfinished adjoint.autograd.profile>"
        return f"<adjoint.autograd.profile of {len(self.function_events)} events>"

    def _repr_html_(self) -> str:
        return self.key_averages()._repr_html_()


def profiler_enabled() -> bool:
    """Whether a profile of this thread records now.

    Example::

        >>> with ad.autograd.profiler.profile():
        ...     inside = profiler_enabled()
        >>> inside, profiler_enabled()
        (True, False)
    """
    _forget_dropped()
    return bool(_running())


def _running() -> dict[int, tuple[Session, ReferenceType[profile]]]:
    """What this thread records now, by the ids of the logs, and for whom."""
    return _here.__dict__.setdefault("running", {})


def _dropped() -> list[Session]:
    """Sessions of this thread that have ended with their profiles."""
    return _here.__dict__.setdefault("dropped", [])


def _end(session: Session) -> None:
    if session.frames is not None:
        session.frames.stop()
    session.log.stop()
    del _running()[id(session.log)]


def _forget_dropped() -> None:
    """Ends the sessions of this thread whose profiles were dropped by another one, which cannot."""
    _dropped().clear()
    for session, owner in list(_running().values()):
        if owner() is None:
            _end(session)


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Python's garbage collector rests: it would walk through all events again and again while they are made."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _device(use_cuda: bool, use_device: str | None) -> str | None:
    """The device to time, or None with a warning if it is not there."""
    if use_cuda:
        warnings.warn("`use_cuda` will be deprecated soon, please use use_device='cuda' instead.", FutureWarning, stacklevel=3)
        use_device = "cuda"
    if use_device is None:
        return None
    if use_device not in ("cuda", "xpu", "mtia", "hpu"):
        warnings.warn(f"The {use_device} is not a valid device option.", UserWarning, stacklevel=3)
        return None
    if use_device != "cuda" or not cuda.is_available():
        kind = use_device.upper()
        warnings.warn(f"{kind} is not available, disabling {kind} profiling", UserWarning, stacklevel=3)
        return None
    return use_device
