"""The events of a profile, and what can be made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _table
from ._average import FunctionEventAvg
from ._event import FunctionEvent
from ._quantities import of_device
from ._tree import link_by_time

if TYPE_CHECKING:
    from ._diff import Diff
    from ._events import Path

    # Events, or averages of events.
    Row: TypeAlias = FunctionEvent | FunctionEventAvg


class EventList(list[Any]):
    """A list of FunctionEvent, or of FunctionEventAvg.

    Arguments:
        use_device: the device whose times are shown.
        profile_memory: whether events know how much memory they took.
        with_flops: whether events know their floating-point operations.

    Example::

        >>> events = EventList([FunctionEvent(1, "op", 0, 0, 10), FunctionEvent(2, "op", 0, 20, 50)])
        >>> [(a.key, a.count, a.cpu_time_total) for a in events.key_averages()]
        [('op', 2, 40)]
    """

    def __init__(
        self,
        events: Iterable[Row] = (),
        *,
        use_device: str | None = None,
        profile_memory: bool = False,
        with_flops: bool = False,
    ) -> None:
        super().__init__(events)
        self._use_device = use_device
        self._profile_memory = profile_memory
        self._with_flops = with_flops

    def _build_tree(self) -> None:
        """Finds out from their times which event ran inside of which: for lists made by hand (PyTorch's names for it)."""
        link_by_time(self)

    _populate_cpu_children = _build_tree

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds on the CPU of all events together, each counted once."""
        return sum(event.self_cpu_time_total for event in self)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as a table.

        Arguments:
            sort_by: an attribute of events, the largest first: cpu_time, cpu_time_total, self_cpu_time_total, count,
                cpu_memory_usage, self_cpu_memory_usage, device_time_total, flops, ...; cuda and xpu in a name mean the
                device; None: as they began.
            row_limit: the number of rows; -1: all.
            max_src_column_width, max_name_column_width, max_shapes_column_width: in characters; longer text is cut.
            header: a line above the table.
            top_level_events_only: leave out what ran inside of others.
            time_unit: s, ms or us; None: what suits each time.

        Raises:
            AttributeError: events have no such attribute.
            ValueError: the unit is not one of these.
        """
        if not self:
            return ""
        widths = _table.Widths(max_name_column_width, max_src_column_width, max_shapes_column_width)
        table = _table.table(self, sort_by, row_limit, widths, top_level_events_only, time_unit)
        return table.text(header)

    def _repr_html_(self) -> str:
        return _table.table(self, None, 100, _table.Widths(), False, None).html()

    def __str__(self) -> str:
        return self.table()

    @property
    def use_device(self) -> str | None:
        """The device whose times are shown."""
        return self._use_device

    @property
    def has_memory(self) -> bool:
        """Whether events know how much memory they took."""
        return self._profile_memory

    def export_chrome_trace(self, path: Path) -> None:
        """Writes a trace that chrome://tracing and ui.perfetto.dev open; compressed if `path` ends with .gz."""
        from ._trace import Trace

        Trace(self).write(path)

    def supported_export_stacks_metrics(self) -> list[str]:
        """What export_stacks can weigh stacks by."""
        return ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]

    def export_stacks(self, path: Path, metric: str) -> None:
        """Writes one line for each stack of Python frames, outermost first, with its weight: what flame graphs are drawn from.

        Raises:
            ValueError: `metric` is not one of supported_export_stacks_metrics().
        """
        supported = self.supported_export_stacks_metrics()
        if metric not in supported:
            raise ValueError(f"export_stacks: metric should be one of: {supported}, got {metric!r}")
        attribute = of_device(metric)
        escape = str.maketrans(" ;\t\n", "____")
        with open(path, "w", encoding="utf-8") as file:
            for event in self:
                weight = int(getattr(event, attribute))
                if event.stack and weight > 0:
                    print(";".join(f.translate(escape) for f in [*reversed(event.stack), event.key]), weight, file=file)

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Events of the same name added up.

        Arguments:
            group_by_input_shapes: only those whose operands have the same shapes.
            group_by_stack_n: only those with the same innermost Python frames, so many of them.
            group_by_overload_name: only those of the same overload.
        """
        key = _grouping(group_by_input_shapes, group_by_stack_n, group_by_overload_name)
        groups: dict[tuple[object, ...], FunctionEventAvg] = {}
        for event in self:
            groups.setdefault(key(event), FunctionEventAvg()).add(event)
        for average in groups.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = ""
            if not group_by_overload_name:
                average.overload_name = ""
        return self._like(groups.values())

    def total_average(self) -> FunctionEventAvg:
        """All events added up, with the key Total."""
        total = FunctionEventAvg()
        for event in self:
            total.accumulate(event)
        total.key = "Total"
        return total

    def diff(self, other: EventList) -> Diff:
        """What changed from these events to those of `other`, name by name: see Diff."""
        from ._diff import Diff

        return Diff(self, other)

    def _like(self, events: Iterable[Row]) -> EventList:
        return EventList(events, use_device=self._use_device, profile_memory=self._profile_memory, with_flops=self._with_flops)


def _grouping(by_shapes: bool, stack_n: int, by_overload: bool) -> Callable[[Row], tuple[object, ...]]:
    def key(event: Row) -> tuple[object, ...]:
        return (
            event.key,
            event.node_id,
            event.device_type,
            event.is_legacy,
            event.is_user_annotation,
            event.overload_name if by_overload else None,
            str(event.input_shapes) if by_shapes else None,
            tuple((event.stack or ())[:stack_n]) if stack_n > 0 else None,
        )

    return key
