"""Fractional pooling (B. Graham, Fractional max-pooling, 2014): windows at random places, so many that the output has any size."""

from __future__ import annotations

from typing import Any

import adjoint_core as core
from adjoint_core import Tensor, _core

from .window_sizes import Ints, per_dimension


def _sizes(name: str, x: Tensor, n: int, window: list[int], output_size: Any, output_ratio: Any) -> list[int]:
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratios = [output_ratio] * n if isinstance(output_ratio, (int, float)) else output_ratio
        output_size = [int(size * ratio) for size, ratio in zip(x.shape[-n:], ratios)]
    found = per_dimension(output_size, n)
    for size, given, wanted in zip(x.shape[-n:], window, found):
        if wanted + given - 1 > size - (n == 3) or wanted < 0:  # one window less than fit in a volume, as in PyTorch
            raise RuntimeError(f"{name}: windows of {window} do not fit {found} times into an input of {list(x.shape[-n:])}")
    return found


def _pool(
    n: int,
    name: str,
    input: Tensor,
    kernel_size: Ints,
    output_size: Any,
    output_ratio: Any,
    return_indices: bool,
    samples: Tensor | None,
) -> Any:
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(f"{name}: Expected {n + 1}D or {n + 2}D input, got {input.dim()}D")
    x = input if input.dim() == n + 2 else input.unsqueeze(0)
    window = per_dimension(kernel_size, n)
    sizes = _sizes(name, x, n, window, output_size, output_ratio)
    if samples is None:
        samples = core.rand(*x.shape[:2], n, dtype=x.dtype, device=x.device)
    found = _core._fractional_max_pool(x, samples, window, sizes)
    values, indices = found if x is input else (y.squeeze(0) for y in found)
    return (values, indices) if return_indices else values


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The maxima of windows of (n, c, h, w) or (c, h, w) at random places, ``output_size`` of them or a part of the input's size.

    Arguments:
        _random_samples: (n, c, 2), the numbers that decide about the places.

    Raises:
        ValueError: neither a size nor a ratio is given.
        RuntimeError: the windows do not fit.

    Example::

        >>> ad.nn.functional.fractional_max_pool2d(ad.ones(1, 1, 6, 6), 2, output_size=(3, 4)).shape
        adjoint.Size([1, 1, 3, 4])
    """
    return _pool(2, "fractional_max_pool2d", input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """`fractional_max_pool2d` over volumes, (n, c, d, h, w) or (c, d, h, w); ``_random_samples`` is (n, c, 3).

    Example::

        >>> ad.nn.functional.fractional_max_pool3d(ad.ones(1, 4, 4, 4), 2, output_size=2).shape
        adjoint.Size([1, 2, 2, 2])
    """
    return _pool(3, "fractional_max_pool3d", input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def fractional_max_pool2d_with_indices(*args: Any, **kwargs: Any) -> Any:
    """`fractional_max_pool2d`, with the indices of the maxima."""
    return fractional_max_pool2d(*args, **{**kwargs, "return_indices": True})


def fractional_max_pool3d_with_indices(*args: Any, **kwargs: Any) -> Any:
    """`fractional_max_pool3d`, with the indices of the maxima."""
    return fractional_max_pool3d(*args, **{**kwargs, "return_indices": True})
