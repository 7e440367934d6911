"""`utils.benchmark`: how long statements take, measured in runs of many, with the spread beside the median."""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable, Iterable
from typing import Any

import adjoint_core as core

__all__ = ["Measurement", "TaskSpec", "Timer", "timer"]

_MOST_SPREAD = 0.1  # of the median: beyond it, `has_warnings`
_UNITS = ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s"))


def timer() -> float:
    """Seconds, after the work that GPUs were given is done.

    Example::

        >>> ad.utils.benchmark.timer() <= ad.utils.benchmark.timer()
        True
    """
    if core.cuda.is_available() and core.cuda.is_initialized():
        core.cuda.synchronize()
    return timeit.default_timer()


class TaskSpec:
    """What was measured: the statement, and what the user calls it."""

    def __init__(
        self,
        stmt: str,
        setup: str,
        global_setup: str = "",
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
    ) -> None:
        self.stmt, self.setup, self.global_setup = stmt, setup, global_setup
        self.label, self.sub_label, self.description, self.env, self.num_threads = (
            label,
            sub_label,
            description,
            env,
            num_threads,
        )

    @property
    def title(self) -> str:
        """The label, or the statement without one, and the label below it."""
        return (self.label or self.stmt) + (f": {self.sub_label}" if self.sub_label else "")


class Measurement:
    """Times of runs of a statement, each of `number_per_run` executions."""

    def __init__(
        self, number_per_run: int, raw_times: list[float], task_spec: TaskSpec, metadata: dict[Any, Any] | None = None
    ) -> None:
        self.number_per_run, self.raw_times, self.task_spec, self.metadata = number_per_run, raw_times, task_spec, metadata

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "task_spec" not in vars(self):
            raise AttributeError(f"Measurement has no attribute {name!r}")
        return getattr(self.task_spec, name)

    @property
    def times(self) -> list[float]:
        """Seconds of one execution in each run."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """The middle one of `times`."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """The mean of `times`."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """The distance of the quartiles of `times`."""
        if len(self.times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    @property
    def has_warnings(self) -> bool:
        """Whether the quartiles are further apart than a tenth of the median."""
        return self.iqr / self.median > _MOST_SPREAD

    def meets_confidence(self, threshold: float = _MOST_SPREAD) -> bool:
        """Whether the quartiles are nearer than this part of the median."""
        return self.iqr / self.median < threshold

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One measurement for each task, and number of executions in a run, of all their times."""
        merged: dict[Any, Measurement] = {}
        for m in measurements:
            key = (m.number_per_run, *sorted((k, str(v)) for k, v in vars(m.task_spec).items()))
            merged.setdefault(key, Measurement(m.number_per_run, [], m.task_spec)).raw_times.extend(m.raw_times)
        return list(merged.values())

    def __repr__(self) -> str:
        size, unit = next((u for u in reversed(_UNITS) if self.median >= u[0]), _UNITS[0])
        setup = f"\nsetup: {self.setup}" if self.setup != "pass" else ""
        n, threads = len(self.raw_times), self.num_threads
        text = f"{type(self).__name__}: {self.title}{setup}" + (f"\n{self.description}" if self.description else "")
        text += f"\n  Median: {self.median / size:.2f} {unit}\n  IQR:    {self.iqr / size:.2f} {unit}"
        return f"{text}\n  {n} measurements, {self.number_per_run} runs per measurement, {threads} thread{'s' * (threads > 1)}"


class Timer:
    """Measures a statement of Python.

    Arguments:
        stmt, setup, global_setup: what is timed, what runs before each run, and once before everything.
        timer: gives seconds.
        globals: the names that the statements see.
        label, sub_label, description, env: what the user calls it.
        num_threads: threads of adjoint while it runs.

    Example::

        >>> from adjoint.utils import benchmark
        >>> benchmark.Timer("x + 1", globals={"x": ad.ones(3)}).timeit(100).median > 0
        True
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: str = "python",
    ) -> None:
        if str(language).lower() not in ("py", "python"):
            raise ValueError(f"Timer: statements are Python here, got {language!r}")
        names = dict(globals or {})
        exec(global_setup, names)
        self._timer = timeit.Timer(stmt, setup, timer, names)
        self._task = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _seconds(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def _with_threads(self, measure: Callable[[], Measurement]) -> Measurement:
        before = core.get_num_threads()
        core.set_num_threads(self._task.num_threads)
        try:
            return measure()
        finally:
            core.set_num_threads(before)

    def _estimate(self, seconds: float) -> int:
        """How many executions take a thousandth of the time, at least."""
        number = 1
        while self._seconds(number) < seconds / 1000 and number < 10**9:
            number *= 10
        return number

    def _until(
        self, number: int, enough: Callable[[Measurement], bool], callback: Callable[[int, float], Any] | None
    ) -> Measurement:
        found = Measurement(number, [], self._task)
        while not found.raw_times or not enough(found):
            found.raw_times.append(self._seconds(number))
            if callback is not None:
                callback(number, found.raw_times[-1])
        return found

    def timeit(self, number: int = 1000000) -> Measurement:
        """One run of so many executions, after a short one to warm up."""

        def measure() -> Measurement:
            self._seconds(max(number // 100, 2))
            return Measurement(number, [self._seconds(number)], self._task)

        return self._with_threads(measure)

    def blocked_autorange(self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2) -> Measurement:
        """Runs of as many executions as make the clock's own time small, for `min_run_time` seconds in all."""
        return self._with_threads(
            lambda: self._until(self._estimate(min_run_time), lambda m: sum(m.raw_times) >= min_run_time, callback)
        )

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Runs until the quartiles are nearer than `threshold` of the median, or for `max_run_time` seconds."""

        def enough(m: Measurement) -> bool:
            spent = sum(m.raw_times)
            return spent >= max_run_time or (spent >= min_run_time and len(m.raw_times) > 3 and m.meets_confidence(threshold))

        return self._with_threads(lambda: self._until(self._estimate(min_run_time), enough, callback))
