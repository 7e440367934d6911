"""Bessel functions of the first and second kind and whole order.

Orders 0 and 1 of float32 have the forms of core's math/bessel_oscillating.h: polynomials in x^2 up to 6, modulus and phase beyond, in float64
to 2^-50 absolutely. The others are libdevice's.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._declare import elementwise
from .horner import polynomial
from .random import ROUND

NEAR_J0 = tl.constexpr((
    -0.3703355132909575, 0.3247728947256642, 0.6708684575418207, -0.6908253094054629, 0.26654331047593993, -0.05779895376450296,
    0.00818429823220848, -0.0008223677243966637, 6.190493705359044e-05, -3.6286275548164166e-06, 1.705173044401649e-07,
    -6.572456062805873e-09, 2.1212882190884325e-10, -5.7922775465824724e-12,
))  # fmt: skip
NEAR_J1 = tl.constexpr((
    -0.036085877191740466, -0.1490818794537383, 0.23027510313515429, -0.11846369354485062, 0.032110529869168625,
    -0.0054561988215763866, 0.0006396193411958899, -5.5026610317856533e-05, 3.6286275580631655e-06, -1.894643984179931e-07,
    8.032998679941765e-09, -2.8220411548681755e-10, 8.367777522385705e-12, -2.1143790832448793e-13,
))  # fmt: skip
NEAR_Y0 = tl.constexpr((
    0.23144649403798057, -0.9446076120040159, -0.15182922873915472, 0.6673124865861597, -0.33360014135756944,
    0.08279745527591624, -0.012825198728186068, 0.0013775449763471475, -0.000109313583751779, 6.692190488505585e-06,
    -3.2628662532301996e-07, 1.2984096598856987e-08, -4.3003078100886693e-10, 1.2067675269644676e-11, -2.8960295201682197e-13,
))  # fmt: skip
NEAR_Y1 = tl.constexpr((
    0.15342210591925187, -0.026212367438516446, -0.18621241752199488, 0.13647459877549867, -0.04363349674993736,
    0.008229262792587386, -0.0010400145152677127, 9.484358330854674e-05, -6.557583060719133e-06, 3.562697071305039e-07,
    -1.5629296238850767e-08, 5.656791364049115e-10, -1.7223856063204418e-11, 4.456361057924368e-13,
))  # fmt: skip
MODULUS0 = tl.constexpr((
    0.797206865611997, -0.0006636855626123669, 1.3203478320716952e-05, -7.238927224467734e-07, 6.97481257178287e-08,
    -1.0505517581210976e-08, 1.9950874446747895e-09,
))  # fmt: skip
MODULUS1 = tl.constexpr((
    0.7999341573510936, 0.0020227440721650434, -2.561012708403874e-05, 1.1286016547261412e-06, -9.748310117216688e-08,
    1.374363940669989e-08, -2.5102263080814785e-09,
))  # fmt: skip
PHASE0 = tl.constexpr((
    -0.12413249135770447, 0.0008339666141644844, -3.079971286407392e-05, 2.390312910472078e-06, -2.906938783594849e-07,
    4.799116354206018e-08, -9.893056101195064e-09, 2.4373234091037727e-09, -6.873007035629711e-10, 1.77713128928145e-10,
    -5.310462727703846e-11, 4.773022974280665e-11, -2.108314754816149e-11,
))  # fmt: skip
PHASE1 = tl.constexpr((
    0.37278744934879005, -0.0021511887059167305, 5.721350273310063e-05, -3.6658023826632828e-06, 4.0313222011998263e-07,
    -6.2834575048885e-08, 1.248922121112361e-08, -2.998524208803893e-09, 8.296220827764644e-10, -2.1328908425002295e-10,
    6.332125001179793e-11, -5.521021011773958e-11, 2.4190523055455478e-11,
))  # fmt: skip
"Own fits, as there: J_0, J_1 / x, Y without logarithm and pole in x^2 / 18 - 1; sqrt(x) times the modulus and x times the phase in 72 / x^2 - 1."

SIN = tl.constexpr((-0.16666666641429223, 0.008333329362561153, -0.00019839327221550493, 2.7182380229854285e-06))
COS = tl.constexpr((0.04166666662251763, -0.0013888883725796536, 2.4799512535902887e-05, -2.7209606587930234e-07))
JOINT = tl.constexpr(6.0)
REDUCED = tl.constexpr(2.0**27)  # up to which an angle's multiples of pi/2 are taken off exactly


@triton.jit
def near_j(t, ORDER: tl.constexpr):
    return polynomial(t, NEAR_J0) if ORDER == 0 else polynomial(t, NEAR_J1)


@triton.jit
def far(a, quadrants, ORDER: tl.constexpr):
    """For a >= 6: the modulus times sin(a - pi/4 + phase + quadrants pi/2), with 25 + 25 + 53 bits of pi/2."""
    inverse = 1.0 / a
    t = 72.0 * inverse * inverse - 1.0
    phase = polynomial(t, PHASE0) if ORDER == 0 else polynomial(t, PHASE1)
    modulus = polynomial(t, MODULUS0) if ORDER == 0 else polynomial(t, MODULUS1)
    offset = phase * inverse - 0.7853981633974483
    shifted = (a + offset) * 0.6366197723675814 + ROUND
    n = shifted - ROUND
    r = (((a - n * 1.5707963109016418) - n * 1.5893254712295857e-08) - n * 6.123233995736766e-17) + offset
    z = r * r
    s = r + r * z * polynomial(z, SIN)
    c = (1.0 - 0.5 * z) + z * z * polynomial(z, COS)
    n = shifted.to(tl.int64, bitcast=True) + quadrants
    value = tl.where((n & 1) != 0, c, s)
    return libdevice.rsqrt(a) * modulus * tl.where((n & 2) != 0, -value, value)


@triton.jit
def first_j(x, ORDER: tl.constexpr):
    a = tl.abs(x)
    inner = tl.where(a < JOINT, a, 0.0)
    y = near_j(inner * inner * (1 / 18) - 1.0, ORDER)
    if ORDER == 1:
        y = y * inner
    y = tl.where(a < JOINT, y, far(tl.where((a >= JOINT) & (a < REDUCED), a, JOINT), 1 - ORDER, ORDER))
    return tl.where(x < 0, -y, y) if ORDER == 1 else y


@triton.jit
def first_y(x, ORDER: tl.constexpr):
    inner = tl.where((x < JOINT) & (x > 0), x, 1.0)
    t = inner * inner * (1 / 18) - 1.0
    log = libdevice.log(inner) * 0.6366197723675814
    if ORDER == 0:
        y = log * near_j(t, 0) + polynomial(t, NEAR_Y0)
    else:
        y = inner * (log * near_j(t, 1) + polynomial(t, NEAR_Y1)) - 0.6366197723675814 / inner
    return tl.where(x < JOINT, y, far(tl.where((x >= JOINT) & (x < REDUCED), x, JOINT), 3 * ORDER, ORDER))


@elementwise(block=128)
def bessel_j(given, n):
    x = given.to(tl.float64)
    order = n.to(tl.int32)
    if given.dtype == tl.float64:
        y = libdevice.jn(order, x)
    else:
        hard = (order < 0) | (order > 1) | ~(tl.abs(x) < REDUCED)
        if order == 0:
            y = first_j(x, 0)
        else:
            y = first_j(x, 1)
        if tl.max(hard.to(tl.int32), 0) > 0:
            y = tl.where(hard, libdevice.jn(order, x), y)
    return y.to(given.dtype)


@elementwise(block=128)
def bessel_y(given, n):
    x = given.to(tl.float64)
    order = n.to(tl.int32)
    if given.dtype == tl.float64:
        y = libdevice.yn(order, x)
    else:
        hard = (order < 0) | (order > 1) | ~((x > 0) & (x < REDUCED))
        if order == 0:
            y = first_y(x, 0)
        else:
            y = first_y(x, 1)
        if tl.max(hard.to(tl.int32), 0) > 0:
            y = tl.where(hard, libdevice.yn(order, x), y)
    return tl.where(x < 0, float("nan"), y).to(given.dtype)
