"""`special`: special functions under the names of SciPy and PyTorch."""

from adjoint_core import special as _records
from adjoint_core.special import *  # noqa: F403

from ..tensor.elementwise import mvlgamma as multigammaln  # noqa: F401
from . import elementary, polynomials
from .elementary import *  # noqa: F403
from .polynomials import *  # noqa: F403

__all__ = [*_records.__all__, *elementary.__all__, *polynomials.__all__, "multigammaln"]
