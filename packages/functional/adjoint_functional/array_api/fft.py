"""The standard's extension for Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import adjoint_core.fft as _own
from adjoint_core import Tensor, dtype

OF_ONE_AXIS = "fft hfft ifft ihfft irfft rfft".split()
OF_AXES = "fftn ifftn irfftn rfftn".split()

__all__ = [*OF_ONE_AXIS, *OF_AXES, "fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def _of_one_axis(name: str) -> Callable[..., Tensor]:
    run = getattr(_own, name)

    def f(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
        return run(x, n, axis, norm)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"`{name}` along an axis, cut or filled with zeros to `n`."
    return f


def _of_axes(name: str) -> Callable[..., Tensor]:
    run = getattr(_own, name)

    def f(x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward") -> Tensor:
        return run(x, s, axes, norm)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"`{name}` along axes, cut or filled with zeros to the sizes `s`."
    return f


globals().update({name: _of_one_axis(name) for name in OF_ONE_AXIS})
globals().update({name: _of_axes(name) for name in OF_AXES})


def fftfreq(n: int, /, *, d: float = 1.0, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """The frequencies that the results of a transform of `n` samples at distances `d` belong to.

    Example::

        >>> ad.array_api.fft.fftfreq(2)
        tensor([ 0.0000, -0.5000])
    """
    return _own.fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """The frequencies that the results of a transform of `n` real samples belong to.

    Example::

        >>> ad.array_api.fft.rfftfreq(2)
        tensor([0.0000, 0.5000])
    """
    return _own.rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """The elements with frequency 0 moved to the middle.

    Example::

        >>> ad.array_api.fft.fftshift(ad.fft.fftfreq(2))
        tensor([-0.5000,  0.0000])
    """
    return _own.fftshift(x, axes)


def ifftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """The inverse of `fftshift`.

    Example::

        >>> ad.array_api.fft.ifftshift(ad.fft.fftshift(ad.fft.fftfreq(2)))
        tensor([ 0.0000, -0.5000])
    """
    return _own.ifftshift(x, axes)
