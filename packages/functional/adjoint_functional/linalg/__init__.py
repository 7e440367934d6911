"""`linalg`: linear algebra with PyTorch's signatures; core has what has records, the rest is composed here."""

# ruff: noqa: F405  the names of the list come from the stars

from adjoint_core.linalg import *  # noqa: F403

from .least_squares import *  # noqa: F403
from .norms import *  # noqa: F403
from .products import *  # noqa: F403
from .reflections import householder_product  # noqa: F401
from .tensor_systems import *  # noqa: F403

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lstsq", "lu", "lu_factor", "lu_factor_ex",
    "lu_solve", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_ex",
    "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip
