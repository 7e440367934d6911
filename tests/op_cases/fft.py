"""Fourier transforms."""

from functools import partial

import numpy as np

from op_cases._case import case
from op_cases._inputs import x

REFUSED = {"half": "refused, as in PyTorch"}
over = partial(case, complex=True, skip=REFUSED)
real = partial(case, skip=REFUSED)


def transform(name, **fixed):
    """NumPy's function, with `dim` for its axis."""

    def call(a, n=None, dim=-1, norm=None):
        return getattr(np.fft, name)(a, n, dim, norm, **fixed)

    return call


def several(name):
    def call(a, s=None, dim=None, norm=None):
        return getattr(np.fft, name)(a, s, dim, norm)

    return call


CASES = [
    over("fft.fft", x(3, 8), ref=transform("fft"), empty=[(0, 4)]),
    over("fft.fft", x(6, 3), n=5, dim=0, norm="ortho", variant="cut", ref=transform("fft")),
    over("fft.fft", x(3, 4), n=7, norm="forward", variant="filled", ref=transform("fft")),
    over("fft.ifft", x(3, 6), ref=transform("ifft"), empty=[(0, 4)]),
    over("fft.ifft", x(17), norm="forward", variant="prime", ref=transform("ifft")),
    real("fft.rfft", x(3, 8), ref=transform("rfft"), empty=[(0, 4)]),
    real("fft.rfft", x(7, 2), dim=0, norm="ortho", variant="odd", ref=transform("rfft")),
    over("fft.irfft", x(3, 5), ref=transform("irfft"), empty=[(0, 4)]),
    over("fft.irfft", x(3, 4, 2), n=7, dim=1, norm="ortho", variant="odd", ref=transform("irfft")),
    over("fft.irfft", x(3, 4), n=10, variant="filled", ref=transform("irfft")),
    over("fft.hfft", x(3, 5), ref=transform("hfft")),
    real("fft.ihfft", x(3, 6), norm="forward", ref=transform("ihfft")),
    over("fft.fft2", x(2, 3, 4), ref=lambda a: np.fft.fft2(a)),
    over("fft.ifft2", x(2, 3, 4), ref=lambda a: np.fft.ifft2(a)),
    over("fft.fftn", x(2, 3, 4), ref=several("fftn")),
    over("fft.fftn", x(2, 3, 4), s=(5, 2), dim=(2, 0), variant="sizes"),
    over("fft.ifftn", x(3, 4), norm="ortho", ref=several("ifftn")),
    real("fft.rfftn", x(2, 3, 4), ref=several("rfftn")),
    real("fft.rfft2", x(2, 3, 5)),
    over("fft.irfftn", x(3, 4), ref=several("irfftn")),
    over("fft.irfft2", x(2, 3, 4), s=(3, 5)),
    over("fft.hfftn", x(3, 4)),
    real("fft.ihfftn", x(3, 4)),
    over("fft.fftshift", x(4, 5), ref=np.fft.fftshift, skip={}),
    over("fft.ifftshift", x(4, 5), dim=1, ref=lambda a, dim: np.fft.ifftshift(a, dim), skip={}),
]
