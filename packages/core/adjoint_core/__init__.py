"""The tensor of `adjoint`, its operations and their records."""

from __future__ import annotations

import os as _os

from . import _core
from ._core import *  # noqa: F403
from . import _tensor as _tensor
from . import registry
from ._core import Size, Tensor, device, dtype
from ._info import finfo, iinfo
from ._printing import set_printoptions

_core.skip_prefix(_os.path.dirname(__file__) + _os.sep)
__version__ = "0.1.0"
