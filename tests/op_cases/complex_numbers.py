"""Parts of complex numbers, and complex numbers from parts."""

from functools import partial

import numpy as np

from op_cases._case import case
from op_cases._inputs import nonzero, positive, x

part = partial(case, complex=True, elementwise=True)
PAIRS = {
    "strided": "a pair must lie side by side",
    "transposed": "a pair must lie side by side",
    "half": "PyTorch's complex32 is not a type of ours",
    "expanded": "a pair must lie side by side",
}
NO_HALF = {"half": "PyTorch's complex32 is not a type of ours"}

CASES = [
    part("real", x(3, 4), ref=np.real),
    part(
        "imag", x(3, 4), variant="square", call=lambda ad, x: (x * 1j * x).imag, ref=lambda x: np.imag(1j * x * x), skip=NO_HALF
    ),
    part("conj", x(3, 4), ref=np.conj),
    part("conj_physical", x(3, 4), inplace=True, ref=np.conj),
    part("resolve_conj", x(3, 4), call=lambda ad, x: ad.conj(x).resolve_conj(), ref=np.conj),
    part("angle", nonzero(3, 4), ref=np.angle),
    part("sgn", nonzero(3, 4), ref=np.sign, inplace=True),
    case("view_as_complex", x(3, 2), ref=lambda x: x[:, 0] + 1j * x[:, 1], skip=PAIRS),
    case(
        "view_as_real",
        x(3, 4),
        call=lambda ad, x: ad.view_as_real(ad.complex(x, x * x)),
        ref=lambda x: np.stack([x, x * x], -1),
        skip=NO_HALF,
    ),
    case("complex", x(3, 4), x(3, 4), elementwise=True, ref=lambda a, b: a + 1j * b, skip=NO_HALF),
    case("polar", positive(3, 4), x(3, 4), elementwise=True, ref=lambda r, t: r * np.exp(1j * t), skip=NO_HALF),
    case(
        "Tensor.to",
        x(3, 4),
        variant="complex",
        call=lambda ad, x: x.to(ad.complex128) * 1j,
        ref=lambda x: x * 1j,
        skip={**NO_HALF, "single": "the type is named"},
        elementwise=True,
    ),
]
