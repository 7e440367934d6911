"""`save` and `load`: files of PyTorch's format, of anything that holds tensors."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import IO, Any

from .atomic import replacing

__all__ = ["load", "save"]

File = str | os.PathLike[str] | IO[bytes]


def _opened(f: File, mode: str) -> Any:
    if not isinstance(f, (str, os.PathLike)):
        return nullcontext(f)
    return replacing(f) if mode == "wb" else open(f, mode)


def save(
    obj: object, f: File, pickle_module: Any = None, pickle_protocol: int = 2, _use_new_zipfile_serialization: bool = True
) -> None:
    """Writes `obj`, a tensor or anything that holds tensors, to a file or a path, in the format of `torch.save`: each reads what the other wrote.

    Views of one memory share it again when they are loaded. A path is written to in one step: a process that is killed leaves what was
    there before.

    Arguments:
        pickle_module: accepted; the format has one pickler.
        _use_new_zipfile_serialization: false for the format before PyTorch 1.6, which is no archive.

    Example::

        >>> import io
        >>> file = io.BytesIO()
        >>> ad.save({'w': ad.ones(2)}, file)
        >>> _ = file.seek(0)
        >>> ad.load(file)['w']
        tensor([1., 1.])
    """
    from . import legacy_files, torch_files

    with _opened(f, "wb") as file:
        if _use_new_zipfile_serialization:
            torch_files.write(obj, file, pickle_protocol)
        else:
            legacy_files.write(obj, file, pickle_protocol)


def load(
    f: File,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool = True,
    mmap: bool = False,
    **pickle_load_args: Any,
) -> Any:
    """Reads what `save` or PyTorch's `torch.save` wrote.

    With `weights_only`, nothing but tensors, numbers, strings and containers is made from the file: it cannot run code.

    Arguments:
        map_location: a device for all memory, a mapping of devices' names, or a function of a memory, which is a tensor of one dimension,
            and its device's name that gives it back moved; by default it goes where it was.
        mmap: map the file instead of reading it: elements are fetched when they are used, and writes do not change it.

    Raises:
        pickle.UnpicklingError: the file holds something else, and `weights_only` is true.

    Example::

        >>> import io
        >>> file = io.BytesIO()
        >>> ad.save(ad.ones(2), file)
        >>> _ = file.seek(0)
        >>> ad.load(file, map_location='cpu')
        tensor([1., 1.])
    """
    from . import legacy_files
    from .torch_files import Reader
    from .unpickling import Unpickler

    with _opened(f, "rb") as file:
        start = file.tell()
        head = file.read(4)
        file.seek(start)
        if head != b"PK\x03\x04":
            obj = Unpickler(file, None, weights_only).load()
            if isinstance(obj, int) and obj == legacy_files.MAGIC:
                return legacy_files.read(file, map_location, weights_only)
            return obj
        reader = Reader(file, map_location, mmap)
        return Unpickler(reader.data(), reader, weights_only).load()
