"""Files of tensors, and what they may name."""

import pickle as pickle
from collections.abc import Callable as _Callable
from typing import Any as _Any

from adjoint_core import device as _device
from adjoint_core import load as load
from adjoint_core import save as save
from adjoint_core._tensor.safe_globals import add_safe_globals as add_safe_globals
from adjoint_core._tensor.safe_globals import clear_safe_globals as clear_safe_globals
from adjoint_core._tensor.safe_globals import get_safe_globals as get_safe_globals
from adjoint_core._tensor.safe_globals import safe_globals as safe_globals

DEFAULT_PROTOCOL = 2
MAP_LOCATION = _Callable[[_Any, str], _Any] | _device | str | dict[str, str] | None
