"""Short-time Fourier transforms, and the windows under their older names."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from adjoint_core import Tensor, _core, fft
from adjoint_core._compose import check_all, method
from adjoint_core._tensor.naming import as_dtype
from adjoint_core._warnings import warn_once

from ..nn.functional import pad
from . import windows

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "istft", "kaiser_window", "stft"]


def _window(
    name: str,
    f: Callable[..., Tensor],
    length: int,
    periodic: bool,
    dtype: Any = None,
    requires_grad: bool = False,
    **options: Any,
) -> Tensor:
    """A window of `signal.windows` in any floating type."""
    dtype = as_dtype(dtype)
    if dtype is not None and not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    y = f(length, sym=not periodic, dtype=_core.float64, **options).to(dtype or _core.get_default_dtype())
    return y.requires_grad_() if requires_grad else y


def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """`signal.windows.hann`, one period of its repetition unless `periodic` is false.

    Example::

        >>> ad.hann_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("hann_window", windows.hann, window_length, periodic, **options)


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Tensor:
    """alpha - beta cos(2 pi i / window_length).

    Example::

        >>> ad.hamming_window(4)
        tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    return _window("hamming_window", windows.general_cosine, window_length, periodic, a=[alpha, beta], **options)


def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """`signal.windows.blackman`, one period of its repetition unless `periodic` is false.

    Example::

        >>> ad.blackman_window(4)
        tensor([-1.3878e-17,  3.4000e-01,  1.0000e+00,  3.4000e-01])
    """
    return _window("blackman_window", windows.blackman, window_length, periodic, **options)


def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """`signal.windows.bartlett`, one period of its repetition unless `periodic` is false.

    Example::

        >>> ad.bartlett_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("bartlett_window", windows.bartlett, window_length, periodic, **options)


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """`signal.windows.kaiser`, one period of its repetition unless `periodic` is false.

    Example::

        >>> ad.kaiser_window(4)
        tensor([5.2773e-05, 2.1567e-01, 1.0000e+00, 2.1567e-01])
    """
    return _window("kaiser_window", windows.kaiser, window_length, periodic, beta=beta, **options)


def _framed_window(name: str, like: Tensor, n_fft: int, hop: int, win_length: int, window: Tensor | None) -> Tensor:
    """The window in the middle of n_fft samples."""
    if n_fft <= 0:
        raise RuntimeError(f"{name}: expected n_fft > 0, but got {n_fft}")
    if hop <= 0:
        raise RuntimeError(f"{name}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={win_length}")
    if window is None:
        window = _core.ones(win_length, dtype=like.dtype.to_real(), device=like.device)
    if window.ndim != 1 or window.numel() != win_length:
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={win_length}, but got window with size {list(window.shape)}"
        )
    left = (n_fft - win_length) // 2
    return _core._pad(window, [left], [n_fft - win_length - left], 0.0)


_NO_WINDOW = "A window was not provided. A rectangular window will be applied"
_ASKED_FOR = "window=torch.ones(n_fft) asks for the rectangular one without this warning."


