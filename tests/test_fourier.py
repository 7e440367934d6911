"""Fourier transforms beyond their generated tests: accuracy, inverses, frequencies, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

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


@settings(max_examples=150, deadline=None)
@given(
    n=some.one_of(some.integers(1, 260), some.sampled_from([343, 398, 509, 1331, 2100, 4093])),
    lines=some.integers(0, 40),
    name=some.sampled_from(["fft", "ifft"]),
    dtype=some.sampled_from([ad.float32, ad.float64, ad.complex64, ad.complex128]),
    layout=some.sampled_from(["rows", "columns", "apart", "expanded", "middle"]),
)
def test_lengths_and_layouts(n, lines, name, dtype, layout):
    z = ad.randn(2 * lines, n, dtype=dtype, generator=ad.Generator().manual_seed(n))
    x = {
        "rows": lambda: z,
        "columns": lambda: z.t().contiguous().t(),
        "apart": lambda: z[::2],
        "expanded": lambda: z[:1].expand(lines, n) if lines else z,
        "middle": lambda: z.reshape(2, lines, n).transpose(0, 2).contiguous().transpose(0, 2),
    }[layout]()
    y = getattr(ad.fft, name)(x)
    exact = getattr(np.fft, name)(x.to(ad.complex128).numpy())
    single = dtype in (ad.float32, ad.complex64)
    assert y.dtype is (ad.complex64 if single else ad.complex128) and y.shape == x.shape
    assert np.abs(y.to(ad.complex128).numpy() - exact).max(initial=0) <= (2e-6 if single else 4e-15) * np.abs(exact).max(
        initial=0
    )


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


@pytest.mark.parametrize("n", [1, 2, 5, 8, 50])
def test_frequencies(n):
    assert np.allclose(ad.fft.fftfreq(n, 0.5).numpy(), np.fft.fftfreq(n, 0.5))
    assert np.allclose(ad.fft.rfftfreq(n, 0.5).numpy(), np.fft.rfftfreq(n, 0.5))
    steps = np.arange(n // 2 + 1, dtype=np.float32)
    assert np.array_equal(ad.fft.rfftfreq(n, 0.1).numpy(), steps * np.float32(1 / (n * 0.1)))
    x = ad.arange(float(n))
    assert ad.equal(ad.fft.ifftshift(ad.fft.fftshift(x)), x)


def test_frequencies_are_no_whole_numbers() -> None:
    for f in (ad.fft.fftfreq, ad.fft.rfftfreq):
        with pytest.raises(RuntimeError, match="requires a floating point or complex dtype"):
            f(4, dtype=ad.int64)
        assert f(4, dtype=ad.complex64).dtype == ad.complex64


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


# ---- short-time transforms


@pytest.mark.parametrize(
    "options", [{}, {"normalized": True}, {"center": False, "hop_length": 1}, {"win_length": 6}, {"onesided": False}]
)
def test_istft_undoes_stft(options: dict[str, object]) -> None:
    ad.manual_seed(0)
    x = ad.randn(2, 40, dtype=ad.float64, requires_grad=True)
    about = {
        "n_fft": 8,
        "hop_length": 2,
        "window": ad.hann_window(options.get("win_length", 8), dtype=ad.float64) + 0.1,
        **options,
    }
    y = ad.istft(ad.stft(x, **about, return_complex=True), **about, length=40)
    assert ad.allclose(y, x)
    (g,) = ad.autograd.grad(y.square().sum(), x)
    assert ad.allclose(g, 2 * x)


@pytest.mark.filterwarnings("ignore:stft with return_complex=False")
def test_stft_is_the_transform_of_frames() -> None:
    x, window = ad.randn(20, dtype=ad.float64), ad.signal.windows.gaussian(6, std=2, dtype=ad.float64)
    y = x.stft(6, 3, window=window, center=False, return_complex=True)
    assert ad.allclose(y[:, 2], ad.fft.rfft(x[6:12] * window)) and y.shape == (4, 5)
    assert ad.equal(x.stft(6, 3, window=window, center=False, return_complex=False), ad.view_as_real(y))
    with pytest.raises(RuntimeError, match="stft requires the return_complex parameter be given for real inputs"):
        x.stft(6)
    with pytest.raises(RuntimeError, match="window overlap add min"):
        ad.istft(y, 6, 3, window=ad.zeros(6))


def test_derivatives_of_short_time_transforms() -> None:
    x, w = ad.randn(14, dtype=ad.float64, requires_grad=True), ad.hann_window(4, dtype=ad.float64, requires_grad=True)
    f = lambda x, w: ad.stft(x, 4, 2, window=w, return_complex=True)  # noqa: E731
    assert ad.autograd.gradcheck(f, (x, w), check_forward_ad=True) and ad.autograd.gradgradcheck(f, (x, w))
    spectrum = f(x, w).detach().requires_grad_()
    assert ad.autograd.gradcheck(lambda y: ad.istft(y, 4, 2, window=w.detach() + 1), (spectrum,), check_forward_ad=True)


WINDOWS = [
    name
    for name in dir(ad.signal.windows)
    if name[0] != "_" and name[0].islower() and name not in ("general_cosine", "annotations")
]


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_are_symmetric_or_periodic(name: str) -> None:
    window = getattr(ad.signal.windows, name)
    y = window(9, dtype=ad.float64)
    assert ad.allclose(y, y.flip(0)) and y.argmax() == 4
    assert (
        ad.allclose(window(8, sym=False, dtype=ad.float64), y[:8]) and window(1).tolist() == [1.0] and window(0).shape == (0,)
    )
    with pytest.raises(ValueError, match="non-negative window length, got M=-1"):
        window(-1)
    with pytest.raises(ValueError, match="expects float32 or float64 dtypes, got: adjoint.int64"):
        window(3, dtype=ad.int64)


def test_windows_under_older_names() -> None:
    w = ad.signal.windows
    assert ad.equal(ad.hann_window(5), w.hann(5, sym=False)) and ad.equal(ad.hann_window(5, False), w.hann(5))
    assert ad.equal(ad.kaiser_window(5, beta=3.0), w.kaiser(5, beta=3.0, sym=False))
    assert ad.allclose(ad.hamming_window(4), ad.tensor([0.08, 0.54, 1.0, 0.54])) and ad.bartlett_window(4).tolist() == [
        0,
        0.5,
        1,
        0.5,
    ]
    assert ad.allclose(ad.blackman_window(2), ad.tensor([0.0, 1.0]), atol=1e-7)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_no_lines_give_nothing(name):
    assert getattr(ad.fft, name)(ad.ones(0, 4), n=4, dim=1).shape == (0, 3 if name in ("rfft", "ihfft") else 4)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_dimensions_that_are_not_there(name):
    with pytest.raises(IndexError, match="^Dimension out of range .* but got 3"):
        getattr(ad.fft, name)(ad.ones(4), dim=3)
