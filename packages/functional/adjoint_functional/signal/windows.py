"""Windows of signal processing: `signal.windows`, symmetric unless `sym` is false, when they are one period of their repetition."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from adjoint_core import Tensor, _core, strided

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann", "kaiser", "nuttall",
]  # fmt: skip


def _positions(name: str, M: int, dtype: Any, layout: Any, device: Any) -> Tensor:  # noqa: N803
    """0 ... M - 1 in double precision, for the window `name` of M samples."""
    if layout not in (None, strided):
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if dtype not in (None, _core.float32, _core.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return _core.arange(M, dtype=_core.float64, device=device)


def _made(window: Tensor, dtype: Any, requires_grad: bool) -> Tensor:
    y = window.to(dtype or _core.get_default_dtype())
    return y.requires_grad_() if requires_grad else y


def _span(M: int, sym: bool) -> int:  # noqa: N803
    """What the window is long from its first sample to where it is symmetric to it."""
    return max(M - 1 if sym else M, 1)


def _cosines(
    name: str, M: int, terms: Sequence[float], sym: bool, dtype: Any, layout: Any, device: Any, requires_grad: bool
) -> Tensor:  # noqa: N803
    i = _positions(name, M, dtype, layout, device)
    if M < 2 or len(terms) == 1:
        return _made(_core.full_like(i, 1 if M == 1 else terms[0]), dtype, requires_grad)
    angle = i * (2 * math.pi / _span(M, sym))
    y: Any = terms[0]
    for k, c in enumerate(terms[1:], 1):
        y = (-c if k % 2 else c) * (k * angle if k > 1 else angle).cos() + y
    return _made(y, dtype, requires_grad)


def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # noqa: N803
    """The sum of (-1)^k a[k] cos(2 pi k i / (M - 1)).

    Example::

        >>> ad.signal.windows.general_cosine(3, a=[0.5, 0.5])
        tensor([0., 1., 0.])
    """
    terms = list(a)
    if not terms:
        raise ValueError("Coefficients cannot be empty")
    return _cosines("general_cosine", M, terms, sym, dtype, layout, device, requires_grad)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # noqa: N803
    """alpha - (1 - alpha) cos(2 pi i / (M - 1)).

    Example::

        >>> ad.signal.windows.general_hamming(4)
        tensor([0.0800, 0.7700, 0.7700, 0.0800])
    """
    return _cosines("general_hamming", M, (alpha, 1 - alpha), sym, dtype, layout, device, requires_grad)


def hamming(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """`general_hamming` with alpha 0.54.

    Example::

        >>> ad.signal.windows.hamming(4)
        tensor([0.0800, 0.7700, 0.7700, 0.0800])
    """
    return _cosines("hamming", M, (0.54, 1 - 0.54), sym, dtype, layout, device, requires_grad)


def hann(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """`general_hamming` with alpha 1/2: sin(pi i / (M - 1)) squared.

    Example::

        >>> ad.signal.windows.hann(4, sym=False)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _cosines("hann", M, (0.5, 0.5), sym, dtype, layout, device, requires_grad)


def blackman(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """Blackman's window, of three cosines.

    Example::

        >>> ad.signal.windows.blackman(4)
        tensor([-1.3878e-17,  6.3000e-01,  6.3000e-01, -1.3878e-17])
    """
    return _cosines("blackman", M, (0.42, 0.5, 0.08), sym, dtype, layout, device, requires_grad)


def nuttall(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """Nuttall's window, of four cosines: A. Nuttall, Some windows with very good sidelobe behavior, 1981.

    Example::

        >>> ad.signal.windows.nuttall(4)
        tensor([3.6280e-04, 5.2923e-01, 5.2923e-01, 3.6280e-04])
    """
    return _cosines("nuttall", M, (0.3635819, 0.4891775, 0.1365995, 0.0106411), sym, dtype, layout, device, requires_grad)


def bartlett(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """A triangle from 0 to 1 to 0.

    Example::

        >>> ad.signal.windows.bartlett(4)
        tensor([0.0000, 0.6667, 0.6667, 0.0000])
    """
    i = _positions("bartlett", M, dtype, layout, device)
    return _made(_core.ones_like(i) if M == 1 else 1 - (i * (2 / _span(M, sym)) - 1).abs(), dtype, requires_grad)


def cosine(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """Half a wave, of M samples in the middle of M steps.

    Example::

        >>> ad.signal.windows.cosine(4)
        tensor([0.3827, 0.9239, 0.9239, 0.3827])
    """
    i = _positions("cosine", M, dtype, layout, device)
    steps = max(M if sym or M == 1 else M + 1, 1)
    return _made(((i + 0.5) * (math.pi / steps)).sin(), dtype, requires_grad)


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # noqa: N803
    """exp(-|i - center| / tau); `center` may be given if the window is not symmetric.

    Example::

        >>> ad.signal.windows.exponential(4)
        tensor([0.2231, 0.6065, 0.6065, 0.2231])
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    i = _positions("exponential", M, dtype, layout, device)
    middle = (M if not sym and M > 1 else M - 1) / 2 if center is None else center
    return _made((-(i - middle).abs() / tau).exp(), dtype, requires_grad)


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # noqa: N803
    """exp(-(i - (M - 1) / 2)^2 / (2 std^2)).

    Example::

        >>> ad.signal.windows.gaussian(4)
        tensor([0.3247, 0.8825, 0.8825, 0.3247])
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    i = _positions("gaussian", M, dtype, layout, device)
    middle = (M if not sym and M > 1 else M - 1) / 2
    return _made((-((i - middle) / std).square() / 2).exp(), dtype, requires_grad)


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # noqa: N803
    """I0(beta sqrt(1 - t^2)) / I0(beta) for t from -1 to 1.

    Example::

        >>> ad.signal.windows.kaiser(4)
        tensor([5.2773e-05, 5.1884e-01, 5.1884e-01, 5.2773e-05])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    i = _positions("kaiser", M, dtype, layout, device)
    if M < 2:
        return _made(_core.ones_like(i), dtype, requires_grad)
    t = i * (2 / _span(M, sym)) - 1
    root = beta * (1 - t * t).clamp_min(0).sqrt()
    scaled = _core._bessel_i_scaled(0, root) / _core._bessel_i_scaled(0, _core.full_like(root, beta))
    return _made(scaled * (root - beta).exp(), dtype, requires_grad)