@method
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Spectra of overlapping frames of signals: (time,) or (n, time) gives (..., frequencies, frames).

    Arguments:
        n_fft: samples of a frame.
        hop_length: from one frame to the next, n_fft // 4 by default.
        win_length, window: what the frames are multiplied by, in the middle of n_fft samples; ones by default.
        center: frames are centred at multiples of `hop_length`, the signal padded by `pad_mode`.
        normalized: divided by sqrt(n_fft).
        onesided: only n_fft // 2 + 1 frequencies, the default for real signals.
        return_complex: False gives real and imaginary parts in a last dimension.

    Example::

        >>> ad.stft(ad.ones(8), 4, window=ad.hann_window(4), return_complex=True).shape
        adjoint.Size([3, 9])
    """
    hop, length = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    if input.ndim not in (1, 2):
        raise RuntimeError(f"stft: expected a 1D or 2D tensor, but got {input.ndim}D")
    if center and align_to_window is not None:
        raise RuntimeError("stft: align_to_window should only be set when center = false.")
    is_complex = input.is_complex() or (window is not None and window.is_complex())
    if return_complex is None:
        if not is_complex:
            raise RuntimeError("stft requires the return_complex parameter be given for real inputs.")
        return_complex = True
    if not return_complex:
        warn_once(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex tensors for all inputs, and "
            "return_complex=False will raise an error.\nNote: you can still call torch.view_as_real on the complex output to recover the old "
            "return format."
        )
    if onesided is None:
        onesided = not is_complex
    if onesided and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    x = input if input.ndim == 2 else input.unsqueeze(0)
    if center:
        x = pad(x.unsqueeze(1), (n_fft // 2, n_fft // 2), pad_mode).squeeze(1)
    if window is None:
        warn_once(
            f"{_NO_WINDOW},which is known to cause spectral leakage; torch.hann_window is one that does not. {_ASKED_FOR}"
        )
    taper = _framed_window("stft", input, n_fft, hop, length, window)
    if x.size(1) < n_fft:
        raise RuntimeError(f"stft: expected 0 < n_fft <= {x.size(1)}, but got n_fft={n_fft}")
    frames = x.unfold(1, n_fft, hop) * taper
    transform = fft.rfft if onesided else fft.fft
    y = transform(frames, norm="ortho" if normalized else None).transpose(1, 2)
    y = y if input.ndim == 2 else y.squeeze(0)
    return y if return_complex else _core.view_as_real(y)


@method
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signals whose `stft` with the same arguments is nearest to the input, (..., frequencies, frames) -> (..., time).

    Arguments:
        length: of the signals; by default what the frames reach.

    Example::

        >>> x = ad.arange(16.0)
        >>> w = ad.hann_window(8)
        >>> ad.allclose(ad.istft(ad.stft(x, 8, window=w, return_complex=True), 8, window=w), x, atol=1e-5)
        True
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    if not input.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if input.ndim not in (2, 3) or input.numel() == 0:
        raise RuntimeError(f"istft: expected a tensor of 2 or 3 dimensions with elements, but got {list(input.shape)}")
    if onesided is None:
        onesided = input.size(-2) != n_fft
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if input.size(-2) != wanted:
        raise RuntimeError(
            f"istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft={n_fft}: {wanted}, but got {input.size(-2)}"
        )
    if return_complex and onesided:
        raise RuntimeError("cannot have onesided output if window or input is complex")
    if window is None:
        warn_once(f"{_NO_WINDOW}.Please provide the same window used by stft to make the inversion lossless. {_ASKED_FOR}")
    taper = _framed_window("istft", input, n_fft, hop, n_fft if win_length is None else win_length, window)
    spectra = (input if input.ndim == 3 else input.unsqueeze(0)).transpose(1, 2)
    norm = "ortho" if normalized else None
    if return_complex:
        frames = fft.ifft(spectra, norm=norm) * taper
    else:
        frames = fft.irfft(spectra[..., : n_fft // 2 + 1], n_fft, norm=norm) * taper
    count = frames.size(1)
    total = n_fft + hop * (count - 1)
    at = (_core.arange(count, device=input.device).unsqueeze(1) * hop + _core.arange(n_fft, device=input.device)).reshape(-1)

    def overlapped(pieces: Tensor) -> Tensor:
        line = _core.zeros(pieces.size(0), total, dtype=pieces.dtype, device=pieces.device)
        return line.index_add(1, at, pieces.reshape(pieces.size(0), -1))

    start = n_fft // 2 if center else 0
    stop = min(total, start + length) if length is not None else total - (n_fft // 2 if center else 0)
    weight = overlapped((taper * taper).expand(1, count, n_fft))[:, start:stop]
    if bool((_core._all_lanes(weight).abs() < 1e-11).any()):
        raise RuntimeError("istft: window overlap add min: the windows leave samples that no frame covers")
    y = overlapped(frames)[:, start:stop] / weight
    if length is not None and length > y.size(1):
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. Please check your center and hop_length settings",
            stacklevel=2,
        )
        y = _core._pad(y, [0, 0], [0, length - y.size(1)], 0.0)
    return y if input.ndim == 3 else y.squeeze(0)


check_all(globals())
