"""One function in several processes, whose errors are raised where they are joined."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
import weakref
from collections.abc import Callable
from multiprocessing import connection, parent_process
from typing import Any

from .context import get_context

__all__ = [
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext", "spawn",
    "start_processes",
]  # fmt: skip


class ProcessException(Exception):
    """A process ended with an error: `error_index` is its number, `error_pid` its id."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid, self.error_pid = msg, error_index, pid, pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """The function raised in a process; the message has the traceback of that process."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """A process ended by a signal, whose name is `signal_name`, or with another `exit_code` than 0."""

    def __init__(self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


told_of_errors: list[Callable[[BaseException], None]] = []
"What a process of `spawn` calls with the error that ends it, which no hook of the interpreter gets to see."


def _end_with_parent(error_file: str) -> None:
    """Ends this process when its parent has ended, killed or not, and removes the file that nobody will read."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        _remove([error_file], os.getpid())
        os._exit(1)


def _remove(files: list[str], pid: int) -> None:
    if os.getpid() != pid:  # a forked copy of the process that owns them
        return
    for file in files:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file)


def _run(fn: Callable[..., None], i: int, args: tuple[Any, ...], error_file: str) -> None:
    threading.Thread(target=_end_with_parent, args=(error_file,), daemon=True).start()
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent has it too
    except Exception as error:
        with contextlib.suppress(FileNotFoundError), open(error_file, "r+b") as file:  # removed: nobody waits for it
            pickle.dump(traceback.format_exc(), file)
        for tell in told_of_errors:
            tell(error)
        sys.exit(1)


class ProcessContext:
    """The processes that `start_processes` has started."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.processes, self.error_files = processes, error_files
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}
        weakref.finalize(self, _remove, error_files, os.getpid())  # also where an uncaught error holds this until the end

    def pids(self) -> list[int]:
        """The ids of the processes."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Waits until a process ends; returns whether all have ended. If one failed, the others are ended too.

        Arguments:
            timeout: how long to wait, in seconds.
            grace_period: how long the others have to end by themselves when they are told to; 30 s by default.

        Raises:
            ProcessRaisedException: the function raised in a process.
            ProcessExitedException: a process was killed, or ended with another code than 0.
        """
        if not self.sentinels:
            return True
        for sentinel in connection.wait(self.sentinels.keys(), timeout):  # type: ignore[arg-type]
            i = self.sentinels.pop(sentinel)  # type: ignore[call-overload]
            self.processes[i].join()
            if self.processes[i].exitcode != 0:
                self._end(30.0 if grace_period is None else grace_period)
                raise self._error_of(i)
        return not self.sentinels

    def _end(self, grace_period: float) -> None:
        for process in self.processes:
            process.terminate()
        end = time.monotonic() + grace_period
        for process in self.processes:
            process.join(max(0.0, end - time.monotonic()))
        for process in self.processes:
            process.kill()
            process.join()

    def _error_of(self, i: int) -> ProcessException:
        process, file = self.processes[i], self.error_files[i]
        if os.path.getsize(file):
            with open(file, "rb") as f:
                trace = pickle.load(f)
            return ProcessRaisedException(f"\n\n-- Process {i} terminated with the following error:\n{trace}", i, process.pid)
        if process.exitcode < 0:
            name = signal.Signals(-process.exitcode).name
            return ProcessExitedException(f"process {i} terminated with signal {name}", i, process.pid, process.exitcode, name)
        return ProcessExitedException(
            f"process {i} terminated with exit code {process.exitcode}", i, process.pid, process.exitcode
        )


SpawnContext = ProcessContext


def start_processes(
    fn: Callable[..., None],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs ``fn(i, *args)`` in ``nprocs`` processes, i being their number; they end when this process does.

    Returns:
        None after all have ended; without ``join``, their `ProcessContext` at once.

    Raises:
        ProcessRaisedException: the function raised in a process.
        ProcessExitedException: a process was killed, or ended with another code than 0.
    """
    context = get_context(start_method)
    processes: list[Any] = []
    files: list[str] = []
    try:
        for i in range(nprocs):
            descriptor, file = tempfile.mkstemp(prefix="adjoint-error-")
            os.close(descriptor)
            files.append(file)
            process = context.Process(target=_run, args=(fn, i, args, file), daemon=daemon)
            process.start()
            processes.append(process)
    except BaseException:  # as a rule, what a new interpreter is to be given cannot be pickled
        ProcessContext(processes, files)._end(0)
        raise
    started = ProcessContext(processes, files)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., None],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """`start_processes` with the method "spawn": each process is a new interpreter."""
    if start_method != "spawn":
        warnings.warn(
            f"spawn: it starts processes with 'spawn' only, got {start_method!r}; use start_processes",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method)
