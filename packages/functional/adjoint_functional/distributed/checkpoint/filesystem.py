"""Checkpoints in folders.

A save writes files of its own, `<save>.<rank>.shards`, and then `<save>.<rank>.done`, which says what they hold. When all ranks have, the
first one writes `.metadata` beside itself and renames it: from this moment the checkpoint is the new one. Files that no `.metadata` names are
removed by the next save, so a process may be killed at any moment.
"""

from __future__ import annotations

import io
import json
import mmap
import os
import pickle
import time
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core._tensor.atomic import replacing, sync_folder
from adjoint_core._tensor.files import load as _load

from .metadata import BytesStorageMetadata, CheckpointException, ChunkStorageMetadata, Metadata, TensorStorageMetadata
from .planning import offer_of
from .shard import Entry, Shard

ALIGNED = 64
METADATA = ".metadata"


def _content(name: str, value: Any) -> memoryview:
    """The bytes of a value.

    Raises:
        TypeError: a value that could not be loaded again.
    """
    if isinstance(value, (Shard, Tensor)):
        return memoryview(_core._lend(value.tensor if isinstance(value, Shard) else value))
    try:
        data = pickle.dumps(value, protocol=4)
        _load(io.BytesIO(data), weights_only=True)
    except Exception as error:
        raise TypeError(
            f"checkpoint: values must be tensors, numbers, strings or containers of them, got {type(value).__name__} for {name!r}"
        ) from error
    return memoryview(data)


class FileSystemWriter:
    """Saves to a folder.

    Arguments:
        path: the folder; it is made if there is none.
        sync_files: wait until each file is on disk before the checkpoint counts: without it a crash of the machine may lose it.
        timeout: how many seconds the ranks wait for the slowest one.
    """

    def __init__(self, path: str | os.PathLike[str], *, sync_files: bool = True, timeout: float = 1800.0) -> None:
        self.path, self.sync_files, self.timeout = os.fspath(path), sync_files, timeout

    def write(self, save_id: str, rank: int, values: Mapping[str, Entry]) -> None:
        """Writes this rank's values, then says so."""
        os.makedirs(self.path, exist_ok=True)
        file = f"{save_id}.{rank}.shards"
        chunks = []
        with open(os.path.join(self.path, file), "wb") as out:
            for name, entry in values.items():
                out.write(bytes(-out.tell() % ALIGNED))
                content, offer = _content(name, entry.value), offer_of(entry.value)
                chunk = ChunkStorageMetadata(offer.offsets, offer.sizes, file, out.tell(), content.nbytes, zlib.crc32(content))
                chunks.append((entry.path, offer.dtype, offer.size, asdict(chunk)))
                out.write(content)
            out.flush()
            if self.sync_files:
                os.fsync(out.fileno())
        self._say(save_id, rank, {"chunks": chunks})

    def fail(self, save_id: str, rank: int, error: BaseException) -> None:
        """Says that this rank could not write."""
        os.makedirs(self.path, exist_ok=True)
        self._say(save_id, rank, {"error": f"{type(error).__name__}: {error}"})

    def _say(self, save_id: str, rank: int, what: Any) -> None:
        with replacing(os.path.join(self.path, f"{save_id}.{rank}.done")) as out:
            out.write(json.dumps(what).encode())

    def commit(self, save_id: str, ranks: int) -> Metadata:
        """Waits for all ranks, and makes what they wrote the checkpoint; called by one of them.

        Raises:
            CheckpointException: a rank could not write; the checkpoint is what it was before.
            TimeoutError: a rank has said nothing in time.
        """
        said = [self._heard(save_id, rank) for rank in range(ranks)]
        failures: dict[int, BaseException] = {i: RuntimeError(s["error"]) for i, s in enumerate(said) if "error" in s}
        if failures:
            error = CheckpointException("checkpoint: saving failed", failures)
            with replacing(os.path.join(self.path, f"{save_id}.failed")) as out:
                out.write(str(error).encode())
            raise error
        items: dict[str, TensorStorageMetadata | BytesStorageMetadata] = {}
        for path, dtype, size, chunk in (c for s in said for c in s["chunks"]):
            new = BytesStorageMetadata(path) if dtype is None else TensorStorageMetadata(path, dtype, tuple(size))
            items.setdefault(".".join(map(str, path)), new).chunks.append(ChunkStorageMetadata(**chunk))
        metadata = Metadata(items, save_id)
        sync_folder(self.path)  # the names of the shards first
        with replacing(os.path.join(self.path, METADATA)) as out:
            out.write(metadata.to_bytes())
        self._clean(save_id)
        return metadata

    def _heard(self, save_id: str, rank: int) -> Any:
        file, end = os.path.join(self.path, f"{save_id}.{rank}.done"), time.monotonic() + self.timeout
        while not os.path.exists(file):
            if time.monotonic() > end:
                raise TimeoutError(f"checkpoint: rank {rank} has written nothing to {self.path} in {self.timeout:g} s")
            time.sleep(0.005)
        with open(file, "rb") as f:
            return json.load(f)

    def wait(self, save_id: str) -> Metadata:
        """Waits until the first rank has made this save, or a later one, the checkpoint.

        Raises:
            CheckpointException: it could not.
            TimeoutError: it has not in time.
        """
        end = time.monotonic() + self.timeout
        while True:
            if os.path.exists(os.path.join(self.path, METADATA)):
                found = FileSystemReader(self.path).read_metadata()
                if found.save_id >= save_id:
                    return found
            failed = os.path.join(self.path, f"{save_id}.failed")
            if os.path.exists(failed):
                with open(failed) as f:
                    raise CheckpointException(f.read(), {})
            if time.monotonic() > end:
                raise TimeoutError(f"checkpoint: rank 0 has not finished the save in {self.path} in {self.timeout:g} s")
            time.sleep(0.005)

    def _clean(self, save_id: str) -> None:
        """Removes what earlier saves left, finished or not."""
        for name in os.listdir(self.path):
            old = name.endswith((".shards", ".done", ".failed")) and name.split(".")[0] < save_id
            if old or name.endswith(".part") or (name.startswith(save_id) and name.endswith(".done")):
                os.unlink(os.path.join(self.path, name))


class FileSystemReader:
    """Reads a checkpoint from a folder."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._maps: dict[str, mmap.mmap] = {}

    def read_metadata(self) -> Metadata:
        """What the checkpoint holds.

        Raises:
            FileNotFoundError: there is no checkpoint in the folder.
            ValueError: the file was changed.
        """
        file = os.path.join(self.path, METADATA)
        with open(file, "rb") as f:
            return Metadata.from_bytes(f.read(), file)

    def read(self, chunk: ChunkStorageMetadata) -> memoryview:
        """The bytes of a piece, which lie in the file: they can be written to, and the file does not change.

        Raises:
            ValueError: the file was changed.
        """
        if not chunk.nbytes:
            return memoryview(bytearray())
        if chunk.file not in self._maps:
            with open(os.path.join(self.path, chunk.file), "rb") as f:
                self._maps[chunk.file] = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_COPY)
        content = memoryview(self._maps[chunk.file])[chunk.start : chunk.start + chunk.nbytes]
        if content.nbytes != chunk.nbytes or zlib.crc32(content) != chunk.checksum:
            raise ValueError(f"checkpoint: {os.path.join(self.path, chunk.file)} was changed: a checksum is another")
        return content

    def read_object(self, item: BytesStorageMetadata) -> Any:
        """Anything but a tensor. Nothing but numbers, strings and containers is made from the file: it cannot run code."""
        return _load(io.BytesIO(self.read(item.chunks[0])), weights_only=True)
