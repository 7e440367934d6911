"""Elementwise functions of complex numbers, on their parts: (a, b) is a + b i. A result that is real stands alone in its tuple."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._declare import complex_elementwise


@complex_elementwise("to_dtype", "detach_where")
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
def unit(x):
    return tl.where(x == float("inf"), 1.0, tl.where(x == -float("inf"), -1.0, 0.0))


@triton.jit
def quotient(a, b, c, d):
    """The divisor is scaled by the larger of its parts, so that no square overflows; by zero each part is divided by it."""
    swap = tl.abs(c) < tl.abs(d)
    large, small = tl.where(swap, d, c), tl.where(swap, c, d)
    ratio = tl.where(small == large, 1.0, tl.where(small == -large, -1.0, small / large))  # of two infinite parts too
    below = large + ratio * small
    zero = large == 0
    infinite = (tl.abs(a) == float("inf")) | (tl.abs(b) == float("inf"))  # counts as a direction of unit parts
    p, q = tl.where(infinite, unit(a), a), tl.where(infinite, unit(b), b)
    factor = tl.where(infinite, float("inf"), 1.0)
    real = tl.where(swap, p * ratio + q, p + q * ratio) / below * factor
    imaginary = tl.where(swap, q * ratio - p, q - p * ratio) / below * factor
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
    r = libdevice.exp(a)
    return r * libdevice.cos(b), tl.where(b == 0, b, r * libdevice.sin(b))


@complex_elementwise()
def log(a, b):
    return libdevice.log(libdevice.hypot(a, b)), libdevice.atan2(b, a)


@complex_elementwise()
def sqrt(a, b):
    r = libdevice.hypot(a, b)
    half = libdevice.sqrt_rn((r + tl.abs(a)) * 0.5)
    other = tl.where(r == 0, 0.0, tl.abs(b) / (2 * half))
    return tl.where(a < 0, other, half), libdevice.copysign(tl.where(a < 0, half, other), b)


@complex_elementwise()
def sin(a, b):
    return libdevice.sin(a) * libdevice.cosh(b), libdevice.cos(a) * libdevice.sinh(b)


@complex_elementwise()
def cos(a, b):
    return libdevice.cos(a) * libdevice.cosh(b), -libdevice.sin(a) * libdevice.sinh(b)


@complex_elementwise()
def sinh(a, b):
    return libdevice.sinh(a) * libdevice.cos(b), libdevice.cosh(a) * libdevice.sin(b)


@complex_elementwise()
def cosh(a, b):
    return libdevice.cosh(a) * libdevice.cos(b), libdevice.sinh(a) * libdevice.sin(b)


@complex_elementwise()
def tanh(a, b):
    """(sinh 2a + i sin 2b) / (cosh 2a + cos 2b), where that does not overflow."""
    a2 = tl.where(tl.abs(a) > 20, libdevice.copysign(20.0 + tl.zeros_like(a), a), a) * 2
    below = libdevice.cosh(a2) + libdevice.cos(2 * b)
    return libdevice.sinh(a2) / below, libdevice.sin(2 * b) / below


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
