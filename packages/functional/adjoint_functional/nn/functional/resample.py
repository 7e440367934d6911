"""Images in other sizes and at other positions, for `nn.functional`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from adjoint_core import Tensor, _core
from adjoint_core._compose import rounded_once
from adjoint_core._warnings import warn

from .adaptive_pooling import adaptive_mean
from .window_sizes import Ints, per_dimension


def _near(d: Tensor) -> Tensor:
    """The cubic kernel of R. Keys, Cubic convolution interpolation for digital image processing, 1981, with a = -1/2, for distances up to 1."""
    return (1.5 * d - 2.5) * d * d + 1


def _far(d: Tensor) -> Tensor:
    """The same for distances from 1 to 2."""
    return ((d - 5) * d + 8) * d * -0.5 + 2


# ---- sizes

_KINDS = {"nearest": 0, "nearest-exact": 1, "linear": 2, "bilinear": 2, "trilinear": 2, "bicubic": 3}


def _smooth(n: int, out: int, step: float, cubic: bool) -> Tensor:
    """(out, n): weights of a kernel that is as wide as the step, so that nothing between the steps is left out."""
    width = max(step, 1.0)
    reach = (2 if cubic else 1) * width
    centre = (_core.arange(out, dtype=_core.float64) + 0.5) * step
    at = _core.arange(n, dtype=_core.float64) + 0.5
    d = (at - centre.unsqueeze(1)).abs() / width
    weight = _core.where(d <= 1, _near(d), _far(d.clamp_max(2))) if cubic else (1 - d).clamp_min(0)
    first, last = (centre - reach + 0.5).trunc().clamp_min(0), (centre + reach + 0.5).trunc().clamp_max(n)
    weight = weight * ((at > first.unsqueeze(1)) & (at < last.unsqueeze(1)))
    return weight / weight.sum(1, keepdim=True)


def _nearest(x: Tensor, dim: int, out: int, step: float, half: float) -> Tensor:
    """Of elements that no weight multiplies: whole numbers and flags. As core's resize.h."""
    kind = _core.float32 if out <= 1 << 22 else _core.float64
    at = (_core.arange(out, dtype=_core.float64) + half) * _core.tensor(step, dtype=kind).double()
    at = at.to(kind).floor().long().clamp_max(x.size(dim) - 1)
    return x.index_select(dim, _core._cuda.uploaded(at, x.device))


def interpolate(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resizes the dimensions after (n, c) to `size`, or by `scale_factor`.

    `mode` is "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic" or "area". With `antialias`, "bilinear" and
    "bicubic" weigh all elements that a new one covers.

    Example::

        >>> ad.nn.functional.interpolate(ad.tensor([[[0., 1.]]]), scale_factor=2, mode="linear")
        tensor([[[0.0000, 0.2500, 0.7500, 1.0000]]])
    """
    n, dims = input.ndim - 2, {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
    flat = mode in ("nearest", "nearest-exact", "area")
    if flat and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input")
    if n not in (1, 2, 3) or (not flat and dims.get(mode) != n):
        raise NotImplementedError(f"Input Error: got {input.ndim}D input for mode {mode}")
    if (size is None) == (scale_factor is None):
        raise ValueError("only one of size or scale_factor should be defined")
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    scales: Sequence[float | None] = [None] * n
    if scale_factor is None:
        sizes = per_dimension(size, n)  # type: ignore[arg-type]
    else:
        factors = list(scale_factor) if isinstance(scale_factor, Sequence) else [scale_factor] * n
        sizes = [math.floor(m * f) for m, f in zip(input.shape[2:], factors)]
        scales = scales if recompute_scale_factor else factors
    if min([*sizes, *input.shape[2:]], default=1) <= 0:
        raise RuntimeError(
            f"interpolate: Input and output sizes should be greater than 0, but got input {list(input.shape[2:])} and output {sizes}"
        )
    if mode == "area":
        return adaptive_mean(input, sizes, n)
    if mode.startswith("nearest"):
        return _resized(input, sizes, scales, mode, False)
    if input.dtype is _core.uint8:  # an image: rounded once, within its range
        y = _interpolated(input.float(), sizes, scales, mode, bool(align_corners), antialias)
        return y.round().clamp(0, 255).to(_core.uint8)
    if not input.is_floating_point():
        raise NotImplementedError(f"interpolate: mode {mode} is not implemented for {input.dtype}")
    return _interpolated(input, sizes, scales, mode, bool(align_corners), antialias)


def _resized(input: Tensor, sizes: Sequence[int], scales: Sequence[float | None], mode: str, align_corners: bool) -> Tensor:
    steps = _core._resize_steps(input.shape, sizes, scales, _KINDS[mode], align_corners)
    if not input.is_floating_point():
        for dim, (out, step) in enumerate(zip(sizes, steps), 2):
            input = _nearest(input, dim, out, step, 0.5 if mode == "nearest-exact" else 0.0)
        return input
    return _core._resize(input, sizes, steps, _KINDS[mode], align_corners)


@rounded_once
def _smoothed(input: Tensor, sizes: Sequence[int], scales: Sequence[float | None], cubic: bool, align_corners: bool) -> Tensor:
    """One dimension after the other."""
    given = input
    for dim, (out, scale) in enumerate(zip(sizes, scales), 2):
        if out != (n := input.size(dim)):
            (step,) = _core._resize_steps((1, 1, n), (out,), (scale,), _KINDS["bicubic"], align_corners)
            weight = _smooth(n, out, step, cubic).to(input.dtype)
            input = (input.movedim(dim, -1) @ _core._cuda.uploaded(weight, input.device).mT).movedim(-1, dim)
    return input.clone() if input is given else input


def _interpolated(
    input: Tensor, sizes: Sequence[int], scales: Sequence[float | None], mode: str, align_corners: bool, antialias: bool
) -> Tensor:
    if antialias:
        return _smoothed(input, sizes, scales, mode == "bicubic", align_corners)
    return _resized(input, sizes, scales, mode, align_corners)


def _warn_of_older_name(name: str) -> None:
    warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")


def upsample(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The older name of `interpolate`."""
    _warn_of_older_name("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None) -> Tensor:
    """`interpolate` in mode "nearest"."""
    _warn_of_older_name("upsample_nearest")
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Tensor, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None) -> Tensor:
    """`interpolate` in mode "bilinear", corner on corner."""
    _warn_of_older_name("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", True)


# ---- positions


def _corners(align_corners: bool | None) -> bool:
    if align_corners is None:
        warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
        )
    return bool(align_corners)


