"""Losses, convolutions, pooling and normalisation."""

from functools import partial

import numpy as np

from op_cases._case import case
from op_cases._inputs import data, fixed, idx, prob, x

UNCHANGED = {"expanded": "a channel of equal numbers has no spread: the result is rounding"}


def reduced(loss, reduction="mean"):
    return {"mean": np.mean, "sum": np.sum, "none": lambda v: v}[reduction](loss)


def conv(x, w, b=None, stride=1, padding=0, groups=1):
    """Cross-correlation in any number of dimensions, from its definition."""
    n = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(padding, padding)] * n)
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], tuple(range(2, 2 + n)))
    windows = windows[(slice(None), slice(None)) + (slice(None, None, stride),) * n]
    per = w.shape[1]
    parts = [
        np.tensordot(windows[:, g * per : (g + 1) * per], wg, ([1, *range(2 + n, 2 + 2 * n)], [1, *range(2, 2 + n)]))
        for g, wg in enumerate(np.split(w, groups))
    ]
    y = np.moveaxis(np.concatenate(parts, -1), -1, 1)
    return y if b is None else y + b.reshape(-1, *[1] * n)


def pool(x, size, reduce):
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), (-2, -1))[..., ::size, ::size, :, :]
    return reduce(windows, axis=(-2, -1))


def log_softmax(x, dim=1):
    return x - np.log(np.exp(x).sum(dim, keepdims=True))


def nll(logp, target, weight=None, reduction="mean", ignore_index=-100):
    w = (np.ones(logp.shape[1]) if weight is None else weight)[target % logp.shape[1]] * (target != ignore_index)
    loss = -np.take_along_axis(logp, (target % logp.shape[1])[:, None], 1)[:, 0] * w
    return loss.sum() / w.sum() if reduction == "mean" else reduced(loss, reduction)


def cross_entropy(x, target, label_smoothing=0.0, **options):
    logp = log_softmax(x)
    if target.dtype.kind == "f":
        return -(target * logp).sum(1).mean()
    return (1 - label_smoothing) * nll(logp, target, **options) - label_smoothing * logp.mean(1).mean()


def bce(p, t, weight=None, reduction="mean"):
    return reduced(-(t * np.log(p) + (1 - t) * np.log(1 - p)) * (1 if weight is None else weight), reduction)


def bce_logits(x, t, pos_weight=1.0, reduction="mean"):
    return reduced(-(pos_weight * t * -np.logaddexp(0, -x) - (1 - t) * np.logaddexp(0, x)), reduction)


def normalised(x, axes):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def layer_norm(x, shape, w=1.0, b=0.0):
    return normalised(x, tuple(range(-len(shape), 0))) * w + b


def batch_norm(x, mean, var, w=None, b=None, training=False):
    per = (-1, *[1] * (x.ndim - 2))
    y = normalised(x, (0, *range(2, x.ndim))) if training else (x - mean.reshape(per)) / np.sqrt(var.reshape(per) + 1e-5)
    return y if w is None else y * w.reshape(per) + b.reshape(per)


F = "nn.functional."
both = partial(case, complex=True)

