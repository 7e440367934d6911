"""Mixed precision."""

import sys as _sys

from adjoint_functional.amp import *  # noqa: F403
from adjoint_functional.amp import autocast_mode as autocast_mode
from adjoint_functional.amp import grad_scaler as grad_scaler

for _part in (autocast_mode, grad_scaler):
    _sys.modules[f"{__name__}.{_part.__name__.rpartition('.')[2]}"] = _part
