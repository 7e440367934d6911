"""PyTorch's files: a zip archive of a pickle, in which PyTorch's names stand, and of the memory that its tensors share."""

from __future__ import annotations

import io
import mmap
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from typing import IO, Any

from .. import _core
from .._core import Tensor
from .._size import Size
from .compressed import shown_parts, sparse_compressed_tensor
from .layouts import LAYOUTS, layout, sparse_coo
from .pickles import CLASSES_ABOVE, _rebuild_meta, _rebuild_sparse, _restore

STORAGES = {
    "DoubleStorage": _core.float64, "FloatStorage": _core.float32, "HalfStorage": _core.float16, "BFloat16Storage": _core.bfloat16,
    "LongStorage": _core.int64, "IntStorage": _core.int32, "ShortStorage": _core.int16, "CharStorage": _core.int8,
    "ByteStorage": _core.uint8, "BoolStorage": _core.bool, "ComplexFloatStorage": _core.complex64,
    "ComplexDoubleStorage": _core.complex128,
}  # fmt: skip
NAMES = {dtype: name for name, dtype in STORAGES.items()}
ALIGNED = 64


class _Global:
    """A name that stands in a pickle, whether or not it can be imported here."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self) -> None:
        """Picklers want what rebuilds to be callable."""


class _Memory:
    """Memory that is written once: an element type, its key in the archive, and a tensor that looks at it."""

    def __init__(self, dtype: Any, key: str, tensor: Tensor) -> None:
        self.dtype, self.key, self.tensor = dtype, key, tensor
        self.named = dtype in NAMES  # whether PyTorch has a class of memory for it


class Pickler(pickle._Pickler):  # type: ignore[name-defined]  # the one in C writes no names that it cannot import
    dispatch = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def __init__(self, file: IO[bytes], protocol: int) -> None:
        super().__init__(file, protocol)
        self.memories: dict[tuple[int, Any], _Memory] = {}
        self._globals: dict[tuple[str, str], _Global] = {}

    def named(self, module: str, name: str) -> _Global:
        return self._globals.setdefault((module, name), _Global(module, name))

    def save_named(self, obj: _Global) -> None:
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.memoize(obj)

    def save_dtype(self, obj: Any) -> None:
        self.save(self.named("torch", obj.name))

    dispatch[_Global], dispatch[_core.dtype] = save_named, save_dtype

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, _Memory):
            return None
        kind = self.named("torch", NAMES[obj.dtype]) if obj.named else self.named("torch.storage", "UntypedStorage")
        place = str(obj.tensor.device) if obj.tensor.is_cuda else "cpu"
        count = obj.tensor._storage_nbytes() // obj.dtype.itemsize
        return "storage", kind, obj.key, place, count if obj.named else count * obj.dtype.itemsize

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            return self._reduce_tensor(obj)
        if isinstance(obj, _core.device):
            return self.named("torch", "device"), (str(obj),)
        if isinstance(obj, layout):
            return self.named("torch.serialization", "_get_layout"), (repr(obj).replace("adjoint.", "torch."),)
        return (self.named("torch", "Size"), (tuple(obj),)) if type(obj) is Size else NotImplemented

    def _reduce_tensor(self, x: Tensor) -> Any:
        module = type(x).__module__  # of torch where as_torch has named it so
        parameter = type(x).__name__ == "Parameter" and module.startswith(("adjoint", "torch."))
        if type(x) is not Tensor and not parameter or not (_core._is_sparse(x) or x._storage_ptr()):
            return x.__reduce_ex__(self.proto)
        grad = getattr(x, "requires_grad", False)
        if parameter:
            args: tuple[Any, ...] = x._alias(), grad, OrderedDict()
            if not x.__dict__:
                return self.named("torch._utils", "_rebuild_parameter"), args
            return self.named("torch._utils", "_rebuild_parameter_with_state"), (*args, dict(x.__dict__))
        if _core._is_sparse(x):
            parts = *shown_parts(x), x.shape, *((x.is_coalesced(),) if x.is_sparse else ())
            return self.named("torch._utils", "_rebuild_sparse_tensor"), (x.layout, parts)
        if x.is_meta:
            form = self.named("torch", x.dtype.name), tuple(x.shape), tuple(x.stride()), grad
            return self.named("torch._utils", "_rebuild_meta_tensor_no_storage"), form
        key = (x._storage_ptr(), x.dtype)
        memory = self.memories.setdefault(key, _Memory(x.dtype, str(len(self.memories)), x))
        args = memory, x.storage_offset(), tuple(x.shape), tuple(x.stride()), grad, OrderedDict()
        v2 = x.dtype in NAMES
        rebuild = self.named("torch._utils", "_rebuild_tensor_v2" if v2 else "_rebuild_tensor_v3")
        args = args if v2 else (*args, self.named("torch", x.dtype.name))
        if not x.__dict__:
            return rebuild, args
        return self.named("torch._tensor", "_rebuild_from_type_v2"), (
            rebuild,
            self.named("torch", "Tensor"),
            args,
            dict(x.__dict__),
        )


def write(obj: object, file: IO[bytes], protocol: int) -> None:
    """Writes an object as `torch.save` does."""
    data = io.BytesIO()
    pickler = Pickler(data, protocol)
    pickler.dump(obj)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _put(archive, "data.pkl", data.getbuffer())
        _put(archive, "byteorder", b"little")
        for memory in pickler.memories.values():
            _put(archive, f"data/{memory.key}", memoryview(_core._lend(memory.tensor.untyped_storage()._flat())))
        _put(archive, "version", b"3\n")


def _put(archive: zipfile.ZipFile, name: str, content: Any) -> None:
    """An entry whose bytes begin at a multiple of 64, so that they can be mapped."""
    info = zipfile.ZipInfo(f"archive/{name}")
    start = archive.fp.tell() + 30 + len(info.filename) + 4 if archive.fp is not None else 0
    gap = -start % ALIGNED
    info.extra = b"FB" + gap.to_bytes(2, "little") + b"Z" * gap
    info.file_size = len(content)
    with archive.open(info, "w") as out:
        out.write(content)


# ---- reading


def _tensor(
    memory: Any, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any, dtype: Any = None, *rest: Any
) -> Tensor:
    flat = memory if dtype is None or not isinstance(dtype, _core.dtype) else memory.view(dtype)
    return _restore(Tensor, flat.as_strided(tuple(size), tuple(stride), offset)._alias(), requires_grad, None)


def _sparse(kind: Any, parts: Any) -> Tensor:
    if kind is not sparse_coo:
        compressed, plain, values, size = parts
        return sparse_compressed_tensor(compressed, plain, values, tuple(size), layout=kind)
    indices, values, size, *coalesced = parts
    return _rebuild_sparse(indices, values, tuple(size), bool(coalesced and coalesced[0]), False, {})


def _with_state(rebuild: Callable[..., Tensor], kind: Any, args: Any, state: dict[str, Any]) -> Tensor:
    x = rebuild(*args)
    x.__dict__.update(state)
    return x


def _parameter(data: Tensor, requires_grad: bool, hooks: Any, state: dict[str, Any] | None = None) -> Tensor:
    if "Parameter" not in CLASSES_ABOVE:
        raise pickle.UnpicklingError("load: the file holds a Parameter, which is a class of adjoint_engine; import that first")
    x: Tensor = CLASSES_ABOVE["Parameter"](data, requires_grad)
    x.__dict__.update(state or {})
    return x


def _layout(name: str) -> layout:
    return {f"torch.{layout._name}": layout for layout in LAYOUTS}[name]


MEANINGS: dict[tuple[str, str], Any] = {
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_tensor_v3"): _tensor,
    ("torch._utils", "_rebuild_tensor"): lambda memory, offset, size, stride: _tensor(
        memory, offset, size, stride, False, None
    ),
    ("torch._utils", "_rebuild_parameter"): _parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): _parameter,
    ("torch._utils", "_rebuild_sparse_tensor"): _sparse,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): lambda dtype, size, stride, requires_grad: _rebuild_meta(
        None, dtype, tuple(size), tuple(stride), requires_grad, {}
    ),
    ("torch._tensor", "_rebuild_from_type_v2"): _with_state,
    ("torch.serialization", "_get_layout"): _layout,
    ("torch", "Tensor"): Tensor,
    ("torch", "Size"): Size,
    ("torch", "device"): _core.device,
    ("torch.storage", "UntypedStorage"): _core.uint8,
    **{("torch", name): dtype for name, dtype in STORAGES.items()},
    **{("torch", dtype.name): dtype for dtype in vars(_core).values() if isinstance(dtype, _core.dtype)},
}
"What PyTorch's names in a file mean here; nothing of it runs code."


def expect_storage(pid: Any) -> Any:
    """What a persistent id of memory says: the element type, the key, the place and how many elements."""
    kind, dtype, *rest = pid if isinstance(pid, tuple) and len(pid) > 4 else (pid, None)
    if kind != "storage" or not isinstance(dtype, _core.dtype):
        raise pickle.UnpicklingError(f"load: expected the memory of a tensor, got {kind!r} of {dtype!r}")
    return dtype, *rest


def placed(flat: Tensor, place: str, wanted: Any) -> Tensor:
    """The memory where `map_location` wants it, which was at `place`."""
    if callable(wanted):
        moved = wanted(flat, place)
        return flat if moved is None else moved
    if isinstance(wanted, dict):
        wanted = wanted.get(place, place)
    return flat.to(place if wanted is None else wanted)


class Reader:
    """An archive, from which memory is read when a pickle names it."""

    def __init__(self, file: IO[bytes], map_location: Any, mapped: bool) -> None:
        self.archive = zipfile.ZipFile(file)
        names = self.archive.namelist()
        self.folder = next((n[: -len("data.pkl")] for n in names if n.endswith("data.pkl") and n.count("/") == 1), None)
        if self.folder is None:
            raise pickle.UnpicklingError("load: the zip archive is no file of save: it holds no data.pkl")
        if f"{self.folder}byteorder" in names and self.archive.read(f"{self.folder}byteorder") != b"little":
            raise NotImplementedError("load: the file was written on a machine with another order of bytes")
        self.map_location, self.memories, self.file = map_location, {}, None
        if mapped:
            self.file = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)

    def data(self) -> IO[bytes]:
        """The pickle."""
        return self.archive.open(f"{self.folder}data.pkl")

    def memory(self, pid: Any) -> Tensor:
        """What a persistent id names: a tensor of one dimension over all of the memory."""
        dtype, key, place, count = expect_storage(pid)
        if key not in self.memories:
            flat = self._bytes(self.archive.getinfo(f"{self.folder}data/{key}"))
            if flat.numel() < count * dtype.itemsize:
                raise pickle.UnpicklingError(
                    f"load: memory {key} has {flat.numel()} bytes, expected {count} elements of {dtype.name}"
                )
            self.memories[key] = placed(flat[: count * dtype.itemsize].view(dtype), place, self.map_location)
        return self.memories[key]

    def _bytes(self, info: zipfile.ZipInfo) -> Tensor:
        if self.file is not None and info.compress_type == zipfile.ZIP_STORED:
            at = info.header_offset
            start = (
                at
                + 30
                + int.from_bytes(self.file[at + 26 : at + 28], "little")
                + int.from_bytes(self.file[at + 28 : at + 30], "little")
            )
            return _core._from_buffer(memoryview(self.file)[start : start + info.file_size], _core.uint8)
        flat = _core.empty(info.file_size, dtype=_core.uint8)
        with self.archive.open(info) as entry:
            entry.readinto(memoryview(_core._lend(flat)))  # type: ignore[attr-defined]
        return flat