CASES = [
    case(F + "mse_loss", x(3, 4), x(3, 4), ref=lambda a, b: reduced((a - b) ** 2)),
    case(
        F + "mse_loss",
        x(3, 4),
        x(3, 4),
        reduction="none",
        variant="none",
        elementwise=True,
        alias=True,
        ref=lambda a, b, reduction: (a - b) ** 2,
    ),
    both(F + "l1_loss", x(3, 4), x(3, 4), ref=lambda a, b: reduced(np.abs(a - b))),
    both(F + "l1_loss", x(3, 4), x(3, 4), reduction="sum", variant="sum", ref=lambda a, b, reduction: np.abs(a - b).sum()),
    case(
        F + "smooth_l1_loss",
        x(3, 4),
        x(3, 4),
        records=("huber",),
        ref=lambda a, b: np.where(np.abs(a - b) < 1, 0.5 * (a - b) ** 2, np.abs(a - b) - 0.5).mean(),
    ),
    case(
        F + "huber_loss",
        x(3, 4),
        x(3, 4),
        delta=0.7,
        ref=lambda a, b, delta: np.where(np.abs(a - b) < delta, 0.5 * (a - b) ** 2, delta * (np.abs(a - b) - delta / 2)).mean(),
    ),
    case(F + "binary_cross_entropy", prob(3, 4), prob(3, 4), ref=bce),
    case(
        F + "binary_cross_entropy",
        prob(3, 4),
        prob(3, 4),
        weight=fixed([0.5, 1.0, 2.0, 1.5]),
        reduction="sum",
        variant="weight",
        ref=bce,
    ),
    case(F + "binary_cross_entropy_with_logits", x(3, 4), prob(3, 4), ref=bce_logits),
    case(
        F + "binary_cross_entropy_with_logits",
        x(3, 4),
        prob(3, 4),
        pos_weight=fixed([0.5, 1.0, 2.0, 1.5]),
        variant="pos_weight",
        ref=bce_logits,
    ),
    case(F + "nll_loss", x(3, 4), idx(3, hi=4), ref=nll),
    case(
        F + "nll_loss", x(4, 3), fixed([0, 2, 1, 2]), weight=fixed([0.5, 1.0, 2.0]), ignore_index=1, variant="weight", ref=nll
    ),
    case(F + "nll_loss", x(3, 4), idx(3, hi=4), reduction="none", variant="none", ref=nll),
    case(F + "cross_entropy", x(3, 4), idx(3, hi=4), ref=cross_entropy),
    case(F + "cross_entropy", x(3, 4), idx(3, hi=4), label_smoothing=0.1, variant="smooth", ref=cross_entropy),
    case(F + "cross_entropy", x(3, 4), prob(3, 4), variant="probabilities", ref=cross_entropy),
    case(F + "cross_entropy", x(2, 3, 4), idx(2, 4, hi=3), variant="places"),
    case(F + "kl_div", x(3, 4), prob(3, 4), reduction="sum", ref=lambda a, t, reduction: (t * (np.log(t) - a)).sum()),
    case(F + "conv1d", x(2, 3, 6), x(4, 3, 3), x(4), ref=conv, complex=True, records=("conv",)),
    both(F + "conv1d", x(2, 4, 6), x(4, 2, 3), stride=2, padding=1, groups=2, variant="groups", ref=conv),
    both(F + "conv1d", x(2, 3, 7), x(4, 3, 3), dilation=2, variant="dilation"),
    case(F + "conv2d", x(2, 3, 5, 4), x(4, 3, 3, 2), x(4), ref=conv, complex=True),
    both(F + "conv2d", x(1, 2, 5, 5), x(2, 2, 3, 3), stride=2, padding=1, variant="stride", ref=conv),
    both(F + "conv2d", x(2, 5, 5), x(3, 2, 3, 3), variant="unbatched", ref=lambda x, w: conv(x[None], w)[0]),
    both(F + "conv_transpose2d", x(2, 3, 4, 4), x(3, 2, 3, 3), x(2), stride=2, padding=1),
    both(F + "conv_transpose2d", x(2, 3, 1, 4), x(3, 2, 2, 3), padding=1, variant="empty result"),
    both(F + "conv2d", x(2, 20, 5, 6), x(18, 20, 3, 3), padding=1, variant="channels"),
    case(
        F + "max_pool2d",
        x(2, 3, 4, 4),
        2,
        records=("max_pool",),
        ref=lambda x, n: pool(x, n, np.max),
        skip={"expanded": "ties"},
    ),
    case(F + "max_pool2d", x(1, 2, 5, 5), 3, stride=2, padding=1, variant="padding", skip={"expanded": "ties"}),
    case(F + "max_pool1d", x(2, 3, 6), 2, ref=lambda x, n: x.reshape(2, 3, 3, 2).max(-1), skip={"expanded": "ties"}),
    case(F + "avg_pool2d", x(2, 3, 4, 4), 2, records=("avg_pool",), ref=lambda x, n: pool(x, n, np.mean)),
    case(F + "avg_pool2d", x(1, 2, 5, 5), 3, stride=2, padding=1, count_include_pad=False, variant="padding"),
    case(F + "adaptive_avg_pool2d", x(2, 3, 4, 4), (2, 2), ref=lambda x, n: pool(x, 2, np.mean)),
    case(F + "layer_norm", x(3, 4), (4,), x(4), x(4), ref=layer_norm, skip=UNCHANGED),
    case(F + "layer_norm", x(2, 3, 4), (3, 4), variant="two_dims", ref=layer_norm),
    both(
        F + "rms_norm",
        x(3, 4),
        (4,),
        x(4),
        eps=1e-5,
        ref=lambda x, s, w, eps: x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w,
    ),
    case(F + "group_norm", x(2, 4, 3), 2, x(4), x(4)),
    case(F + "batch_norm", x(4, 3, 2), data(3), fixed([0.5, 1.0, 2.0]), x(3), x(3), ref=batch_norm, records=("affine",)),
    case(F + "batch_norm", x(4, 3), None, None, x(3), x(3), training=True, variant="training", ref=batch_norm, skip=UNCHANGED),
    both(F + "normalize", x(3, 4), dim=1, ref=lambda x, dim: x / np.linalg.norm(x, axis=1, keepdims=True)),
    case(
        F + "cosine_similarity",
        x(3, 4),
        x(3, 4),
        alias=True,
        ref=lambda a, b: (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1),
    ),
    case(F + "scaled_dot_product_attention", x(2, 3, 4), x(2, 5, 4), x(2, 5, 4)),
]
