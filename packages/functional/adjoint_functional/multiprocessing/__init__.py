"""`multiprocessing` for tensors: what processes send each other is a handle of memory that both see.

All names of the standard library's `multiprocessing` are here. Queues, pipes and pools of this module carry the memory itself along with
a message, so that a tensor arrives even if its sender has ended; through other connections of the standard library a tensor arrives as long as
its sender lives. The memory has no name and belongs to no process: it is freed when its last user drops it or dies, killed ones included.
Leaves, parameters and modules travel; a tensor with a history does not, and `put` says so.
"""

from __future__ import annotations

import multiprocessing as _standard
from multiprocessing import *  # noqa: F403
from typing import Any

from . import reductions as reductions
from .context import get_context as get_context
from .spawning import ProcessContext as ProcessContext
from .spawning import ProcessException as ProcessException
from .spawning import ProcessExitedException as ProcessExitedException
from .spawning import ProcessRaisedException as ProcessRaisedException
from .spawning import SpawnContext as SpawnContext
from .spawning import spawn as spawn
from .spawning import start_processes as start_processes

__all__ = [
    *_standard.__all__,
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "reductions",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]

reductions.init_reductions()


def Queue(maxsize: int = 0) -> Any:  # noqa: N802
    """A queue of the default context; see `get_context`."""
    return get_context().Queue(maxsize)


def JoinableQueue(maxsize: int = 0) -> Any:  # noqa: N802
    """A queue of the default context that can be joined until each of its tasks is done."""
    return get_context().JoinableQueue(maxsize)


def SimpleQueue() -> Any:  # noqa: N802
    """A queue of the default context without a thread."""
    return get_context().SimpleQueue()


def Pipe(duplex: bool = True) -> Any:  # noqa: N802
    """Two connected ends; without `duplex` the first only reads, the second only writes."""
    return get_context().Pipe(duplex)


def Pool(processes: int | None = None, initializer: Any = None, initargs: Any = (), maxtasksperchild: int | None = None) -> Any:  # noqa: N802
    """A pool of processes of the default context, between which tensors are sent as handles."""
    return get_context().Pool(processes, initializer, initargs, maxtasksperchild)


def get_all_sharing_strategies() -> set[str]:
    """The names that `set_sharing_strategy` takes."""
    return {"file_descriptor"}


def get_sharing_strategy() -> str:
    """How memory is shared: always by descriptors of files without a name."""
    return "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """There is one strategy. "file_system" is accepted and means the same: nothing is left behind, and the limit of descriptors is raised.

    Raises:
        ValueError: another name.
    """
    if new_strategy not in ("file_descriptor", "file_system"):
        raise ValueError(f"set_sharing_strategy: expected 'file_descriptor' or 'file_system', got {new_strategy!r}")
