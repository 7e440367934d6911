"""Elementwise functions of complex numbers, on their parts: (a, b) is a + b i. A result that is real stands alone in its tuple."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._declare import complex_elementwise


@complex_elementwise("to_dtype", "detach_where", "masked_gradient")
def identity(a, b):
    return a, b


@complex_elementwise()
def neg(a, b):
    return -a, -b


@complex_elementwise()
def conj(a, b):
    return a, -b


@complex_elementwise()
def add(a, b, c, d):
    return a + c, b + d


@complex_elementwise()
def sub(a, b, c, d):
    return a - c, b - d


@complex_elementwise()
def mul(a, b, c, d):
    return a * c - b * d, a * d + b * c


@triton.jit
def infinite(a, b):
    return (tl.abs(a) == float("inf")) | (tl.abs(b) == float("inf"))


@triton.jit
def direction(x):
    """An infinite number counts as a direction of unit parts (annex G of C99)."""
    return libdevice.copysign(tl.where(tl.abs(x) == float("inf"), 1.0, 0.0).to(x.dtype), x)


@triton.jit
def quotient(a, b, c, d):
    """The divisor is scaled by the larger of its parts, so that no square overflows; by zero each part is divided by it."""
    above, below = infinite(a, b), infinite(c, d)
    p, q = tl.where(above, direction(a), a), tl.where(above, direction(b), b)
    r, s = tl.where(below, direction(c), c), tl.where(below, direction(d), d)
    factor = tl.where(above, float("inf"), 1.0) * tl.where(below, 0.0, 1.0)
    swap = tl.abs(r) < tl.abs(s)
    large, small = tl.where(swap, s, r), tl.where(swap, r, s)
    ratio = small / large
    norm = large + ratio * small
    real = tl.where(swap, p * ratio + q, p + q * ratio) / norm * factor
    imaginary = tl.where(swap, q * ratio - p, q - p * ratio) / norm * factor
    zero = large == 0
    return tl.where(zero, a / tl.abs(c), real), tl.where(zero, b / tl.abs(d), imaginary)


@complex_elementwise()
def div(a, b, c, d):
    none = tl.zeros_like(a)
    return quotient(a, b + none, c + none, d + none)


@complex_elementwise()
def reciprocal(a, b):
    none = tl.zeros_like(a)
    return quotient(none + 1, none, a, b)


@complex_elementwise()
def square(a, b):
    return a * a - b * b, 2 * a * b


@complex_elementwise()
def abs(a, b):
    return (libdevice.hypot(a, b),)


@complex_elementwise()
def angle(a, b):
    return (libdevice.atan2(b, a),)


@complex_elementwise("sgn", "sign")
def sgn(a, b):
    r = libdevice.hypot(a, b)
    zero = r == 0
    return tl.where(zero, 0.0, a / r), tl.where(zero, 0.0, b / r)


@complex_elementwise()
def exp(a, b):
    """Of an infinite real part and no direction, 0 or infinity."""
    r = libdevice.exp(a)
    lost = (tl.abs(a) == float("inf")) & (b - b != 0)
    real = tl.where(lost, r, r * libdevice.cos(b))
    imaginary = tl.where(lost & (a < 0), 0.0, r * libdevice.sin(b))
    return tl.where(b == 0, r, real), tl.where(b == 0, b, imaginary)


@complex_elementwise()
def log(a, b):
    """Where |z| is near 1, by the distance of its square from 1."""
    r = libdevice.hypot(a, b)
    swap = tl.abs(a) < tl.abs(b)
    large, small = tl.where(swap, b, a), tl.where(swap, a, b)
    near = tl.abs(r - 1) < 0.25
    beside = tl.where(near, (tl.abs(large) - 1) * (tl.abs(large) + 1) + small * small, 0.0)
    return tl.where(near, 0.5 * libdevice.log1p(beside), libdevice.log(r)), libdevice.atan2(b, a)


@complex_elementwise()
def sqrt(a, b):
    r = libdevice.hypot(a, b)
    half = libdevice.sqrt_rn(r * 0.5 + tl.abs(a) * 0.5)
    other = tl.where(r == 0, 0.0, tl.abs(b) / (2 * half))
    endless = tl.abs(b) == float("inf")
    real = tl.where(endless, float("inf"), tl.where(a < 0, other, half))
    return real, libdevice.copysign(tl.where(endless, float("inf"), tl.where(a < 0, half, other)), b)


@complex_elementwise()
def sinh(a, b):
    lost = (tl.abs(a) == float("inf")) & (b - b != 0)
    real = tl.where(lost, tl.abs(a), tl.where((a == 0) & (b - b != 0), a, libdevice.sinh(a) * libdevice.cos(b)))
    return tl.where(b == 0, libdevice.sinh(a), real), tl.where(b == 0, b, libdevice.cosh(a) * libdevice.sin(b))


@complex_elementwise()
def cosh(a, b):
    lost = (tl.abs(a) == float("inf")) & (b - b != 0)
    real = tl.where(lost, tl.abs(a), libdevice.cosh(a) * libdevice.cos(b))
    none = libdevice.copysign(tl.zeros_like(a), a) * libdevice.copysign(tl.zeros_like(b) + 1.0, b)
    imaginary = tl.where((a == 0) | (b == 0), none, libdevice.sinh(a) * libdevice.sin(b))
    return tl.where(b == 0, libdevice.cosh(a), real), imaginary


@complex_elementwise()
def sin(a, b):
    """sinh(i z) / i."""
    c, d = sinh(-b, a)
    return d, -c


@complex_elementwise()
def cos(a, b):
    return cosh(-b, a)


@complex_elementwise()
def tanh(a, b):
    """(sinh 2a + i sin 2b) / (cosh 2a + cos 2b), above and below times e^-2|a|: nothing overflows, and nothing cancels."""
    e = libdevice.exp(-2 * tl.abs(a))
    s = -libdevice.expm1(-2 * tl.abs(a))
    c = libdevice.cos(b)
    below = s * s + 4 * e * c * c
    lost = (tl.abs(a) == float("inf")) & (b - b != 0)
    real = tl.where(lost, 1.0, s * (2 - s) / below)
    imaginary = tl.where(lost, libdevice.copysign(tl.zeros_like(b), b), 4 * e * libdevice.sin(b) * c / below)
    flat = (a == 0) & (b - b != 0)
    return tl.where(flat, a, libdevice.copysign(real, a)), tl.where(b == 0, b, imaginary)


@complex_elementwise()
def tanh_derivative(v, w, a, b):
    """v / cosh^2 = 2 v / (1 + cosh 2z), above and below times e^-2|a|."""
    e = libdevice.exp(-2 * tl.abs(a))
    real = e + 0.5 * (1 + e * e) * libdevice.cos(2 * b)
    imaginary = libdevice.copysign(-0.5 * libdevice.expm1(-4 * tl.abs(a)), a) * libdevice.sin(2 * b)
    return quotient(2 * e * v, 2 * e * w, real, imaginary)


@complex_elementwise()
def eq(a, b, c, d):
    return ((a == c) & (b == d),)


@complex_elementwise()
def ne(a, b, c, d):
    return ((a != c) | (b != d),)


@complex_elementwise()
def isnan(a, b):
    return ((a != a) | (b != b),)


@complex_elementwise()
def isfinite(a, b):
    return ((tl.abs(a) < float("inf")) & (tl.abs(b) < float("inf")),)


@complex_elementwise()
def where(mask, _, a, b, c, d):
    return tl.where(mask, a, c), tl.where(mask, b, d)


@complex_elementwise("complex")
def from_parts(a, _, b, _none):
    return a, b
