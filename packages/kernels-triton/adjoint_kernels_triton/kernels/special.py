"""Special functions of one operand."""

import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._declare import elementwise


@elementwise()
def erf(x):
    return libdevice.erf(x)


@elementwise()
def erfc(x):
    return libdevice.erfc(x)


@elementwise()
def erfinv(x):
    return libdevice.erfinv(x)


@elementwise()
def erf_derivative(v, x):
    return v * (1.1283791670955126 * libdevice.exp(-(x * x).to(tl.float64)).to(x.dtype))


@elementwise()
def lgamma(x):
    return libdevice.lgamma(x)


@elementwise()
def digamma(given):
    """Recurrence up to 10, then the asymptotic series; reflection for negative numbers."""
    x = given.to(tl.float64)
    reflected = x < 0.5
    z = tl.where(reflected, 1.0 - x, x)
    shift = z * 0.0
    for _ in tl.static_range(10):
        small = z < 10.0
        shift += tl.where(small, 1.0 / z, 0.0)
        z = tl.where(small, z + 1.0, z)
    w = 1.0 / (z * z)
    series = w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w * (1 / 132 - w * (691 / 32760 - w / 12))))))
    y = libdevice.log(z) - 0.5 / z - series - shift
    turn = x - libdevice.floor(x)
    mirrored = y - 3.141592653589793 / libdevice.tan(3.141592653589793 * turn)
    y = tl.where(reflected, mirrored, y)
    pole = (x <= 0) & (turn == 0)
    at_zero = tl.where(1.0 / x > 0, -float("inf"), float("inf"))
    y = tl.where(pole, tl.where(x == 0, at_zero, float("nan")), y)
    return tl.where(x == float("inf"), x, y).to(given.dtype)


@elementwise()
def logit(x, eps):
    low = tl.where(eps >= 0, eps, 0.0).to(x.dtype)
    high = tl.where(eps >= 0, 1.0 - eps, 1.0).to(x.dtype)
    z = tl.where((eps >= 0) & (x < low), low, tl.where((eps >= 0) & (x > high), high, x))
    return tl.where(tl.abs(z - 0.5) < 0.25, 2.0 * libdevice.atanh(2.0 * z - 1.0), libdevice.log(z / (1.0 - z)))
