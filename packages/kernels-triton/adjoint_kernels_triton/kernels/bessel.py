"""Modified Bessel functions of whole order, integrals of erfc and the zeta function: as core's math/bessel.h and math/gamma.h, in float64.

Functions of orders 0 and 1, which are most of what is asked for, have forms without loops.
"""

import math

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._declare import elementwise
from .horner import polynomial
from .special import zeta_positive


def hankel(n: int) -> tuple[float, ...]:
    """Coefficients in 1 / x of sqrt(2 pi x) e^-x I_n(x) (Abramowitz and Stegun, 9.7.1)."""
    found = [1.0]
    for k in range(1, 7):
        found.append(found[-1] * ((2 * k - 1) ** 2 - 4 * n * n) / (8 * k))
    return tuple(found)


def psi(k: int) -> float:
    """Digamma at k + 1."""
    return math.fsum([-0.5772156649015329, *(1 / i for i in range(1, k + 1))])


def power_series(n: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Coefficients in z = x^2 / 4 of i and r, I_n(x) = (x / 2)^n i(z), for n = 0 and 1; K_0 = r - log(x / 2) i, K_1 = 1 / x +
    (log(x / 2) i - r) x / 2 (9.6.10 and 11)."""
    i = [1 / (math.factorial(k) * math.factorial(k + n)) for k in range(13)]
    return tuple(i), tuple(c * 0.5 * (psi(k) + psi(k + n)) for k, c in enumerate(i))


FAR_I0, FAR_I1 = tl.constexpr(hankel(0)), tl.constexpr(hankel(1))
SERIES_I0, REST_K0 = map(tl.constexpr, power_series(0))
SERIES_I1, REST_K1 = map(tl.constexpr, power_series(1))
FAR_K0 = tl.constexpr((
    1.2249349523936164, -0.031051765597209242, -0.0031259322503865276, -0.0005131057204784301, -7.142480658123586e-05,
    -1.3185445188901926e-05, -1.885359954759406e-06, -4.0433088265022457e-07, -4.9008417381729164e-08, -1.4998795750815538e-08,
    -7.096383815395822e-10, -7.765722900858295e-10, 8.161393495322979e-11, -7.452729986532458e-11, 2.328141832550131e-11,
    -2.518508503285722e-12, -7.24495502171213e-14, -3.975716534096453e-12, 1.8904683317872293e-12,
))  # fmt: skip
FAR_K1 = tl.constexpr((
    1.3422531533667765, 0.10144268618110532, 0.014717899550322417, 0.0025922175595805524, 0.0004489529251237544,
    8.350619782312727e-05, 1.5011104957600436e-05, 2.8979102131738064e-06, 5.200327977515473e-07, 1.0587448057454777e-07,
    1.7895196745732597e-08, 4.1629652203116675e-09, 5.467296583008095e-10, 2.0567254482267756e-10, -1.5088246654937212e-12,
    7.452447903831947e-12, 9.166638621578783e-13, 4.519127223865866e-12, -1.999908517417383e-12,
))  # fmt: skip
"Own fits of sqrt(x) e^x K_n(x) for x >= 2 in 6 / (x + 1) - 1, to 2^-53."


@triton.jit
def first_i(x, ORDER: tl.constexpr, SCALED: tl.constexpr):
    """I_0 or I_1, times e^-|x| if `SCALED`: Hankel's series where e^|x| may overflow."""
    a = tl.abs(x)
    large = a > 600.0
    inner = tl.where(large, 600.0, a)
    near = libdevice.cyl_bessel_i0(inner) if ORDER == 0 else libdevice.cyl_bessel_i1(inner)
    outer = tl.where(large, a, 600.0)
    far = (polynomial(1.0 / outer, FAR_I0) if ORDER == 0 else polynomial(1.0 / outer, FAR_I1)) * libdevice.rsqrt(
        6.283185307179586 * outer
    )
    if SCALED:
        y = tl.where(large, far, near * libdevice.exp(-inner))
    else:
        half = libdevice.exp(0.5 * outer)  # e^|x| may overflow where I_n does not
        y = tl.where(large, far * half * half, near)
        y = tl.where(a == float("inf"), a, y)
    if ORDER == 1:
        y = tl.where(x < 0, -y, y)
    return y


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


@triton.jit
def any_i(order, x):
    half = libdevice.exp(0.5 * tl.abs(x))
    endless = tl.where(order % 2 != 0, x, float("inf"))
    return tl.where(tl.abs(x) == float("inf"), endless, scaled_i(order, x) * half * half)


@elementwise(block=256)
def bessel_i_scaled(given, n):
    x = given.to(tl.float64)
    order = n.to(tl.int32)
    if order == 0:
        y = first_i(x, 0, True)
    elif order == 1:
        y = first_i(x, 1, True)
    else:
        y = scaled_i(order, x)
    return y.to(given.dtype)


@elementwise(block=256)
def bessel_i(given, n):
    x = given.to(tl.float64)
    order = n.to(tl.int32)
    if order == 0:
        y = first_i(x, 0, False)
    elif order == 1:
        y = first_i(x, 1, False)
    else:
        y = any_i(order, x)
    return y.to(given.dtype)


@triton.jit
def first_k(given, ORDER: tl.constexpr, SCALED: tl.constexpr):
    """K_0 or K_1, times e^x if `SCALED`: the power series up to 2, a polynomial beyond."""
    x = tl.where(given > 0, given, 1.0)
    small = x < 2.0
    inner = tl.where(small, x, 1.0)
    z = 0.25 * inner * inner
    log = libdevice.log(0.5 * inner)
    t = 6.0 / (x + 1.0) - 1.0
    if ORDER == 0:
        near = polynomial(z, REST_K0) - log * polynomial(z, SERIES_I0)
        far = polynomial(t, FAR_K0)
    else:
        near = 1.0 / inner + 0.5 * inner * (log * polynomial(z, SERIES_I1) - polynomial(z, REST_K1))
        far = polynomial(t, FAR_K1)
    if SCALED:
        y = tl.where(small, near * libdevice.exp(inner), far * libdevice.rsqrt(x))
    else:
        y = tl.where(small, near, far * libdevice.rsqrt(x) * libdevice.exp(-x))
    return tl.where(given > 0, y, tl.where(given == 0, float("inf"), float("nan")))


@triton.jit
def any_k(order, x, SCALED: tl.constexpr):
    """Upwards, where all terms have one sign."""
    before, y = first_k(x, 0, SCALED), first_k(x, 1, SCALED)
    for m in range(1, order):
        after = before + 2 * m / x * y
        before = y
        y = after
    return y


@elementwise(block=256)
def bessel_k_scaled(given, n):
    x = given.to(tl.float64)
    order = n.to(tl.int32)
    if order == 0:
        y = first_k(x, 0, True)
    elif order == 1:
        y = first_k(x, 1, True)
    else:
        y = any_k(order, x, True)
    return y.to(given.dtype)


@elementwise(block=256)
def bessel_k(given, n):
    x = given.to(tl.float64)
    order = n.to(tl.int32)
    if order == 0:
        y = first_k(x, 0, False)
    elif order == 1:
        y = first_k(x, 1, False)
    else:
        y = any_k(order, x, False)
    return y.to(given.dtype)


@triton.jit
def integral_of_erfcx(order, x):
    """Upwards from the first two below 1, downwards as ratios beyond."""
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
    first_m = order + 20 + tl.max(tl.where(x >= 1.0, 200.0 / (high * high), 0.0).to(tl.int32), 0)
    for k in range(0, first_m + 1):
        m = first_m - k
        ratio = 1.0 / (2.0 * high + 2.0 * (m + 1) * ratio)
        y = tl.where(m <= order, y * ratio, y)
    y = tl.where(x < 1.0, tl.where(first == float("inf"), first, f), y)
    return tl.where(x != x, x, tl.where(x < -27.0, float("inf"), y))


FAR_ERFCX = tl.constexpr((0.28209479177387814, -0.42314218766081724, 1.0578554691520431, -3.702494142032151, 16.66122363914468))


@triton.jit
def first_integral_of_erfcx(x):
    """1 / sqrt(pi) - x erfcx(x), which has digits enough for float32 up to where the asymptotic series in 1 / x^2 has them."""
    r = 1.0 / tl.where(x > 10.6, x * x, 112.36)
    return tl.where(x > 10.6, r * polynomial(r, FAR_ERFCX), 0.5641895835477563 - x * libdevice.erfcx(x))


@elementwise(block=256)
def erfcx(given, n):
    """e^(x^2) times the n-th repeated integral of erfc."""
    order = n.to(tl.int32)
    if order == 0:
        y = libdevice.erfcx(given)
    elif (order == 1) & (given.dtype != tl.float64):
        y = first_integral_of_erfcx(given.to(tl.float64)).to(given.dtype)
    else:
        y = integral_of_erfcx(order, given.to(tl.float64)).to(given.dtype)
    return y


@elementwise(block=128)
def zeta(power, point):
    """For q < 0 and whole s, the sum over all integers less the part below q."""
    s = (power + tl.zeros_like(point)).to(tl.float64)
    q = (point + tl.zeros_like(power)).to(tl.float64)
    d = q - libdevice.rint(q)
    below = q <= 0
    safe = tl.where(s > 1, s, 2.0)
    TERMS: tl.constexpr = 12 if point.dtype == tl.float64 else 5
    y = zeta_positive(safe, tl.where(below, 1.0 + d, q), TERMS)
    if tl.max(below.to(tl.int32), 0) > 0:
        parity = tl.where(s == 2.0 * libdevice.floor(0.5 * s), 1.0, -1.0)
        rest = zeta_positive(safe, 1.0 - d, TERMS) - zeta_positive(safe, tl.where(below, 1.0 - q, 1.0), TERMS)
        y = tl.where(below, libdevice.pow(d, -safe) + (y + parity * rest), y)
    y = tl.where(below & (s != libdevice.floor(s)), float("nan"), y)
    y = tl.where(below & (d == 0), float("inf"), y)
    y = tl.where(q == float("inf"), 0.0, y)
    y = tl.where((s > 1) & (q != -float("inf")) & (q == q), y, float("nan"))
    return tl.where(s == 1, float("inf"), y).to(point.dtype)
