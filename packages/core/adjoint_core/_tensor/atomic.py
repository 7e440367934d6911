"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO


def sync_folder(folder: str) -> None:
    """Waits until the names in a folder are on disk."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of `path` at the end of the block, in one step and on disk; after an error nothing changes.

    A process that is killed meanwhile leaves what was there before, and a file beside it whose name ends in ".part". What is no file, as a
    device or a pipe, is written to where it is.
    """
    import tempfile  # slow to import

    target = os.path.realpath(path)
    found = os.stat(target).st_mode if os.path.exists(target) else None
    if found is not None and not stat.S_ISREG(found):
        with open(target, "wb") as file:
            yield file
        return
    folder = os.path.dirname(target)
    descriptor, beside = tempfile.mkstemp(suffix=".part", prefix=os.path.basename(target) + ".", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.chmod(beside, 0o666 & ~_umask() if found is None else stat.S_IMODE(found))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise
    sync_folder(folder)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
