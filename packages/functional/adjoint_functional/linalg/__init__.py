"""`linalg`: linear algebra with PyTorch's signatures; core has what has records, the rest is composed here."""

from adjoint_core import linalg as _records
from adjoint_core.linalg import *  # noqa: F403

from . import least_squares, norms, products, tensor_systems
from .least_squares import *  # noqa: F403
from .norms import *  # noqa: F403
from .products import *  # noqa: F403
from .reflections import householder_product  # noqa: F401
from .tensor_systems import *  # noqa: F403

__all__ = [
    *_records.__all__, *norms.__all__, *products.__all__, *least_squares.__all__, *tensor_systems.__all__, "householder_product",
]  # fmt: skip
