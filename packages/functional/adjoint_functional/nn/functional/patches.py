"""Patches of images, and channels in other orders."""

from __future__ import annotations

from adjoint_core import Tensor, _core
from adjoint_core._compose import node

from .window_sizes import Ints, per_dimension


def _of_two(op: str, **given: Ints) -> list[list[int]]:
    """A value for each of two dimensions."""
    each = {name: per_dimension(v, 2) for name, v in given.items()}
    for name, values in each.items():
        if len(values) != 2:
            raise RuntimeError(f"{op}: It is expected {name} equals to 2, but got size {len(values)}")
    return list(each.values())


@node("Im2ColBackward0")
def unfold(input: Tensor, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> Tensor:
    """The patches of images, (n, c, h, w) -> (n, c * kh * kw, patches).

    Example::

        >>> ad.nn.functional.unfold(ad.arange(6.0).reshape(1, 1, 2, 3), (2, 2))
        tensor([[[0., 1.],
                 [1., 2.],
                 [3., 4.],
                 [4., 5.]]])
    """
    if input.ndim == 3:
        return unfold(input.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0)
    k, d, p, s = _of_two("unfold", kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)
    if input.ndim != 4:
        raise RuntimeError(f"unfold: Expected 3D or 4D (batch mode) tensor for input, but got: {list(input.shape)}")
    n, c, h, w = input.shape
    if min(p) < 0:
        raise RuntimeError(f"unfold: padding must not be negative, got {p}")
    at, windows = _core._patches([h + 2 * p[0], w + 2 * p[1]], k, d, s, input)
    padded = _core._pad(input, [0, 0, *p], [0, 0, *p], 0.0) if any(p) else input
    return padded.flatten(2).index_select(2, at).view(n, c * k[0] * k[1], windows[0] * windows[1])


@node("Col2ImBackward0")
def fold(
    input: Tensor, output_size: Ints, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1
) -> Tensor:
    """Adds patches up into images, (n, c * kh * kw, patches) -> (n, c, h, w): the transpose of `unfold`.

    Example::

        >>> ad.nn.functional.fold(ad.ones(1, 4, 2), (2, 3), (2, 2))
        tensor([[[[1., 2., 1.],
                  [1., 2., 1.]]]])
    """
    if input.ndim == 2:
        return fold(input.unsqueeze(0), output_size, kernel_size, dilation, padding, stride).squeeze(0)
    o, k, d, p, s = _of_two(
        "fold", output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride
    )
    h, w = o[0] + 2 * p[0], o[1] + 2 * p[1]
    if input.ndim != 3 or not input.size(1) * input.size(2):
        raise RuntimeError(
            "fold: Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, "
            f"but got: {list(input.shape)}"
        )
    if min(k) <= 0:
        raise RuntimeError(f"fold: kernel size should be greater than zero, but got {tuple(k)}")
    if input.size(1) % (k[0] * k[1]):
        raise RuntimeError(
            "fold: Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={input.size(1)} and kernel_size={tuple(k)}."
        )
    at, windows = _core._patches([h, w], k, d, s, input)
    if input.size(2) != windows[0] * windows[1]:
        raise RuntimeError(
            f"fold: expected size of input's dimension 2 to match the calculated number of sliding blocks "
            f"{windows[0]} * {windows[1]} = {windows[0] * windows[1]}, but got input.size(2)={input.size(2)}."
        )
    n, c = input.size(0), input.size(1) // (k[0] * k[1])
    empty = _core.zeros(n, c, h * w, dtype=input.dtype, device=input.device)
    image = empty.index_add(2, at, input.reshape(n, c, k[0] * k[1] * input.size(2))).view(n, c, h, w)
    return image[:, :, p[0] : h - p[0], p[1] : w - p[1]]


# ---- channels


def _expect_image(op: str, x: Tensor) -> None:
    if x.ndim < 3:
        raise RuntimeError(f"{op} expects input to have at least 3 dimensions, but got input with {x.ndim} dimension(s)")


def _apart(y: Tensor) -> Tensor:
    """In memory of its own."""
    return y.clone() if y._is_view() else y


@node("PixelShuffleBackward0")
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(..., c * r * r, h, w) -> (..., c, h * r, w * r).

    Example::

        >>> ad.nn.functional.pixel_shuffle(ad.arange(4.0).reshape(4, 1, 1), 2)
        tensor([[[0., 1.],
                 [2., 3.]]])
    """
    r = upscale_factor
    _expect_image("pixel_shuffle", input)
    *batch, c, h, w = input.shape
    if r <= 0 or c % (r * r):
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but got {c} and {r}"
        )
    if r == 1:
        return input.clone()
    x = input.reshape(*batch, c // (r * r), r, r, h, w)
    n = len(batch)
    y = x.permute(*(d for d, _ in enumerate(batch)), n, n + 3, n + 1, n + 4, n + 2)
    return _apart(y.reshape(*batch, c // (r * r), h * r, w * r))


@node("PixelUnshuffleBackward0")
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(..., c, h * r, w * r) -> (..., c * r * r, h, w).

    Example::

        >>> ad.nn.functional.pixel_unshuffle(ad.arange(4.0).reshape(1, 2, 2), 2).shape
        adjoint.Size([4, 1, 1])
    """
    r = downscale_factor
    _expect_image("pixel_unshuffle", input)
    *batch, c, h, w = input.shape
    if r <= 0 or h % r or w % r:
        raise RuntimeError(
            f"pixel_unshuffle expects height and width to be divisible by downscale_factor, but got {h}, {w} and {r}"
        )
    if r == 1:
        return input.clone()
    x = input.reshape(*batch, c, h // r, r, w // r, r)
    n = len(batch)
    y = x.permute(*(d for d, _ in enumerate(batch)), n, n + 2, n + 4, n + 1, n + 3)
    return _apart(y.reshape(*batch, c * r * r, h // r, w // r))


@node("ChannelShuffleBackward0")
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Interleaves `groups` groups of channels (dimension 1).

    Example::

        >>> ad.nn.functional.channel_shuffle(ad.arange(4.0).reshape(1, 4, 1), 2).flatten()
        tensor([0., 2., 1., 3.])
    """
    if input.ndim < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    return _core._channel_shuffle(input, groups)
