"""Elementary functions of complex numbers beyond arithmetic, on their parts: (a, b) is a + b i.

The inverse functions are Kahan's (Branch cuts for complex elementary functions, 1987), which keep the signs of zeros.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._declare import complex_elementwise
from .complex import cos, direction, div, exp, infinite, log, mul, quotient, sin, sqrt, tanh


@triton.jit
def inverse(a, b):
    return quotient(tl.zeros_like(a) + 1, tl.zeros_like(a), a, b)


@complex_elementwise()
def tan(a, b):
    """tanh(i z) / i."""
    c, d = tanh(-b, a)
    return d, -c


@triton.jit
def heading(a, b):
    """The angle of an infinite number."""
    x = tl.where(a != a, a, direction(a))
    return libdevice.atan2(tl.where(b != b, b, tl.abs(direction(b))), x)


@triton.jit
def roots(a, b):
    """sqrt(1 - z) and sqrt(1 + z)."""
    c, d = sqrt(1 - a, -b)
    e, f = sqrt(1 + a, b)
    return c, d, e, f


@complex_elementwise()
def asin(a, b):
    c, d, e, f = roots(a, b)
    endless = infinite(a, b)
    real = tl.where(endless, 1.5707963267948966 - heading(tl.abs(a), b), libdevice.atan2(tl.abs(a), c * e - d * f))
    imaginary = tl.where(endless, float("inf"), libdevice.asinh(c * f - d * e))
    return libdevice.copysign(real, a), libdevice.copysign(imaginary, b)


@complex_elementwise()
def acos(a, b):
    c, d, e, f = roots(a, b)
    endless = infinite(a, b)
    imaginary = tl.where(endless, float("inf"), libdevice.asinh(e * d - f * c))
    return tl.where(endless, heading(a, b), 2 * libdevice.atan2(c, e)), libdevice.copysign(imaginary, -b)


@complex_elementwise()
def asinh(a, b):
    """asin(i z) / i."""
    c, d = asin(-b, a)
    return d, -c


@complex_elementwise()
def acosh(a, b):
    c, d = sqrt(a - 1, b)
    e, f = sqrt(a + 1, b)
    endless = infinite(a, b)
    real = tl.where(endless, float("inf"), libdevice.asinh(c * e + d * f))
    return real, libdevice.copysign(tl.where(endless, heading(a, b), 2 * libdevice.atan2(tl.abs(d), e)), b)


@complex_elementwise()
def atanh(a, b):
    x = tl.abs(a)
    endless = infinite(a, b)
    down = (1 - x) * (1 - x) + b * b
    real = tl.where(endless, 0.0, 0.25 * libdevice.log1p(4 * x / down))
    angle = tl.where(endless, -1.0, (1 - x) * (1 + x) - b * b)
    return libdevice.copysign(real, a), 0.5 * libdevice.atan2(libdevice.copysign(tl.where(endless, 0.0, 2 * b), b), angle)


@complex_elementwise()
def atan(a, b):
    """atanh(i z) / i."""
    c, d = atanh(-b, a)
    return d, -c


@complex_elementwise()
def exp2(a, b):
    return exp(a * 0.6931471805599453, b * 0.6931471805599453)


@complex_elementwise()
def log2(a, b):
    c, d = log(a, b)
    return c * 1.4426950408889634, d * 1.4426950408889634


@complex_elementwise()
def log10(a, b):
    c, d = log(a, b)
    return c * 0.4342944819032518, d * 0.4342944819032518


@complex_elementwise()
def expm1(a, b):
    """expm1(a) cos b - 2 sin(b / 2)^2 + i e^a sin b: nothing cancels near 0."""
    half = libdevice.sin(b * 0.5)
    return libdevice.expm1(a) * libdevice.cos(b) - 2 * half * half, libdevice.exp(a) * libdevice.sin(b)


@complex_elementwise()
def log1p(a, b):
    """Near 0, log |1 + z|^2 / 2 = log1p(a (2 + a) + b^2) / 2."""
    far, angle = log(1 + a, b)
    near = (tl.abs(a) < 0.5) & (tl.abs(b) < 0.5)
    return tl.where(near, 0.5 * libdevice.log1p(tl.where(near, a * (2 + a) + b * b, 0.0)), far), angle


@complex_elementwise()
def rsqrt(a, b):
    c, d = sqrt(a, b)
    return inverse(c, d)


@triton.jit
def chosen(mask, a, b, c, d):
    return tl.where(mask, a, c), tl.where(mask, b, d)


@complex_elementwise()
def pow(a, b, c, d):
    """e^(w log z), but for small exponents and for 0."""
    r, t = log(a, b)
    e, f = mul(c, d, r, t)
    y, z = exp(e, f)
    e, f = mul(a, b, a, b)
    real = d == 0
    y, z = chosen(real & (c == 2), e, f, y, z)
    g, h = mul(e, f, a, b)
    y, z = chosen(real & (c == 3), g, h, y, z)
    g, h = inverse(e, f)
    y, z = chosen(real & (c == -2), g, h, y, z)
    e, f = inverse(a, b)
    y, z = chosen((a == 0) & (b == 0) & ((real & (c == -2)) == 0), tl.where(c > 0, 0.0, e), tl.where(c > 0, 0.0, f), y, z)
    y, z = chosen(real & (c == -1), e, f, y, z)
    e, f = sqrt(a, b)
    y, z = chosen(real & (c == 0.5), e, f, y, z)
    e, f = inverse(e, f)
    y, z = chosen(real & (c == -0.5), e, f, y, z)
    y, z = chosen(real & (c == 1), a, b, y, z)
    return tl.where(real & (c == 0), 1.0, y), tl.where(real & (c == 0), 0.0, z)


@triton.jit
def falling(a, b):
    """e^z from the side where it is below 1, and whether that is e^-z."""
    up = (a < 0) == 0
    c, d = exp(tl.where(up, -a, a), tl.where(up, -b, b))
    return c, d, up


@complex_elementwise()
def sigmoid(a, b):
    c, d, up = falling(a, b)
    return quotient(tl.where(up, 1.0, c), tl.where(up, 0.0, d), 1 + c, d)


@complex_elementwise()
def sigmoid_derivative(v, w, a, b):
    c, d, _ = falling(a, b)
    e, f = mul(1 + c, d, 1 + c, d)
    g, h = quotient(c, d, e, f)
    return mul(v, w, g, h)


@complex_elementwise()
def gated(x, y, a, b):
    c, d = sigmoid(a, b)
    return mul(x, y, c, d)


@complex_elementwise()
def silu(a, b):
    c, d = sigmoid(a, b)
    return mul(a, b, c, d)


@complex_elementwise()
def silu_derivative(v, w, a, b):
    c, d = sigmoid(-a, -b)
    e, f = mul(a, b, c, d)
    c, d = sigmoid(a, b)
    g, h = mul(c, d, 1 + e, f)
    return mul(v, w, g, h)


@complex_elementwise()
def sinc(given, other, n):
    """The spherical Bessel function j_n at pi z: a series where |pi z| is small, else upwards from j_0 and j_1."""
    a = given.to(tl.float64) * 3.141592653589793
    b = other.to(tl.float64) * 3.141592653589793
    order = n.to(tl.int32)
    c, d = mul(a, b, a, b)
    c *= -0.5
    d *= -0.5
    e, f = a * 0.0 + 1.0, b * 0.0
    near, beside = e, f
    for k in range(1, 32):
        g = k * (2 * order + 2 * k + 1)
        e, f = mul(e, f, c, d)
        e, f = e / g, f / g
        near, beside = near + e, beside + f
    for k in range(1, order + 1):
        near, beside = mul(near, beside, a, b)
        near, beside = near / (2 * k + 1), beside / (2 * k + 1)
    far, aside = sin(a, b)
    far, aside = div(far, aside, a, b)
    if order > 0:
        before, behind = far, aside
        e, f = cos(a, b)
        far, aside = div(far - e, aside - f, a, b)
        for k in range(1, order):
            e, f = div((2 * k + 1) * far, (2 * k + 1) * aside, a, b)
            e, f = e - before, f - behind
            before, behind = far, aside
            far, aside = e, f
    small = libdevice.hypot(a, b) < order + 1.5
    return tl.where(small, near, far).to(given.dtype), tl.where(small, beside, aside).to(given.dtype)


@triton.jit
def replaced(x, nan, positive, negative):
    x = tl.where(x == float("inf"), positive, tl.where(x == -float("inf"), negative, x))
    return tl.where(x != x, nan, x)


@complex_elementwise()
def nan_to_num(a, b, nan, positive, negative):
    return replaced(a, nan, positive, negative), replaced(b, nan, positive, negative)


@complex_elementwise()
def lerp(a, b, c, d, w, x):
    """From the nearer end."""
    near = libdevice.hypot(w, x) < 0.5
    e, f = mul(c - a, d - b, tl.where(near, w, 1 - w), tl.where(near, x, -x))
    return tl.where(near, a + e, c - e), tl.where(near, b + f, d - f)


@complex_elementwise("addcmul", "affine")
def addcmul(a, b, c, d, e, f, value):
    v = value.to(c.dtype)
    g, h = mul(v * c, v * d, e, f)
    return a + g, b + h


@complex_elementwise()
def addcdiv(a, b, c, d, e, f, value):
    v = value.to(c.dtype)
    g, h = quotient(v * c, v * d, e, f)
    return a + g, b + h


@complex_elementwise()
def logaddexp(a, b, c, d):
    swap = a < c
    e, f = chosen(swap, c, d, a, b)
    g, h = chosen(swap, a, b, c, d)
    g, h = exp(g - e, h - f)
    g, h = log1p(g, h)
    same = (a == c) & (b == d) & (tl.abs(a) == float("inf"))
    return tl.where(same, a, e + g), tl.where(same, b, f + h)


@complex_elementwise()
def masked_fill(a, b, mask, _, c, d):
    return tl.where(mask, c, a), tl.where(mask, d, b)


@triton.jit
def truth(a, b):
    return (a != 0) | (b != 0)


@complex_elementwise()
def isinf(a, b):
    return ((tl.abs(a) == float("inf")) | (tl.abs(b) == float("inf")),)


@complex_elementwise()
def logical_not(a, b):
    return ((a == 0) & (b == 0),)


@complex_elementwise()
def logical_and(a, b, c, d):
    return (truth(a, b) & truth(c, d),)


@complex_elementwise()
def logical_or(a, b, c, d):
    return (truth(a, b) | truth(c, d),)


@complex_elementwise()
def logical_xor(a, b, c, d):
    return (truth(a, b) ^ truth(c, d),)
