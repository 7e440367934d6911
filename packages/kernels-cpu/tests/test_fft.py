"""The kernels of Fourier transforms against core's reference kernels: sizes with small factors, with large ones, and primes."""

from __future__ import annotations

import pytest
from kernel_checks import check, random

from adjoint_core import fft

SIZES = [1, 2, 3, 4, 5, 6, 8, 9, 16, 17, 22, 30, 49, 64, 97, 121, 128, 169, 210, 360, 512, 1009, 1024, 2187]
TOLERANCE = {"float32": 1e-5, "float64": 1e-13}


@pytest.mark.parametrize("lines", [1, 5, 40])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("n", SIZES)
def test_lines(n: int, dtype: str, lines: int) -> None:
    x, z = random((lines, n), dtype), random((lines, n), "complex64" if dtype == "float32" else "complex128")
    check("fft", lambda: fft.fft(z, norm="ortho"), TOLERANCE[dtype] * 10)
    check("fft", lambda: fft.ifft(z, norm="ortho"), TOLERANCE[dtype] * 10)
    check("rfft", lambda: fft.rfft(x, norm="ortho"), TOLERANCE[dtype] * 10)
    check("irfft", lambda: fft.irfft(z[:, : n // 2 + 1], n, norm="ortho"), TOLERANCE[dtype] * 10)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_other_dimensions(dtype: str) -> None:
    z = random((3, 20, 7), dtype)
    for x in (z, z.transpose(0, 2), z[:, ::2], z[1:, :, 3:]):
        for dim in range(3):
            check("fft", lambda x=x, dim=dim: fft.fft(x, dim=dim), 1e-4)
            check("rfft", lambda x=x, dim=dim: fft.rfft(x.real, dim=dim), 1e-4)
            check("irfft", lambda x=x, dim=dim: fft.irfft(x, dim=dim, n=9), 1e-4)
