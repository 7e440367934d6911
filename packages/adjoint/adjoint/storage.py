"""The memory behind tensors, and what pickles of PyTorch call to rebuild it."""

import io as _io

from adjoint_core import Storage as Storage
from adjoint_core import TypedStorage as TypedStorage
from adjoint_core import UntypedStorage as UntypedStorage
from adjoint_core import load as _load


def _load_from_bytes(content: bytes) -> TypedStorage:
    """The memory in a file of PyTorch: what a plain pickle of a tensor holds."""
    return _load(_io.BytesIO(content), weights_only=False).storage()  # type: ignore[no-any-return]
