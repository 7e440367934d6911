"""Factorisations, systems and spectra. Vectors that are free in sign or phase are compared by what does not depend on it."""

from functools import partial

import numpy as np

from op_cases._case import case
from op_cases._inputs import data, x

REFUSED = {"half": "refused, as in PyTorch"}
RANK = {**REFUSED, "expanded": "equal rows: a matrix of rank 1"}
over = partial(case, complex=True, skip=REFUSED)


def shifted(lib, a):
    """Matrices that are well conditioned, with well separated spectra."""
    i = lib.arange(5.0, **({} if lib is np else {"device": a.device}))
    shift = lib.diag((1 - 2 * (i % 2)) * (3 + i * (i + 3) / 2))[: a.shape[-2], : a.shape[-1]]  # 3, -5, 8, -12, 17
    return a + (shift if lib is np else shift.to(a.dtype))


def hermitian(lib, a):
    return shifted(lib, a + adjoint(a))


def positive(lib, a):
    return a @ adjoint(a) + (np.eye(a.shape[-1]) if lib is np else lib.eye(a.shape[-1], dtype=a.dtype, device=a.device))


def outer_shifted(lib, a):
    """The same, of matrices in dimensions 0 and 2."""
    return shifted(lib, a.swapaxes(0, 1)).swapaxes(0, 1)


def plain(lib, a):
    return a


def adjoint(a):
    return a.swapaxes(-1, -2).conj()


def projectors(v):
    """One for each column: free of its phase."""
    return v[..., :, None, :] * v[..., None, :, :].conj()


def matrix(name, domain, *inputs, see=lambda lib, y: y, ref=None, variant="", path="linalg", **options):
    """`linalg.name(domain(a), ...)`, of which `see` shows what is determined; NumPy's function of the same name is the reference."""
    numpy = ref or getattr(np.linalg, name, None)

    def call(ad, a, *rest, **kwargs):
        function = getattr(getattr(ad, path) if path else ad, name)
        return see(ad, function(domain(ad, a), *rest, **kwargs))

    def reference(a, *rest, **kwargs):
        return see(np, numpy(domain(np, a), *rest, **{**kwargs}))

    full = f"{path}.{name}" if path else name
    return over(full, *inputs, **{"variant": variant, "call": call, "ref": numpy and reference, **options})


def eigen(lib, y):
    values, vectors = y
    return values, projectors(vectors)


def by_real_part(lib, y):
    """Eigenvalues are in no order."""
    values, vectors = y
    order = values.real.argsort(-1)
    take = np.take_along_axis if lib is np else lib.take_along_dim
    return take(values, order, -1), projectors(take(vectors, order[..., None, :], -1))


def singular(lib, y):
    u, s, vh = y
    k = s.shape[-1]
    u, vh = u[..., :k], vh[..., :k, :]
    return s, projectors(u), u[..., :, None, :] * vh.swapaxes(-1, -2)[..., None, :, :], projectors(adjoint(vh))


def thin(a, full_matrices=False):
    return np.linalg.svd(a, full_matrices=full_matrices)


def triangle(a, b, upper=False, left=True, unitriangular=False):
    t = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        t = t - np.diag(np.diag(t)) + np.eye(len(t))
    return np.linalg.solve(t, b) if left else adjoint(np.linalg.solve(adjoint(t), adjoint(b)))


def factor(lib, a):
    """What a Cholesky factor may be; PyTorch is wrong for others."""
    return lib.tril(a, -1) + 2 * positive(lib, 0 * a)


def product(a):
    return a @ adjoint(a)


def reflections(a, tau):
    q = np.eye(a.shape[-2])
    for i in range(tau.shape[-1]):
        v = np.concatenate([np.zeros((*a.shape[:-2], i)), np.ones((*a.shape[:-2], 1)), a[..., i + 1 :, i]], -1)
        q = q @ (np.eye(a.shape[-2]) - tau[..., i, None, None] * v[..., :, None] * v[..., None, :].conj())
    return q


def reflected(a, tau, c, left=True, transpose=False):
    q = adjoint(reflections(a, tau)) if transpose else reflections(a, tau)
    return q @ c if left else c @ q


def solved_symmetric(ad, a, b, shape, **options):
    return ad.linalg.ldl_solve(*ad.linalg.ldl_factor(shape(ad, a), **options), b, **options)


def symmetric(lib, a):
    return shifted(lib, a + a.swapaxes(-1, -2))


def low_rank(lib, a):
    """Of rank 2, wherever the inputs are."""
    return a[:, :2] @ a[2:, :]


def exponential(a):
    values, vectors = np.linalg.eig(a)
    y = vectors * np.exp(values)[..., None, :] @ np.linalg.inv(vectors)
    return y if np.iscomplexobj(a) else y.real


