"""`load`: into any number of ranks."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor, _core

from .filesystem import FileSystemReader
from .metadata import BytesStorageMetadata, CheckpointException, Metadata, TensorStorageMetadata
from .ranks import Ranks
from .shard import Entry, Path, Shard, Stateful, named, states


@dataclass
class DefaultLoadPlanner:
    """What is read: all that the state dict names. With `allow_partial_load`, what the checkpoint lacks stays as it is."""

    allow_partial_load: bool = False


def _fill(target: Tensor, offsets: tuple[int, ...], item: TensorStorageMetadata, reader: FileSystemReader) -> None:
    """Writes into `target`, which begins at `offsets` of the whole, what pieces have of it."""
    target, missing = target.detach(), target.numel()
    for chunk in item.chunks:
        low = [max(a, b) for a, b in zip(offsets, chunk.offsets)]
        high = [min(a + n, b + m) for a, n, b, m in zip(offsets, target.shape, chunk.offsets, chunk.sizes)]
        if any(a >= b for a, b in zip(low, high)) or not missing:
            continue
        piece = _core._from_buffer(reader.read(chunk), item.properties).view(chunk.sizes)
        here = tuple(slice(a - o, b - o) for a, b, o in zip(low, high, offsets))
        there = tuple(slice(a - o, b - o) for a, b, o in zip(low, high, chunk.offsets))
        part = target[here] if here else target
        part.copy_(piece[there] if there else piece)
        missing -= part.numel()
    if missing:
        raise ValueError(f"checkpoint: {missing} of {target.numel()} elements are in none of the pieces")


def _read(name: str, value: Any, metadata: Metadata, reader: FileSystemReader) -> Any:
    """What takes the place of a value: itself, filled, if it is a tensor."""
    item = metadata.state_dict_metadata[name]
    if isinstance(item, BytesStorageMetadata):
        if isinstance(value, (Tensor, Shard)):
            raise ValueError(f"checkpoint: {name!r} is a tensor here and none in the checkpoint")
        return reader.read_object(item)
    whole = Shard(value, (0,) * value.ndim, tuple(value.shape)) if isinstance(value, Tensor) else value
    if not isinstance(whole, Shard):
        raise ValueError(f"checkpoint: {name!r} is a tensor in the checkpoint and a {type(value).__name__} here")
    if whole.size != item.size:
        raise ValueError(f"Size mismatch between saved {item.size} and current: {whole.size} for {name}")
    _fill(whole.tensor, whole.offsets, item, reader)
    return value


def _below(path: Path, metadata: Metadata, reader: FileSystemReader) -> dict[Any, Any]:
    """All that the checkpoint has below a path: for what is empty here, as the state of an optimizer before its first step."""
    out: dict[Any, Any] = {}
    for name, item in metadata.state_dict_metadata.items():
        if item.path[: len(path)] == path and len(item.path) > len(path):
            target = core.empty(item.size, dtype=item.properties) if isinstance(item, TensorStorageMetadata) else None
            *inner, last = item.path[len(path) :]
            place = reduce(lambda d, key: d.setdefault(key, {}), inner, out)
            place[last] = _read(name, target, metadata, reader)
    return out


def _is_empty(value: Any) -> bool:
    return isinstance(value, dict) and not value


def _load(entries: Mapping[str, Entry], reader: FileSystemReader, partial: bool) -> None:
    while True:
        metadata = reader.read_metadata()
        try:
            return _load_from(metadata, entries, reader, partial)
        except FileNotFoundError:  # another save has removed the files meanwhile
            if reader.read_metadata().save_id == metadata.save_id:
                raise


def _load_from(metadata: Metadata, entries: Mapping[str, Entry], reader: FileSystemReader, partial: bool) -> None:
    known = metadata.state_dict_metadata
    missing = [name for name, entry in entries.items() if name not in known and not _is_empty(entry.value)]
    if missing and not partial:
        raise RuntimeError(
            f"Missing key in checkpoint state_dict: {missing[0]}." + f" And {len(missing) - 1} more." * (len(missing) > 1)
        )
    for name, entry in entries.items():
        if name in known:
            entry.put(_read(name, entry.value, metadata, reader))
        elif _is_empty(entry.value):
            entry.put(_below(entry.path, metadata, reader))


def load(
    state_dict: MutableMapping[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_reader: FileSystemReader | None = None,
    planner: DefaultLoadPlanner | None = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Reads a checkpoint into the tensors of a state dict, in place; other values are replaced. The number of ranks may be another.

    Each rank reads what its state dict names: of a `Shard` the part that it has, whichever pieces hold it. What has a `load_state_dict` is given
    its state at the end. Nothing in the file can run code.

    Arguments:
        state_dict: as for `save`.
        checkpoint_id: the folder.
        storage_reader: a reader of the folder, instead.
        planner: says whether what the checkpoint lacks is an error.

    Raises:
        CheckpointException: a rank could not load: a name is missing, a shape is another, or a checksum.
        ValueError: no folder was given.
    """
    if storage_reader is None:
        if checkpoint_id is None:
            raise ValueError("checkpoint: a checkpoint_id or a storage_reader must be given, got neither")
        storage_reader = FileSystemReader(checkpoint_id)
    ranks, error = Ranks(process_group, no_dist), None
    held = states(state_dict)
    try:
        _load(named(held), storage_reader, planner is not None and planner.allow_partial_load)
    except Exception as e:
        error = e
    failures = {rank: e for rank, e in enumerate(ranks.gather(error)) if e is not None}
    if failures:
        raise CheckpointException("checkpoint: loading failed", failures) from error
    for key, value in state_dict.items():
        if isinstance(value, Stateful) and not isinstance(value, Tensor):
            value.load_state_dict(held[key])  # type: ignore[arg-type]
        else:
            state_dict[key] = held[key]
