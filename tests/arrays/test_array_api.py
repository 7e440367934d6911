"""The array API standard: each function beside the reference implementation, on arrays of all its types."""

import inspect

import array_api_strict as strict
import numpy as np
import pytest

import adjoint as ad
import adjoint.array_api as xp
from adjoint_functional.array_api.elementwise import OF_ONE, OF_TWO

strict.set_array_api_strict_flags(api_version="2025.12")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

FLOATS, COMPLEX = ["float32", "float64"], ["complex64", "complex128"]
SIGNED, UNSIGNED = ["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"]
REAL = SIGNED + UNSIGNED + FLOATS
ALL = ["bool", *REAL, *COMPLEX]
ABSENT = {
    "Device",
    "__version__",
    "ArrayAPIStrictFlags",
    "get_array_api_strict_flags",
    "reset_array_api_strict_flags",
    "set_array_api_strict_flags",
}
SOME = ["bool", "int8", "uint8", "int64", "uint64", "float32", "float64", "complex64"]
SHAPES = [(), (0,), (2, 3)]


def array(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype in UNSIGNED:
        return rng.integers(0, 9, shape).astype(dtype)
    if dtype in SIGNED:
        return rng.integers(-9, 9, shape).astype(dtype)
    x = rng.standard_normal(shape) * 2
    return (x + 1j * rng.standard_normal(shape) if dtype in COMPLEX else x).astype(dtype)


def flat(result):
    return [part for r in result for part in flat(r)] if isinstance(result, (tuple, list)) else [result]


def check(call, *arrays, rtol=1e-5):
    """`call` of a namespace and arrays gives the same in both, if the reference takes them."""
    try:
        expected = flat(call(strict, *(strict.asarray(a) for a in arrays)))
    except TypeError:  # types that the standard leaves open
        return False
    found = flat(call(xp, *(xp.asarray(a) for a in arrays)))
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        if not isinstance(y, strict._array_object.Array):
            assert x == y
            continue
        y = np.asarray(y._array)
        assert str(x.dtype).rpartition(".")[2] == str(y.dtype), [a.dtype for a in arrays]
        assert tuple(x.shape) == y.shape
        fine = 1e-4 if y.dtype in (np.float32, np.complex64) else rtol
        np.testing.assert_allclose(x.numpy(), y, rtol=fine, atol=fine if y.dtype.kind in "fc" else 0)
    return True


@pytest.mark.parametrize("space", ["", "linalg", "fft"])
def test_names_and_arguments(space):
    theirs, ours = (getattr(lib, space) if space else lib for lib in (strict, xp))
    for name in set(theirs.__all__) - ABSENT:
        own, other = getattr(ours, name), getattr(theirs, name)
        assert space == "" or name in ours.__all__
        if not inspect.isfunction(other):
            continue
        try:
            found = inspect.signature(own).parameters
        except ValueError:  # of a function of the extension
            continue
        for p in inspect.signature(other).parameters.values():
            if p.kind is p.KEYWORD_ONLY or p.kind is p.POSITIONAL_OR_KEYWORD:
                assert p.name in found, (name, p.name)
    assert xp.__array_api_version__ == "2025.12"


UNARY = [*OF_ONE, "round", "sign", "signbit"]
BINARY = [*OF_TWO, "floor_divide", "remainder", "nextafter"]


@pytest.mark.parametrize("name", UNARY)
def test_elements(name):
    for dtype in ALL:
        for shape in SHAPES:
            check(lambda lib, x: getattr(lib, name)(x), array(dtype, shape))


@pytest.mark.parametrize("name", BINARY)
def test_pairs_of_all_types(name):
    ran = 0
    for i, a in enumerate(SOME):
        for j, b in enumerate(SOME):
            left, right = [((), (3,)), ((2, 1), (3,)), ((3,), ())][(i + j) % 3]
            x, y = array(a, left), array(b, right, 1)
            y = abs(y) if "shift" in name or name == "pow" and y.dtype.kind in "iu" else y
            if name in ("floor_divide", "remainder"):
                y = y + (y == 0).astype(b)
            ran += check(lambda lib, x, y: getattr(lib, name)(x, y), x, y)
        for number in (True, 2, 2.0, 1j):
            if not isinstance(number, complex) or a in COMPLEX:
                check(lambda lib, x: getattr(lib, name)(x, number), array(a, (3,)))
    assert ran


@pytest.mark.parametrize("name", ["add", "atan2", "copysign", "divide", "hypot", "maximum", "minimum", "multiply", "remainder"])
def test_special_cases(name):
    x = np.array([np.inf, np.nan, 0.0, -0.0, 1.0, 2.5, -2.5, -np.inf])
    a, b = np.meshgrid(x, x)
    found, expected = getattr(xp, name)(xp.asarray(a), xp.asarray(b)).numpy(), getattr(np, name)(a, b)
    np.testing.assert_allclose(found, expected, rtol=5e-16)
    zeros = expected == 0
    np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(expected[zeros]))


