"""Views, copies and rearrangements."""

from functools import partial

import numpy as np

from op_cases._case import BATCH_CELLS, case
from op_cases._inputs import mask, x

move = partial(case, complex=True)
VIEW = {
    "transposed": "view needs compatible strides",
    "strided": "view needs compatible strides",
    "expanded": "view needs compatible strides",
}

UNBATCHED = {cell: "the strides of a batched tensor are not its own" for cell in BATCH_CELLS}


def strided(x, size, stride, offset=0):
    flat = np.ravel(x)
    where = offset + sum(
        np.arange(n).reshape([-1] + [1] * (len(size) - 1 - i)) * s for i, (n, s) in enumerate(zip(size, stride))
    )
    return flat[where]


CASES = [
    move("reshape", x(3, 4), (2, -1), ref=np.reshape, scalar=None),
    move("Tensor.reshape_as", x(3, 4), x(2, 6), ref=lambda x, y: x.reshape(2, 6)),
    move("Tensor.view", x(3, 4), 2, 6, ref=lambda x, *s: x.reshape(s), skip=VIEW),
    case(
        "Tensor.view",
        mask(3, 4),
        variant="dtype",
        call=lambda ad, x: x.view(ad.uint8),
        ref=lambda x: x.view(np.uint8),
        records=("view_dtype",),
    ),
    move("Tensor.expand", x(3, 1), 2, 3, 4, ref=lambda x, *s: np.broadcast_to(x, s), empty=[(3, 1)]),
    move("Tensor.expand_as", x(4), x(3, 4), ref=lambda x, y: np.broadcast_to(x, y.shape)),
    move("broadcast_to", x(1, 4), (3, 4), ref=np.broadcast_to),
    move("permute", x(2, 3, 4), (2, 0, -2), ref=np.transpose, empty=[(0, 3, 4)]),
    move("transpose", x(2, 3, 4), 0, -1, ref=np.swapaxes, empty=[(0, 3, 4)], inplace=False),
    move("t", x(3, 4), ref=np.transpose),
    move("Tensor.T", x(3, 4), call=lambda ad, x: x.T, ref=np.transpose),
    move("Tensor.mT", x(2, 3, 4), call=lambda ad, x: x.mT, ref=lambda x: x.swapaxes(-1, -2)),
    move("Tensor.mH", x(2, 3, 4), call=lambda ad, x: x.mH, ref=lambda x: x.swapaxes(-1, -2).conj()),
    move("movedim", x(2, 3, 4), (0, 1), (-1, 0), ref=np.moveaxis),
    move("squeeze", x(1, 3, 1), ref=np.squeeze, scalar=[()]),
    move("squeeze", x(1, 3, 1), 0, variant="dim", ref=np.squeeze),
    move("unsqueeze", x(3, 4), -1, ref=np.expand_dims, scalar=[()], empty=[(0, 4)]),
    move("flatten", x(2, 3, 4), 1, ref=lambda x, start: x.reshape(2, 12), empty=None),
    move("flatten", x(3, 4), variant="all", ref=np.ravel, scalar=[()], empty=[(0, 4)]),
    move("unflatten", x(3, 4), 1, (2, 2), ref=lambda x, dim, sizes: x.reshape(3, 2, 2)),
    move("narrow", x(3, 4), 1, 1, 2, ref=lambda x, dim, start, length: x[:, 1:3], empty=[(0, 4)]),
    move("select", x(3, 4), 0, -1, ref=lambda x, dim, i: x[-1], empty=[(3, 0)]),
    move("Tensor.__getitem__", x(3, 4), (slice(None), slice(1, None, 2)), variant="slice", ref=lambda x, i: x[i]),
    move("Tensor.__getitem__", x(3, 4), (1, None, Ellipsis, slice(0, 2)), variant="mixed", ref=lambda x, i: x[i]),
    move("Tensor.__getitem__", x(3, 4), (slice(2, 2),), variant="empty", ref=lambda x, i: x[i]),
    move("unbind", x(3, 4), 0, ref=lambda x, dim: tuple(x)),
    move("split", x(5, 2), 2, ref=lambda x, size: (x[:2], x[2:4], x[4:])),
    move("split", x(2, 5), [1, 4], dim=1, variant="sizes", ref=lambda x, sizes, dim: (x[:, :1], x[:, 1:])),
    move("chunk", x(5, 2), 2, ref=lambda x, n: (x[:3], x[3:])),
    move("tensor_split", x(5, 2), 2, ref=lambda x, n: (x[:3], x[3:])),
    move("cat", [x(2, 3), x(1, 3)], dim=0, ref=lambda xs, dim: np.concatenate(xs, dim), empty=[(0, 3), (1, 3)]),
    move("cat", [x(2, 3), x(2, 1), x(2, 2)], dim=-1, variant="last", ref=lambda xs, dim: np.concatenate(xs, dim)),
    move(
        "stack",
        [x(2, 3), x(2, 3)],
        dim=1,
        ref=lambda xs, dim: np.stack(xs, dim),
        alias=True,
        empty=[(0, 3), (0, 3)],
        scalar=None,
    ),
    move("stack", [x(), x()], variant="0d", ref=np.stack, alias=True),
    move("hstack", [x(2, 3), x(2, 1)], ref=np.hstack),
    move("vstack", [x(2, 3), x(3)], ref=np.vstack),
    move("flip", x(2, 3, 4), (0, 2), ref=np.flip, empty=[(0, 3, 4)]),
    move("roll", x(3, 4), 2, 1, ref=np.roll, empty=[(0, 4)]),
    move("roll", x(3, 4), (1, -1), (0, 1), variant="dims", ref=np.roll),
    move("rot90", x(3, 4), 1, (0, 1), ref=np.rot90),
    move("Tensor.repeat", x(3, 4), 2, 1, 3, ref=lambda x, *n: np.tile(x, n), empty=[(0, 4)]),
    move("tile", x(3, 4), (2, 2), ref=np.tile),
    move("repeat_interleave", x(3, 4), 2, dim=1, ref=lambda x, n, dim: np.repeat(x, n, dim)),
    move("meshgrid", x(3), x(4), indexing="ij", ref=lambda *xs, indexing: np.meshgrid(*xs, indexing=indexing)),
    move("tril", x(3, 4), ref=np.tril, inplace=True, empty=[(0, 4)]),
    move("triu", x(2, 3, 4), -1, ref=np.triu, inplace=True, empty=[(0, 3, 4)]),
    move("diag", x(4), ref=np.diag),
    move("diag", x(3, 4), 1, variant="matrix", ref=np.diag),
    move("diagonal", x(3, 4), ref=np.diagonal, empty=[(0, 4)]),
    move("diagonal", x(2, 3, 4), 1, 0, 2, variant="dims", ref=np.diagonal),
    move("diag_embed", x(2, 3), ref=lambda x: x[..., None] * np.eye(3)),
    move("as_strided", x(3, 4), (2, 3), (4, 1), 1, ref=strided, skip={**VIEW, **UNBATCHED}),
    move("as_strided", x(4), (3, 2), (1, 1), variant="overlapping", ref=strided, skip={**VIEW, **UNBATCHED}),
    move("Tensor.unfold", x(3, 5), 1, 3, 2, ref=lambda x, dim, size, step: np.stack([x[:, 0:3], x[:, 2:5]], 1)),
    move("clone", x(3, 4), ref=np.copy, empty=[(0, 4)], scalar=[()]),
    move("Tensor.contiguous", x(3, 4), call=lambda ad, x: x.mT.contiguous(), ref=np.transpose),
    move("Tensor.to", x(3, 4), records=("to_dtype",), call=lambda ad, x: x.to(x.dtype, copy=True), ref=np.copy),
    move("Tensor.double", x(3, 4), complex=False, ref=np.copy, skip={"half": "the type changes", "single": "the type changes"}),
    move(
        "nn.functional.pad",
        x(3, 4),
        (1, 2, 0, 1),
        value=0.5,
        ref=lambda x, pad, value: np.pad(x, ((0, 1), (1, 2)), constant_values=0.5),
    ),
    move("nn.functional.pad", x(3, 4), (-1, 1), variant="crop", ref=lambda x, pad: np.pad(x[:, 1:], ((0, 0), (0, 1)))),
]
