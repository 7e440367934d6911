"""Types of arguments, for annotations."""

import builtins as _builtins
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

from adjoint_core import Size as Size
from adjoint_core import Storage as Storage
from adjoint_core import Tensor as Tensor
from adjoint_core import device as _Device
from adjoint_core import dtype as _Dtype
from adjoint_core import layout as _Layout

Number = _builtins.int | _builtins.float | _builtins.bool
_Number = (_builtins.int, _builtins.float, _builtins.bool)
Device = _Device | str | _builtins.int | None
_device, _dtype, _layout = _Device, _Dtype, _Layout
_int, _float, _bool, _complex = _builtins.int, _builtins.float, _builtins.bool, _builtins.complex
_size = Size | list[_builtins.int] | tuple[_builtins.int, ...]
_TensorOrTensors = _Any
_dispatchkey = str
_symint = _builtins.int
FileLike = _Any
Sequence = _Sequence
