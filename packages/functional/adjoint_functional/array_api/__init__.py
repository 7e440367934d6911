"""The Python array API standard, 2025.12: its functions by its names, arguments and rules of types, on tensors with gradients.

Libraries find it through `Tensor.__array_namespace__`. It differs from the functions of `ad.` where the standard does from PyTorch:
tensors of no dimension count for the type of a result as all others, sums of small unsigned integers are uint64, reductions take
`axis` and `keepdims`.
"""

from __future__ import annotations

from adjoint_core import bool as bool
from adjoint_core import complex64 as complex64
from adjoint_core import complex128 as complex128
from adjoint_core import float32 as float32
from adjoint_core import float64 as float64
from adjoint_core import int8 as int8
from adjoint_core import int16 as int16
from adjoint_core import int32 as int32
from adjoint_core import int64 as int64
from adjoint_core import uint8 as uint8
from adjoint_core import uint16 as uint16
from adjoint_core import uint32 as uint32
from adjoint_core import uint64 as uint64

from . import fft as fft
from . import linalg as linalg
from .creation import *  # noqa: F403
from .creation import __all__ as _creation
from .data_types import *  # noqa: F403
from .data_types import __all__ as _data_types
from .elementwise import *  # noqa: F403
from .elementwise import __all__ as _elementwise
from .manipulation import *  # noqa: F403
from .manipulation import __all__ as _manipulation
from .namespace_info import __array_namespace_info__ as __array_namespace_info__
from .products import *  # noqa: F403
from .products import __all__ as _products
from .reductions import *  # noqa: F403
from .reductions import __all__ as _reductions
from .searching import *  # noqa: F403
from .searching import __all__ as _searching

__array_api_version__ = "2025.12"
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")

e = 2.718281828459045
inf = float("inf")
nan = float("nan")
newaxis = None
pi = 3.141592653589793

__all__ = [
    "__array_api_version__",
    "__array_namespace_info__",
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
    *("e", "inf", "nan", "newaxis", "pi"),
    *("fft", "linalg"),
    *_creation,
    *_data_types,
    *_elementwise,
    *_manipulation,
    *_products,
    *_reductions,
    *_searching,
]
