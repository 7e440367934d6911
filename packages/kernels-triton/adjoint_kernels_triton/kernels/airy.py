"""Airy's function Ai and its derivative in float64, with the series of core's math/airy.h."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._declare import elementwise
from .horner import polynomial

TABLE = tl.constexpr((
    (0.04024123848644319, 0.99626504413279), (0.3191032477191282, -0.10809531881187123), (-0.022133721547341403, -0.9756639809263316),
    (-0.33029023763020887, -0.03231334828463914), (-0.0527050503563862, 0.9355609381983065), (0.3217757163806479, 0.3188095066985546),
    (0.18428083525050565, -0.7710081684101265), (-0.2380203019971158, -0.6749524925132022), (-0.3291451736298231, 0.3459354872813429),
    (0.017781541276574976, 0.8641972177713984), (0.35076100902411433, 0.32719281855444315), (0.2921527810559595, -0.5233625323157477),
    (-0.07026553294928951, -0.7906285753685813), (-0.37553382314043193, -0.34344343345404815), (-0.37881429367765806, 0.3145837692165988),
    (-0.11232506769296609, 0.6788527342647943), (0.22740742820168558, 0.618259020741691), (0.4642565777488694, 0.3091869672024104),
    (0.5355608832923521, -0.01016056711664521), (0.4757280916105396, -0.20408167033954738), (0.3550280538878172, -0.2588194037928068),
    (0.23169360648083348, -0.2249105326646839), (0.13529241631288141, -0.1591474412967932), (0.07174949700810541, -0.09738201284230132),
    (0.03492413042327438, -0.05309038443365363), (0.01572592338047049, -0.026250881035903232), (0.006591139357460719, -0.011912976705951319),
    (0.002584098786989635, -0.005004413967952583), (0.0009515638512048018, -0.001958640950204179), (0.00033025032351430896, -0.0007178665675575089),
    (0.00010834442813607442, -0.0002474138908684625), (3.368531190859981e-05, -8.046339130556515e-05), (9.947694360252889e-06, -2.4765200397034955e-05),
    (2.7958823432049136e-06, -7.231931466601793e-06), (7.492128863997167e-07, -2.008150894738792e-06), (1.9172560675134309e-07, -5.312713959720545e-07),
    (4.6922076160992316e-08, -1.3414392979067865e-07), (1.0997009755195506e-08, -3.237725440447602e-08), (2.47116843087249e-09, -7.480641389658946e-09),
    (5.330263704617492e-10, -1.6566394593740667e-09), (1.1047532552898686e-10, -3.5206336767389237e-10),
))  # fmt: skip
"Ai and Ai' at -10, -9.5, ..., 10."


def asymptotic(derivative: bool, side: int) -> tuple[float, ...]:
    """Coefficients in 1 / zeta^2 of the terms of even (`side` 0) or odd order (Abramowitz and Stegun, 10.4.58 to 62)."""
    term, found = 1.0, []
    for k in range(17):
        if k:
            term *= (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1))
        if k % 2 == side:
            found.append(-term * (6 * k + 1) / (6 * k - 1) if derivative else term)
    return tuple(found)


EVEN, ODD = tl.constexpr(asymptotic(False, 0)), tl.constexpr(asymptotic(False, 1))
EVEN_SLOPE, ODD_SLOPE = tl.constexpr(asymptotic(True, 0)), tl.constexpr(asymptotic(True, 1))


@triton.jit
def near(x, slope):
    """Taylor's series from the nearest number of the table, whose entry is chosen by comparisons: y'' = x y gives the coefficients."""
    i = libdevice.rint(2.0 * x)
    start = 0.5 * i
    h = x - start
    own, after = tl.zeros_like(x), tl.zeros_like(x)
    for k in tl.static_range(len(TABLE)):
        own = tl.where(i == k - 20, TABLE[k][0], own)
        after = tl.where(i == k - 20, TABLE[k][1], after)
    y = tl.where(slope, after, own)
    before = tl.zeros_like(x)
    power = before + 1.0
    for k in tl.static_range(22):
        then = (start * own + before) * (1 / ((k + 1) * (k + 2)))
        power *= h
        y += tl.where(slope, (k + 2) * then, after) * power
        before = own
        own = after
        after = then
    return y


@triton.jit
def far(x, slope):
    """Series in 1 / zeta, zeta = 2/3 |x|^(3/2): signs of terms take turns below 0."""
    a = tl.abs(x)
    root = libdevice.sqrt_rn(a)
    fourth = libdevice.sqrt_rn(root)
    zeta = 0.6666666666666666 * a * root
    scale = 0.5641895835477563 * tl.where(slope, fourth, 1.0 / fourth)
    w = 1.0 / zeta
    z = tl.where(x < 0, -w * w, w * w)
    even = tl.where(slope, polynomial(z, EVEN_SLOPE), polynomial(z, EVEN))
    odd = tl.where(slope, polynomial(z, ODD_SLOPE), polynomial(z, ODD)) * w
    above = 0.5 * libdevice.exp(-zeta) * (even - odd)
    angle = zeta - 0.7853981633974483
    cos, sin = libdevice.cos(angle), libdevice.sin(angle)
    below = tl.where(slope, sin * even - cos * odd, cos * even + sin * odd)
    return scale * tl.where(x > 0, tl.where(slope, -above, above), below)


@elementwise(block=128)
def airy_ai(given, n):
    """NaN at infinities, as in PyTorch."""
    x = given.to(tl.float64)
    slope = n == 1
    inside = tl.abs(x) <= 10.0
    y = tl.where(inside, near(tl.where(inside, x, 0.0), slope), far(tl.where(inside, 11.0, x), slope))
    return tl.where(tl.abs(x) < float("inf"), y, float("nan")).to(given.dtype)
