"""Fourier transforms beyond their generated tests: accuracy, inverses, frequencies, bad input."""

import numpy as np
import pytest

import adjoint as ad

SIZES = [1, 2, 7, 12, 64, 97, 1000, 1009, 4096]


@pytest.mark.parametrize("n", SIZES)
def test_against_numpy_in_both_precisions(n):
    rng = np.random.default_rng(n)
    z = rng.standard_normal((3, n)) + 1j * rng.standard_normal((3, n))
    for name in ("fft", "ifft", "hfft"):
        if name == "hfft" and n == 1:
            continue
        exact = getattr(np.fft, name)(z)
        for dtype, eps in ((ad.complex128, 1e-15), (ad.complex64, 5e-7)):
            y = getattr(ad.fft, name)(ad.from_numpy(z).to(dtype)).to(ad.complex128).numpy()
            assert np.abs(y - exact).max() <= 4 * eps * np.abs(exact).max()


@pytest.mark.parametrize("norm", ["backward", "forward", "ortho"])
def test_inverses(norm):
    x = ad.randn(4, 6, dtype=ad.float64)
    fft = ad.fft
    pairs = [
        (fft.ifft(fft.fft(x, norm=norm), norm=norm).real, x),
        (fft.irfft(fft.rfft(x, norm=norm), norm=norm), x),
        (fft.hfft(fft.ihfft(x, norm=norm), norm=norm), x),
        (fft.ifftn(fft.fftn(x, norm=norm), norm=norm).real, x),
        (fft.irfftn(fft.rfftn(x, norm=norm), norm=norm), x),
        (fft.hfftn(fft.ihfftn(x, norm=norm), norm=norm), x),
        (fft.irfft2(fft.rfft2(x, norm=norm), norm=norm), x),
        (fft.ifft2(fft.fft2(x, norm=norm), norm=norm).real, x),
        (fft.hfft2(fft.ihfft2(x, norm=norm), norm=norm), x),
    ]
    for back, there in pairs:
        assert ad.allclose(back, there, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies(n):
    assert np.allclose(ad.fft.fftfreq(n, 0.5).numpy(), np.fft.fftfreq(n, 0.5))
    assert np.allclose(ad.fft.rfftfreq(n, 0.5).numpy(), np.fft.rfftfreq(n, 0.5))
    x = ad.arange(float(n))
    assert ad.equal(ad.fft.ifftshift(ad.fft.fftshift(x)), x)


def test_integers_become_complex():
    assert ad.fft.fft(ad.arange(4)).dtype == ad.complex64
    assert ad.fft.rfft(ad.arange(4)).dtype == ad.complex64
    assert ad.fft.fftn(ad.ones(2, dtype=ad.float64), dim=()).dtype == ad.complex128


BAD = {
    "0-d": lambda fft: fft.fft(ad.ones(())),
    "empty": lambda fft: fft.fft(ad.ones(2, 0)),
    "dim": lambda fft: fft.fft(ad.ones(3), dim=1),
    "size": lambda fft: fft.fft(ad.ones(3), n=0),
    "norm": lambda fft: fft.fft(ad.ones(3), norm="none"),
    "complex": lambda fft: fft.rfft(ad.ones(3, dtype=ad.complex64)),
    "half": lambda fft: fft.fft(ad.ones(3, dtype=ad.float16)),
    "one element": lambda fft: fft.irfft(ad.ones(1)),
    "sizes": lambda fft: fft.fftn(ad.ones(3, 3), s=(2,), dim=(0, 1)),
    "repeated": lambda fft: fft.fftn(ad.ones(3, 3), dim=(0, 0)),
    "too many": lambda fft: fft.fftn(ad.ones(3), s=(2, 2)),
    "no dims": lambda fft: fft.rfftn(ad.ones(3), dim=()),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(what):
    with pytest.raises((RuntimeError, IndexError)):
        BAD[what](ad.fft)
