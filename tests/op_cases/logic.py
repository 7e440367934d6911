"""Truth values and bits."""

from functools import partial

import numpy as np

from op_cases._case import case
from op_cases._inputs import Input, fixed, idx, mask

bits = partial(case, empty=[(0, 3), (0, 3)], scalar=[(), ()])
RIGHT = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}
BITS = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "left_shift": np.left_shift,
    "right_shift": np.right_shift,
}
WILD = [1.5, np.nan, np.inf, -np.inf, 0.0]


def numbers() -> Input:
    """Small integers."""
    return idx(3, 4, hi=6)


CASES = [
    *(case(name, mask(3, 4), mask(3, 4), ref=ref) for name, ref in RIGHT.items()),
    *(case(name, numbers(), numbers(), variant="numbers", ref=ref) for name, ref in RIGHT.items()),
    case("logical_not", mask(3, 4), ref=np.logical_not),
    *(bits(f"bitwise_{name}", numbers(), numbers(), ref=ref) for name, ref in BITS.items()),
    case("bitwise_not", numbers(), ref=np.bitwise_not),
    case("bitwise_not", mask(3, 4), variant="bool", ref=np.logical_not),
    *(case(f"is{kind}", fixed(WILD), ref=getattr(np, f"is{kind}")) for kind in ("nan", "inf", "finite")),
    case("floor_divide", numbers(), 4, records=("trunc_divide",), ref=np.floor_divide),
]
