"""Random numbers, with the bits that core's ops/random.cpp gives on the CPU: it describes which word of which block an element is.

`normal` takes the same steps as core's math/log.h and math/trig.h, so that its numbers are the CPU's to the last bit, too.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._declare import random_numbers
from .._templates import widened


@triton.jit
def words(seed, offset, state, CAPTURED: tl.constexpr, BLOCK: tl.constexpr):
    """The four words of each of this program's blocks."""
    if CAPTURED:
        seed = tl.load(state)
        offset += tl.load(state + 1)
    block = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    call = block * 0 + offset
    return tl.philox(seed, block.to(tl.uint32), (block >> 32).to(tl.uint32), call.to(tl.uint32), (call >> 32).to(tl.uint32))


@triton.jit
def long_word(low, high):
    return low.to(tl.uint64) | (high.to(tl.uint64) << 32)


@triton.jit
def row(a, b, c, d):
    """Numbers of each block, one behind the other."""
    return tl.interleave(tl.interleave(a, c), tl.interleave(b, d))


@triton.jit
def put(y0, x, n, EACH: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * EACH
    i = start + tl.arange(0, EACH)
    if start + EACH <= n:  # a branch for the whole program: without a mask, stores are of 16 bytes
        tl.store(y0 + i, x.to(y0.dtype.element_ty))
    else:
        tl.store(y0 + i, x.to(y0.dtype.element_ty), mask=i < n)


@triton.jit
def uniform(word, DIGITS: tl.constexpr):
    """[0, 1) in multiples of 2^-DIGITS."""
    return (word >> (32 - DIGITS)).to(tl.float32) * (1.0 / 2**DIGITS)


@triton.jit
def uniform_double(word):
    return (word >> 11).to(tl.float64) * (1.0 / 2**53)


@random_numbers
def random_uniform(
    y0, n, seed, offset, state, low, span, value, CAPTURED: tl.constexpr, PAIRS: tl.constexpr, BLOCK: tl.constexpr
):
    a, b, c, d = words(seed, offset, state, CAPTURED, BLOCK)
    if y0.dtype.element_ty == tl.float64:
        put(y0, tl.interleave(uniform_double(long_word(a, b)), uniform_double(long_word(c, d))), n, 2 * BLOCK)
    elif y0.dtype.element_ty == tl.float32:
        put(y0, uniform(row(a, b, c, d), 24), n, 4 * BLOCK)
    elif y0.dtype.element_ty == tl.float16:
        put(y0, uniform(row(a, b, c, d), 11), n, 4 * BLOCK)
    else:
        put(y0, uniform(row(a, b, c, d), 8), n, 4 * BLOCK)


@triton.jit
def log_single(x):
    """Of normal positive numbers, as all here are."""
    bits = x.to(tl.int32, bitcast=True)
    power = (bits - 0x3F3504F3) >> 23
    f = (bits - (power << 23)).to(tl.float32, bitcast=True) - 1.0
    e = power.to(tl.float32)
    s = f * f
    tail = 1.276179314e-01 + f * -7.634745274e-02
    tail = -1.316017938e-01 + f * tail
    tail = 1.420171969e-01 + f * tail
    tail = -1.662335426e-01 + f * tail
    tail = 2.000122931e-01 + f * tail
    tail = -2.500082117e-01 + f * tail
    tail = 3.333333165e-01 + f * tail
    return (f + (e * -2.12194440e-4 + (f * s * tail - 0.5 * s))) + e * 0.693359375


@triton.jit
def log_double(x):
    bits = x.to(tl.int64, bitcast=True)
    power = (bits - 0x3FE6A09E667F3BCD) >> 52
    f = (bits - (power << 52)).to(tl.float64, bitcast=True) - 1.0
    e = power.to(tl.float64)
    s = f / (2.0 + f)
    z = s * s
    h = 0.5 * f * f
    tail = 0.15313907260208703 + z * 0.14797471103489282
    tail = 0.1818356956693025 + z * tail
    tail = 0.22222198479669836 + z * tail
    tail = 0.2857142874322269 + z * tail
    tail = 0.39999999999411295 + z * tail
    tail = 0.6666666666666735 + z * tail
    tail = s * (h + z * tail) + e * 1.9082149292705877e-10
    return e * 0.6931471803691238 - ((h - tail) - f)


ROUND: tl.constexpr = tl.constexpr(1.5 * 2.0**52)  # a float64 to which this is added is rounded to an integer, in its low bits


@triton.jit
def by_quadrant(sin, cos, shifted):
    """cos and sin of an angle from those of what is left of it after `shifted` quarter turns."""
    n = shifted.to(tl.int64, bitcast=True)
    odd = (n & 1) != 0
    c = tl.where(odd, sin, cos)
    s = tl.where(odd, cos, sin)
    return tl.where(((n + 1) & 2) != 0, -c, c), tl.where((n & 2) != 0, -s, s)


@triton.jit
def cos_sin_single(x):
    wide = x.to(tl.float64)
    shifted = wide * 0.6366197723675814 + ROUND
    n = shifted - ROUND
    r = ((wide - n * 1.5707963109016418) - n * 1.5893254712295857e-08) - n * 6.123233995736766e-17
    z = r * r
    s = -0.00019839327221550493 + z * 2.7182380229854285e-06
    s = 0.008333329362561153 + z * s
    s = -0.16666666641429223 + z * s
    c = 2.4799512535902887e-05 + z * -2.7209606587930234e-07
    c = -0.0013888883725796536 + z * c
    c = 0.04166666662251763 + z * c
    cos, sin = by_quadrant(r + r * z * s, (1.0 - 0.5 * z) + z * z * c, shifted)
    return cos.to(tl.float32), sin.to(tl.float32)


@triton.jit
def cos_sin_double(x):
    shifted = x * 0.6366197723675814 + ROUND
    n = shifted - ROUND
    a = x - n * 1.5707963267341256
    w = n * 6.077100506303966e-11
    b = a - w
    w2 = n * 2.0222662487959506e-21
    r = b - w2
    low = ((a - b) - w) + ((b - r) - w2)
    z = r * r
    h = 0.5 * z
    g = 1.0 - h
    s = -2.5050753264819307e-08 + z * 1.5896504883744839e-10
    s = 2.7557313662079947e-06 + z * s
    s = -0.00019841269829725403 + z * s
    s = 0.008333333333322316 + z * s
    s = -0.16666666666666632 + z * s
    c = 2.087571957067612e-09 + z * -1.135944916388064e-11
    c = -2.7557314326144063e-07 + z * c
    c = 2.4801587289395435e-05 + z * c
    c = -0.0013888888888873992 + z * c
    c = 0.0416666666666666 + z * c
    return by_quadrant(r + (r * z * s + low), g + (((1.0 - g) - h) + (z * z * c - r * low)), shifted)


@triton.jit
def normal_single(radius, turn):
    """Box-Muller: two normal numbers from two words."""
    r = libdevice.sqrt_rn(-2.0 * log_single((radius.to(tl.float32) + 1.0) * (1.0 / 2**32)))
    cos, sin = cos_sin_single(6.283185307179586 * uniform(turn, 24))
    return r * cos, r * sin


@triton.jit
def normal_double(radius, turn):
    r = libdevice.sqrt_rn(-2.0 * log_double(uniform_double(radius) + 1.0 / 2**53))
    cos, sin = cos_sin_double(6.283185307179586 * uniform_double(turn))
    return r * cos, r * sin


@triton.jit
def part(x, PAIRS: tl.constexpr):
    """Of a complex number, whose parts have variance 1/2."""
    if PAIRS:
        return (x.to(tl.float64) * 0.7071067811865476).to(x.dtype)
    else:
        return x


@random_numbers
def random_normal(
    y0, n, seed, offset, state, low, span, value, CAPTURED: tl.constexpr, PAIRS: tl.constexpr, BLOCK: tl.constexpr
):
    a, b, c, d = words(seed, offset, state, CAPTURED, BLOCK)
    if y0.dtype.element_ty == tl.float64:
        x, y = normal_double(long_word(a, b), long_word(c, d))
        put(y0, part(tl.interleave(x, y), PAIRS), n, 2 * BLOCK)
    else:
        x, y = normal_single(a, b)
        z, w = normal_single(c, d)
        put(y0, part(row(x, y, z, w), PAIRS), n, 4 * BLOCK)


@random_numbers
def random_integers(
    y0, n, seed, offset, state, low, span, value, CAPTURED: tl.constexpr, PAIRS: tl.constexpr, BLOCK: tl.constexpr
):
    """In [low, low + span): the high half of 64 bits times the span."""
    a, b, c, d = words(seed, offset, state, CAPTURED, BLOCK)
    step = tl.umulhi(tl.interleave(long_word(a, b), long_word(c, d)), span.to(tl.uint64))
    put(y0, step.to(tl.int64) + low, n, 2 * BLOCK)


@random_numbers
def random_mask(y0, n, seed, offset, state, low, span, value, CAPTURED: tl.constexpr, PAIRS: tl.constexpr, BLOCK: tl.constexpr):
    """0 where 32 bits are below `span`, else `value`."""
    a, b, c, d = words(seed, offset, state, CAPTURED, BLOCK)
    put(y0, tl.where(row(a, b, c, d).to(tl.int64) < span, 0.0, value), n, 4 * BLOCK)


@random_numbers
def random_dropout(
    y1, x0, y0, n, seed, offset, state, low, span, value, CAPTURED: tl.constexpr, PAIRS: tl.constexpr, BLOCK: tl.constexpr
):
    """x times what `random_mask` would be, and where that is not 0."""
    a, b, c, d = words(seed, offset, state, CAPTURED, BLOCK)
    kept = row(a, b, c, d).to(tl.int64) >= span
    start = tl.program_id(0).to(tl.int64) * (4 * BLOCK)
    i = start + tl.arange(0, 4 * BLOCK)
    if start + 4 * BLOCK <= n:
        x = widened(tl.load(x0 + i))
    else:
        x = widened(tl.load(x0 + i, mask=i < n, other=0.0))
    put(y0, x * tl.where(kept, value, 0.0).to(x.dtype), n, 4 * BLOCK)
    put(y1, kept, n, 4 * BLOCK)
