"""The parent's side of workers: they are started, given orders, listened to and ended."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from multiprocessing import connection
from typing import Any

from .worker import Job, run

__all__ = ["Workers"]

SECONDS_TO_END = 2.0  # for workers that are asked to; then they are killed


class Workers:
    """Processes of one iterator.

    Arguments:
        context: of multiprocessing.
        jobs: what each is started with.
    """

    def __init__(self, context: Any, jobs: list[Job]) -> None:
        self.processes: list[Any] = []
        self._pipes: list[connection.Connection] = []
        try:
            for job in jobs:
                mine, theirs = context.Pipe()
                self._pipes.append(mine)
                process = context.Process(target=run, args=(job, theirs), daemon=True)
                process.start()
                self.processes.append(process)
                theirs.close()  # only the worker has it now: its death ends the pipe
        except BaseException:
            self.end()
            raise

    def order(self, worker: int, number: int, index: Any) -> None:
        """Asks a worker for a batch."""
        try:
            self._pipes[worker].send((number, index))
        except OSError:
            self._died(worker)

    def answers(self, timeout: float) -> Iterator[tuple[int, int, Any]]:
        """What has come, at least one: worker, number and answer.

        Raises:
            RuntimeError: nothing came within the time (0: any time), or a worker has died.
        """
        ready = connection.wait(self._pipes, timeout or None)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {timeout} seconds")
        for pipe in ready:
            worker = self._pipes.index(pipe)  # type: ignore[arg-type]
            try:
                number, answer = self._pipes[worker].recv()
            except (EOFError, ConnectionError):
                self._died(worker)
            yield worker, number, answer

    def _died(self, worker: int) -> None:
        process = self.processes[worker]
        process.join(SECONDS_TO_END)
        code = process.exitcode
        if code is not None and code < 0:
            raise RuntimeError(f"DataLoader worker (pid {process.pid}) is killed by signal: {signal.strsignal(-code)}.")
        raise RuntimeError(f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly, with exit code {code}")

    def end(self) -> None:
        """Asks all to end, and kills those that do not."""
        for pipe in self._pipes:
            try:
                pipe.send(None)
                pipe.close()
            except OSError:  # it has ended already
                pass
        deadline = time.monotonic() + SECONDS_TO_END
        for process in self.processes:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.exitcode is None:
                process.kill()
                process.join()
        self._pipes, self.processes = [], []
