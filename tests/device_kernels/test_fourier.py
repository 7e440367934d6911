"""Fourier transforms in Triton beside the host's: lengths of one pass, of several, with large primes; both directions."""

import pytest
from device_checks import agree

import adjoint as ad

LENGTHS = [(1, ad.float64), (6, ad.float32), (34, ad.float64), (37, ad.float32), (67, ad.float64)]
"One pass; two; a prime of one pass; one too large."


@pytest.mark.parametrize(("n", "dtype"), LENGTHS, ids=str)
def test_lengths(n, dtype):
    ad.manual_seed(n)
    x, z = ad.randn(2, n, 3, dtype=dtype), ad.randn(3, n, dtype=dtype)
    z = ad.complex(z, z.flip(0) + 0.5)
    for call, given in (
        (lambda x: ad.fft.rfft(x, dim=1), x),
        (lambda z: ad.fft.fft(z), z),
        (lambda z: ad.fft.ifft(z), z),
        (lambda z: ad.fft.irfft(z, n), z),
    ):
        agree(call(given.cuda()) / n**0.5, call(given) / n**0.5, dtype)
