"""Elementwise functions of several operands."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._declare import elementwise


@elementwise()
def add(a, b):
    if a.dtype == tl.int1:
        return a | b
    else:
        return a + b


@elementwise()
def sub(a, b):
    return a - b


@elementwise()
def mul(a, b):
    if a.dtype == tl.int1:
        return a & b
    else:
        return a * b


@elementwise()
def div(a, b):
    if a.dtype == tl.float32:
        return tl.div_rn(a, b)
    else:
        return a / b


@triton.jit
def floored(a, b):
    """floor(a / b) and the remainder of that, of integers."""
    q = a // b
    r = a - q * b
    if a.dtype.is_int_signed():
        wrong = (r != 0) & ((r < 0) != (b < 0))
        return q - wrong.to(a.dtype), tl.where(wrong, r + b, r)
    else:
        return q, r


@triton.jit
def real_remainder(a, b):
    """The remainder with the sign of b, exact as fmod is."""
    r = libdevice.fmod(a, b)
    return tl.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)


@elementwise()
def remainder(a, b):
    if a.dtype.is_floating():
        return real_remainder(a, b)
    else:
        return floored(a, b)[1]


@elementwise()
def floor_divide(a, b):
    if a.dtype.is_floating():
        r = libdevice.fmod(a, b)
        q = (a - r) / b
        q = tl.where((r != 0) & ((r < 0) != (b < 0)), q - 1.0, q)
        down = libdevice.floor(q)
        nearest = tl.where(q - down > 0.5, down + 1.0, down)
        whole = tl.where(q == 0, libdevice.copysign(q * 0.0, a / b), nearest)
        return tl.where(b == 0, a / b, whole)
    else:
        return floored(a, b)[0]


@elementwise()
def trunc_divide(a, b):
    if a.dtype.is_floating():
        return libdevice.trunc(a / b)
    else:
        return a // b


@elementwise()
def fmod(a, b):
    if a.dtype.is_floating():
        return libdevice.fmod(a, b)
    else:
        return a - a // b * b


@triton.jit
def whole_power(a, b):
    """By squaring; a negative exponent leaves only the powers of 1 and -1."""
    result = a * 0 + 1
    base = a
    n = tl.where(b < 0, b * 0, b)
    for _ in range(a.dtype.primitive_bitwidth):
        result = tl.where((n & 1) != 0, result * base, result)
        base = base * base
        n = n >> 1
    if a.dtype.is_int_signed():
        one = a * 0 + 1
        inverse = tl.where(a == 1, one, tl.where(a == -1, tl.where((b & 1) != 0, -one, one), a * 0))
        return tl.where(b < 0, inverse, result)
    else:
        return result


@elementwise()
def pow(a, b):
    if a.dtype.is_floating():
        return tl.where(b == 2, a * a, libdevice.pow(a, b))
    else:
        return whole_power(a, b)


@elementwise()
def atan2(a, b):
    return libdevice.atan2(a, b)


@elementwise()
def hypot(a, b):
    return libdevice.hypot(a, b)


@elementwise()
def copysign(a, b):
    return libdevice.copysign(a, b)


@elementwise()
def heaviside(a, b):
    return tl.where(a == 0, b, tl.where(a > 0, 1, 0).to(a.dtype))


@elementwise("maximum", "clamp_min")
def maximum(a, b):
    return tl.where((a != a) | (a > b), a, b)


@elementwise("minimum", "clamp_max")
def minimum(a, b):
    return tl.where((a != a) | (a < b), a, b)


@elementwise()
def fmax(a, b):
    return tl.where((b != b) | (a > b), a, b)


@elementwise()
def fmin(a, b):
    return tl.where((b != b) | (a < b), a, b)


@elementwise()
def clamp(x, low, high):
    y = tl.where((x != x) | (x > low), x, low)
    return tl.where((y != y) | (y < high), y, high)


@elementwise()
def xlogy(a, b):
    return tl.where((a == 0) & (b == b), 0.0, a * libdevice.log(b))


@elementwise()
def logaddexp(a, b):
    high = tl.where(a < b, b, a)
    low = tl.where(a < b, a, b)
    same = (a == b) & (tl.abs(a) == float("inf"))
    return tl.where(same, a, high + libdevice.log1p(libdevice.exp(low - high)))


@elementwise()
def logaddexp2(a, b):
    high = tl.where(a < b, b, a)
    low = tl.where(a < b, a, b)
    same = (a == b) & (tl.abs(a) == float("inf"))
    return tl.where(same, a, high + libdevice.log1p(libdevice.exp2(low - high)) * 1.4426950408889634)


@triton.jit
def following(x, y, REAL: tl.constexpr, WHOLE: tl.constexpr, STEP: tl.constexpr):
    """The number of the type REAL behind x in the direction of y, whose bits, of the type WHOLE, are STEP away."""
    a, b = x.to(REAL), y.to(REAL)
    bits = a.to(WHOLE, bitcast=True)
    away = (a < b) == (a > 0)  # from zero
    moved = (bits + tl.where(away, STEP, -STEP)).to(WHOLE).to(REAL, bitcast=True)
    least = (bits * 0 + STEP).to(WHOLE).to(REAL, bitcast=True)
    moved = tl.where(a == 0, tl.where(b < 0, -least, least), moved)
    moved = tl.where((a != a) | (b != b), float("nan"), moved.to(x.dtype))
    return tl.where(a == b, y, moved)


@elementwise()
def nextafter(x, y, n):
    if x.dtype == tl.float64:
        return following(x, y, tl.float64, tl.int64, 1)
    else:
        half = following(x, y, tl.float16, tl.int16, 1)
        brain = following(x, y, tl.float32, tl.int32, 65536)  # float32 with half of the bits
        return tl.where(n == 0x7C00, half, tl.where(n == 0x7F80, brain, following(x, y, tl.float32, tl.int32, 1)))


@elementwise()
def axpby(x, y, a, b):
    return a.to(x.dtype) * x + b.to(x.dtype) * y


@elementwise()
def lerp(a, b, weight):
    return tl.where(tl.abs(weight) < 0.5, a + weight * (b - a), b - (b - a) * (1.0 - weight))


@elementwise("addcmul", "affine")
def addcmul(x, a, b, value):
    return x + value.to(x.dtype) * a * b


@elementwise()
def addcdiv(x, a, b, value):
    return x + value.to(x.dtype) * a / b


@elementwise()
def where(mask, a, b):
    return tl.where(mask, a, b)


@elementwise()
def masked_scale(x, mask, scale):
    return x * tl.where(mask, scale, 0.0).to(x.dtype)


@elementwise()
def masked_fill(x, mask, value):
    return tl.where(mask, value, x)


@elementwise()
def binary_cross_entropy(x, target):
    return (target - 1.0) * bounded(libdevice.log1p(-x)) - target * bounded(libdevice.log(x))


@triton.jit
def bounded(log):
    return tl.where(log < -100.0, -100.0, log)