def test_signs_of_what_is_no_number():
    x = np.array([np.nan, -np.inf, -0.0, 3.0])
    np.testing.assert_array_equal(xp.sign(xp.asarray(x)).numpy(), [np.nan, -1, 0, 1])
    assert xp.isnan(xp.sign(xp.asarray(x + 1j))[0])


def test_quotients_at_infinity():
    x = xp.asarray([np.inf, np.inf, -np.inf, 1.0, -1.0, np.inf])
    y = xp.asarray([2.0, -2.0, 2.0, np.inf, -np.inf, np.inf])
    np.testing.assert_array_equal(xp.floor_divide(x, y).numpy(), [np.inf, -np.inf, -np.inf, 0, 0, np.nan])


REDUCTIONS = ["sum", "prod", "mean", "var", "std", "max", "min", "all", "any", "count_nonzero"]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    for dtype in ALL:
        x = array(dtype, (2, 3, 2))
        for axis in (None, 0, -1, (0, 2), ()):
            for keepdims in (False, True):
                check(lambda lib, x: getattr(lib, name)(x, axis=axis, keepdims=keepdims), x)
        check(lambda lib, x: getattr(lib, name)(x), array(dtype, ()))
        if dtype == "float64":
            with pytest.raises(IndexError, match=r"\[-3, 2\]"):
                getattr(xp, name)(xp.asarray(x), axis=3)
    if name in ("var", "std"):
        check(lambda lib, x: getattr(lib, name)(x, correction=0.5), array("float64", (4,)))


@pytest.mark.parametrize("name", ["argmax", "argmin", "sort", "argsort", "cumulative_sum", "cumulative_prod", "diff"])
def test_along_an_axis(name):
    for dtype in ALL:
        x = array(dtype, (3, 4))
        for axis in (0, -1):
            check(lambda lib, x: getattr(lib, name)(x, axis=axis), x)
        if "sort" in name:
            check(lambda lib, x: getattr(lib, name)(x, descending=True), x)
        if "cumulative" in name:
            check(lambda lib, x: getattr(lib, name)(x, axis=0, include_initial=True), x)
        if name in ("argmax", "argmin"):
            check(lambda lib, x: getattr(lib, name)(x, keepdims=True), x)


