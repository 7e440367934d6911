"""Products of vectors and matrices, and linear algebra."""

from functools import partial

import numpy as np

from op_cases._case import case
from op_cases._inputs import x

product = partial(case, complex=True)
FACTORS = {"alias": "a matrix that is its own factor is tested by matmul"}


def linear(x, w, b=0):
    return x @ w.T + b


CASES = [
    product("matmul", x(3, 3), x(3, 3), ref=np.matmul, alias=True, empty=[(0, 3), (3, 2)]),
    product("matmul", x(3), x(3), variant="vectors", ref=np.matmul, alias=True, empty=[(0,), (0,)]),
    product("matmul", x(2, 3), x(3), variant="matrix_vector", ref=np.matmul),
    product("matmul", x(3), x(3, 2), variant="vector_matrix", ref=np.matmul),
    product("matmul", x(2, 3, 4), x(4, 2), variant="batch_matrix", ref=np.matmul),
    product("matmul", x(2, 1, 3, 4), x(5, 4, 2), variant="broadcast", ref=np.matmul),
    product("matmul", x(2, 3, 4), x(4), variant="batch_vector", ref=np.matmul),
    product("mm", x(2, 3), x(3, 4), ref=np.matmul, empty=[(2, 0), (0, 4)]),
    product("bmm", x(2, 3, 4), x(2, 4, 3), ref=np.matmul, empty=[(0, 3, 4), (0, 4, 3)]),
    product("mv", x(2, 3), x(3), ref=np.matmul, empty=[(0, 3), (3,)]),
    product("dot", x(3), x(3), ref=np.dot, alias=True, empty=[(0,), (0,)]),
    product("vdot", x(3), x(3), ref=np.vdot, alias=True),
    product("inner", x(2, 3), x(4, 3), ref=np.inner),
    product("outer", x(3), x(3), ref=np.outer, alias=True, empty=[(0,), (3,)]),
    product("kron", x(2, 3), x(3, 2), ref=np.kron),
    product("addmm", x(2, 4), x(2, 3), x(3, 4), ref=lambda c, a, b: c + a @ b, inplace=True),
    product(
        "addmm",
        x(4),
        x(2, 3),
        x(3, 4),
        beta=0.5,
        alpha=2.0,
        variant="scaled",
        ref=lambda c, a, b, beta, alpha: beta * c + alpha * a @ b,
    ),
    product("addmv", x(2), x(2, 3), x(3), ref=lambda c, a, b: c + a @ b, inplace=True),
    product("baddbmm", x(2, 3, 3), x(2, 3, 4), x(2, 4, 3), ref=lambda c, a, b: c + a @ b, inplace=True),
    product("einsum", "ij,jk->ik", x(2, 3), x(3, 4), ref=np.einsum),
    product("einsum", "bij,bjk,k->bi", x(2, 3, 4), x(2, 4, 3), x(3), variant="three", ref=np.einsum),
    product("einsum", "ii->i", x(3, 3), variant="diagonal", ref=np.einsum),
    product("einsum", "...i,...i->...", x(2, 3, 4), x(3, 4), variant="ellipsis", ref=np.einsum),
    product("tensordot", x(2, 3, 4), x(4, 3, 2), dims=([1, 2], [1, 0]), ref=lambda a, b, dims: np.tensordot(a, b, dims)),
    product("tensordot", x(2, 3), x(3, 4), dims=1, variant="count", ref=lambda a, b, dims: np.tensordot(a, b, dims)),
    product("nn.functional.linear", x(2, 3), x(4, 3), x(4), ref=linear, empty=[(0, 3), (4, 3), (4,)]),
    product("nn.functional.linear", x(2, 5, 3), x(4, 3), variant="no_bias", ref=linear),
    product(
        "nn.functional.bilinear",
        x(2, 3),
        x(2, 4),
        x(5, 3, 4),
        complex=False,
        ref=lambda a, b, w: np.einsum("bi,oij,bj->bo", a, w, b),
    ),
    product("cross", x(2, 3), x(2, 3), dim=1, ref=lambda a, b, dim: np.cross(a, b), alias=True),
]
