"""Comparisons, logic and bits."""

import triton.language as tl

from .._declare import elementwise


@elementwise()
def eq(a, b):
    return a == b


@elementwise()
def ne(a, b):
    return a != b


@elementwise()
def lt(a, b):
    return a < b


@elementwise()
def le(a, b):
    return a <= b


@elementwise()
def gt(a, b):
    return a > b


@elementwise()
def ge(a, b):
    return a >= b


@elementwise()
def logical_and(a, b):
    return (a != 0) & (b != 0)


@elementwise()
def logical_or(a, b):
    return (a != 0) | (b != 0)


@elementwise()
def logical_xor(a, b):
    return (a != 0) ^ (b != 0)


@elementwise()
def logical_not(x):
    return x == 0


@elementwise()
def bitwise_not(x):
    if x.dtype == tl.int1:
        return x == 0
    else:
        return ~x


@elementwise()
def bitwise_and(a, b):
    return a & b


@elementwise()
def bitwise_or(a, b):
    return a | b


@elementwise()
def bitwise_xor(a, b):
    return a ^ b


@elementwise()
def bitwise_left_shift(a, b):
    """By a negative number or by all bits, every bit leaves."""
    fits = (b >= 0) & (b < a.dtype.primitive_bitwidth)
    return tl.where(fits, a << tl.where(fits, b, 0).to(a.dtype), a * 0)


@elementwise()
def bitwise_right_shift(a, b):
    fits = (b >= 0) & (b < a.dtype.primitive_bitwidth)
    rest = a * 0
    if a.dtype.is_int_signed():
        rest = tl.where(a < 0, a * 0 - 1, a * 0)
    return tl.where(fits, a >> tl.where(fits, b, 0).to(a.dtype), rest)


@elementwise()
def isnan(x):
    return x != x


@elementwise()
def isinf(x):
    if x.dtype.is_floating():
        return tl.abs(x) == float("inf")
    else:
        return x != x


@elementwise()
def isfinite(x):
    if x.dtype.is_floating():
        return (x == x) & (tl.abs(x) != float("inf"))
    else:
        return x == x
