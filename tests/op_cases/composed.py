"""Functions that are compositions of other operations."""

from functools import partial

import numpy as np

from op_cases._case import case
from op_cases._inputs import between, fixed, idx, positive, x

over = partial(case, complex=True)


def distances(a, b, p=2.0):
    return (np.abs(a[..., :, None, :] - b[..., None, :, :]) ** p).sum(-1) ** (1 / p)


def trapezoid(y, t=None, dx=1.0, dim=-1):
    return (getattr(np, "trapezoid", None) or np.trapz)(y, t, dx, dim)


CASES = [
    # statistics
    case("quantile", x(7), 0.3, ref=np.quantile),
    case(
        "quantile",
        x(3, 5),
        0.75,
        dim=1,
        keepdim=True,
        variant="dim",
        ref=lambda x, q, dim, keepdim: np.quantile(x, q, dim, keepdims=True),
    ),
    case("quantile", x(3, 5), 0.4, dim=0, interpolation="midpoint", variant="midpoint"),
    case("nanquantile", x(3, 5), 0.4, dim=1),
    case("nanmean", x(3, 4), ref=np.nanmean),
    case("nanmean", x(3, 4), dim=1, keepdim=True, variant="dim"),
    over("cov", x(3, 6), ref=np.cov),
    over("cov", x(6), correction=0, variant="vector", ref=lambda x, correction: np.cov(x, ddof=0)),
    over("corrcoef", x(3, 6), ref=np.corrcoef),
    over("dist", x(3, 4), x(4), ref=lambda a, b: np.linalg.norm(a - b)),
    case("cdist", x(2, 3, 4), x(2, 5, 4), ref=distances),
    case("cdist", x(3, 4), x(5, 4), p=3.0, variant="p", ref=distances),
    case("nn.functional.pdist", x(4, 3), records=("distances",)),
    over("trapezoid", x(3, 5), ref=trapezoid),
    over("trapezoid", x(3, 5), x(5), dim=1, variant="positions", ref=lambda y, t, dim: trapezoid(y, t, dim=dim)),
    over("cumulative_trapezoid", x(3, 5), dx=0.5, dim=0),
    over("gradient", x(3, 5), spacing=0.5, ref=lambda x, spacing: np.gradient(x, spacing)),
    over(
        "gradient",
        x(3, 5),
        dim=1,
        edge_order=2,
        variant="second",
        ref=lambda x, dim, edge_order: np.gradient(x, axis=dim, edge_order=2),
    ),
    # elementwise
    over(
        "float_power",
        positive(3, 4),
        1.5,
        ref=np.power,
        skip={"single": "always in double precision", "half": "always in double precision"},
    ),
    over("ldexp", x(3, 4), idx(4, hi=3)),
    case("mvlgamma", between(2.0, 4.0, 3, 4), 3),
    case("special.ndtr", x(3, 4)),
    case("special.log_ndtr", between(-20.0, 5.0, 3, 4)),
    case("special.ndtri", between(0.05, 0.95, 3, 4)),
    case("special.xlog1py", x(3, 4), positive(4), ref=lambda x, y: x * np.log1p(y)),
    # arrangements
    over("block_diag", x(2, 3), x(1, 2)),
    over("cartesian_prod", x(3), x(2)),
    over("combinations", x(4), 2),
    over("hsplit", x(3, 4), 2, ref=np.hsplit),
    over("vsplit", x(4, 3), [1, 3], ref=np.vsplit),
    over("Tensor.sum_to_size", x(2, 3, 4), 3, 1),
    over("renorm", x(3, 4), 2, 0, 1.0),
    case("Tensor.index_reduce", x(3, 4), 0, idx(5, hi=3), x(5, 4), "amax"),
    case("Tensor.index_reduce", x(3, 4), 0, idx(5, hi=3), x(5, 4), "prod", variant="prod"),
    over("permute_copy", x(2, 3, 4), (2, 0, 1), ref=np.transpose),
    over(
        "as_strided_scatter",
        x(3, 4),
        x(2, 2),
        (2, 2),
        (5, 1),
        no_batch="as_strided needs plain memory",
        skip={cell: "as_strided sees the layout" for cell in ("transposed", "strided", "expanded")},
    ),
    over(
        "constant_pad_nd",
        x(3, 4),
        (1, 2, 0, 1),
        0.5,
        ref=lambda a, pad, value: np.pad(a, [(0, 1), (1, 2)], constant_values=value),
    ),
    over("expand_copy", x(3, 1), (2, 3, 4), ref=np.broadcast_to),
    over(
        "view_copy",
        x(3, 4),
        (2, 6),
        ref=np.reshape,
        skip={cell: "a view of dense memory" for cell in ("transposed", "strided", "expanded")},
    ),
    case("frexp", positive(3, 4), ref=np.frexp, records=("mantissa", "exponent")),
    # images
    over("nn.functional.unfold", x(2, 2, 5, 6), (2, 3), padding=1, stride=2),
    over("nn.functional.fold", x(2, 12, 6), (5, 6), (2, 3), padding=(0, 1), stride=2),
    over("nn.functional.pixel_shuffle", x(2, 8, 3, 2), 2),
    over("nn.functional.pixel_unshuffle", x(2, 2, 6, 4), 2),
    over("nn.functional.channel_shuffle", x(2, 6, 3, 3), 3),
    case("nn.functional.interpolate", x(2, 2, 3, 4), scale_factor=2, records=("resize",)),
    case("nn.functional.interpolate", x(2, 2, 3, 4, 2), size=(2, 7, 3), mode="nearest-exact", variant="nearest_exact"),
    case("nn.functional.interpolate", x(2, 2, 5), scale_factor=1.7, mode="linear", variant="linear"),
    case("nn.functional.interpolate", x(1, 2, 3, 4, 9), size=(5, 4, 2), mode="trilinear", variant="trilinear"),
    case("nn.functional.interpolate", x(2, 2, 3, 4), size=(5, 7), mode="bilinear", variant="bilinear"),
    case("nn.functional.interpolate", x(2, 2, 3, 4), size=(5, 7), mode="bilinear", align_corners=True, variant="corners"),
    case("nn.functional.interpolate", x(2, 2, 3, 4), size=(5, 7), mode="bicubic", variant="bicubic"),
    case("nn.functional.interpolate", x(2, 2, 7, 9), size=(3, 4), mode="bicubic", antialias=True, variant="antialias"),
    case("nn.functional.grid_sample", x(2, 2, 4, 5), between(-1.2, 1.2, 2, 3, 3, 2), align_corners=False),
    case(
        "nn.functional.grid_sample",
        x(2, 2, 4, 5),
        between(-1.2, 1.2, 2, 3, 3, 2),
        mode="bicubic",
        align_corners=True,
        variant="bicubic",
    ),
    case(
        "nn.functional.grid_sample", x(2, 2, 3, 4, 5), between(-1.2, 1.2, 2, 2, 3, 2, 3), align_corners=False, variant="volume"
    ),
    case(
        "nn.functional.grid_sample",
        x(2, 2, 4, 5),
        between(-1.2, 1.2, 2, 3, 3, 2),
        padding_mode="border",
        align_corners=True,
        variant="border",
    ),
    case(
        "nn.functional.grid_sample",
        x(2, 2, 4, 5),
        between(-1.9, 1.9, 2, 3, 3, 2),
        padding_mode="reflection",
        align_corners=False,
        variant="reflection",
    ),
    case(
        "nn.functional.grid_sample",
        x(1, 2, 4, 5),
        between(-1.9, 1.9, 1, 2, 3, 2),
        mode="bicubic",
        padding_mode="reflection",
        align_corners=False,
        variant="bicubic_reflection",
    ),
    case(
        "nn.functional.grid_sample",
        x(1, 2, 3, 4, 2),
        between(-1.2, 1.2, 1, 2, 2, 2, 3),
        mode="nearest",
        align_corners=True,
        variant="nearest",
    ),
    case(
        "nn.functional.fractional_max_pool2d",
        x(2, 2, 7, 6),
        (2, 3),
        output_size=(3, 2),
        _random_samples=between(0.05, 0.9, 2, 2, 2),
        records=("fractional_max_pool",),
    ),
    case(
        "nn.functional.fractional_max_pool3d",
        x(1, 2, 5, 4, 5),
        2,
        output_size=(2, 3, 1),
        _random_samples=between(0.05, 0.9, 1, 2, 3),
    ),
    over("nn.functional.pad", x(5, 2, 3, 4), (1, 2, 2, -1), mode="reflect", variant="reflect"),
    over("nn.functional.pad", x(2, 3, 4), (2, 1), mode="replicate", variant="replicate"),
    over("nn.functional.pad", x(1, 2, 3, 4), (3, -1, 1, 2), mode="circular", variant="circular"),
    case("nn.functional.adaptive_max_pool2d", x(2, 2, 5, 4), (2, 3)),
    case("nn.functional.local_response_norm", x(2, 4, 3, 3), 3),
    case("nn.functional.embedding_bag", idx(3, 4, hi=5), x(5, 3)),
    case(
        "nn.functional.embedding_bag",
        idx(3, 4, hi=5),
        x(5, 3),
        None,
        None,
        2.0,
        False,
        "sum",
        False,
        x(3, 4),
        variant="weights",
        records=("sparse_matmul", "sampled_matmul"),
        ref=lambda i, w, *rest: np.einsum("bi,bid->bd", rest[-1], w[i]),
    ),
    case("nn.functional.multi_margin_loss", x(3, 5), idx(3, hi=5), records=("margin",)),
    case("nn.functional.multi_margin_loss", x(3, 5), idx(3, hi=5), p=2, margin=0.5, variant="squared"),
    case("nn.functional.multilabel_margin_loss", x(2, 4), fixed([[1, 3, -1, 0], [0, -1, 1, 2]])),
    case("nn.functional.multilabel_soft_margin_loss", x(3, 5), between(0.1, 0.9, 3, 5)),
]
