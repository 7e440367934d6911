"""Functions that no case in tests/op_cases reaches, beside PyTorch's: one call each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.filterwarnings("ignore:index_reduce"), pytest.mark.filterwarnings("ignore:Using a non-tuple")]

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {  # (library, its nn.functional, sin of 0 ... 23 as (1, 2, 3, 4))
    "addbmm": lambda t, f, x: t.addbmm(x[0, 0, :3, :3], x[0], x[0].mT, beta=2, alpha=3),
    "addr": lambda t, f, x: t.addr(x[0, 0], x[0, 0, :, 0], x[0, 0, 0], alpha=2),
    "affine_grid": lambda t, f, x: f.affine_grid(x[..., :3][0, :1, :2], (1, 1, 2, 2), align_corners=True),
    "avg_pool1d": lambda t, f, x: f.avg_pool1d(x[0], 2, 1, 1, True, False),
    "avg_pool2d": lambda t, f, x: f.avg_pool2d(x, 2, ceil_mode=True),
    "bucketize": lambda t, f, x: t.bucketize(x, t.tensor([-0.5, 0.0, 0.5]), right=True),
    "cdist": lambda t, f, x: t.cdist(x[0], x[0] + 1, p=1),
    "column_stack": lambda t, f, x: t.column_stack([x[0, 0], x[0, 0, :, 0]]),
    "conv_transpose2d": lambda t, f, x: f.conv_transpose2d(x, x[0, :, :1, :2].unsqueeze(1), stride=2, groups=2, dilation=2),
    "corrcoef": lambda t, f, x: t.corrcoef(x[0, 0]),
    "cosine_embedding_loss": lambda t, f, x: f.cosine_embedding_loss(x[0, 0], x[0, 1], t.tensor([1, -1, 1]), 0.1),
    "cosine_similarity": lambda t, f, x: f.cosine_similarity(x[0, 0], x[0, 0, :, :1], -1),
    "cov": lambda t, f, x: t.cov(x[0, 0], fweights=t.tensor([1, 2, 3, 1]), aweights=x[0, 0, 0].abs()),
    "dstack": lambda t, f, x: t.dstack([x[0, 0], x[0, 1]]),
    "fill_diagonal_": lambda t, f, x: x.reshape(8, 3).clone().fill_diagonal_(7.0, wrap=True),
    "fftfreq": lambda t, f, x: (t.fft.fftfreq(5, 0.1), t.fft.rfftfreq(5, 0.1)),
    "fold": lambda t, f, x: f.fold(x.reshape(1, 4, 6), (3, 4), 2),
    "gaussian_nll_loss": lambda t, f, x: f.gaussian_nll_loss(x, x + 1, x.abs() + 0.1, full=True),
    "gradient": lambda t, f, x: t.gradient(x[0, 0], spacing=2.0, dim=1, edge_order=2),
    "heaviside": lambda t, f, x: t.heaviside(x, t.tensor(0.5)),
    "hfft2": lambda t, f, x: (t.fft.hfft2(x), t.fft.ihfft2(x).real, t.fft.irfft2(x), t.fft.rfft2(x).imag),
    "hinge_embedding_loss": lambda t, f, x: f.hinge_embedding_loss(x, t.where(x > 0, 1, -1)),
    "histc": lambda t, f, x: t.histc(x, 5, -0.5, 1),
    "index_reduce": lambda t, f, x: x[0].index_reduce(1, t.tensor([0, 2]), x[0, :, :2], "prod", include_self=False),
    "instance_norm": lambda t, f, x: f.instance_norm(x),
    "interpolate": lambda t, f, x: (
        f.interpolate(x, (5, 7), mode="bicubic"),
        f.interpolate(x, scale_factor=1.7, mode="bicubic", align_corners=True),
        f.interpolate(x, (2, 3), mode="bicubic", antialias=True),
        f.interpolate(x, (2, 7), mode="bilinear", antialias=True),
        f.interpolate(x, (2, 7), mode="bicubic", antialias=True, align_corners=True),
        f.interpolate(x, scale_factor=(1.2, 1.7), mode="bilinear"),
        f.interpolate(x, scale_factor=(1.2, 1.7), mode="nearest"),
    ),
    "grid_sample": lambda t, f, x: tuple(
        f.grid_sample(x, x[:, :, :, :2] * 1.5, mode, padding, corners)
        for mode in ("bilinear", "nearest", "bicubic")
        for padding in ("zeros", "border", "reflection")
        for corners in (True, False)
    ),
    "grid_sample of volumes": lambda t, f, x: tuple(
        f.grid_sample(x.unsqueeze(0), f.affine_grid(x[0, :1, :, :] * 1.3, (1, 2, 2, 3, 4), corners), mode, padding, corners)
        for mode in ("bilinear", "nearest")
        for padding in ("zeros", "border", "reflection")
        for corners in (True, False)
    ),
    "isin": lambda t, f, x: t.isin(t.arange(6).reshape(2, 3), t.tensor([1, 4]), invert=True),
    "local_response_norm": lambda t, f, x: f.local_response_norm(x, 2),
    "logdet": lambda t, f, x: t.logdet(x[0] @ x[0].mT + t.eye(3)),
    "logspace": lambda t, f, x: t.logspace(0, 2, 5, base=3),
    "lstsq": lambda t, f, x: t.linalg.lstsq(t.eye(4)[:, :2] + x[0, 0, 0, 0], x[0].mT[0], driver="gelsd"),
    "lp_pool2d": lambda t, f, x: f.lp_pool2d(x.abs(), 3, 2),
    "margin_ranking_loss": lambda t, f, x: f.margin_ranking_loss(x, x.flip(-1), t.where(x > 0, 1, -1), 0.2),
    "matrix_power": lambda t, f, x: t.matrix_power(x[0, 0, :, :3], 5),
    "matrix_rank": lambda t, f, x: (t.linalg.matrix_rank(x), t.linalg.matrix_rank(x, atol=0.1), t.linalg.cond(x, 2) > 10),
    "max_pool3d": lambda t, f, x: f.max_pool3d(x.unsqueeze(0), 2),
    "mode": lambda t, f, x: t.mode(t.tensor([[3, 1, 3, 1, 2]]), 1)[0],
    "multi_dot": lambda t, f, x: t.linalg.multi_dot([x[0, 0], x[0, 1].T, x[0, 0]]),
    "multi_margin_loss": lambda t, f, x: f.multi_margin_loss(x[0, 0], t.tensor([0, 3, 1]), p=2, weight=x[0, 0, 0].abs()),
    "multigammaln": lambda t, f, x: t.special.multigammaln(x.abs() + 2, 3),
    "nanmedian": lambda t, f, x: t.nanmedian(x.masked_fill(x > 0.5, float("nan")), 2)[0].nan_to_num(9.0),
    "nanquantile": lambda t, f, x: t.nanquantile(x, t.tensor([0.1, 0.7]), 3, interpolation="midpoint"),
    "nextafter": lambda t, f, x: t.nextafter(x, x.flip(-1)),
    "pairwise_distance": lambda t, f, x: f.pairwise_distance(x, x.flip(-1), 3.0, keepdim=True),
    "pdist": lambda t, f, x: f.pdist(x[0, 0]),
    "poisson_nll_loss": lambda t, f, x: f.poisson_nll_loss(x.abs() + 1, x + 3, log_input=False, full=True),
    "put": lambda t, f, x: x.put(t.tensor([0, 23]), t.tensor([5.0, 6.0])),
    "quantile": lambda t, f, x: t.quantile(x, t.tensor([0.1, 0.7]), 2, keepdim=True),
    "renorm": lambda t, f, x: t.renorm(x, 1, 2, 1.5),
    "round": lambda t, f, x: t.round(x * 100, decimals=-1),
    "rsub": lambda t, f, x: t.rsub(x, 2.0, alpha=3),
    "scaled_dot_product_attention": lambda t, f, x: f.scaled_dot_product_attention(x, x, x, is_causal=True, scale=2.0),
    "searchsorted": lambda t, f, x: t.searchsorted(x.sort(-1)[0], x.flip(-1).contiguous(), side="right"),
    "soft_margin_loss": lambda t, f, x: f.soft_margin_loss(x, t.where(x > 0, 1, -1)),
    "std_mean": lambda t, f, x: t.std_mean(x, (1, 3), correction=0),
    "trapezoid": lambda t, f, x: t.trapezoid(x, x.cumsum(2), dim=2),
    "triplet_margin_loss": lambda t, f, x: f.triplet_margin_loss(x, x.flip(-1), x + 1, p=3, swap=True),
    "svd": lambda t, f, x: t.svd(x[0], compute_uv=False),
    "unfold": lambda t, f, x: f.unfold(x, 2, stride=2, padding=1),
    "unique_consecutive": lambda t, f, x: t.unique_consecutive((x > 0)[0, 0], return_inverse=True, return_counts=True, dim=1),
    "unravel_index": lambda t, f, x: t.unravel_index(t.tensor([3, 11]), (3, 4)),
    "vander": lambda t, f, x: t.vander(x[0, 0, 0], 3, increasing=True),
    "all over no dimension": lambda t, f, x: (t.all(x, dim=[]), t.any(x, dim=()), (x > 0).byte().any(dim=())),
    "batch_norm of nothing": lambda t, f, x: (f.batch_norm(x[:, :, :0], None, None, training=True), f.group_norm(x[:0], 2)),
    "bool in losses": lambda t, f, x: (f.mse_loss(x > 0, x), f.smooth_l1_loss(x, x > 0), f.huber_loss(x, x > 0)),
    "addr of bool": lambda t, f, x: t.addr(x[0, 0] > 0, x[0, 0, :, 0] > 0, x[0, 0, 0] > 0, beta=3, alpha=2),
    "cdist of width 0": lambda t, f, x: tuple(t.cdist(x[0, :, :, :0], x[0, :, :, :0], p=p) for p in (0, 1, 2, float("inf"))),
    "cdist of what is equal": lambda t, f, x: t.cdist(x[0].round(), x[0].flip(-1).round(), p=0),
    "chunk of nothing": lambda t, f, x: x[:, :0].chunk(3, 1),
    "gammainc of large orders": lambda t, f, x: tuple(
        g(t.tensor([1e17, 1e20, 1e6, 1e18]), t.tensor([1.0, 1e18, 1e30, 1e18]))
        for g in (t.special.gammainc, t.special.gammaincc)
    ),
    "linspace of integers": lambda t, f, x: (t.linspace(4.3, -3, 50, dtype=t.int64), t.logspace(4.3, 0, 3, dtype=t.int64)),
    "kl_div of a number": lambda t, f, x: f.kl_div(x[0, 0, 0, 0], x[0, 0, 0, 0] + 1, reduction="batchmean"),
    "median of nothing": lambda t, f, x: t.tensor(
        [t.median(x[:0]).isnan(), t.nanmedian(x[:0]).isnan(), t.median(x[:0].long()) < 0]
    ),
    "index by a list of arrays": lambda t, f, x: (x[0, 0][[np.array([1, 2])]], x[0, 0][[np.array([0, 1]), np.array([1, 2])]]),
    "interpolate to the nearest": lambda t, f, x: tuple(
        f.interpolate(x, n, mode=mode) for n in (9, 45, 61, 77, 98) for mode in ("nearest", "nearest-exact")
    ),
    "interpolate to the nearest by scales": lambda t, f, x: tuple(
        f.interpolate(v, scale_factor=s, mode=mode)
        for s in (1.3, 2.05, 2.3)
        for mode in ("nearest", "nearest-exact")
        for v in (x[0, :, :, :3], x, (x * 9).round().byte())
    ),
    "quasirandom": lambda t, f, x: (
        t.quasirandom.SobolEngine(337).draw(9),
        t.quasirandom.SobolEngine(3).fast_forward(5).draw(3),
        t.quasirandom.SobolEngine(2).draw_base2(3, dtype=t.float64),
    ),
    "segment_reduce": lambda t, f, x: t._segment_reduce(x[0, 0], "max", lengths=t.tensor([2, 0, 1]), axis=0, unsafe=True),
    "sum_to_size": lambda t, f, x: (x[0, 0] > 0)[0, 0].sum_to_size(()),
    "trapezoid of bytes": lambda t, f, x: t.trapezoid(
        t.arange(180, 204, dtype=t.uint8) % 50 * 20, t.arange(24, dtype=t.uint8).flip(0)
    ),
}


def leaves(value: Any) -> list[Any]:
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, (tuple, list)) else [value]


@pytest.mark.parametrize("name", CALLS)
def test_same_numbers(name: str) -> None:
    results = [leaves(CALLS[name](t, t.nn.functional, t.arange(24.0).sin().reshape(1, 2, 3, 4))) for t in (adjoint, torch)]
    assert len(results[0]) == len(results[1])
    for ours, theirs in zip(*results, strict=True):
        assert tuple(ours.shape) == tuple(theirs.shape)
        assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
        assert adjoint.allclose(
            ours, adjoint.tensor(theirs.tolist(), dtype=ours.dtype).reshape(ours.shape), rtol=1e-4, atol=1e-5
        )


REFUSED: dict[str, tuple[type[Exception], Callable[[Any, Any], Any]]] = {
    "CircularPad1d": (ValueError, lambda t, f: t.nn.CircularPad1d(1)(t.ones(2))),
    "RNN of doubles": (ValueError, lambda t, f: t.nn.RNN(3, 4)(t.ones(2, 3, dtype=t.float64))),
    "RNN of no features": (ValueError, lambda t, f: t.nn.RNN(0, 4)),
    "RNN of half a feature": (TypeError, lambda t, f: t.nn.LSTM(3.5, 4)),
    "RNN with another bias": (TypeError, lambda t, f: t.nn.GRU(3, 4, bias=1)),
    "GRUCell": (ValueError, lambda t, f: t.nn.GRUCell(3, 4)(t.ones(3), t.ones(1, 1, 4))),
    "LSTMCell": (ValueError, lambda t, f: t.nn.LSTMCell(3, 4)(t.ones(3), (t.ones(4), t.ones(1, 1, 4)))),
    "batch_norm": (ValueError, lambda t, f: f.batch_norm(t.ones(1, 2, 1), None, None, training=True)),
    "celu": (RuntimeError, lambda t, f: f.celu(t.ones(2), 0.0)),
    "fold of a line": (RuntimeError, lambda t, f: f.fold(t.ones(4), 2, 2)),
    "fold of few channels": (RuntimeError, lambda t, f: f.fold(t.ones(1, 3, 1), 2, 2)),
    "fold of many windows": (RuntimeError, lambda t, f: f.fold(t.ones(1, 4, 2), 2, 2)),
    "glu": (NotImplementedError, lambda t, f: f.glu(t.ones(4, dtype=t.int64))),
    "group_norm": (ValueError, lambda t, f: f.group_norm(t.ones(1, 2, 1), 2)),
    "margin of numbers": (RuntimeError, lambda t, f: f.multi_margin_loss(t.ones(5, 4), t.ones(5))),
    "margin of nothing": (RuntimeError, lambda t, f: f.multi_margin_loss(t.ones(5, 0), t.ones(5))),
    "margin and another reduction": (ValueError, lambda t, f: f.multi_margin_loss(t.ones(5, 4), t.ones(5), reduction="some")),
    "masked_fill": (RuntimeError, lambda t, f: t.ones(2).masked_fill(t.tensor(True), t.tensor(1j))),
    "pad": (NotImplementedError, lambda t, f: f.pad(t.ones(3), (1, 1), "reflect")),
    "instance_norm": (ValueError, lambda t, f: f.instance_norm(t.ones(3, 2, 1))),
}


@pytest.mark.parametrize("name", REFUSED)
def test_same_refusals(name: str) -> None:
    kind, call = REFUSED[name]
    for t in (adjoint, torch):
        with pytest.raises(kind):
            call(t, t.nn.functional)
