"""The end of a rank: what it says when it raises, is told to stop, or comes to the end of its program."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from types import TracebackType
from typing import Any

from ..multiprocessing.spawning import told_of_errors
from ._watch import Watch


def install(watch: Watch) -> None:
    """Tells ``watch`` how this process ends."""
    before = sys.excepthook

    def raised(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if os.getpid() != watch.process:
            return before(kind, error, trace)
        _ignore_mpiexec()  # which ends all ranks a quarter of a second after one has died: what is said here must be whole by then
        print(f"[rank {watch.rank} of {watch.size}]", file=sys.stderr)
        before(kind, error, trace)
        _flush()
        tell(error)

    def tell(error: BaseException) -> None:
        watch.fail(f"raised {type(error).__name__}: {error}")  # after another's failure nobody heeds it

    sys.excepthook = raised
    told_of_errors.append(tell)
    atexit.register(_finish, watch)
    if threading.current_thread() is threading.main_thread() and watch.size > 1:
        for number in (signal.SIGTERM, signal.SIGUSR1)[: 2 if "PMI_SIZE" in os.environ else 1]:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, lambda number, frame: _told_to_end(watch, number))


def _told_to_end(watch: Watch, number: int) -> Any:
    """mpiexec ends all ranks when one dies (MPICH's may only tell them, by SIGUSR1): wait a moment for word of which, and raise that."""
    if os.getpid() == watch.process and watch.wait_failed(0.5):
        raise watch.error("terminated")
    if number == signal.SIGTERM:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def _finish(watch: Watch) -> None:
    """At the end of the program. After a failure MPI cannot be finalised, which would wait for the dead: the process just ends."""
    if os.getpid() != watch.process or (watch.failed is None and watch.leave()):
        return
    assert watch.failed is not None
    _ignore_mpiexec()
    if watch.failed[0] != watch.rank and watch.rank in watch.left:
        print(f"[rank {watch.rank} of {watch.size}] at its end: {watch.error('exit')}", file=sys.stderr)
    watch.end()
    _flush()
    os._exit(1)


def _ignore_mpiexec() -> None:
    """This process ends anyway."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGUSR1):
            signal.signal(number, signal.SIG_IGN)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
