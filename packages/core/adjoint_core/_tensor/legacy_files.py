"""PyTorch's files before 1.6, and those of `_use_new_zipfile_serialization=False`: pickles one after another, then the memory of their tensors."""

from __future__ import annotations

import pickle
from typing import IO, Any

from .. import _core
from .._core import Tensor
from .torch_files import Pickler, expect_storage, placed

MAGIC = 0x1950A86A20F9469CFC6C
"The first pickle of such a file."
PROTOCOL = 1001
SYSTEM = {"protocol_version": PROTOCOL, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}


class _Pickler(Pickler):
    def persistent_id(self, obj: Any) -> Any:
        pid = super().persistent_id(obj)
        return pid if pid is None else (*pid, None)  # the last says of which memory it is a part


def write(obj: object, file: IO[bytes], protocol: int) -> None:
    """Writes an object as `torch.save` did."""
    for head in (MAGIC, PROTOCOL, SYSTEM):
        pickle.dump(head, file, protocol=protocol)
    pickler = _Pickler(file, protocol)
    pickler.dump(obj)
    memories = {memory.key: memory for memory in pickler.memories.values()}
    pickle.dump(sorted(memories), file, protocol=protocol)
    file.flush()
    for key in sorted(memories):
        memory = memories[key]
        content = memoryview(_core._lend(memory.tensor.untyped_storage()._flat()))
        count = len(content) // (memory.dtype.itemsize if memory.named else 1)
        file.write(count.to_bytes(8, "little"))
        file.write(content)


class Reader:
    """Hands out memory when a pickle names it, and fills it from what follows the pickles."""

    def __init__(self, map_location: Any) -> None:
        self.map_location = map_location
        self.memories: dict[str, tuple[Tensor, Tensor]] = {}  # as read, and where it was wanted

    def memory(self, pid: Any) -> Any:
        """What a persistent id names: a tensor of one dimension, or a module that was saved with its source."""
        if isinstance(pid, tuple) and len(pid) == 4 and pid[0] == "module":
            return pid[1]
        dtype, key, place, count, *view = expect_storage(pid)
        if key not in self.memories:
            flat = _core.empty(count, dtype=dtype)
            self.memories[key] = flat, placed(flat, place, self.map_location)
        whole = self.memories[key][1]
        if not view or view[0] is None:
            return whole
        _, offset, size = view[0]
        return whole[offset : offset + size]

    def fill(self, file: IO[bytes], keys: list[str]) -> None:
        """Reads the memory, in the order in which the keys stand."""
        if lacking := sorted(self.memories.keys() - set(keys)):
            raise pickle.UnpicklingError(f"load: the file does not hold memory {lacking[0]}, which a tensor of it names")
        for key in keys:
            if key not in self.memories:
                raise pickle.UnpicklingError(f"load: the file holds memory {key}, which no tensor of it names")
            flat, wanted = self.memories[key]
            count = int.from_bytes(file.read(8), "little", signed=True)
            if count != flat.numel():
                raise pickle.UnpicklingError(f"load: memory {key} has {count} elements, expected {flat.numel()}")
            content = memoryview(_core._lend(flat))
            got = file.readinto(content) if count else 0  # type: ignore[attr-defined]
            if got != len(content):
                raise pickle.UnpicklingError(f"load: memory {key} ends after {got} bytes, expected {len(content)}")
            if wanted is not flat:
                wanted.copy_(flat)


def read(file: IO[bytes], map_location: Any, weights_only: bool) -> Any:
    """What follows the first pickle of such a file."""
    from .unpickling import Unpickler

    version, system = (Unpickler(file, None, True).load() for _ in range(2))
    if version != PROTOCOL:
        raise pickle.UnpicklingError(f"load: expected protocol {PROTOCOL}, got {version!r}")
    if not system.get("little_endian", True):
        raise NotImplementedError("load: the file was written on a machine with another order of bytes")
    reader = Reader(map_location)
    obj = Unpickler(file, reader, weights_only).load()
    reader.fill(file, Unpickler(file, None, True).load())
    return obj
