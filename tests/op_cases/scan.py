"""Running reductions, sorting and selection by rank."""

import numpy as np

from op_cases._case import case
from op_cases._inputs import data, fixed, x

TIES = {"expanded": "ties: which of equal numbers is taken is not promised"}


def top(x, k, dim=-1, largest=True):
    order = np.argsort(-x if largest else x, axis=dim, kind="stable").take(range(k), dim)
    return np.take_along_axis(x, order, dim), order


CASES = [
    case("cumsum", x(3, 4), dim=1, ref=lambda x, dim: x.cumsum(dim), complex=True, inplace=True, empty=[(0, 4)], scalar=None),
    case("cumsum", x(3, 4), dim=0, variant="first", ref=lambda x, dim: x.cumsum(dim), complex=True, inplace=True),
    case(
        "cumprod",
        x(3, 4),
        dim=1,
        ref=lambda x, dim: x.cumprod(dim),
        complex=True,
        inplace=True,
        empty=[(0, 4)],
        kinks=[([[[2.0, 0.0, 3.0]]], [[[1.0, 8.0, 0.0]]]), ([[[0.0, 2.0, 0.0]]], [[[3.0, 0.0, 0.0]]])],
    ),
    case("logcumsumexp", x(3, 4), dim=1, ref=lambda x, dim: np.log(np.exp(x).cumsum(dim)), complex=True, inplace=False),
    case(
        "cummax",
        x(3, 4),
        dim=1,
        ref=lambda x, dim: np.maximum.accumulate(x, dim),
        call=lambda ad, x, dim: ad.cummax(x, dim)[0],
        skip=TIES,
    ),
    case(
        "cummin",
        x(3, 4),
        dim=0,
        ref=lambda x, dim: np.minimum.accumulate(x, dim),
        call=lambda ad, x, dim: ad.cummin(x, dim)[0],
        skip=TIES,
    ),
    case("diff", x(3, 4), dim=1, ref=lambda x, dim: np.diff(x, axis=dim), complex=True),
    case("sort", x(3, 4), dim=1, ref=lambda x, dim: (np.sort(x, dim), np.argsort(x, dim)), empty=[(0, 4)], skip=TIES),
    case(
        "sort",
        x(3, 4),
        dim=0,
        descending=True,
        stable=True,
        variant="descending",
        ref=lambda x, dim, descending, stable: top(x, 3, dim),
        skip=TIES,
    ),
    case("argsort", data(3, 4), dim=1, ref=lambda x, dim: np.argsort(x, dim)),
    case("topk", x(3, 4), 2, ref=top, skip=TIES),
    case("topk", x(4, 3), 2, dim=0, largest=False, variant="smallest", ref=top, skip=TIES),
    case("kthvalue", x(3, 5), 2, ref=lambda x, k: (np.sort(x, -1)[:, k - 1], np.argsort(x, -1)[:, k - 1]), skip=TIES),
    case("unique", x(5), ref=np.unique, no_batch="the shape of the result depends on the data", skip=TIES),
    case(
        "unique",
        fixed([3.0, 1.0, 3.0, 2.0, 1.0]),
        variant="repeated",
        ref=np.unique,
        no_batch="the shape of the result depends on the data",
    ),
    case(
        "unique",
        fixed([3, 1, 3, 2, 1]),
        return_inverse=True,
        return_counts=True,
        variant="inverse",
        ref=lambda x, **k: np.unique(x, **k),
        no_batch="the shape of the result depends on the data",
    ),
    case("bincount", fixed([3, 1, 3, 2, 1]), ref=np.bincount, no_batch="the shape of the result depends on the data"),
    case("searchsorted", fixed([0.0, 1.0, 2.0]), data(4), ref=np.searchsorted, no_batch="PyTorch has no batching rule"),
    *(
        case(
            "searchsorted",
            fixed([0.0, 1.0, np.inf, np.nan, np.nan]),
            fixed([-1.0, 1.0, 2.0, np.inf, np.nan]),
            right=right,
            variant=f"nan {right}",
            ref=lambda x, v, right: np.searchsorted(x, v, "right" if right else "left"),
            no_batch="PyTorch has no batching rule",
        )
        for right in (False, True)
    ),
    case(
        "nonzero",
        fixed([0.0, 1.0, 0.0, 2.0]),
        ref=lambda x: np.argwhere(x),
        no_batch="the shape of the result depends on the data",
    ),
]
