"""Special functions."""

from functools import partial

import numpy as np

from op_cases._case import case
from op_cases._inputs import Input, between, fixed, positive, unit, x

unary = partial(case, elementwise=True)


def above_one(*shape: int) -> Input:
    """Orders of zeta, in which it has no derivative."""
    return Input(shape, lambda rng, s: rng.uniform(1.5, 4.0, s), differentiable=False)


def airy(x):
    """Its Fourier integral, by the trapezoidal rule on a line above the real one, where it converges exponentially."""
    z = np.arange(-160, 161) / 16 + 1j * np.sqrt(np.maximum(x, 0.25))[..., None]
    return np.exp(1j * (z**3 / 3 + x[..., None] * z)).real.sum(-1) / (32 * np.pi)


ZERO = [([0.0], [0.0])]
DEGREES = fixed(np.arange(7))

CASES = [
    unary("special.airy_ai", x(3, 4), ref=airy, records=("airy_ai",), kinks=[([0.0], [-0.2588194037928068])]),
    unary("i0", x(3, 4), inplace=True, ref=np.i0, records=("bessel_i",), kinks=ZERO),
    unary("special.i1", x(3, 4), kinks=[([0.0], [0.5])]),
    unary("special.i0e", x(3, 4), ref=lambda x: np.exp(-np.abs(x)) * np.i0(x), records=("bessel_i_scaled",), kinks=ZERO),
    unary("special.i1e", x(3, 4), kinks=[([0.0], [0.5])]),
    unary("special.bessel_j0", x(3, 4), records=("bessel_j",), kinks=ZERO),
    unary("special.bessel_j1", x(3, 4), kinks=[([0.0], [0.5])]),
    unary("special.bessel_y0", positive(3, 4), records=("bessel_y",)),
    unary("special.bessel_y1", positive(3, 4)),
    unary("special.modified_bessel_k0", positive(3, 4), records=("bessel_k",)),
    unary("special.modified_bessel_k1", positive(3, 4)),
    unary("special.scaled_modified_bessel_k0", positive(3, 4), records=("bessel_k_scaled",)),
    unary("special.scaled_modified_bessel_k1", positive(3, 4)),
    unary("special.spherical_bessel_j0", x(3, 4), ref=lambda x: np.sinc(x / np.pi), kinks=ZERO),
    unary("special.log_ndtr", between(-20.0, 5.0, 3, 4), records=("log_ndtr",)),
    unary("special.ndtri", between(0.05, 0.95, 3, 4), records=("ndtri",)),
    unary("special.entr", positive(3, 4), ref=lambda x: -x * np.log(x), kinks=[([1.0], [-1.0])]),
    unary("special.erfcx", x(3, 4), kinks=[([0.0], [-2 / np.sqrt(np.pi)])]),
    unary("special.zeta", above_one(3, 4), positive(3, 4)),
    *(
        case(
            f"special.{name}",
            x(3, 4, 1),
            DEGREES,
            ref=lambda x, n, f=f: np.vectorize(lambda x, n: f(np.eye(n + 1)[n])(x))(x, n),
        )
        for name, f in (
            ("chebyshev_polynomial_t", np.polynomial.Chebyshev),
            ("hermite_polynomial_h", np.polynomial.Hermite),
            ("hermite_polynomial_he", np.polynomial.HermiteE),
            ("laguerre_polynomial_l", np.polynomial.Laguerre),
            ("legendre_polynomial_p", np.polynomial.Legendre),
        )
    ),
    # by the angle whose cosine x is: sin((n + 1) t) / sin(t), cos((n + 1/2) t) / cos(t / 2), sin((n + 1/2) t) / sin(t / 2)
    case(
        "special.chebyshev_polynomial_u",
        unit(3, 4, 1),
        DEGREES,
        records=("orthogonal_polynomial",),
        ref=lambda x, n: np.sin((n + 1) * np.arccos(x)) / np.sin(np.arccos(x)),
    ),
    case(
        "special.chebyshev_polynomial_v",
        unit(3, 4, 1),
        DEGREES,
        ref=lambda x, n: np.cos((n + 0.5) * np.arccos(x)) / np.cos(np.arccos(x) / 2),
    ),
    case(
        "special.chebyshev_polynomial_w",
        unit(3, 4, 1),
        DEGREES,
        ref=lambda x, n: np.sin((n + 0.5) * np.arccos(x)) / np.sin(np.arccos(x) / 2),
    ),
    case(
        "special.shifted_chebyshev_polynomial_t", unit(3, 4), 3, ref=lambda x, n: np.cos(n * np.arccos((2 * x - 1) + 0j)).real
    ),
]
