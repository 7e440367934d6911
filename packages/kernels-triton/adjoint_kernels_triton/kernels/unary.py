"""Elementwise functions of one operand: arithmetic, exponentials, logarithms, rounding, trigonometry."""

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
