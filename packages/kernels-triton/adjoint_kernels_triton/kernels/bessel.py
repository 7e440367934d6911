"""Bessel functions of whole order, integrals of erfc and the zeta function: as core's math/bessel.h and math/gamma.h, in float64."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._declare import elementwise
from .special import zeta_positive


@triton.jit
def scaled_i(order, x):
    """e^-|x| I_n(x): the power series up to 30, Hankel's beyond."""
    a = tl.abs(x)
    near = tl.where(a < 30.0, a, 0.0)
    term = a * 0.0 + 1.0
    total = term
    k = 1.0
    active = a < 30.0
    while tl.max(active.to(tl.int32), 0) > 0:
        term *= 0.25 * near * near / (k * (order + k))
        total += tl.where(active, term, 0.0)
        active = active & (term > total * 8.7e-19)
        k += 1.0
    n = order.to(tl.float64) + tl.zeros_like(near)
    series = libdevice.pow(0.5 * near, n) / libdevice.tgamma(n + 1.0) * libdevice.exp(-near) * total
    far = tl.where(a < 30.0, 30.0, a)
    term = tl.zeros_like(far) + 1.0
    total = term
    for j in range(1, 31):
        odd = 2.0 * j - 1.0
        going = tl.abs(term) > 8.7e-19
        term = tl.where(going, term * ((odd * odd - 4.0 * n * n) / (8.0 * j * far)), term)
        total += tl.where(going, term, 0.0)
    y = tl.where(a < 30.0, series, total / libdevice.sqrt_rn(6.283185307179586 * far))
    y = tl.where(a == float("inf"), 0.0, tl.where(a != a, a, y))
    return tl.where((x < 0) & (order % 2 != 0), -y, y)


@elementwise(block=512)
def bessel_i_scaled(x, n):
    return scaled_i(n.to(tl.int32), x.to(tl.float64)).to(x.dtype)


@elementwise(block=512)
def bessel_i(given, n):
    x = given.to(tl.float64)
    order = n.to(tl.int32)
    half = libdevice.exp(0.5 * tl.abs(x))  # e^|x| may overflow where I_n does not
    endless = tl.where(order % 2 != 0, x, float("inf"))
    return tl.where(tl.abs(x) == float("inf"), endless, scaled_i(order, x) * half * half).to(given.dtype)


@triton.jit
def scaled_k(order, given):
    """e^x K_n(x): the trapezoidal rule on the integral of e^(x (1 - cosh t)) cosh(n t) over t > 0."""
    active = (given >= 1e-8) & (given < float("inf"))
    x = tl.where(active, given, 1.0)
    n = order.to(tl.float64) + tl.zeros_like(x)
    step = tl.minimum(0.5 / libdevice.sqrt_rn(x), 0.2)
    total = tl.zeros_like(x) + 0.5
    k = 1.0
    while tl.max(active.to(tl.int32), 0) > 0:
        s = libdevice.sinh(0.5 * k * step)
        term = libdevice.exp(-2.0 * x * s * s) * libdevice.cosh(n * (k * step))
        total += tl.where(active, term, 0.0)
        active = active & (term > total * 8.7e-19) & (total < float("inf"))
        k += 1.0
    small = tl.where(given < 1e-8, given, 1.0)
    whole = tl.where(n > 0, n, 1.0)
    power = 0.5 * libdevice.tgamma(whole) * libdevice.pow(2.0 / small, whole)
    near = libdevice.exp(small) * tl.where(n > 0, power, 0.11593151565841245 - libdevice.log(small))
    y = tl.where(given < 1e-8, near, total * step)
    y = tl.where(given == float("inf"), 0.0, tl.where(given == 0, float("inf"), y))
    return tl.where(given >= 0, y, float("nan"))


@elementwise(block=512)
def bessel_k_scaled(x, n):
    return scaled_k(n.to(tl.int32), x.to(tl.float64)).to(x.dtype)


@elementwise(block=512)
def bessel_k(given, n):
    x = given.to(tl.float64)
    return (scaled_k(n.to(tl.int32), x) * libdevice.exp(-x)).to(given.dtype)


@elementwise(block=128)
def bessel_j(x, n):
    return libdevice.jn(n.to(tl.int32), x.to(tl.float64)).to(x.dtype)


@elementwise(block=128)
def bessel_y(given, n):
    x = given.to(tl.float64)
    return tl.where(x < 0, float("nan"), libdevice.yn(n.to(tl.int32), x)).to(given.dtype)


@elementwise()
def erfcx(given, n):
    """e^(x^2) times the n-th repeated integral of erfc: upwards from the first two below 1, downwards as ratios beyond."""
    x = given.to(tl.float64)
    order = n.to(tl.int32)
    low = tl.where(x < 1.0, x, 0.0)
    first = libdevice.erfcx(low)
    f = first
    before = tl.zeros_like(f) + 1.1283791670955126
    for m in range(1, order + 1):
        after = (before - 2.0 * low * f) / (2 * m)
        before = f
        f = after
    high = tl.where(x < 1.0, 1.0, x)
    y = tl.zeros_like(high) + 1.1283791670955126
    ratio = tl.zeros_like(high)
    for k in range(0, order + 221):
        m = order + 220 - k
        ratio = 1.0 / (2.0 * high + 2.0 * (m + 1) * ratio)
        y = tl.where(m <= order, y * ratio, y)
    y = tl.where(x < 1.0, tl.where(first == float("inf"), first, f), y)
    return tl.where(x != x, x, tl.where(x < -27.0, float("inf"), y)).to(given.dtype)


@elementwise(block=128)
def zeta(power, point):
    """For q < 0 and whole s, the sum over all integers less the part below q."""
    s = (power + tl.zeros_like(point)).to(tl.float64)
    q = (point + tl.zeros_like(power)).to(tl.float64)
    d = q - libdevice.rint(q)
    below = q <= 0
    safe = tl.where(s > 1, s, 2.0)
    total = zeta_positive(safe, tl.where(below, 1.0 + d, q))
    parity = tl.where(s == 2.0 * libdevice.floor(0.5 * s), 1.0, -1.0)
    rest = zeta_positive(safe, 1.0 - d) - zeta_positive(safe, tl.where(below, 1.0 - q, 1.0))
    y = tl.where(below, libdevice.pow(d, -safe) + (total + parity * rest), total)
    y = tl.where(below & (s != libdevice.floor(s)), float("nan"), y)
    y = tl.where(below & (d == 0), float("inf"), y)
    y = tl.where(q == float("inf"), 0.0, y)
    y = tl.where((s > 1) & (q != -float("inf")) & (q == q), y, float("nan"))
    return tl.where(s == 1, float("inf"), y).to(point.dtype)
