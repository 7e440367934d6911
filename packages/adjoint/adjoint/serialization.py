"""Files of tensors, and what they may name."""

import pickle as pickle
from collections.abc import Callable as _Callable
from typing import Any as _Any

from adjoint_core import Tensor as _Tensor
from adjoint_core import device as _device
from adjoint_core import load as load
from adjoint_core import save as save
from adjoint_core._tensor.safe_globals import add_safe_globals as add_safe_globals
from adjoint_core._tensor.safe_globals import clear_safe_globals as clear_safe_globals
from adjoint_core._tensor.safe_globals import get_safe_globals as get_safe_globals
from adjoint_core._tensor.safe_globals import safe_globals as safe_globals
from adjoint_core._tensor.torch_files import placed as _placed

DEFAULT_PROTOCOL = 2
MAP_LOCATION = _Callable[[_Any, str], _Any] | _device | str | dict[str, str] | None


def default_restore_location(storage: _Tensor, location: str) -> _Tensor:
    """Memory on the device that a file names, as `load` moves it: for functions that are a ``map_location``."""
    return _placed(storage, location, None)


def location_tag(storage: _Any) -> str:
    """What a file says of where memory lies: "cpu", or a GPU with its number."""
    return str(storage.device)


def normalize_storage_type(storage_type: type) -> type:
    """The class of that name in the namespace: for programs that write PyTorch's files by themselves."""
    import adjoint as _adjoint

    return getattr(_adjoint, storage_type.__name__)
