"""The Python array API standard, 2025.12."""

from adjoint_functional.array_api import *  # noqa: F403
from adjoint_functional.array_api import __all__ as __all__

from . import fft as fft
from . import linalg as linalg
