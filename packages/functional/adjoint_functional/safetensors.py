"""Files of `safetensors`: written and read without copies, by its library (extra `safetensors`).

Reading maps the file: elements are fetched when they are used, and writing to a tensor does not change the file.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Mapping
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor, _core

__all__ = ["load", "load_file", "save", "save_file"]

_DTYPES = {
    "F64": core.float64, "F32": core.float32, "F16": core.float16, "BF16": core.bfloat16, "C64": core.complex64, "I64": core.int64,
    "I32": core.int32, "I16": core.int16, "I8": core.int8, "U64": core.uint64, "U32": core.uint32, "U16": core.uint16, "U8": core.uint8,
    "BOOL": core.bool,
}  # fmt: skip


def _specs(tensors: Mapping[str, Tensor], op: str) -> tuple[dict[str, Any], list[Tensor]]:
    """What the library is told of each tensor, and what must stay alive meanwhile."""
    import safetensors

    specs, alive = {}, []
    for name, x in tensors.items():
        if not isinstance(x, Tensor):
            raise ValueError(f"{op}: expected tensors, got {type(x).__name__} for {name!r}")
        if x.is_sparse or x.dtype not in _DTYPES.values():
            raise ValueError(f"{op}: the format has no {'sparse tensors' if x.is_sparse else x.dtype}, got one for {name!r}")
        whole = x.detach().cpu().contiguous()
        alive.append(whole)
        nbytes = whole.numel() * whole.element_size()
        specs[name] = safetensors.TensorSpec(
            dtype=x.dtype.name, shape=list(x.shape), data_ptr=whole.data_ptr(), data_len=nbytes
        )
    return specs, alive


def save_file(
    tensors: Mapping[str, Tensor], filename: str | os.PathLike[str], metadata: Mapping[str, str] | None = None
) -> None:
    """Writes tensors to a file, with text about them if wanted.

    Raises:
        ValueError: a value is no tensor, sparse, or of a type that the format lacks.

    Example::

        >>> import tempfile
        >>> from adjoint.safetensors import load_file, save_file
        >>> file = tempfile.mkdtemp() + "/w.safetensors"
        >>> save_file({"w": ad.ones(2, 2)}, file)
        >>> load_file(file)["w"].sum()
        tensor(4.)
    """
    import safetensors

    specs, alive = _specs(tensors, "save_file")
    beside = f"{os.fspath(filename)}.{os.getpid()}.part"
    try:
        safetensors.serialize_file(specs, beside, metadata=None if metadata is None else dict(metadata))
        os.replace(beside, filename)
    finally:
        if os.path.exists(beside):
            os.unlink(beside)
        del alive


def save(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes of such a file.

    Example::

        >>> data = ad.safetensors.save({'x': ad.ones(2)})
        >>> ad.safetensors.load(data)
        {'x': tensor([1., 1.])}
    """
    import safetensors

    specs, alive = _specs(tensors, "save")
    data = bytes(safetensors.serialize(specs, metadata=None if metadata is None else dict(metadata)))
    del alive
    return data


def load_file(filename: str | os.PathLike[str], device: Any = "cpu") -> dict[str, Tensor]:
    """The tensors of a file, over memory that is mapped from it; those of a GPU are copied there.

    Raises:
        safetensors.SafetensorError: the file is no such file: the library has checked names, shapes and places.
    """
    import safetensors

    with safetensors.safe_open(filename, framework="np"):  # checks the header
        pass
    with open(filename, "rb") as file:
        memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    return {name: x.to(device) for name, x in _tensors(memoryview(memory)).items()}


def load(data: bytes) -> dict[str, Tensor]:
    """The tensors of the bytes of such a file: copies.

    Raises:
        safetensors.SafetensorError: they are no such bytes.

    Example::

        >>> ad.safetensors.load(ad.safetensors.save({'x': ad.ones(2)}))
        {'x': tensor([1., 1.])}
    """
    import safetensors

    safetensors.deserialize(data)  # checks the header
    return _tensors(memoryview(data))


def _tensors(memory: memoryview) -> dict[str, Tensor]:
    start = 8 + int.from_bytes(memory[:8], "little")
    found = {}
    for name, entry in json.loads(bytes(memory[8:start])).items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in _DTYPES:
            raise ValueError(f"load: there is no type for {entry['dtype']}, the type of {name!r}")
        a, b = entry["data_offsets"]
        found[name] = _core._from_buffer(memory[start + a : start + b], _DTYPES[entry["dtype"]]).view(entry["shape"])
    return found
