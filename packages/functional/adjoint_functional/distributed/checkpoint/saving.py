"""`save` and `async_save`."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from adjoint_core import Tensor

from .filesystem import FileSystemWriter
from .metadata import CheckpointException, Metadata
from .planning import offer_of, share_out
from .ranks import Ranks
from .shard import Entry, Shard, named, states

_background: list[ThreadPoolExecutor] = []  # one thread, made when first needed: saves in the background follow one another


class DefaultSavePlanner:
    """How what is saved is shared out: each piece once, as many bytes on each rank as can be. There is no other way."""


def _writer(checkpoint_id: Any, storage_writer: Any) -> FileSystemWriter:
    if storage_writer is None:
        if checkpoint_id is None:
            raise ValueError("checkpoint: a checkpoint_id or a storage_writer must be given, got neither")
        return FileSystemWriter(checkpoint_id)
    if not isinstance(storage_writer, FileSystemWriter):
        raise TypeError(f"checkpoint: storage_writer must be a FileSystemWriter, got {type(storage_writer).__name__}")
    return storage_writer


def _planned(state_dict: Mapping[str, Any], ranks: Ranks) -> tuple[str, dict[str, Entry]]:
    """The save's name, by which saves are ordered, and what this rank writes. All ranks take part, and raise together."""
    try:
        mine: Any = named(states(state_dict))
        offers: Any = {name: offer_of(entry.value) for name, entry in mine.items()}
    except Exception as error:
        mine, offers = {}, error
    found = ranks.gather((f"{time.time_ns():020d}-{os.urandom(4).hex()}", offers))
    failures = {rank: error for rank, (_, error) in enumerate(found) if isinstance(error, Exception)}
    if failures:
        raise CheckpointException("checkpoint: saving failed", failures)
    chosen = share_out([given for _, given in found])
    return found[0][0], {name: mine[name] for name in chosen[ranks.rank]}


def _write(writer: FileSystemWriter, ranks: Ranks, save_id: str, values: Mapping[str, Entry]) -> Metadata:
    """No rank talks to another here, so that it may run in a thread: they meet in the folder."""
    try:
        writer.write(save_id, ranks.rank, values)
    except Exception as error:
        writer.fail(save_id, ranks.rank, error)
        if ranks.rank != 0:
            raise
    if ranks.rank == 0:
        return writer.commit(save_id, ranks.count)
    return writer.wait(save_id)


def save(
    state_dict: Mapping[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: FileSystemWriter | None = None,
    planner: DefaultSavePlanner | None = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> Metadata:
    """Saves what all ranks have, each value once, in one step: a process that is killed leaves the checkpoint that was there before.

    Arguments:
        state_dict: nested mappings and lists of tensors and other values. Modules, optimizers and what else has a `state_dict` give that. A
            `Shard` stands for a tensor of which each rank has a part. A name that some ranks have only is saved too.
        checkpoint_id: the folder.
        storage_writer: the folder and how to write there, instead.
        process_group: the ranks that save; all by default, one where there is no process group.
        no_dist: this process saves alone.

    Returns:
        What the checkpoint holds.

    Raises:
        CheckpointException: a rank could not save; the checkpoint is what it was before.
        ValueError: ranks have tensors that do not fit together under one name; no folder was given.

    Example::

        >>> import tempfile
        >>> from adjoint.distributed import checkpoint
        >>> folder, model = tempfile.mkdtemp(), ad.nn.Linear(2, 1)
        >>> _ = checkpoint.save({"model": model, "step": 3}, checkpoint_id=folder)
        >>> state = {"model": ad.nn.Linear(2, 1), "step": 0}
        >>> checkpoint.load(state, checkpoint_id=folder)
        >>> state["step"], ad.equal(state["model"].weight, model.weight)
        (3, True)
    """
    writer, ranks = _writer(checkpoint_id, storage_writer), Ranks(process_group, no_dist)
    save_id, values = _planned(state_dict, ranks)
    return _write(writer, ranks, save_id, values)


def async_save(
    state_dict: Mapping[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: FileSystemWriter | None = None,
    planner: DefaultSavePlanner | None = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> Future[Metadata]:
    """`save` in the background: what this rank writes is copied before the call returns, and may then change.

    Returns:
        A future that is done when the checkpoint is whole, on all ranks; its `result` raises what `save` raises.
    """
    writer, ranks = _writer(checkpoint_id, storage_writer), Ranks(process_group, no_dist)
    save_id, values = _planned(state_dict, ranks)
    copies = {name: replace(entry, value=_copied(entry.value)) for name, entry in values.items()}
    if not _background:
        _background.append(ThreadPoolExecutor(1, "checkpoint"))
    return _background[0].submit(_write, writer, ranks, save_id, copies)


def _copied(value: Any) -> Any:
    if isinstance(value, Shard):
        return replace(value, tensor=_copied(value.tensor))
    return value.detach().cpu().clone() if isinstance(value, Tensor) else copy.deepcopy(value)
