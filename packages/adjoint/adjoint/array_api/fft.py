"""The array API standard's `fft`."""

from adjoint_functional.array_api.fft import *  # noqa: F403
from adjoint_functional.array_api.fft import __all__ as __all__
