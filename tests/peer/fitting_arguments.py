"""Arguments that fit each other, for functions which random ones hardly ever do: positions within a tensor, windows within an image, classes.

`FITTING` says, by the name of a function, how each of its arguments is made from those before it. Arguments it does not name stay random.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch

Made = dict[str, Any]
Rule = Callable[[Any, Made], Any]  # the generator and the arguments that there are


def first(made: Made) -> torch.Tensor:
    return next(iter(made.values()))


def dim_of(made: Made) -> int:
    return (made.get("dim") or 0) % max(first(made).ndim, 1)


def some(*values: Any) -> Rule:
    return lambda g, made: g.one_of(values)


def tensor(*sizes: int) -> Rule:
    return lambda g, made: g.laid_out(sizes, g.kind)


def image(dims: int, channels: int = 4, batched: bool = True) -> Rule:
    """A batch of images, now and then one without a batch."""

    def make(g: Any, made: Made) -> torch.Tensor:
        inner = tuple(g.one_of([4, 5, 6]) for _ in range(dims))
        batch = () if batched and g.chance(0.15) else (g.one_of([1, 2]),)
        return g.laid_out((*batch, channels, *inner), g.one_of([torch.float32, torch.float32, torch.float64, g.kind]))

    return make


def any_input(g: Any, made: Made) -> torch.Tensor:
    return g.laid_out(g.one_of([(3,), (2, 3), (3, 4), (2, 3, 4), (1, 3, 1), (2, 0, 3), (2, 2, 3, 2)]), g.kind)


def dim(g: Any, made: Made) -> int:
    n = max(first(made).ndim, 1)
    return g.random.randrange(-n, n)


def positions(g: Any, made: Made) -> torch.Tensor:
    """Along a dimension, in a line."""
    x = first(made)
    size = x.shape[dim_of(made)] if x.ndim else 1
    count = g.one_of([0, 1, 2, 3]) if size else 0
    return torch.tensor(
        [g.random.randrange(size) for _ in range(count)], dtype=g.one_of([torch.int64, torch.int64, torch.int32])
    )


def slices(g: Any, made: Made) -> torch.Tensor:
    """As many as there are positions."""
    x, sizes = first(made), list(first(made).shape)
    if sizes:
        sizes[dim_of(made)] = made["index"].numel()
    return g.laid_out(tuple(sizes), x.dtype)


def grid(g: Any, made: Made) -> torch.Tensor:
    """Positions along a dimension, one for each place of a part of the tensor."""
    x = first(made)
    if "dim" in made and made["dim"] is None:
        x = x.reshape(-1)
    sizes = [g.random.randrange(1, n + 1) if n else 0 for n in x.shape]
    return torch.randint(
        0,
        max(x.shape[dim_of(made)], 1) if x.ndim else 1,
        sizes,
        generator=torch.Generator().manual_seed(g.random.randrange(1 << 30)),
    )


def like_index(g: Any, made: Made) -> torch.Tensor:
    return g.laid_out(tuple(made["index"].shape), first(made).dtype)


def last_sizes(g: Any, made: Made) -> tuple[int, ...]:
    x = first(made)
    return tuple(x.shape[g.random.randrange(x.ndim) :])


def normalised(g: Any, made: Made) -> torch.Tensor:
    return g.elements(tuple(made["normalized_shape"]), first(made).dtype)


def of_channels(g: Any, made: Made) -> torch.Tensor:
    x = first(made)
    return g.elements((x.shape[1],) if x.ndim > 1 else (1,), x.dtype).abs()


def classes(g: Any, made: Made) -> torch.Tensor:
    x = first(made)
    sizes = (x.shape[0], *x.shape[2:]) if x.ndim > 1 else ()
    return torch.tensor(
        [g.random.randrange(x.shape[1 if x.ndim > 1 else 0]) for _ in range(torch.Size(sizes).numel())]
    ).reshape(sizes)


def weights_of_classes(g: Any, made: Made) -> torch.Tensor:
    x = first(made)
    return g.elements((x.shape[1 if x.ndim > 1 else 0],), x.dtype).abs()


def signs(g: Any, made: Made) -> torch.Tensor:
    return g.elements(first(made).shape[:1], torch.float32).sign()


def filters(dims: int, transposed: bool) -> Rule:
    def make(g: Any, made: Made) -> torch.Tensor:
        groups = made["groups"] = g.one_of([1, 1, 2])
        inner = tuple(g.one_of([1, 2, 3]) for _ in range(dims))
        return g.laid_out((4, 3, *inner) if transposed else (2, 4 // groups, *inner), first(made).dtype)

    return make


def per_filter(g: Any, made: Made) -> torch.Tensor:
    transposed = made["weight"].shape[0] == 4
    return g.elements((3 * made["groups"] if transposed else 2,), first(made).dtype)


def borders(g: Any, made: Made) -> tuple[int, ...]:
    return tuple(g.one_of([0, 1, 2, -1]) for _ in range(2 * g.one_of([1, 2])))


def numbers(low: int, high: int, *sizes: int) -> Rule:
    return lambda g, made: torch.tensor([g.random.randrange(low, high) for _ in range(torch.Size(sizes).numel())]).reshape(
        sizes
    )


def _pools(dims: int) -> dict[str, Rule]:
    each = some(*range(1, 3), *((2,) * dims, (1,) * dims))
    return {
        "input": image(dims), "kernel_size": each, "stride": some(None, 1, 2, (2,) * dims), "padding": some(0, 0, 1), "dilation": some(1, 1, 2),
        "ceil_mode": some(False, True), "norm_type": some(1.0, 2.0, 3.0), "output_size": some(1, 2, 3, (2,) * dims), "divisor_override": some(None, 3),
    }  # fmt: skip


def _convolutions(dims: int, transposed: bool) -> dict[str, Rule]:
    return {
        "input": image(dims), "weight": filters(dims, transposed), "bias": per_filter, "stride": some(1, 2, (1,) * dims), "padding": some(0, 1, (1,) * dims),
        "dilation": some(1, 1, 2), "output_padding": some(0), "groups": lambda g, made: made["groups"],
    }  # fmt: skip


def _resized(dims: int, modes: tuple[str, ...]) -> dict[str, Rule]:
    return {
        "input": image(dims, batched=False), "size": some(None, 3, 7), "scale_factor": lambda g, made: g.one_of([2, 0.5, 1.5]) if made.get("size") is None else None,
        "mode": some(*modes), "align_corners": lambda g, made: g.one_of([None, True, False]) if made.get("mode", "nearest") not in ("nearest", "area", "nearest-exact") else None,
        "recompute_scale_factor": some(None), "antialias": some(False),
    }  # fmt: skip


_ROWS = {
    "input": some(*()),
    "target": classes,
    "weight": weights_of_classes,
    "ignore_index": some(-100, 1),
    "label_smoothing": some(0.0, 0.1),
}
_ROWS["input"] = lambda g, made: g.laid_out(
    g.one_of([(2, 3), (3, 4), (2, 3, 2), (4,)]), g.one_of([torch.float32, torch.float64])
)
_ALONG = {"self": any_input, "input": any_input, "dim": dim, "reduce": some("mean", "prod", "amin", "amax")}
_NORM = {"input": any_input, "normalized_shape": last_sizes, "weight": normalised, "bias": normalised, "eps": some(1e-5, 1e-3)}

FITTING: dict[str, dict[str, Rule]] = {
    r"index_(add|copy|reduce|select|fill)_?": {**_ALONG, "index": positions, "source": slices},
    r"(gather|take_along_dim|scatter|scatter_add|scatter_reduce)_?": {**_ALONG, "index": grid, "indices": grid, "src": like_index, "reduce": some("sum", "mean", "prod", "amin", "amax")},
    r"select|narrow|unbind|movedim|squeeze|sort|topk|kthvalue|cumsum|cumprod|softmax": _ALONG,
    r"(layer|rms)_norm|native_layer_norm": _NORM,
    r"(batch|instance)_norm": {"input": image(2, batched=False), **dict.fromkeys(("weight", "bias", "running_mean", "running_var"), of_channels), "eps": some(1e-5), "training": some(True, False)},
    r"group_norm": {"input": image(2, batched=False), "num_groups": some(1, 2, 4), "weight": of_channels, "bias": of_channels, "eps": some(1e-5)},
    **{rf"(adaptive_)?(max|avg|lp)_pool{n}d(_with_indices)?": _pools(n) for n in (1, 2, 3)},
    **{rf"conv{n}d": _convolutions(n, False) for n in (1, 2, 3)},
    **{rf"conv_transpose{n}d": _convolutions(n, True) for n in (1, 2, 3)},
    r"cross_entropy|nll_loss|multi_margin_loss": _ROWS,
    r"cosine_embedding_loss": {"input1": tensor(3, 4), "input2": tensor(3, 4), "target": signs},
    r"interpolate|upsample": _resized(2, ("nearest", "bilinear", "bicubic", "area", "nearest-exact")),
    r"upsample_(nearest|bilinear)": {"input": image(2, batched=False), "size": some(None, 3, 7), "scale_factor": lambda g, made: 2 if made.get("size") is None else None},
    r"pad": {"input": image(2, batched=False), "pad": borders, "mode": some("constant", "reflect", "replicate", "circular"), "value": some(None, 1.5)},
    r"embedding": {"input": numbers(0, 4, 2, 3), "weight": tensor(4, 3), "padding_idx": some(None, 1, -1), "max_norm": some(None, 1.0), "norm_type": some(2.0, 1.0)},
    r"embedding_bag": {"input": numbers(0, 4, 2, 3), "weight": tensor(4, 3), "offsets": some(None), "max_norm": some(None, 1.0), "mode": some("sum", "mean", "max"), "per_sample_weights": some(None), "norm_type": some(2.0)},
    r"unfold": {"input": image(2), "kernel_size": some(1, 2, (2, 3)), "dilation": some(1, 2), "padding": some(0, 1), "stride": some(1, 2)},
    r"fold": {"input": tensor(2, 8, 9), "output_size": some((4, 4)), "kernel_size": some(2), "dilation": some(1), "padding": some(0), "stride": some(1)},
    r"grid_sample": {"input": image(2, batched=False), "grid": lambda g, made: g.elements((first(made).shape[0], 3, 2, 2), first(made).dtype), "mode": some("nearest", "bilinear", "bicubic"), "padding_mode": some("zeros", "border", "reflection")},
    r"affine_grid": {"theta": tensor(2, 2, 3), "size": some((2, 1, 3, 4)), "align_corners": some(False, True)},
    r"bilinear": {"input1": tensor(2, 3), "input2": tensor(2, 4), "weight": tensor(5, 3, 4), "bias": tensor(5)},
    r"ctc_loss": {"log_probs": lambda g, made: g.elements((5, 2, 4), torch.float32).nan_to_num(0, 0, 0).log_softmax(2), "targets": numbers(1, 4, 2, 2), "input_lengths": some((5, 4), (5, 5)), "target_lengths": some((2, 1), (0, 2)), "blank": some(0)},
    r"pixel_shuffle|pixel_unshuffle|channel_shuffle": {"input": image(2), "upscale_factor": some(2), "downscale_factor": some(2), "groups": some(2)},
}  # fmt: skip
"By patterns of names."


def rules_of(name: str) -> dict[str, Rule]:
    """How the arguments of a function are made, where it has such rules."""
    return next((rules for pattern, rules in FITTING.items() if re.fullmatch(pattern, name)), {})
