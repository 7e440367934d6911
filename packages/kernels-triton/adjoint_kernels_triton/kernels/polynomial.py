"""Orthogonal polynomials by their recurrence in the degree, as core's functors/special.h: all elements of a block at once, up to its largest degree."""

import triton
import triton.language as tl

from .._declare import elementwise


@triton.jit
def recurrence(family, t, k):
    """a, b and c of p of degree k + 1 = (a x + b) p of degree k - c p of degree k - 1 (Abramowitz and Stegun, table 22.7)."""
    a, b, c = 2.0 + k * 0.0, k * 0.0, 1.0 + k * 0.0
    first = k == 0
    if family == 0:  # Chebyshev's T
        a = tl.where(first, 1.0, a)
    elif family == 1:  # V
        b = tl.where(first, -1.0, b)
    elif family == 2:  # W
        b = tl.where(first, 1.0, b)
    elif family == 3:  # Gegenbauer's
        a, c = 2.0 * (k + t) / (k + 1.0), (k + 2.0 * t - 1.0) / (k + 1.0)
    elif family == 4:  # Hermite's, of physicists
        c = 2.0 * k
    elif family == 5:  # and of probabilists
        a, c = 1.0 + k * 0.0, k
    else:  # Laguerre's
        a, b, c = -1.0 / (k + 1.0), (2.0 * k + 1.0 + t) / (k + 1.0), (k + t) / (k + 1.0)
    return a, b, c


@elementwise()
def orthogonal_polynomial(given, n, family, parameter):
    """A degree that is no number, or cannot be counted to, is as a negative one: 0. Lanes beyond the operand hold degree 0."""
    x = given + tl.zeros_like(n)
    degree = n + tl.zeros_like(x)
    degree = tl.where(degree < 9223372036854775808.0, degree, -1.0)
    y = tl.where(degree > -1.0, 1.0, 0.0).to(x.dtype)
    p = tl.zeros_like(x) + 1.0
    before = tl.zeros_like(x)
    last = tl.max(degree, 0)
    t = parameter.to(tl.float64)
    k = t * 0.0
    while last >= (k + 1.0).to(x.dtype):
        a, b, c = recurrence(family, t, k)
        after = (a.to(x.dtype) * x + b.to(x.dtype)) * p - c.to(x.dtype) * before
        before = p
        p = after
        k += 1.0
        y = tl.where(degree >= k.to(x.dtype), p, y)
    return y
