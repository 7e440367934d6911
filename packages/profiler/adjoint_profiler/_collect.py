"""From the log of a thread to the events of a profile."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from adjoint_core._core import _site_info

from . import _flops, _names
from ._device import Piece
from ._event import FunctionEvent
from ._frames import Frames
from ._memory import Change, count_memory
from ._quantities import DeviceType
from ._tree import MEMORY, link_by_time, without_repeats

OTHER_THREAD = -1


class Raw(NamedTuple):
    """One event as the engine's log has it; times in nanoseconds of the monotonic clock."""

    kind: str
    name: str
    start: int
    end: int
    parent: int | None
    sequence: int | None
    site: int
    failed: bool
    rank: int
    other_rank: int
    args: str | None
    node: int  # 0: not known
    operands: list[tuple[Any, Any, Any, Any]] | None  # (sizes, strides, dtype, number or None) of each
    results: list[tuple[Any, Any, Any, Any]] | None
    attributes: dict[str, Any]


@dataclass(frozen=True)
class Session:
    """What one cycle of profiling brought."""

    log: Any
    frames: Frames | None
    began: int  # nanoseconds
    ended: int


@dataclass(frozen=True)
class Wanted:
    """What of it is made into events."""

    shapes: bool
    flops: bool
    memory: bool
    device: str | None = None
    deadline: float | None = None