@rounded_once
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The sampling positions of affine maps for `grid_sample`: theta (n, 2, 3) and (n, 3, 4) give (n, h, w, 2) and (n, d, h, w, 3).

    Example::

        >>> ad.nn.functional.affine_grid(ad.eye(2, 3).unsqueeze(0), (1, 1, 2, 2), align_corners=True)[0, 0]
        tensor([[-1., -1.],
                [ 1., -1.]])
    """
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    n, _, *sizes = size
    if any(m <= 0 for m in size):
        raise ValueError(f"affine_grid: Expected non-zero, positive output size. Got {tuple(size)}")
    if theta.ndim != 3 or tuple(theta.shape) != (n, len(sizes), len(sizes) + 1):
        raise ValueError(
            f"Expected a batch of 2D affine matrices of shape Nx2x3 or 3D ones of shape Nx3x4 for size {list(size)}. Got {list(theta.shape)}."
        )
    aligned, lines = _corners(align_corners), []
    if aligned and 1 in sizes:
        warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. "
            "This is not an intended use case of affine_grid. See the documentation of affine_grid for details.",
        )
    for m in sizes:
        edge = 0.0 if m == 1 else 1.0 if aligned else 1 - 1 / m
        lines.append(_core.linspace(-edge, edge, m, dtype=theta.dtype, device=theta.device))
    axes = _core.meshgrid(*lines, indexing="ij")
    base = _core.stack([*reversed(axes), _core.ones_like(axes[0])], -1).view(1, -1, len(sizes) + 1)
    return (base @ theta.mT).view(n, *sizes, len(sizes))


_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_OUTSIDE = {"zeros": 0, "border": 1, "reflection": 2}


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Images (n, c, h, w) at positions (n, out h, out w, 2), volumes (n, c, d, h, w) at (n, out d, out h, out w, 3).

    The positions are x, y (and z) in [-1, 1]. `mode` is "bilinear" (linear in each direction), "nearest" or, for images, "bicubic";
    `padding_mode` says what lies outside: "zeros", the "border", or its "reflection".

    Example::

        >>> ad.nn.functional.grid_sample(ad.tensor([[[[1., 3.]]]]), ad.tensor([[[[0., 0.]]]]), align_corners=True)
        tensor([[[[2.]]]])
    """
    if mode not in _MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _OUTSIDE:
        raise ValueError(
            f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'"
        )
    return _core._grid_sample(input, grid, _MODES[mode], _OUTSIDE[padding_mode], _corners(align_corners))
