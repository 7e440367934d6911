"""The regularised incomplete gamma functions P(a, x) and Q = 1 - P, and P's derivative in x: as core's math/incomplete_gamma.h."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._declare import elementwise


@triton.jit
def log1p_minus(u):
    """log(1 + u) - u, at small u by log(1 + u) = 2 atanh(r)."""
    r = u / (2.0 + u)
    s = r * r
    total = s * 0.0
    for k in tl.static_range(16):
        total = total * s + 1.0 / (33 - 2 * k)
    return tl.where(tl.abs(u) > 0.4, libdevice.log1p(u) - u, 2.0 * r * s * total - u * r)


@triton.jit
def stirling(a, x):
    """x^a e^-x / Gamma(a + 1) for a >= 10, where powers and gamma would overflow."""
    w = 1.0 / (a * a)
    series = 1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w * (1 / 1188 - w * (691 / 360360 - w * (1 / 156))))))
    return libdevice.exp(a * log1p_minus((x - a) / a) - series / a) / libdevice.sqrt_rn(6.283185307179586 * a)


@triton.jit
def powers(a, x, order):
    """x^a e^-x / Gamma(order), for a < 10."""
    root = libdevice.exp(-0.5 * x)
    return libdevice.pow(x, a) * root / libdevice.tgamma(order) * root


@triton.jit
def gamma_term(a, x):
    few = tl.where(a < 10.0, a, 1.0)
    return tl.where(a < 10.0, powers(few, x, few + 1.0), stirling(tl.where(a < 10.0, 10.0, a), x))


STEPS = tl.constexpr(4)  # of a series, until a program looks whether any lane needs more


@triton.jit
def series(a, x, active, REST: tl.constexpr):
    """P over `gamma_term`, by its power series: for x < a + 1."""
    term = x * 0.0 + 1.0
    total = term
    n = a + 1.0
    while tl.max(active.to(tl.int32), 0) > 0:
        for _ in tl.static_range(STEPS):
            term = tl.where(active, term * (x / n), term)
            total += tl.where(active, term, 0.0)
            n += 1.0
            active = active & (term > total * REST)
    return total


@triton.jit
def complement(a, x, active):
    """Q for x < a + 1 where a is small and 1 - P has few digits: P = x^a / Gamma(1 + a) (1 + a s)."""
    high = -0.20738555102867399 + a * (
        0.16955717699740819 + a * (-0.14404989676884612 + a * (0.12550966952474304 - a * 0.11133426586956469))
    )
    log_gamma = a * (
        -0.57721566490153286 + a * (0.82246703342411322 + a * (-0.40068563438653143 + a * (0.27058080842778454 + a * high)))
    )
    term = x * 0.0 + 1.0
    total = x * 0.0
    k = 1.0
    while tl.max(active.to(tl.int32), 0) > 0:
        for _ in tl.static_range(STEPS):
            term = tl.where(active, -term * (x / k), 0.0)
            total += term / (a + k)
            k += 1.0
            active = active & (tl.abs(term) > 1e-18)
    power = a * libdevice.log(x) - log_gamma
    return -libdevice.expm1(power) - libdevice.exp(power) * a * total


@triton.jit
def fraction(a, x, active, REST: tl.constexpr):
    """Q over a `gamma_term`, by Legendre's continued fraction (Lentz's evaluation): for x >= a + 1."""
    b = x + 1.0 - a
    d = 1.0 / b
    c = x * 0.0 + 1e300
    f = d
    n = 1.0
    while tl.max(active.to(tl.int32), 0) > 0:
        for _ in tl.static_range(STEPS):
            numerator = n * (a - n)
            b += 2.0
            d = 1.0 / (b + numerator * d)
            c = b + numerator / c
            f = tl.where(active, f * (c * d), f)
            active = active & (tl.abs(c * d - 1.0) > 10 * REST) & (n < 1e5)
            n += 1.0
    return f


@triton.jit
def uniform(a, x, SIDE: tl.constexpr):
    """P (SIDE -1) or Q (1) for a >= 10^6, by Temme's expansion (SIAM J. Math. Anal. 10, 1979)."""
    u = (x - a) / a
    half = -log1p_minus(u)
    e = libdevice.copysign(libdevice.sqrt_rn(2.0 * half), u)
    first = -1 / 3 + e * (1 / 12 + e * (-2 / 135 + e * (1 / 864 + e * (1 / 2835 + e * (-139 / 777600)))))
    second = -1 / 540 + e * (-1 / 288 + e * (1 / 378))
    decay = libdevice.exp(-a * half) / libdevice.sqrt_rn(6.283185307179586 * a)
    rest = tl.where(decay > 0, decay * (first + second / a), 0.0)  # far from a the series is infinite
    return 0.5 * libdevice.erfc(SIDE * e * libdevice.sqrt_rn(a * 0.5)) + SIDE * rest


@triton.jit
def incomplete(given, point, UPPER: tl.constexpr):
    a = (given + tl.zeros_like(point)).to(tl.float64)
    x = (point + tl.zeros_like(given)).to(tl.float64)
    inside = (a > 0) & (x > 0) & (a < float("inf")) & (x < float("inf"))
    many = inside & (a >= 1e6)
    below = inside & (many == 0) & (x < a + 1.0)
    beyond = inside & (many == 0) & (x >= a + 1.0)
    p, q = tl.where(inside, a, 1.0), tl.where(inside, x, 1.0)
    term = gamma_term(p, q)
    REST: tl.constexpr = 1e-17 if given.dtype == tl.float64 or point.dtype == tl.float64 else 1e-12
    lower = term * series(p, q, below, REST)
    upper = p * term * fraction(p, tl.where(beyond, q, p + 1.0), beyond, REST)
    if UPPER:
        few = below & (a < 0.01)
        rest = tl.where(few, complement(tl.where(few, p, 0.0), tl.where(few, q, 1.0), few), 1.0 - lower)
        y = tl.where(below, rest, upper)
        at_edge = tl.where((x == 0) | (a == float("inf")), 1.0, 0.0)
    else:
        y = tl.where(below, lower, 1.0 - upper)
        at_edge = tl.where((x == 0) | (a == float("inf")), 0.0, 1.0)
    if tl.max(many.to(tl.int32), 0) > 0:
        y = tl.where(many, uniform(tl.where(many, p, 1e6), q, 1.0 if UPPER else -1.0), y)
    defined = (a >= 0) & (x >= 0) & ((a > 0) | (x > 0)) & ((a < float("inf")) | (x < float("inf")))
    return tl.where(inside, y, tl.where(defined, at_edge, float("nan"))).to(point.dtype)


@elementwise(block=128)
def igamma(a, x):
    return incomplete(a, x, False)


@elementwise(block=128)
def igammac(a, x):
    return incomplete(a, x, True)


@elementwise(block=128)
def igamma_derivative(given, point):
    """x^(a - 1) e^-x / Gamma(a); 0 where 1 / Gamma(a) is."""
    a = (given + tl.zeros_like(point)).to(tl.float64)
    x = (point + tl.zeros_like(given)).to(tl.float64)
    few = tl.where(a < 10.0, a, 1.0)
    near = powers(few - 1.0, x, few)
    many = tl.where(a < 10.0, 10.0, a)
    y = tl.where(a < 10.0, near, stirling(many, x) * (many / x))
    y = tl.where(x == 0, libdevice.pow(x, a - 1.0), y)
    y = tl.where((a <= 0) & (a == libdevice.floor(a)), 0.0, y)
    return tl.where(x >= 0, y, float("nan")).to(point.dtype)
