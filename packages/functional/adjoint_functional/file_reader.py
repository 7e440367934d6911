"""`PyTorchFileReader`: the records of a file that `save` wrote, by name."""

from __future__ import annotations

import os
import zipfile
from typing import IO

__all__ = ["PyTorchFileReader"]


class PyTorchFileReader:
    """Reads the archive that `save` and PyTorch's `torch.save` write.

    Arguments:
        file: its path, or an open file.

    Raises:
        RuntimeError: the file is no such archive; or, of `get_record`, it has no such record.

    Example::

        >>> import io
        >>> file = io.BytesIO()
        >>> ad.save([ad.ones(2)], file)
        >>> ad.PyTorchFileReader(file).get_record("byteorder")
        b'little'
    """

    def __init__(self, file: str | os.PathLike[str] | IO[bytes]) -> None:
        try:
            self._archive = zipfile.ZipFile(file)
        except zipfile.BadZipFile as error:
            raise RuntimeError(f"PyTorchFileReader: the file is no zip archive: {error}") from error
        self._top = next(iter(self._archive.namelist()), "").partition("/")[0] + "/"  # all records are in one folder

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        return [name.removeprefix(self._top) for name in self._archive.namelist()]

    def has_record(self, name: str) -> bool:
        """Whether there is a record of this name."""
        return self._top + name in self._archive.namelist()

    def get_record(self, name: str) -> bytes:
        """What a record holds."""
        if not self.has_record(name):
            raise RuntimeError(f"PyTorchFileReader: the file has no record {name!r}")
        return self._archive.read(self._top + name)
