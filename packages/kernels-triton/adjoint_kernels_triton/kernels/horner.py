"""Polynomials whose coefficients are constants."""

import triton
import triton.language as tl


@triton.jit
def polynomial(x, COEFFICIENTS: tl.constexpr):
    """By Horner's rule; the constant one comes first."""
    y = tl.zeros_like(x)
    for k in tl.static_range(len(COEFFICIENTS)):
        y = y * x + COEFFICIENTS[len(COEFFICIENTS) - 1 - k]
    return y
