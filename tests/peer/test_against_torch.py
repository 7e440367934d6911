"""Differential tests against PyTorch, which only the nox session `peer` installs."""

import itertools

import numpy as np
import pytest

import adjoint as ad
from op_cases import CASES

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf", "ignore:index_reduce", "ignore:torch.triangular_solve")

DTYPES = (
    "bool",
    "uint8",
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


def by_id(where):
    return pytest.mark.parametrize("case", [c for c in CASES if where(c)], ids=lambda c: c.id)


def flat(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def name(dtype):
    return str(dtype).rpartition(".")[2]


def evaluate(lib, case, arrays, cotangents=None):
    """Results of the case in `lib` with their types, and gradients of its differentiable inputs."""
    inputs = [lib.from_numpy(np.array(a, order="C")) for a in arrays]
    xs = [inputs[i].requires_grad_() for i in case.differentiable]
    ys = flat(case.run(lib, inputs))
    seen = [(name(y.dtype), tuple(y.shape), y.numpy(force=True)) for y in ys]
    recorded = [
        (y, lib.from_numpy(u))
        for y, u in zip(ys, cotangents or [None] * len(ys), strict=True)
        if y.requires_grad and u is not None
    ]
    if not recorded or (lib is torch and any(part in case.id for part in CONSTANT_THERE)):
        return seen, []
    ys, us = zip(*recorded, strict=True)
    return seen, [g.numpy(force=True) for g in lib.autograd.grad(ys, xs, us, allow_unused=True, materialize_grads=True)]


def compare(case, arrays, rtol):
    rng = case.rng(1)
    values, _ = evaluate(torch, case, arrays)
    us = [np.asarray(rng.standard_normal(shape)).astype(v.dtype) for _, shape, v in values]
    (theirs, their_gradients), (ours, our_gradients) = evaluate(torch, case, arrays, us), evaluate(ad, case, arrays, us)
    assert [v[:2] for v in ours] == [v[:2] for v in theirs]
    for (*_, a), (*_, b) in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)
    if any(part in case.id for part in CONSTANT_THERE):
        assert their_gradients == []
        return
    for a, b in zip(our_gradients, their_gradients, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


CONSTANT_THERE = ("airy_ai", "heaviside", "bessel_j", "bessel_y", "bessel_k", "_polynomial_", "linalg.ldl_solve")
"Functions without a derivative in PyTorch."

NO_GRADIENT = (
    "as_strided_scatter",
    "nn.functional.conv_transpose2d-empty result",
    "linalg.cond-1",
    "lobpcg-generalised",
    "searchsorted-nan False",
    "searchsorted-nan True",
    "unique",
)
"Cases that PyTorch 2.13 refuses or gets wrong, or whose gradient it gets wrong, has not, or refuses because it overwrote what it saved."


ROUNDED = {"nn.functional.celu": 1e-7, "nn.functional.hardsigmoid": 1e-6, "pow-scalar_base": 1e-6}
"Cases where PyTorch computes a constant in single precision: 1/alpha, 1/6 and the logarithm of a number."


@by_id(lambda c: c.id not in NO_GRADIENT)
def test_double(case):
    compare(case, case.sample(), ROUNDED.get(case.id, 1e-9))


@by_id(lambda c: c.id not in NO_GRADIENT)
def test_single(case):
    compare(case, [a.astype(np.float32) if a.dtype.kind == "f" else a for a in case.sample()], 2e-5)


NO_PEER = ("lobpcg", "select_scatter", "slice_scatter")
"Complex derivatives that PyTorch 2.13 does not have."


@by_id(lambda c: c.complex and c.name not in NO_PEER and c.id not in NO_GRADIENT)
def test_complex(case):
    compare(case, case.sample(imaginary=True), ROUNDED.get(case.id, 1e-9))


@by_id(lambda c: not c.complex and c.differentiable and "single" not in c.skip)
def test_real_only(case):
    """A case is marked real because PyTorch refuses complex numbers there, or has no derivative for them."""
    inputs = [torch.from_numpy(a) for a in case.sample(imaginary=True)]
    xs = [inputs[i].requires_grad_() for i in case.differentiable]
    with pytest.raises((RuntimeError, TypeError, ValueError)):
        y = flat(case.run(torch, inputs))[0]
        torch.autograd.grad(y, xs, torch.ones_like(y), allow_unused=True)


@by_id(lambda c: not c.inplace and c.elementwise and c.differentiable and not c.call)
def test_no_inplace_form(case):
    """A case is marked as having no in-place form because PyTorch has none, or it would change the type or the shape."""
    method = case.name.rpartition(".")[2] + "_"
    if not hasattr(torch.Tensor, method) or case.name.startswith("nn."):
        return
    inputs = [torch.from_numpy(a) for a in case.sample()]
    with pytest.raises((RuntimeError, TypeError, AttributeError)):
        case.run_inplace(torch, inputs)


ARITHMETIC = ("add", "sub", "mul", "div", "pow", "maximum", "atan2", "eq", "where", "matmul")
UNARY = (
    "sin",
    "abs",
    "neg",
    "sqrt",
    "sum",
    "mean",
    "prod",
    "cumsum",
    "floor",
    "sign",
    "exp",
    "reciprocal",
    "square",
    "amax",
    "softmax",
)
KINDS = ("tensor", "0d", "scalar")
SCALARS = {"bool": True, "int64": 2, "float64": 2.0, "complex128": 2 + 0j}


def operand(lib, dtype, kind):
    if kind == "scalar":
        return SCALARS[dtype]
    return lib.ones((2, 2) if kind == "tensor" else (), dtype=getattr(lib, dtype))


def outcome(lib, function, *args):
    """The type of the result, or that there is none."""
    try:
        if function == "where":
            return name(lib.where(lib.ones((2, 2), dtype=lib.bool), *args).dtype)
        return name(getattr(lib, function)(*args, *((0,) if function in ("cumsum", "softmax") else ())).dtype)
    except (RuntimeError, TypeError, IndexError):
        return "error"


def differs_knowingly(function, kind, a, b):
    """There is no complex32, and functions of two tensors take numbers too (docs/differences.md)."""
    halves = a == "float16" and b.startswith("complex")
    return halves or (kind == "scalar" and function in ("maximum", "atan2"))


@pytest.mark.parametrize("function", ARITHMETIC)
@pytest.mark.parametrize("kind", KINDS)
def test_promotion(function, kind):
    """The whole table of types: tensor with tensor, with 0-d tensor, with Python number."""
    others = SCALARS if kind == "scalar" else DTYPES
    wrong = []
    for a, b in itertools.product(DTYPES, others):
        if differs_knowingly(function, kind, a, b):
            continue
        ours, theirs = (outcome(lib, function, operand(lib, a, "tensor"), operand(lib, b, kind)) for lib in (ad, torch))
        if ours != theirs:
            wrong.append(f"{a}, {b}: {ours} instead of {theirs}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("function", UNARY)
def test_unary_types(function):
    wrong = {
        d: (o, t)
        for d in DTYPES
        if (o := outcome(ad, function, operand(ad, d, "tensor")))
        != (t := outcome(torch, function, operand(torch, d, "tensor")))
    }
    assert not wrong


def test_result_type():
    for a, b in itertools.product(DTYPES, DTYPES):
        assert name(ad.promote_types(getattr(ad, a), getattr(ad, b))) == name(
            torch.promote_types(getattr(torch, a), getattr(torch, b))
        )


def recorded(lib):
    return lib.ones(3, requires_grad=True)


REFUSED = {
    "shapes do not broadcast": lambda lib: lib.ones(3) + lib.ones(4),
    "matmul sizes": lambda lib: lib.ones(2, 3) @ lib.ones(2, 3),
    "bad dim": lambda lib: lib.ones(2, 3).sum(dim=2),
    "bad index": lambda lib: lib.ones(3)[3],
    "bad select": lambda lib: lib.ones(3).select(0, 5),
    "bad view": lambda lib: lib.ones(2, 3).view(4),
    "bad expand": lambda lib: lib.ones(3).expand(4),
    "float index": lambda lib: lib.ones(3)[lib.tensor([0.5])],
    "cat of nothing": lambda lib: lib.cat([]),
    "cat sizes": lambda lib: lib.cat([lib.ones(2, 3), lib.ones(2, 2)]),
    "amax of nothing": lambda lib: lib.ones(0).amax(dim=0),
    "argument of the wrong type": lambda lib: lib.sin("a"),
    "unknown keyword": lambda lib: lib.sum(lib.ones(3), axes=0),
    "in place on a leaf": lambda lib: recorded(lib).mul_(2),
    "in place shrinks": lambda lib: lib.ones(1).add_(lib.ones(3)),
    "in place promotes": lambda lib: lib.ones(3, dtype=lib.int64).add_(0.5),
    "backward of no scalar": lambda lib: (recorded(lib) * 2).backward(),
    "backward without a graph": lambda lib: lib.ones(()).backward(),
    "backward twice": lambda lib: [y.backward() for y in [(recorded(lib) ** 2).sum()] * 2],
    "grad of an unused input": lambda lib: lib.autograd.grad(recorded(lib).sum(), recorded(lib)),
    "integers cannot require grad": lambda lib: lib.ones(3, dtype=lib.int64, requires_grad=True),
    "numpy of a recorded tensor": lambda lib: recorded(lib).numpy(),
    "truth of many": lambda lib: bool(lib.ones(3)),
    "item of many": lambda lib: lib.ones(3).item(),
    "wrong cotangent shape": lambda lib: lib.autograd.grad(recorded(lib) * 2, recorded(lib), lib.ones(4)),
    "unpacking a 0-d tensor": lambda lib: list(lib.ones(())),
}


@pytest.mark.parametrize("what", REFUSED)
def test_error_types(what):
    """What PyTorch refuses we refuse, with an exception that its users catch."""
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        REFUSED[what](torch)
    with pytest.raises(theirs.type):
        REFUSED[what](ad)