CALLS = [
    lambda lib, x: lib.unique_values(x),
    lambda lib, x: list(lib.unique_counts(x)),
    lambda lib, x: lib.unique_all(x)[2:],
    lambda lib, x: lib.unique_inverse(x)[1],
    lambda lib, x: lib.nonzero(x),
    lambda lib, x: lib.flip(x),
    lambda lib, x: lib.flip(x, axis=0),
    lambda lib, x: lib.roll(x, 1),
    lambda lib, x: lib.roll(x, 1, axis=(0, 1)),
    lambda lib, x: lib.permute_dims(x, (1, 0)),
    lambda lib, x: lib.moveaxis(x, 0, -1),
    lambda lib, x: lib.expand_dims(x, (0, 2)),
    lambda lib, x: lib.squeeze(lib.expand_dims(x, 1), 1),
    lambda lib, x: lib.reshape(x, (-1,)),
    lambda lib, x: lib.repeat(x, 2),
    lambda lib, x: lib.repeat(x, lib.asarray([1, 2, 0], dtype=lib.int64), axis=1),
    lambda lib, x: lib.tile(x, (2, 1, 2)),
    lambda lib, x: lib.unstack(x, axis=1),
    lambda lib, x: lib.concat([x, x], axis=None),
    lambda lib, x: lib.stack([x, x], axis=-1),
    lambda lib, x: lib.broadcast_to(x, (2, 2, 3)),
    lambda lib, x: lib.tril(x, k=-1),
    lambda lib, x: lib.triu(x, k=1),
    lambda lib, x: lib.take(x, lib.asarray([0, -1]), axis=1),
    lambda lib, x: lib.take_along_axis(x, lib.asarray([[0], [1]]), axis=1),
    lambda lib, x: lib.meshgrid(x[0, :], x[:, 0]),
    lambda lib, x: lib.isin(x, x[0, :2]),
    lambda lib, x: lib.searchsorted(lib.sort(x[0, :]), x[1, :], side="right"),
    lambda lib, x: lib.clip(x, 1, 3),
    lambda lib, x: lib.clip(x, x[0, :], None),
    lambda lib, x: lib.where(x == x, x, 1),
    lambda lib, x: lib.matmul(x, lib.permute_dims(x, (1, 0))),
    lambda lib, x: lib.matrix_transpose(x),
    lambda lib, x: lib.tensordot(x, x, axes=((0, 1), (0, 1))),
    lambda lib, x: lib.vecdot(x, x[0, :]),
    lambda lib, x: lib.linalg.cross(x, x[0, :]),
    lambda lib, x: lib.linalg.outer(x[0, :], x[1, :]),
    lambda lib, x: lib.linalg.diagonal(x, offset=1),
    lambda lib, x: lib.linalg.trace(x),
    lambda lib, x: lib.full_like(x, 1),
    lambda lib, x: lib.astype(x, lib.float64) if lib.isdtype(x.dtype, ("bool", "integral", "real floating")) else x,
    lambda lib, x: [x[1:, ::2], x[..., 0], x[None, 0, :], x[x == x], x[-1, -2]],
    lambda lib, x: x.mT,
    lambda lib, x: lib.count_nonzero(x, axis=1),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_calls(number):
    assert sum(check(CALLS[number], array(dtype, (2, 3))) for dtype in ALL)


FLOATING_CALLS = [
    lambda lib, x: lib.linalg.det(x),
    lambda lib, x: lib.linalg.inv(x),
    lambda lib, x: lib.linalg.solve(x, x[..., 0]),
    lambda lib, x: lib.linalg.slogdet(x),
    lambda lib, x: lib.linalg.svdvals(x),
    lambda lib, x: lib.linalg.svd(x)[1],
    lambda lib, x: lib.linalg.eigvalsh(x + lib.conj(lib.matrix_transpose(x)) if "complex" in str(x.dtype) else x + x.mT),
    lambda lib, x: lib.linalg.matrix_norm(x),
    lambda lib, x: [lib.linalg.vector_norm(x, ord=o, axis=a) for o in (0, 1, 2, 3, np.inf) for a in (None, 0, (0, 1))],
    lambda lib, x: lib.linalg.matrix_rank(x),
    lambda lib, x: lib.linalg.matrix_power(x, 3),
    lambda lib, x: lib.linalg.matrix_power(x, -1),
    lambda lib, x: lib.linalg.pinv(x),
    lambda lib, x: lib.matmul(*lib.linalg.qr(x)),
    lambda lib, x: lib.fft.fft(x, n=5) if "complex" in str(x.dtype) else x,
    lambda lib, x: lib.fft.ifftn(x) if "complex" in str(x.dtype) else x,
    lambda lib, x: lib.fft.rfft(x, axis=0, norm="ortho") if "float" in str(x.dtype) else x,
    lambda lib, x: lib.fft.fftshift(x),
]


@pytest.mark.parametrize("number", range(len(FLOATING_CALLS)))
def test_floating_calls(number):
    for dtype in FLOATS + COMPLEX:
        assert check(FLOATING_CALLS[number], array(dtype, (3, 3)))


def test_creation():
    calls = [
        lambda lib: lib.arange(5),
        lambda lib: lib.arange(5, 1),
        lambda lib: lib.arange(0, 1, 0.25),
        lambda lib: lib.linspace(0, 1, 5, endpoint=False),
        lambda lib: lib.eye(3, 4, k=-1),
        lambda lib: lib.full((2,), 3),
        lambda lib: lib.full(2, True),
        lambda lib: lib.zeros((2, 0)),
        lambda lib: lib.ones(3, dtype=lib.int8),
        lambda lib: lib.asarray([[1, 2], [3, 4]]),
        lambda lib: lib.fft.fftfreq(5, d=0.5),
        lambda lib: lib.fft.rfftfreq(4),
    ]
    for call in calls:
        found, expected = call(xp), np.asarray(call(strict)._array)
        if expected.dtype == np.float64:
            expected = expected.astype(np.float32)  # our default
        assert str(found.dtype).rpartition(".")[2] == str(expected.dtype)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_types():
    names = ALL
    for a in names:
        for b in names:
            try:
                expected = strict.result_type(getattr(strict, a), getattr(strict, b))
            except TypeError:
                continue
            assert xp.result_type(getattr(xp, a), getattr(xp, b)) is getattr(xp, str(expected).rpartition(".")[2].strip("')"))
            assert xp.can_cast(getattr(xp, a), getattr(xp, b)) == strict.can_cast(getattr(strict, a), getattr(strict, b))
        for kind in ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"):
            assert xp.isdtype(getattr(xp, a), kind) == strict.isdtype(getattr(strict, a), kind)
    assert xp.finfo(xp.complex64).dtype is xp.float32 and xp.iinfo(xp.int8).dtype is xp.int8
    with pytest.raises(ValueError, match="kind must be one of"):
        xp.isdtype(xp.int8, "small")
    with pytest.raises(TypeError, match="no type of integers"):
        xp.result_type(xp.uint64, xp.int8)


def test_a_tensor_leads_to_the_namespace():
    x = ad.ones(2, requires_grad=True)
    lib = x.__array_namespace__(api_version="2025.12")
    assert lib is xp
    lib.sum(lib.square(x)).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2, 2])
    assert x.to_device("cpu").device == x.device
    with pytest.raises(ValueError, match="api_version must be one of"):
        x.__array_namespace__(api_version="1999.12")


def test_what_the_namespace_says_of_itself():
    info = xp.__array_namespace_info__()
    assert info.default_device() == ad.device("cpu") and ad.device("cpu") in info.devices()
    assert info.default_dtypes()["integral"] is ad.int64
    assert set(info.dtypes()) == set(ALL) and set(info.dtypes(kind="signed integer")) == set(SIGNED)
    assert info.capabilities()["boolean indexing"]
