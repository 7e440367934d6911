"""Reading and writing at positions."""

from functools import partial

import numpy as np

from op_cases._case import case
from op_cases._inputs import fixed, idx, mask, perm, x

at = partial(case, complex=True)
DATA_DEPENDENT = "the shape of the result depends on the data"
BATCHED_MASK = "a batched mask selects another number of elements in each member"
UNBATCHED = {"vmap_alone": "a batched number cannot be written into a tensor that is not batched"}


def gather(x, dim, index):
    return np.take_along_axis(x, index, dim)


def written(x, where, values, add=False):
    y = np.array(x, dtype=np.result_type(x, values))
    (np.add.at if add else np.ndarray.__setitem__)(y, where, values)
    return y


def along(dim, index):
    """The position that `gather` reads for each element of `index`."""
    where = list(np.indices(index.shape))
    where[dim] = index
    return tuple(where)


def scatter(x, dim, index, src):
    return written(x, along(dim, index), src)


def scatter_add(x, dim, index, src):
    return written(x, along(dim, index), np.broadcast_to(src, index.shape), add=True)


def assign(ad, x, where, values):
    """`x[where] = values` on a copy."""
    y = x.clone()
    y[where] = values
    return y


CASES = [
    at("index_select", x(3, 4), dim=0, index=idx(5, hi=3), ref=lambda x, dim, index: x[index], empty=[(3, 4), (0,)]),
    at("index_select", x(3, 4), dim=1, index=idx(5, hi=4), variant="last", ref=lambda x, dim, index: x[:, index]),
    at("gather", x(3, 4), dim=1, index=idx(3, 5, hi=4), ref=gather, empty=[(3, 4), (3, 0)]),
    at("gather", x(3, 4), dim=0, index=idx(2, 4, hi=3), variant="first", ref=gather),
    at("take_along_dim", x(3, 4), idx(3, 2, hi=4), dim=1, ref=lambda x, index, dim: gather(x, dim, index)),
    at("take", x(3, 4), idx(2, 3, hi=12), ref=np.take),
    at("scatter", x(3, 4), 1, perm(3, 2, hi=4), x(3, 2), inplace=True, ref=scatter),
    at("scatter", x(3, 4), 1, perm(3, 2, hi=4), 0.5, variant="value", inplace=True, ref=scatter),
    at("scatter_add", x(3, 4), 1, idx(3, 5, hi=4), x(3, 5), inplace=True, ref=scatter_add, empty=[(3, 4), (3, 0), (3, 0)]),
    at(
        "index_add",
        x(3, 4),
        0,
        idx(5, hi=3),
        x(5, 4),
        inplace=True,
        ref=lambda x, dim, index, source: written(x, index, source, add=True),
    ),
    at(
        "index_add",
        x(3, 4),
        1,
        idx(2, hi=4),
        x(3, 2),
        alpha=0.5,
        variant="alpha",
        inplace=True,
        ref=lambda x, dim, index, source, alpha: written(x, (slice(None), index), alpha * source, add=True),
    ),
    at(
        "index_copy",
        x(3, 4),
        0,
        perm(2, hi=3),
        x(2, 4),
        inplace=True,
        ref=lambda x, dim, index, source: written(x, index, source),
    ),
    at("index_fill", x(3, 4), 0, perm(2, hi=3), 0.5, inplace=True, ref=lambda x, dim, index, value: written(x, index, value)),
    at("index_put", x(3, 4), (perm(2, hi=3),), x(2, 4), inplace=True, ref=lambda x, where, values: written(x, where, values)),
    at(
        "index_put",
        x(3, 4),
        (idx(5, hi=3), idx(5, hi=4)),
        x(5),
        accumulate=True,
        variant="accumulate",
        inplace=True,
        ref=lambda x, where, values, accumulate: written(x, where, values, add=True),
    ),
    at(
        "index_put",
        x(3, 4),
        (mask(3, 4),),
        x(),
        variant="mask",
        inplace=True,
        no_batch=BATCHED_MASK,
        ref=lambda x, where, values: written(x, where, values),
    ),
    at("masked_select", x(3, 4), mask(3, 4), ref=lambda x, m: x[m], no_batch=DATA_DEPENDENT),
    at("masked_scatter", x(3, 4), mask(3, 4), x(12), inplace=True, ref=lambda x, m, s: written(x, m, s[: m.sum()])),
    at(
        "Tensor.__getitem__",
        x(3, 4),
        mask(3, 4),
        variant="mask",
        ref=lambda x, m: x[m],
        no_batch=DATA_DEPENDENT,
        records=("masked_select", "index"),
    ),
    at("Tensor.__getitem__", x(3, 4), mask(3), variant="row_mask", ref=lambda x, m: x[m], no_batch=DATA_DEPENDENT),
    at("Tensor.__getitem__", x(3, 4), idx(5, hi=3), variant="indices", ref=lambda x, i: x[i], empty=[(3, 4), (0,)]),
    at("Tensor.__getitem__", x(3, 4), (idx(2, 1, hi=3), idx(2, hi=4)), variant="pairs", ref=lambda x, i: x[i]),
    at("Tensor.__getitem__", x(2, 3, 4), (idx(2, hi=2), slice(None), idx(2, hi=4)), variant="apart", ref=lambda x, i: x[i]),
    at("Tensor.__getitem__", x(2, 3, 4), (slice(1, None), idx(2, hi=3), None), variant="slice_indices", ref=lambda x, i: x[i]),
    at("Tensor.__setitem__", x(3, 4), (slice(None), 1), x(3), variant="slice", call=assign, ref=written, skip=UNBATCHED),
    at("Tensor.__setitem__", x(3, 4), perm(2, hi=3), x(2, 4), variant="indices", call=assign, ref=written, skip=UNBATCHED),
    at("Tensor.__setitem__", x(3, 4), mask(3, 4), 0.5, variant="mask", call=assign, ref=written, no_batch=BATCHED_MASK),
    at(
        "Tensor.__setitem__",
        x(3, 4),
        (Ellipsis, slice(0, 4, 2)),
        x(),
        variant="broadcast",
        call=assign,
        ref=written,
        skip=UNBATCHED,
    ),
    at("nn.functional.embedding", idx(2, 3, hi=5), x(5, 4), ref=lambda i, w: w[i], complex=False, empty=[(0,), (5, 4)]),
    at(
        "nn.functional.embedding",
        fixed([[0, 1], [2, 1]]),
        x(5, 4),
        padding_idx=1,
        variant="padding",
        complex=False,
        ref=lambda i, w, padding_idx: w[i],
        skip={
            cell: "the padding row is given no gradient: the derivative is wrong on purpose"
            for cell in ("adjoint", "order1", "forward_over_reverse", "reverse_over_forward", "forward_over_forward")
        },
    ),
    at("select_scatter", x(3, 4), x(4), 0, 1, ref=lambda x, s, dim, i: written(x, 1, s)),
    at("slice_scatter", x(3, 4), x(3, 2), 1, 1, 3, ref=lambda x, s, dim, a, b: written(x, (slice(None), slice(1, 3)), s)),
    at("diagonal_scatter", x(3, 3), x(3), ref=lambda x, s: written(x, np.diag_indices(3), s)),
    at(
        "scatter_reduce",
        x(3, 4),
        1,
        idx(3, 5, hi=4),
        x(3, 5),
        reduce="sum",
        complex=False,
        inplace=True,
        ref=lambda x, dim, index, src, reduce: scatter_add(x, dim, index, src),
    ),
    at(
        "scatter_reduce",
        x(3, 4),
        1,
        idx(3, 5, hi=4),
        x(3, 5),
        reduce="amax",
        variant="amax",
        complex=False,
        skip={"expanded": "ties"},
    ),
    at("scatter_reduce", x(3, 4), 1, idx(3, 5, hi=4), x(3, 5), reduce="mean", variant="mean", complex=False),
    at(
        "Tensor.copy_",
        x(3, 4),
        x(4),
        call=lambda ad, x, y: x.clone().copy_(y),
        ref=lambda x, y: np.broadcast_to(y, x.shape),
        skip=UNBATCHED,
    ),
    at(
        "Tensor.fill_",
        x(3, 4),
        x(),
        call=lambda ad, x, v: x.clone().fill_(v),
        ref=lambda x, v: np.full(x.shape, v),
        skip=UNBATCHED,
    ),
    at("Tensor.zero_", x(3, 4), call=lambda ad, x: x.clone().zero_(), ref=np.zeros_like),
]
