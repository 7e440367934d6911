"""Elementwise functions of one operand: arithmetic, exponentials, logarithms, rounding, trigonometry."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._declare import elementwise


@elementwise()
def neg(x):
    return -x


@elementwise()
def abs(x):
    return tl.abs(x)


@elementwise("sign", "sgn")
def sign(x):
    up = (x > 0).to(tl.int8)
    down = (x < 0).to(tl.int8)
    return (up - down).to(x.dtype)


@elementwise()
def square(x):
    return x * x


@elementwise()
def reciprocal(x):
    return 1.0 / x


@elementwise()
def exp(x):
    return libdevice.exp(x)


@elementwise()
def exp2(x):
    return libdevice.exp2(x)


@elementwise()
def expm1(x):
    return libdevice.expm1(x)


@elementwise()
def log(x):
    return libdevice.log(x)


@elementwise()
def log2(x):
    return libdevice.log2(x)


@elementwise()
def log10(x):
    return libdevice.log10(x)


@elementwise()
def log1p(x):
    return libdevice.log1p(x)


@elementwise()
def sqrt(x):
    return libdevice.sqrt_rn(x)


@elementwise()
def rsqrt(x):
    return 1.0 / libdevice.sqrt_rn(x)


@elementwise()
def floor(x):
    if x.dtype.is_floating():
        return libdevice.floor(x)
    else:
        return x


@elementwise()
def ceil(x):
    if x.dtype.is_floating():
        return libdevice.ceil(x)
    else:
        return x


@elementwise()
def round(x):
    if x.dtype.is_floating():
        return libdevice.rint(x)
    else:
        return x


@elementwise()
def trunc(x):
    if x.dtype.is_floating():
        return libdevice.trunc(x)
    else:
        return x


@elementwise()
def frac(x):
    return x - libdevice.trunc(x)


@elementwise()
def sin(x):
    return libdevice.sin(x)


@elementwise()
def cos(x):
    return libdevice.cos(x)


@elementwise()
def tan(x):
    return libdevice.tan(x)


@elementwise()
def asin(x):
    return libdevice.asin(x)


@elementwise()
def acos(x):
    return libdevice.acos(x)


@elementwise()
def atan(x):
    return libdevice.atan(x)


@elementwise()
def sinh(x):
    return libdevice.sinh(x)


@elementwise()
def cosh(x):
    return libdevice.cosh(x)


@elementwise()
def tanh(x):
    return libdevice.tanh(x)


@elementwise()
def asinh(x):
    return libdevice.asinh(x)


@elementwise()
def acosh(x):
    return libdevice.acosh(x)


@elementwise()
def atanh(x):
    return libdevice.atanh(x)


@elementwise()
def rad2deg(x):
    return x * 57.29577951308232


@elementwise()
def deg2rad(x):
    return x * 0.017453292519943295


@elementwise()
def angle(x):
    return tl.where(x != x, x, (x < 0).to(x.dtype) * 3.141592653589793)


@elementwise()
def conj(x):
    return x


@elementwise()
def nan_to_num(x, nan, positive, negative):
    if x.dtype.is_floating():
        bounded = tl.where(x == float("inf"), positive, tl.where(x == -float("inf"), negative, x))
        return tl.where(x != x, nan, bounded)
    else:
        return x


@triton.jit
def frexp_parts(x):
    """The bits of x, raised where it is subnormal, with the exponent of 1/2; the exponent by which they differ; whether x is neither 0 nor infinite nor NaN."""
    if x.dtype == tl.float64:
        tiny = tl.abs(x) < 2.2250738585072014e-308
        bits = tl.where(tiny, x * 18014398509481984.0, x).to(tl.int64, bitcast=True)
        power = ((bits >> 52) & 0x7FF).to(tl.int32)
        mantissa = ((bits & -0x7FF0000000000001) | 0x3FE0000000000000).to(tl.float64, bitcast=True)
        plain = (power != 0x7FF) & (x != 0)
        return mantissa, power - 1022 - tl.where(tiny, 54, 0), plain
    else:
        tiny = tl.abs(x) < 1.1754943508222875e-38
        bits = tl.where(tiny, x * 18014398509481984.0, x).to(tl.int32, bitcast=True)
        power = (bits >> 23) & 0xFF
        mantissa = ((bits & -0x7F800001) | 0x3F000000).to(tl.float32, bitcast=True)
        plain = (power != 0xFF) & (x != 0)
        return mantissa, power - 126 - tl.where(tiny, 54, 0), plain


@elementwise()
def mantissa(x):
    found, power, plain = frexp_parts(x)
    return tl.where(plain, found, x)


@elementwise()
def exponent(x):
    found, power, plain = frexp_parts(x)
    return tl.where(plain, power, 0)
