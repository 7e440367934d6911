"""What a checkpoint holds, and where: the contents of its file `.metadata`."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass, field
from typing import Any

import adjoint_core as core


class CheckpointException(RuntimeError):
    """Saving or loading failed on some ranks; `failures` has what each of them raised."""

    def __init__(self, message: str, failures: dict[int, BaseException]) -> None:
        super().__init__(message + "".join(f"\nrank {rank}: {type(e).__name__}: {e}" for rank, e in sorted(failures.items())))
        self.message, self._failures = message, failures

    @property
    def failures(self) -> dict[int, BaseException]:
        """The errors by rank."""
        return self._failures

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self._failures)


@dataclass(frozen=True)
class ChunkStorageMetadata:
    """A piece of a tensor: where it begins in the whole, its sizes, and the bytes of a file that hold it."""

    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    file: str
    start: int
    nbytes: int
    checksum: int


@dataclass
class TensorStorageMetadata:
    """A tensor: the keys that lead to it, its element type, its shape, and the pieces that ranks saved."""

    path: tuple[str | int, ...]
    dtype: str
    size: tuple[int, ...]
    chunks: list[ChunkStorageMetadata] = field(default_factory=list)

    @property
    def properties(self) -> Any:
        """The element type."""
        return getattr(core, self.dtype)


@dataclass
class BytesStorageMetadata:
    """Anything but a tensor: the keys that lead to it, and a pickle in a file."""

    path: tuple[str | int, ...]
    chunks: list[ChunkStorageMetadata] = field(default_factory=list)


@dataclass
class Metadata:
    """A checkpoint: what it holds, by name, and the save that it is from."""

    state_dict_metadata: dict[str, TensorStorageMetadata | BytesStorageMetadata]
    save_id: str = ""

    def to_bytes(self) -> bytes:
        """One line with a checksum, and JSON."""
        items = {name: {"kind": type(item).__name__, **asdict(item)} for name, item in self.state_dict_metadata.items()}
        text = json.dumps({"save_id": self.save_id, "items": items}).encode()
        return b"adjoint checkpoint 1 %08x\n" % zlib.crc32(text) + text

    @staticmethod
    def from_bytes(data: bytes, name: str) -> Metadata:
        """The contents of a file `.metadata`.

        Raises:
            ValueError: it is no such file, or was changed.
        """
        head, _, text = data.partition(b"\n")
        if head != b"adjoint checkpoint 1 %08x" % zlib.crc32(text):
            raise ValueError(f"checkpoint: {name} is no checkpoint's metadata, or was changed: its checksum is another")
        found = json.loads(text)
        return Metadata({key: _item(item) for key, item in found["items"].items()}, found["save_id"])


def _item(item: dict[str, Any]) -> TensorStorageMetadata | BytesStorageMetadata:
    chunks = [ChunkStorageMetadata(**{**c, "offsets": tuple(c["offsets"]), "sizes": tuple(c["sizes"])}) for c in item["chunks"]]
    if item["kind"] == "BytesStorageMetadata":
        return BytesStorageMetadata(tuple(item["path"]), chunks)
    return TensorStorageMetadata(tuple(item["path"]), item["dtype"], tuple(item["size"]), chunks)