def logdet(a):
    return np.log(np.linalg.det(a))


def first(lib, y):
    return y[0]


def largest(a, b=None):
    """The largest pair of a x = lambda b x."""
    root = np.eye(a.shape[-1]) if b is None else np.linalg.cholesky(b)
    half = np.linalg.inv(root)
    values, vectors = np.linalg.eigh(half @ a @ adjoint(half))
    return values[..., -1:], (adjoint(half) @ vectors)[..., -1:]


CASES = [
    matrix("cholesky", positive, x(3, 3), empty=[(2, 0, 0)]),
    matrix("cholesky", positive, x(2, 3, 3), variant="batch", empty=[(0, 3, 3)]),
    matrix("cholesky", positive, x(3, 3), upper=True, variant="upper", ref=lambda a, upper: adjoint(np.linalg.cholesky(a))),
    over("cholesky_solve", x(3, 2), x(3, 3), call=lambda ad, b, a: ad.cholesky_solve(b, factor(ad, a)), ref=lambda b, a: np.linalg.solve(product(factor(np, a)), b)),
    over("cholesky_inverse", x(3, 3), call=lambda ad, a: ad.cholesky_inverse(factor(ad, a)), ref=lambda a: np.linalg.inv(product(factor(np, a)))),
    matrix("lu_factor", shifted, x(3, 3), see=first, empty=[(2, 0, 0)]),
    matrix("lu_factor", plain, x(2, 4, 3), see=first, variant="tall", empty=[(2, 3, 0)]),
    matrix("lu_factor", plain, x(3, 5), see=first, variant="wide", empty=[(0, 3, 5)], skip=RANK),
    matrix("lu", shifted, x(2, 3, 3), see=lambda lib, y: y[1:]),
    matrix("qr", shifted, x(3, 3), see=lambda lib, y: tuple(y), empty=[(2, 0, 0)]),
    matrix("qr", plain, x(2, 4, 3), see=lambda lib, y: tuple(y), variant="tall", skip=RANK),
    matrix("qr", plain, x(3, 5), see=lambda lib, y: tuple(y), variant="wide", skip=RANK),
    matrix("solve", shifted, x(3, 3), x(3, 2), empty=[(2, 0, 0), (2, 0, 3)]),
    matrix("solve", shifted, x(3, 3), x(3), variant="vector"),
    matrix("solve", shifted, x(2, 1, 3, 3), x(4, 3, 2), variant="broadcast"),
    matrix("solve", shifted, x(3, 3), x(2, 3), left=False, variant="right", ref=lambda a, b, left: b @ np.linalg.inv(a)),
    matrix("solve_triangular", shifted, x(3, 3), x(3, 2), upper=False, ref=triangle, empty=[(2, 0, 0), (2, 0, 3)]),
    matrix("solve_triangular", shifted, x(3, 3), x(2, 3), upper=True, left=False, variant="right", ref=triangle),
    matrix("solve_triangular", plain, x(3, 3), x(3, 2), upper=True, unitriangular=True, variant="unit", ref=triangle),
    matrix("solve_triangular", shifted, x(2, 1, 3, 3), x(4, 3, 2), upper=True, variant="broadcast"),
    over("linalg.ldl_solve", data(3, 3), x(3, 2), call=lambda ad, a, b: solved_symmetric(ad, a, b, symmetric), ref=lambda a, b: np.linalg.solve(symmetric(np, a), b)),
    over("linalg.ldl_solve", data(3, 3), x(3, 2), variant="hermitian", call=lambda ad, a, b: solved_symmetric(ad, a, b, hermitian, hermitian=True), ref=lambda a, b: np.linalg.solve(hermitian(np, a), b)),
    over("linalg.lu_solve", x(3, 2), x(3, 3), call=lambda ad, b, a: ad.linalg.lu_solve(*ad.linalg.lu_factor(shifted(ad, a)), b), ref=lambda b, a: np.linalg.solve(shifted(np, a), b)),
    matrix("inv", shifted, x(3, 3), empty=[(2, 0, 0)]),
    matrix("inv", shifted, x(2, 4, 4), variant="batch", empty=[(0, 4, 4)]),
    matrix("det", plain, x(1, 1), variant="1"),
    matrix("det", plain, x(2, 2), variant="2"),
    matrix("det", plain, x(2, 3, 3), variant="3", empty=[(0, 3, 3)]),
    matrix("det", plain, x(5, 5), variant="5"),
    matrix("det", shifted, x(2, 4, 4), variant="batch", empty=[(2, 0, 0)]),
    matrix("slogdet", shifted, x(3, 3), see=lambda lib, y: tuple(y), empty=[(2, 0, 0)]),
    matrix("slogdet", shifted, x(2, 4, 4), see=lambda lib, y: tuple(y), variant="batch"),
    matrix("logdet", positive, x(2, 3, 3), path="", ref=logdet),
    matrix("eigh", hermitian, x(3, 3), see=eigen, empty=[(2, 0, 0)]),
    matrix("eigh", hermitian, x(2, 4, 4), see=eigen, variant="batch"),
    matrix("eigvalsh", hermitian, x(2, 3, 3)),
    matrix("lobpcg", hermitian, x(3, 3), see=eigen, path="", ref=largest),
    over("lobpcg", x(2, 4, 4), x(4, 4), variant="generalised", call=lambda ad, a, b: eigen(ad, ad.lobpcg(hermitian(ad, a), 1, positive(ad, b))), ref=lambda a, b: eigen(np, largest(hermitian(np, a), positive(np, b)))),
    matrix("eig", shifted, x(3, 3), see=by_real_part),
    matrix("eig", shifted, x(2, 4, 4), see=by_real_part, variant="batch", empty=[(0, 4, 4)]),
    matrix("eigvals", shifted, x(3, 3), see=lambda lib, y: (y**3).sum(-1)),
    matrix("svd", shifted, x(3, 3), see=singular, ref=thin, empty=[(2, 0, 0)]),
    matrix("svd", plain, x(2, 4, 3), see=singular, full_matrices=False, variant="tall", skip=RANK),
    matrix("svd", plain, x(3, 5), see=singular, full_matrices=True, variant="wide", skip=RANK),
    matrix("svdvals", shifted, x(2, 4, 3), ref=lambda a: np.linalg.svd(a, compute_uv=False)),
    matrix("matrix_norm", shifted, x(3, 3), "nuc", variant="nuc", ref=np.linalg.norm),
    matrix("matrix_norm", shifted, x(2, 3, 3), 2, variant="2", ref=lambda a, p: np.linalg.norm(a, p, (-2, -1))),
    over("linalg.matrix_norm", x(3, 2, 3), -2, dim=(0, 2), keepdim=True, variant="-2", call=lambda ad, a, p, dim, keepdim: ad.linalg.matrix_norm(outer_shifted(ad, a), p, dim, keepdim), ref=lambda a, p, dim, keepdim: np.linalg.norm(outer_shifted(np, a), p, dim, keepdims=True)),
    matrix("matrix_power", shifted, x(3, 3), -2, variant="inverse"),
    matrix("tensorinv", plain, x(2, 3, 6), skip=RANK),
    matrix("tensorsolve", plain, x(2, 3, 6), x(2, 3), skip=RANK),
    matrix("householder_product", plain, x(4, 3), x(2), ref=lambda a, tau: reflections(a, tau)[:, : a.shape[1]], empty=[(2, 0), (0,)]),
    matrix("householder_product", plain, x(2, 3, 3), x(2, 3), variant="batch", ref=reflections, empty=[(0, 3, 3), (0, 3)]),
    matrix("ormqr", plain, x(4, 3), x(3), x(4, 2), path="", ref=reflected, empty=[(2, 0), (0,), (2, 3)]),
    matrix("ormqr", plain, x(4, 3), x(3), x(2, 4), False, True, path="", variant="right", ref=reflected),
    matrix("ormqr", plain, x(2, 3, 5), x(2, 3), x(2, 3, 2), True, True, path="", variant="adjoint", ref=reflected),
    matrix("ormqr", plain, x(3, 2), x(2), x(2, 3), False, path="", variant="right, wide", ref=reflected),
    matrix("triangular_solve", plain, x(3, 2), x(3, 3), path="", see=first),
    matrix("matrix_exp", plain, x(3, 3), empty=[(2, 0, 0)], ref=exponential),
    matrix("matrix_exp", shifted, x(2, 4, 4), variant="batch", ref=exponential),
    matrix("pinv", plain, x(4, 3), skip=RANK),
    matrix("pinv", plain, x(2, 3, 5), variant="wide", skip=RANK),
    matrix("pinv", low_rank, x(4, 4), rtol=1e-4, variant="low_rank", skip=RANK, ref=lambda a, rtol: np.linalg.pinv(a, rtol)),
    matrix("pinv", hermitian, x(3, 3), hermitian=True, variant="hermitian"),
    matrix("lstsq", plain, x(5, 3), x(5, 2), see=first, skip=RANK),
    matrix("lstsq", plain, x(2, 3, 4), x(2, 3, 1), see=first, variant="wide", skip=RANK, ref=lambda a, b: [np.linalg.pinv(a) @ b]),
    matrix("cond", shifted, x(2, 3, 3)),
    matrix("cond", shifted, x(3, 3), 1, variant="1"),
    matrix("vander", plain, x(2, 3), N=4, ref=lambda a, N: a[..., None] ** np.arange(N)),
]  # fmt: skip
