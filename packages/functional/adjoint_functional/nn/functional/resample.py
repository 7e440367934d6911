"""Images in other sizes and at other positions, for `nn.functional`."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence

from adjoint_core import Tensor, _core
from adjoint_core._compose import rounded_once, warn

from .adaptive_pooling import adaptive_mean
from .window_sizes import Ints, per_dimension

SHARPNESS = -0.75
"a of Keys' cubic kernel; -1/2 where an image is made smaller with antialiasing."


def _near(d: Tensor, a: float = SHARPNESS) -> Tensor:
    """The cubic kernel of R. Keys, Cubic convolution interpolation for digital image processing, 1981, for distances up to 1."""
    return ((a + 2) * d - (a + 3)) * d * d + 1


def _far(d: Tensor, a: float = SHARPNESS) -> Tensor:
    """The same for distances from 1 to 2."""
    return ((d - 5) * d + 8) * d * a - 4 * a


def _weights(t: Tensor, cubic: bool) -> dict[int, Tensor]:
    """What the neighbours count at the fraction t in [0, 1) behind the one called 0: polynomials, right on the neighbours too."""
    return {-1: _far(1 + t), 0: _near(t), 1: _near(1 - t), 2: _far(2 - t)} if cubic else {0: 1 - t, 1: t}


# ---- sizes


def _step(n: int, out: int, scale: float | None, align_corners: bool) -> float:
    """How far the new elements stand from each other among the n old ones."""
    if align_corners:
        return (n - 1) / (out - 1) if out > 1 else 0.0
    return 1 / scale if scale else n / out


def _centres(n: int, out: int, scale: float | None, align_corners: bool) -> Tensor:
    """Where the new elements stand among the n old ones."""
    i, step = _core.arange(out, dtype=_core.float64), _step(n, out, scale, align_corners)
    return i * step if align_corners else (i + 0.5) * step - 0.5


def _smooth(n: int, out: int, step: float, cubic: bool) -> Tensor:
    """(out, n): weights of a kernel that is as wide as the step, so that nothing between the steps is left out."""
    width = max(step, 1.0)
    reach = (2 if cubic else 1) * width
    centre = (_core.arange(out, dtype=_core.float64) + 0.5) * step
    at = _core.arange(n, dtype=_core.float64) + 0.5
    d = (at - centre.unsqueeze(1)).abs() / width
    weight = _core.where(d <= 1, _near(d, -0.5), _far(d.clamp_max(2), -0.5)) if cubic else (1 - d).clamp_min(0)
    first, last = (centre - reach + 0.5).trunc().clamp_min(0), (centre + reach + 0.5).trunc().clamp_max(n)
    weight = weight * ((at > first.unsqueeze(1)) & (at < last.unsqueeze(1)))
    return weight / weight.sum(1, keepdim=True)


def _resize(x: Tensor, dim: int, out: int, scale: float | None, mode: str, align_corners: bool) -> Tensor:
    n = x.size(dim)
    if mode.startswith("nearest"):
        half = 0.5 if mode == "nearest-exact" else 0.0
        at = ((_core.arange(out, dtype=_core.float64) + half) * (1 / scale if scale else n / out)).floor()
        return x.index_select(dim, _core._cuda.uploaded(at.long().clamp_max(n - 1), x.device))
    centre = _centres(n, out, scale, align_corners)
    cubic = mode == "bicubic"
    centre = centre if cubic else centre.clamp_min(0)
    left = centre.floor()
    shape = [-1] + [1] * (x.ndim - dim - 1)
    taps = _weights(centre - left, cubic).items()
    here = functools.partial(_core._cuda.uploaded, device=x.device)
    return sum(  # type: ignore[return-value]
        x.index_select(dim, here((left + k).long().clamp(0, n - 1))) * here(weight.to(x.dtype)).view(shape)
        for k, weight in taps
    )


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
    if not flat and dims.get(mode) != n:
        raise NotImplementedError(f"Input Error: got {input.ndim}D input for mode {mode}")
    if (size is None) == (scale_factor is None):
        raise ValueError("only one of size or scale_factor should be defined")
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
        return _resized(input, sizes, scales, mode, False, False)
    if input.dtype is _core.uint8:  # an image: rounded once, within its range
        y = _interpolated(input.float(), sizes, scales, mode, bool(align_corners), antialias)
        return y.round().clamp(0, 255).to(_core.uint8)
    if not input.is_floating_point():
        raise NotImplementedError(f"interpolate: mode {mode} is not implemented for {input.dtype}")
    return _interpolated(input, sizes, scales, mode, bool(align_corners), antialias)


def _resized(
    input: Tensor, sizes: Sequence[int], scales: Sequence[float | None], mode: str, align_corners: bool, antialias: bool
) -> Tensor:
    """One dimension after the other."""
    given, n = input, input.ndim - 2
    kept_is_copied = antialias or "linear" in mode or (mode == "nearest" and n == 2)  # in PyTorch, whatever the scale
    for dim, (out, scale) in enumerate(zip(sizes, scales), 2):
        if out == input.size(dim) and kept_is_copied:
            continue
        if antialias:
            step = _step(input.size(dim), out, scale, align_corners)
            weight = _core._cuda.uploaded(_smooth(input.size(dim), out, step, mode == "bicubic").to(input.dtype), input.device)
            input = (input.movedim(dim, -1) @ weight.mT).movedim(-1, dim)
        else:
            input = _resize(input, dim, out, scale, mode, align_corners)
    return input.clone() if input is given else input


_interpolated = rounded_once(_resized)


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
    n, _, *sizes = size
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


def _unnormalise(g: Tensor, size: int, align_corners: bool) -> Tensor:
    return (g + 1) / 2 * (size - 1) if align_corners else ((g + 1) * size - 1) / 2


def _reflect(x: Tensor, low: float, high: float) -> Tensor:
    span = high - low
    if span <= 0:
        return x * 0
    return span - ((x - low) % (2 * span) - span).abs() + low


def _clip(x: Tensor, size: int) -> Tensor:
    """Into [0, size - 1], NaN to 0; has no derivative at the ends and beyond them."""
    return _core.where((x > 0) & (x < size - 1), x, (x.detach() >= size - 1).to(x.dtype) * (size - 1))


def _brought_in(x: Tensor, size: int, padding_mode: str, aligned: bool) -> Tensor:
    if padding_mode == "reflection":
        edge = 0.0 if aligned else 0.5
        x = _reflect(x, -edge, size - 1 + edge)
    return x if padding_mode == "zeros" else _clip(x, size)


def _check_grid(input: Tensor, grid: Tensor, mode: str, padding_mode: str) -> int:
    n = input.ndim - 2
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'"
        )
    if n not in (2, 3) or grid.ndim != input.ndim:
        raise RuntimeError(
            f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if input.size(0) != grid.size(0):
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if grid.size(-1) != n:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {n} in last dimension, but got grid with sizes {list(grid.shape)}"
        )
    if mode == "bicubic" and n == 3:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    return n


@rounded_once
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
    n, aligned = _check_grid(input, grid, mode, padding_mode), _corners(align_corners)
    batch, c, *sizes = input.shape
    flat = input.flatten(2)
    at = [_unnormalise(grid[..., n - 1 - k], m, aligned) for k, m in enumerate(sizes)]
    if mode != "bicubic":  # which brings in each of its taps
        at = [_brought_in(x, m, padding_mode, aligned) for x, m in zip(at, sizes)]

    def tap(x: Tensor, m: int) -> tuple[Tensor, Tensor]:
        """Whether positions lie among the m elements, and which those are."""
        if mode == "bicubic":
            x = _brought_in(x, m, padding_mode, aligned)
        return (x >= 0) & (x < m), x.long()

    def values(corner: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
        inside, where = corner[0]
        for (within, i), m in zip(corner[1:], sizes[1:]):
            inside, where = inside & within, where * m + i
        outside = ~inside
        where = where.masked_fill(outside, 0).reshape(batch, 1, -1).expand(batch, c, -1)
        return flat.gather(2, where).reshape(batch, c, *outside.shape[1:]).masked_fill(outside.unsqueeze(1), 0.0)

    if mode == "nearest":
        none = sum(x.sign() * 0 for x in at)  # the derivative by the grid
        return values([tap(x.detach().round(), m) for x, m in zip(at, sizes)]) + none.unsqueeze(1)  # type: ignore[attr-defined]
    low = [x.detach().floor() for x in at]
    weights = [_weights(x - i, mode == "bicubic") for x, i in zip(at, low)]
    taps = [{k: tap(i + k, m) for k in w} for w, i, m in zip(weights, low, sizes)]
    y = _core.zeros((), dtype=input.dtype, device=input.device)
    for steps in itertools.product(*weights):
        weight = math.prod(w[k] for w, k in zip(weights, steps))  # type: ignore[type-var]
        y = _core.addcmul(y, values([t[k] for t, k in zip(taps, steps)]), weight.unsqueeze(1))  # type: ignore[union-attr]
    return y