class Collector:
    """Makes the events of one session, with numbers that go on from `first_id`."""

    def __init__(self, session: Session, wanted: Wanted, origin: int, first_id: int) -> None:
        self._session = session
        self._wanted = wanted
        self._origin = origin
        self._next_id = first_id
        self._thread: int = session.log.thread
        self._raw = [Raw(*e) for e in session.log.events()]
        self._nodes = {r.sequence: r.node for r in self._raw if r.kind == "op" and r.sequence is not None}
        self._made: list[FunctionEvent | None] = []  # of each raw event; None: not shown
        self._events: list[FunctionEvent] = []
        self._starts: list[tuple[int, int, FunctionEvent]] = []  # with the user's line, for stacks

    def events(self) -> list[FunctionEvent]:
        """In the order in which they began."""
        for raw in self._raw:
            if self._wanted.deadline is not None and time.monotonic() > self._wanted.deadline:
                break
            self._add(raw)
        events = self._events
        if self._session.frames is not None:
            events = self._with_frames(events, self._session.frames)
        changes = map(Change._make, self._session.log.memory()) if self._wanted.memory else ()
        outside = count_memory(events, changes, self._us)
        events = without_repeats(events)
        events = [*events, *map(self._outside, outside), *self._on_device(events)]
        events.sort(key=lambda e: e.time_range.start)
        return events

    def _us(self, at: int) -> float:
        return (at - self._origin) / 1e3

    def _event(self, name: str, start: int, end: int, **facts: Any) -> FunctionEvent:
        self._next_id += 1
        event = FunctionEvent(
            self._next_id - 1,
            _names.of_key(name),
            self._thread,
            self._us(start),
            self._us(end),
            use_device=self._wanted.device,
            **facts,
        )
        event.trace_name, event.overload_name, event.flops = name, "", 0
        event.concrete_inputs, event.kwinputs = [], {}
        return event

    def _outside(self, change: Change) -> FunctionEvent:
        """For memory that came or went outside of all events."""
        usage = {"cpu_memory_usage" if change.device < 0 else "device_memory_usage": change.bytes}
        at = change.time
        return self._event(MEMORY, at, at, fwd_thread=self._thread, device_index=max(change.device, 0), **usage)

    def _on_device(self, events: Sequence[FunctionEvent]) -> list[FunctionEvent]:
        """The work of devices, each piece also a kernel of the event that put it there."""
        if self._session.log.device_fault:
            warnings.warn(f"profile: not all work on the device has a time: {self._session.log.device_fault}", stacklevel=2)
        shown = {id(e) for e in events}
        found: list[FunctionEvent] = []
        for piece in map(Piece._make, self._session.log.device_work()):
            facts = piece.facts(self._origin)
            event = self._event(
                piece.name,
                piece.start,
                piece.end,
                device_type=DeviceType.CUDA,
                device_index=piece.device,
                device_resource_id=piece.stream,
                activity_type=piece.kind,
                metadata_json=json.dumps(facts),
                extra_meta={name: json.dumps(value) for name, value in facts.items()},
                input_shapes=[],
                stack=[],
            )
            found.append(event)
            owner = None if piece.event is None else self._made_of(piece.event)
            while owner is not None and id(owner) not in shown:
                owner = owner.cpu_parent
            if owner is not None:
                owner.append_kernel(piece.name, piece.device, (piece.end - piece.start) / 1e3)
                event.linked_correlation_id = owner.id
        return found

    def _made_of(self, index: int | None) -> FunctionEvent | None:
        """Of this raw event, or of the first around it that is shown."""
        while index is not None and index < len(self._made):
            made = self._made[index]
            if made is not None:
                return made
            index = self._raw[index].parent
        return None

    def _in_node(self, raw: Raw) -> bool:
        index = raw.parent
        while index is not None:
            if self._raw[index].kind == "node":
                return True
            index = self._raw[index].parent
        return False

    def _add(self, raw: Raw) -> None:
        # What runs in a backward shows it; and rules call products by their own names.
        hidden = raw.kind == "backward" or (raw.kind == "function" and raw.name == "matmul" and self._in_node(raw))
        self._made.append(None if hidden else self._shown(raw))

    def _shown(self, raw: Raw) -> FunctionEvent:
        event = self._event(
            _names.of_event(raw.kind, raw.name, raw.rank, raw.other_rank),
            raw.start,
            raw.end,
            fwd_thread=self._forward_thread(raw),
            scope={"node": 1, "range": 7}.get(raw.kind, 0),
            sequence_nr=-1 if raw.sequence is None else raw.sequence,
            is_user_annotation=raw.kind == "range",
            activity_type="user_annotation" if raw.kind == "range" else "cpu_op",
            input_shapes=[],
            stack=[],
        )
        event.external_id = event.id
        self._describe(event, raw)
        parent = self._made_of(raw.parent)
        if parent is not None and self._session.frames is None:
            parent.append_cpu_child(event)
            event.set_cpu_parent(parent)
        self._events.append(event)
        self._starts.append((raw.start, _line(raw.site), event))
        return event

    def _forward_thread(self, raw: Raw) -> int:
        """Of a node, the thread that made it: this one, or -1 if a call of this one has made another node of that number."""
        if raw.kind not in ("node", "evaluation"):
            return 0
        return self._thread if self._nodes.get(raw.sequence, raw.node) == raw.node else OTHER_THREAD

    def _describe(self, event: FunctionEvent, raw: Raw) -> None:
        if raw.args is not None:
            event.concrete_inputs = [raw.args]
        if raw.operands is None:
            return
        shapes = [list(o[0]) for o in raw.operands]
        if self._wanted.shapes:
            event.input_shapes = shapes
            event.structured_input_shapes = shapes
            event.structured_input_strides = [list(o[1]) for o in raw.operands]
            event.input_dtypes = [str(o[2]).removeprefix("adjoint.") for o in raw.operands]
            if raw.args is None:
                event.concrete_inputs = [*(o[3] for o in raw.operands), *map(_plain, raw.attributes.values())]
        if self._wanted.flops:
            called = raw.kind in ("op", "in_place") and raw.results is not None
            event.flops = _flops.flops(raw.name, shapes, [list(r[0]) for r in raw.results or ()]) if called else 0

    def _with_frames(self, events: Sequence[FunctionEvent], frames: Frames) -> list[FunctionEvent]:
        """Adds the calls of Python functions as events, and to each event its stack."""
        starts = sorted(self._starts, key=lambda s: s[0])
        for (_, _, event), stack in zip(starts, frames.stacks((at, line) for at, line, _ in starts), strict=True):
            event.stack = stack
        ended = self._session.ended
        calls = [
            self._event(
                c.name, c.start, c.end, is_python_function=True, activity_type="python_function", input_shapes=[], stack=[]
            )
            for c in frames.calls(ended)
        ]
        for call in calls:
            call.python_id = call.id
        together = [*calls, *events]
        link_by_time(together)
        for call in calls:
            if call.cpu_parent is not None:
                call.python_parent_id = call.cpu_parent.python_id
        _stacks_of_backward(events)
        return together


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _stacks_of_backward(events: Sequence[FunctionEvent]) -> None:
    """What backward runs has the stack of the call that made its node: backward itself is called from one line."""
    made = {e.sequence_nr: e.stack for e in events if e.sequence_nr >= 0 and not e.fwd_thread and e.stack}
    for event in events:
        node: FunctionEvent | None = event
        while node is not None and not node.fwd_thread:
            node = node.cpu_parent
        if node is not None and node.fwd_thread == node.thread and node.sequence_nr in made:
            event.stack = made[node.sequence_nr]


def _line(site: int) -> int:
    found = _site_info(site)
    return 0 if found is None else found[1]
