"""The tensor of `adjoint`, its operations and their records."""

import importlib as _importlib
import os as _os
from types import ModuleType as _ModuleType

from . import _core
from ._core import *  # noqa: F403
from ._linalg.older_forms import *  # noqa: F403
from ._random import *  # noqa: F403
from ._tensor.compressed import *  # noqa: F403
from ._tensor.files import load as load
from ._tensor.files import save as save
from ._tensor.inplace_functions import *  # noqa: F403
from ._tensor.layouts import *  # noqa: F403
from ._tensor.limits import finfo as finfo
from ._tensor.limits import iinfo as iinfo
from ._tensor.printing import set_printoptions as set_printoptions
from ._tensor.sparse import sparse_coo_tensor as sparse_coo_tensor
from ._tensor.storage import *  # noqa: F403
from ._tensor.typed import *  # noqa: F403
from ._tensor.typed_storage import *  # noqa: F403
from ._threads import get_num_threads as get_num_threads
from ._threads import set_num_threads as set_num_threads
from ._unique import *  # noqa: F403
from .backends import get_float32_matmul_precision as get_float32_matmul_precision
from .backends import set_float32_matmul_precision as set_float32_matmul_precision
from .special import i0 as i0

_core.skip_prefix(_os.path.dirname(__file__) + _os.sep)
__version__ = "0.1.0"
TYPE_CHECKING = False
if not TYPE_CHECKING:  # modules are no part of it: those of the same name in `adjoint` have more
    __all__ = [
        name
        for name, value in vars().items()
        if name[0] != "_" and name != "TYPE_CHECKING" and not isinstance(value, _ModuleType)
    ]


def __getattr__(name: str) -> object:
    if name in (
        "accelerator",
        "cuda",
        "fft",
        "linalg",
        "overrides",
        "registry",
        "sparse",
        "special",
    ):  # imported when first used
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
