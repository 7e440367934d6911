"""Special functions of one operand."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._declare import elementwise
from .horner import polynomial
from .random import ROUND


@elementwise()
def erf(x):
    return libdevice.erf(x)


@elementwise()
def erfc(x):
    return libdevice.erfc(x)


@elementwise()
def entr(x):
    y = tl.where((x > 0) | (x != x), -x * libdevice.log(x), 0.0)
    return tl.where(x < 0, -float("inf"), y)


@elementwise()
def erfinv(x):
    return libdevice.erfinv(x)


@elementwise()
def log_ndtr(x):
    size = tl.abs(x) * 0.7071067811865476
    below = libdevice.log(libdevice.erfcx(size) * 0.5) - x * x * 0.5
    return tl.where(x < 0, below, libdevice.log1p(libdevice.erfc(size) * -0.5))


@elementwise()
def ndtri(x):
    return libdevice.normcdfinv(x)


@elementwise()
def erf_derivative(v, x):
    return v * (1.1283791670955126 * libdevice.exp(-(x * x).to(tl.float64)).to(x.dtype))


@elementwise(block=512)
def lgamma(x):
    return libdevice.lgamma(x)


@elementwise(block=128)
def digamma(given):
    """Ten steps of the recurrence below 10, whose fractions are one quotient, then the asymptotic series; reflection for negative numbers."""
    x = given.to(tl.float64)
    reflected = x < 0.5
    z = tl.where(reflected, 1.0 - x, x)
    few = z < 10.0
    bottom = tl.where(few, z, 1.0)
    top = tl.zeros_like(z) + 1.0
    for k in tl.static_range(1, 10):
        top = top * (z + k) + bottom
        bottom = bottom * (z + k)
    shift = tl.where(few, top / bottom, 0.0)
    r = 1.0 / tl.where(few, z + 10.0, z)
    w = r * r
    series = w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w * (1 / 132 - w * (691 / 32760 - w * (1 / 12)))))))
    y = libdevice.log(tl.where(few, z + 10.0, z)) - 0.5 * r - series - shift
    turn = x - libdevice.rint(x)
    mirrored = y - 3.141592653589793 / libdevice.tan(3.141592653589793 * turn)
    y = tl.where(reflected, mirrored, y)
    pole = (x <= 0) & (turn == 0)
    at_zero = tl.where(x.to(tl.int64, bitcast=True) < 0, float("inf"), -float("inf"))
    y = tl.where(pole, tl.where(x == 0, at_zero, float("nan")), y)
    return tl.where(x == float("inf"), x, y).to(given.dtype)


@elementwise()
def logit(x, eps):
    low = tl.where(eps >= 0, eps, 0.0).to(x.dtype)
    high = tl.where(eps >= 0, 1.0 - eps, 1.0).to(x.dtype)
    z = tl.where((eps >= 0) & (x < low), low, tl.where((eps >= 0) & (x > high), high, x))
    return tl.where(tl.abs(z - 0.5) < 0.25, 2.0 * libdevice.atanh(2.0 * z - 1.0), libdevice.log(z / (1.0 - z)))


@triton.jit
def zeta_positive(s, q, TERMS: tl.constexpr):
    """The sum of (q + k)^-s over k >= 0 for q > 0: `TERMS` terms, then Euler and Maclaurin's series (as core's math/gamma.h): 12 for float64, 5
    for float32."""
    total = tl.zeros_like(q)
    for _ in range(TERMS):
        total += libdevice.exp(-s * libdevice.log(q))
        q += 1.0
    power = libdevice.exp(-s * libdevice.log(q))
    r = 1.0 / (q * q)
    c = (s + 13) * (s + 14) * r * (-3617 / 10670622842880000) + 1 / 74724249600
    c = (s + 11) * (s + 12) * r * c - 691 / 1307674368000
    c = (s + 9) * (s + 10) * r * c + 1 / 47900160
    c = (s + 7) * (s + 8) * r * c - 1 / 1209600
    c = (s + 5) * (s + 6) * r * c + 1 / 30240
    c = (s + 3) * (s + 4) * r * c - 1 / 720
    c = (s + 1) * (s + 2) * r * c + 1 / 12
    return total + power * (q / (s - 1.0) + 0.5 + s / q * c)


@triton.jit
def trigamma(x, TERMS: tl.constexpr):
    """As digamma, after `TERMS` steps: 16 for float64, 8 for float32."""
    z = tl.where(x < 0, 1.0 - x, x)
    few = z < TERMS
    inner = tl.where(few, z, 1.0)
    bottom = inner * inner
    top = tl.zeros_like(z) + 1.0
    for k in tl.static_range(1, TERMS):
        square = (inner + k) * (inner + k)
        top = top * square + bottom
        bottom = bottom * square
    w = 1.0 / tl.where(few, z + TERMS, z)
    r = w * w
    series = r * w * (1 / 6 - r * (1 / 30 - r * (1 / 42 - r * (1 / 30 - r * (5 / 66 - r * (691 / 2730 - r * (7 / 6)))))))
    y = series + 0.5 * r + tl.where(few, top / bottom, 0.0) + w
    turn = x - libdevice.rint(x)
    sine = libdevice.sin(3.141592653589793 * turn)
    y = tl.where(x < 0, 9.869604401089358 / (sine * sine) - y, y)
    return tl.where((x <= 0) & (turn == 0), float("inf"), y)


@triton.jit
def polygamma_above(order, x, TERMS: tl.constexpr):
    """(-1)^(n + 1) n! zeta(n + 1, x); below zero, zeta is the sum over all integers less the part below x."""
    parity = 2.0 * (order % 2) - 1.0
    factorial = parity
    for k in range(2, order + 1):
        factorial *= k
    s = (order + 1).to(tl.float64)
    d = x - libdevice.rint(x)
    below = x < 0
    y = zeta_positive(s, tl.where(below, 1.0 + d, x), TERMS)
    if tl.max(below.to(tl.int32), 0) > 0:
        there = libdevice.exp(-s * libdevice.log(tl.abs(d)))
        rest = zeta_positive(s, 1.0 - d, TERMS) - zeta_positive(s, 1.0 - x, TERMS)
        y += tl.where(below, there * tl.where(d < 0, parity, 1.0) + parity * rest, 0.0)
    y = tl.where((x <= 0) & (d == 0), float("inf"), y)
    y = tl.where(x == float("inf"), 0.0, tl.where(x == -float("inf"), float("nan"), y))
    return factorial * y


@elementwise(block=128)
def polygamma(given, n):
    x = given.to(tl.float64)
    order = n.to(tl.int32)
    WIDE: tl.constexpr = given.dtype == tl.float64
    if order == 0:
        y = digamma(x)
    elif order == 1:
        y = trigamma(x, 16 if WIDE else 8)
    else:
        y = polygamma_above(order, x, 12 if WIDE else 5)
    return y.to(given.dtype)


SINC = tl.constexpr((
    1.0, -1.6449340668482264, 0.8117424252833394, -0.19075182412149658, 0.026147847805557536, -0.0023460808955200734,
    0.0001484278416841416, -6.972100313670779e-06, 2.4503008901533465e-07,
))  # fmt: skip
COS = tl.constexpr((
    1.0, -4.934802200544679, 4.058712126416768, -1.3352627688545893, 0.23533063035889312,
    -0.02580689139001405, 0.001929574309403922, -0.00010463810492484565, 4.303069587032944e-06,
))  # fmt: skip
"Own fits of sin(pi r) / (pi r) and cos(pi r) in r^2 for |r| <= 1/2."


@triton.jit
def half_turn(a):
    """The distance of a >= 0 to the nearest integer, which is exact, and whether that is odd; what is beyond 2^51 counts as an integer."""
    c = tl.where(a > 2251799813685248.0, 2251799813685248.0, a)
    shifted = c + ROUND
    return c - (shifted - ROUND), (shifted.to(tl.int64, bitcast=True) & 1) != 0


@triton.jit
def sinc_itself(x):
    """sin(pi x) / (pi x)."""
    a = tl.abs(x)
    r, odd = half_turn(a)
    p = polynomial(r * r, SINC)
    far = r * p / a
    y = tl.where(a < 0.5, p, tl.where(odd, -far, far))
    return tl.where(a == float("inf"), float("nan"), y)


@triton.jit
def sinc_slope(x):
    """(sinc(x) - cos(pi x)) / (pi x), for float32: two terms of its series near 0."""
    a = tl.abs(x)
    r, odd = half_turn(a)
    z = r * r
    s, c = r * polynomial(z, SINC) / a, polynomial(z, COS)
    far = tl.where(odd, c - s, s - c) * 0.3183098861837907 / a
    y = tl.where(a < 1e-3, a * (1.0471975511965976 - z * 1.0335425560099938), far)
    y = tl.where(a == float("inf"), float("nan"), y)
    return tl.where(x < 0, -y, y)


@triton.jit
def spherical(order, x):
    """j_n at x: a series where it is small, else upwards from j_0 and j_1."""
    w = -0.5 * x * x
    term = x * 0.0 + 1.0
    near = term
    for k in range(1, 32):
        term = term * w / (k * (2 * order + 2 * k + 1))
        near += term
    for k in range(1, order + 1):
        near = near * x / (2 * k + 1)
    before = libdevice.sin(x) / x
    far = before / x - libdevice.cos(x) / x
    for k in range(1, order):
        after = (2 * k + 1) * far / x - before
        before = far
        far = after
    return tl.where(tl.abs(x) < order + 1.5, near, far)


@elementwise(block=256)
def sinc(given, n):
    """The spherical Bessel function j_n at pi x."""
    x = given.to(tl.float64)
    order = n.to(tl.int32)
    if order == 0:
        y = sinc_itself(x)
    elif (order == 1) & (given.dtype != tl.float64):
        y = sinc_slope(x)
    else:
        y = spherical(order, x * 3.141592653589793)
    return y.to(given.dtype)
