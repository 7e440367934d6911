"""Numbers that are written into tensors, in PyTorch and here: the same ones raise, with the same words."""

import math

import pytest
from test_number_fits import FILLS, NUMBERS

import adjoint as ad

torch = pytest.importorskip("torch")

DTYPES = (
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
HOW = {
    "fill_": lambda m, x, n: x.fill_(n),
    "full": lambda m, x, n: m.full((1,), n, dtype=x.dtype),
    "full_like": lambda m, x, n: m.full_like(x, n),
    "new_full": lambda m, x, n: x.new_full((1,), n),
    "tensor": lambda m, x, n: m.tensor([n], dtype=x.dtype),
    "x[0] = n": lambda m, x, n: FILLS["x[0] = n"](x, n),
    "masked_fill": lambda m, x, n: x.masked_fill(m.tensor([True]), n),
    "index_fill": lambda m, x, n: x.index_fill(0, m.tensor([0]), n),
    "scatter": lambda m, x, n: x.scatter(0, m.tensor([0]), n),
    "addcmul": lambda m, x, n: x.addcmul(m.ones_like(x), m.ones_like(x), value=n),
    "addmm": lambda m, x, n: x.view(1, 1).addmm(m.ones_like(x).view(1, 1), m.ones_like(x).view(1, 1), alpha=n),
    "baddbmm": lambda m, x, n: x.view(1, 1, 1).baddbmm(x.view(1, 1, 1), x.view(1, 1, 1), beta=n),
    "addr": lambda m, x, n: x.view(1, 1).addr(m.ones_like(x), m.ones_like(x), alpha=n),
    "lerp": lambda m, x, n: x.lerp(m.ones_like(x), n),
    "add": lambda m, x, n: x.add(m.ones_like(x), alpha=n),
    "where": lambda m, x, n: m.where(m.tensor([True]), n, x),
    "pad": lambda m, x, n: m.nn.functional.pad(x, (0, 1), value=n)[1:] if not isinstance(n, complex) else x,
}


def outcome(m, how, dtype, number):
    try:
        value = HOW[how](m, m.zeros(1, dtype=getattr(m, dtype)), number).item()
    except NotImplementedError:
        return None
    except (RuntimeError, TypeError) as e:
        return type(e).__name__, str(e).partition("\n")[0]
    return "nan" if value != value else value


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("how", HOW)
def test_numbers_fit_where_they_do_in_torch(how, dtype):
    if how == "where" and dtype in ("float16", "bfloat16"):
        pytest.skip("PyTorch goes by way of float32 there, and has complex numbers of half precision")
    for number in NUMBERS:
        theirs = outcome(torch, how, dtype, number)
        if theirs is None or (isinstance(theirs, complex) and not math.isfinite(abs(theirs))):
            continue  # not implemented there; the other part is NaN or zero by arithmetic, not by conversion
        assert outcome(ad, how, dtype, number) == theirs, number
