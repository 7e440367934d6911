"""The memory behind tensors, and what pickles of PyTorch call to rebuild it."""

import io as _io

from adjoint_core import Storage as Storage
from adjoint_core import UntypedStorage as UntypedStorage
from adjoint_core import load as _load

TypedStorage = Storage


def _load_from_bytes(content: bytes) -> Storage:
    """The memory in a file of PyTorch: what a plain pickle of a tensor holds."""
    flat = _load(_io.BytesIO(content), weights_only=False)
    return Storage(flat, flat.element_size())
