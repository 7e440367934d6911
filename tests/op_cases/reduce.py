"""Reductions."""

from functools import partial

import numpy as np

from op_cases._case import case
from op_cases._inputs import data, mask, nonzero, x

over = partial(case, complex=True)


def norm(x, p=2, dim=None, keepdim=False):
    a = np.abs(x)
    if p == np.inf:
        return a.max(dim, keepdims=keepdim)
    if p == 0:
        return (a != 0).astype(float).sum(dim, keepdims=keepdim)
    return (a**p).sum(dim, keepdims=keepdim) ** (1 / p)


def logsumexp(x, dim, keepdim=False):
    return np.log(np.exp(x).sum(dim, keepdims=keepdim))


CASES = [
    over("sum", x(3, 4), ref=np.sum, empty=[(0, 4)], scalar=[()]),
    over("sum", x(3, 4), dim=1, variant="dim", ref=lambda x, dim: x.sum(dim), empty=[(0, 4)], scalar=None),
    over("sum", x(2, 3, 4), dim=(0, -1), keepdim=True, variant="dims", ref=lambda x, dim, keepdim: x.sum(dim, keepdims=True)),
    over("mean", x(3, 4), ref=np.mean, scalar=[()]),
    over(
        "mean",
        x(3, 4),
        dim=0,
        keepdim=True,
        variant="dim",
        ref=lambda x, dim, keepdim: x.mean(dim, keepdims=True),
        empty=[(3, 0)],
    ),
    over(
        "prod",
        x(3, 4),
        ref=np.prod,
        empty=[(0, 4)],
        scalar=[()],
        kinks=[([[0.0, 2.0, 3.0]], [[6.0, 0.0, 0.0]]), ([[0.0, 0.0, 3.0]], [[0.0, 0.0, 0.0]])],
    ),
    over(
        "prod",
        x(3, 4),
        dim=1,
        variant="dim",
        ref=lambda x, dim: x.prod(dim),
        empty=[(0, 4)],
        kinks=[([[[0.0, 2.0], [0.0, 0.0]]], [[[2.0, 0.0], [0.0, 0.0]]])],
    ),
    over("var", x(3, 4), ref=lambda x: np.var(x, ddof=1)),
    over("var", x(3, 4), dim=1, correction=0, variant="dim", ref=lambda x, dim, correction: np.var(x, dim)),
    over("std", x(3, 4), ref=lambda x: np.std(x, ddof=1)),
    over("std", x(3, 4), dim=0, keepdim=True, variant="dim", ref=lambda x, dim, keepdim: np.std(x, dim, ddof=1, keepdims=True)),
    over("var_mean", x(3, 4), dim=1, ref=lambda x, dim: (np.var(x, dim, ddof=1), np.mean(x, dim))),
    over("norm", x(3, 4), ref=norm, empty=[(0, 4)], scalar=[()], kinks=[([[0.0, 0.0]], [[0.0, 0.0]])]),
    over("norm", nonzero(3, 4), p=1, dim=1, variant="1", ref=norm, kinks=[([[[0.0, -2.0]]], [[[0.0, -1.0]]])]),
    over("norm", x(3, 4), p=np.inf, dim=1, variant="inf", ref=norm, kinks=[([[[2.0, -2.0, 1.0]]], [[[0.5, -0.5, 0.0]]])]),
    over("norm", x(3, 4), p=0, dim=1, variant="0", ref=norm),
    over("norm", nonzero(3, 4), p=3, dim=1, keepdim=True, variant="3", ref=norm),
    over("linalg.vector_norm", x(3, 4), dim=1, ref=lambda x, dim: norm(x, dim=dim), empty=[(0, 4)]),
    over("linalg.norm", x(3, 4), ref=norm),
    case(
        "amax",
        x(3, 4),
        dim=1,
        ref=lambda x, dim: x.max(dim),
        empty=[(0, 4)],
        kinks=[([[[1.0, 2.0, 2.0]]], [[[0.0, 0.5, 0.5]]])],
    ),
    case(
        "amin",
        x(2, 3, 4),
        dim=(0, 2),
        keepdim=True,
        ref=lambda x, dim, keepdim: x.min(dim, keepdims=True),
        kinks=[([[[[1.0, 1.0, 2.0]]]], [[[[0.5, 0.5, 0.0]]]])],
    ),
    case("max", x(3, 4), variant="all", ref=np.max, scalar=[()], kinks=[([[1.0, 2.0, 2.0]], [[0.0, 0.5, 0.5]])]),
    case("max", x(3, 4), dim=1, variant="dim", ref=lambda x, dim: (x.max(dim), x.argmax(dim)), empty=[(0, 4)]),
    case("min", x(3, 4), variant="all", ref=np.min, scalar=[()]),
    case(
        "min",
        x(3, 4),
        dim=0,
        keepdim=True,
        variant="dim",
        ref=lambda x, dim, keepdim: (x.min(dim, keepdims=True), x.argmin(dim, keepdims=True)),
    ),
    case("aminmax", x(3, 4), dim=1, ref=lambda x, dim: (x.min(dim), x.max(dim))),
    case("argmax", data(3, 4), dim=1, ref=lambda x, dim: x.argmax(dim)),
    case("argmin", data(3, 4), ref=np.argmin),
    case("all", mask(3, 4), dim=1, ref=lambda x, dim: x.all(dim), empty=[(3, 0)]),
    case("any", mask(3, 4), dim=0, ref=lambda x, dim: x.any(dim), empty=[(0, 4)]),
    case("any", mask(3, 4), variant="all", ref=np.any, scalar=[()]),
    case("count_nonzero", mask(3, 4), dim=1, ref=lambda x, dim: np.count_nonzero(x, dim)),
    case("logsumexp", x(3, 4), dim=1, ref=logsumexp, empty=[(0, 4)], complex=True),
    case("logsumexp", x(2, 3, 4), dim=(0, 2), keepdim=True, complex=True, variant="dims", ref=logsumexp),
    case("median", x(3, 5), dim=1, ref=lambda x, dim: (np.median(x, dim), np.argsort(x, dim).take(2, dim))),
    case("nanmedian", x(3, 5), dim=0, ref=lambda x, dim: (np.nanmedian(x, dim), np.argsort(x, dim).take(1, dim))),
    over("trace", x(3, 4), ref=np.trace),
    over(
        "nansum",
        x(3, 4),
        dim=1,
        ref=lambda x, dim: np.nansum(x, dim),
        complex=False,
        kinks=[([[[np.nan, 1.0]]], [[[0.0, 1.0]]])],
    ),
]
