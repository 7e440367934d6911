"""The tensor of `adjoint`, its operations and their records."""

import importlib as _importlib
import os as _os
from types import ModuleType as _ModuleType

from . import _core
from . import _tensor as _tensor
from ._core import *  # noqa: F403
from ._info import finfo as finfo
from ._info import iinfo as iinfo
from ._inplace_functions import *  # noqa: F403
from ._legacy import *  # noqa: F403
from ._matrices import *  # noqa: F403
from ._printing import set_printoptions as set_printoptions
from ._random import *  # noqa: F403
from ._serialization import load as load
from ._serialization import save as save
from ._sparse import sparse_coo_tensor as sparse_coo_tensor
from ._threads import get_num_threads as get_num_threads
from ._threads import set_num_threads as set_num_threads
from ._unique import *  # noqa: F403
from .backends import get_float32_matmul_precision as get_float32_matmul_precision
from .backends import set_float32_matmul_precision as set_float32_matmul_precision
from .special import i0 as i0

_core.skip_prefix(_os.path.dirname(__file__) + _os.sep)
__version__ = "0.1.0"
# Modules are no part of it: those of the same name in `adjoint` have more.
__all__ = [name for name, value in vars().items() if name[0] != "_" and not isinstance(value, _ModuleType)]


def __getattr__(name: str) -> object:
    if name in (
        "accelerator",
        "cuda",
        "fft",
        "linalg",
        "registry",
        "sparse",
        "special",
    ):  # imported when first used
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
