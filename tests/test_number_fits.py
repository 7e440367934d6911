"""Python numbers that are written into tensors: they fit the element type or raise, but never change in silence."""

import cmath
import math

import pytest

import adjoint as ad

INTEGERS = {t: (2 ** (8 * t.itemsize - 1), 2 ** (8 * t.itemsize - 1) - 1) for t in (ad.int8, ad.int16, ad.int32, ad.int64)}
INTEGERS |= {
    t: (2 ** (8 * t.itemsize) - 1,) * 2 for t in (ad.uint8, ad.uint16, ad.uint32)
}  # negative numbers wrap, down to -max
LARGEST = {
    ad.float16: 65504.0,
    ad.bfloat16: 3.3895313892515355e38,
    ad.float32: 3.4028234663852886e38,
    ad.float64: 1.7976931348623157e308,
}
LARGEST |= {ad.complex64: LARGEST[ad.float32], ad.complex128: LARGEST[ad.float64]}
NUMBERS = (
    True, 0, 5, -1, -129, 255, 256, -255, -256, 300, 70000, 2**31, -(2**31) - 1, 2**40, 2**63 - 1, -(2**63),
    1.5, -1.5, 300.0, 65504.0, 65520.0, 1e10, 1e20, 3.41e38, 1e300, math.inf, -math.inf, math.nan,
    1j, 2 + 0j, 2 + 1j, complex(1e300, 0), complex(math.inf, 0),
)  # fmt: skip


def fits(number, dtype):
    if dtype == ad.bool:
        return True
    z = complex(number)
    if dtype.is_complex:
        return all(not math.isfinite(v) or abs(v) <= LARGEST[dtype] for v in (z.real, z.imag))
    if z.imag != 0:
        return False
    real = z.real if isinstance(number, complex) else number
    if dtype.is_floating_point:
        return not math.isfinite(real) or abs(real) <= LARGEST[dtype]
    if not math.isfinite(real) or (isinstance(real, float) and real < 0 and not dtype.is_signed):
        return False
    low, high = INTEGERS[dtype]
    return -low <= real <= high


def item_set(x, number):
    x[0] = number
    return x


def mask_set(x, number):
    x[ad.tensor([True])] = number
    return x


# By way of double, in which half types take every number.
FILLS = {
    "full": lambda x, n: ad.full((1,), n, dtype=x.dtype),
    "full_like": ad.full_like,
    "new_full": lambda x, n: x.new_full((1,), n),
    "fill_": lambda x, n: x.fill_(n),
    "x[0] = n": item_set,
    "x[mask] = n": mask_set,
    "fill_diagonal_": lambda x, n: x.reshape(1, 1).fill_diagonal_(n)[0],
}
WRITES = {
    "masked_fill": lambda x, n: x.masked_fill(ad.tensor([True]), n),
    "masked_fill_": lambda x, n: x.masked_fill_(ad.tensor([True]), n),
    "index_fill": lambda x, n: x.index_fill(0, ad.tensor([0]), n),
    "scatter": lambda x, n: x.scatter(0, ad.tensor([0]), n),
    "scatter_": lambda x, n: x.scatter_(0, ad.tensor([0]), value=n),
}


def expected(number, dtype):
    """What is written, as Python computes it."""
    if dtype == ad.bool:
        return bool(number)
    if dtype.is_complex or dtype.is_floating_point:
        z = complex(number)
        return z if dtype.is_complex else z.real
    real = number.real if isinstance(number, complex) else number
    whole = int(real)
    return whole if dtype.is_signed else whole % 2 ** (8 * dtype.itemsize)


def same(y, number, dtype):
    value, want = y.item(), expected(number, dtype)
    if not (dtype.is_floating_point or dtype.is_complex):
        return value == want
    if cmath.isnan(want):
        return cmath.isnan(value)
    if cmath.isinf(want):
        return value == want
    if abs(want) > LARGEST[dtype]:
        return cmath.isinf(value)
    return (
        cmath.isclose(value, want, rel_tol=1e-2 if dtype == ad.bfloat16 else 1e-3) or cmath.isinf(value) and abs(want) > 65504
    )


@pytest.mark.parametrize("dtype", [ad.bool, *INTEGERS, *LARGEST], ids=str)
@pytest.mark.parametrize("how", [*FILLS, *WRITES])
def test_a_number_fits_or_raises(how, dtype):
    for number in NUMBERS:
        x = ad.zeros(1, dtype=dtype)
        wide = ad.float64 if how in FILLS and dtype in (ad.float16, ad.bfloat16) else dtype
        if how == "index_fill" and isinstance(number, complex) and not dtype.is_complex:
            with pytest.raises(RuntimeError, match="Converting complex Scalar to non-complex type is not supported"):
                x.index_fill(0, ad.tensor([0]), number)
        elif fits(number, wide):
            assert same({**FILLS, **WRITES}[how](x, number), number, dtype), number
        else:
            with pytest.raises(RuntimeError, match="value cannot be converted to type .* without overflow"):
                {**FILLS, **WRITES}[how](x, number)
            assert x.item() == 0  # nothing is written


@pytest.mark.parametrize("dtype", [ad.bool, *INTEGERS, *LARGEST], ids=str)
def test_tensor_takes_elements_that_fit(dtype):
    real = dtype != ad.bool and not dtype.is_complex
    for number in NUMBERS:
        if isinstance(number, complex) and real:
            with pytest.raises(
                TypeError, match="must be real number, not complex|'complex' object cannot be interpreted as an integer"
            ):
                ad.tensor([number], dtype=dtype)
        elif dtype in LARGEST or fits(number, dtype):
            assert ad.tensor([number], dtype=dtype).dtype == dtype
        else:
            with pytest.raises(RuntimeError, match=f"value cannot be converted to type {dtype.name} without overflow"):
                ad.tensor([[0], [number]], dtype=dtype)
    with pytest.raises(RuntimeError, match="negative"):
        ad.tensor([-1], dtype=ad.uint64)
    with pytest.raises(TypeError, match="an integer is required"):
        ad.tensor(1.5, dtype=ad.uint64)


def test_factors_limits_and_borders_fit():
    x, h = ad.zeros(2), ad.zeros(2, dtype=ad.float16)
    u = ad.zeros(2, dtype=ad.uint8)
    for f in (
        lambda: x.addcmul(x, x, value=1j), lambda: x.addcdiv_(x, x, value=1e300), lambda: h.addcmul(h, h, value=1e300),
        lambda: u.add(u, alpha=300), lambda: u.clamp(min=-300), lambda: u.clamp_(max=300), lambda: h.clamp(max=1e10),
        lambda: ad.where(ad.tensor([True, False]), 300, u), lambda: ad.nn.functional.pad(u, (0, 1), value=300),
        lambda: u.scatter(0, ad.tensor([0]), 300, reduce="add"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="without overflow"):
            f()
    assert (u + 300).tolist() == [44, 44]  # operands wrap, as in PyTorch
    assert u.clamp(min=-1).tolist() == [255, 255]
    assert h.addcmul(h, h, value=1e10).tolist() == [0, 0] and h.clamp(max=math.inf).tolist() == [0, 0]


ONE, MATRIX, BATCH = (1,), (1, 1), (1, 1, 1)
# (the function of tensors and a number, the shapes of its tensors)
FACTORS = {
    "addmm": (lambda c, a, b, n: c.addmm(a, b, alpha=n), (MATRIX,) * 3),
    "addmm, beta": (lambda c, a, b, n: c.addmm(a, b, beta=n), (MATRIX,) * 3),
    "baddbmm_": (lambda c, a, b, n: c.baddbmm_(a, b, beta=n), (BATCH,) * 3),
    "addbmm": (lambda c, a, b, n: c.addbmm(a, b, alpha=n), (MATRIX, BATCH, BATCH)),
    "addmv": (lambda c, a, b, n: c.addmv(a, b, alpha=n), (ONE, MATRIX, ONE)),
    "addr": (lambda c, a, b, n: c.addr(a, b, alpha=n), (MATRIX, ONE, ONE)),
    "addcmul": (lambda c, a, b, n: c.addcmul(a, b, value=n), (ONE,) * 3),
    "lerp": (lambda c, a, n: c.lerp(a, n), (ONE,) * 2),
    "index_add_": (lambda c, a, n: c.index_add_(0, ad.tensor([0]), a, alpha=n), (ONE,) * 2),
    "sampled_addmm": (lambda c, a, b, n: ad.sparse.sampled_addmm(c.to_sparse_csr(), a, b, alpha=n).values(), (MATRIX,) * 3),
}


@pytest.mark.parametrize("dtype", [ad.int32, ad.float16, ad.float32, ad.float64, ad.complex64], ids=str)
@pytest.mark.parametrize("how", FACTORS)
def test_factors_are_of_the_type_they_multiply(how, dtype):
    f, shapes = FACTORS[how]
    if how == "lerp" and dtype == ad.int32:
        pytest.skip("gives floating numbers")
    for number in NUMBERS:
        x = [ad.ones(shape, dtype=dtype) for shape in shapes]
        try:
            y = f(*x, number)
        except RuntimeError:
            assert not fits(number, dtype) or how == "addr", number  # which looks at the kind of number, too
        else:
            assert fits(number, ad.float32 if dtype == ad.float16 else dtype), number
            assert y.dtype == dtype, number


def test_index_fill_and_put_name_what_is_wrong():
    x = ad.zeros(3)
    for index in (ad.tensor([True, False, True]), ad.tensor([1.0]), ad.tensor([1], dtype=ad.int32)):
        with pytest.raises(IndexError, match=r"index_fill_\(\): Expected dtype int64 for index."):
            x.index_fill_(0, index, 1)
        with pytest.raises(RuntimeError, match=r"put_\(\): Expected a long tensor for index"):
            x.put_(index, ad.ones(index.numel()))
    with pytest.raises(RuntimeError, match="Index has to be a vector/scalar"):
        x.index_fill_(0, ad.tensor([[1]]), 1)
    with pytest.raises(RuntimeError, match=r"put_\(\): self and source expected to have the same dtype"):
        x.put_(ad.tensor([1]), ad.tensor([1]))
    with pytest.raises(IndexError, match="source.numel.. = 2, index.numel.. = 1"):
        x.put_(ad.tensor([1]), ad.ones(2))
    with pytest.raises(TypeError, match="must be Tensor, not float"):
        x.put_(ad.tensor([1]), 1.0)
    assert x.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "make",
    [lambda: ad.arange(1 + 2j), lambda: ad.arange(0, 3, 1j), lambda: ad.arange(end=2j), lambda: ad.scalar_tensor(1 + 2j)],
)
def test_no_part_of_a_complex_number_is_dropped(make):
    with pytest.raises(RuntimeError, match="cannot be converted to type"):
        make()


def test_can_cast_goes_by_kinds():
    assert ad.can_cast(ad.int32, ad.uint8) and ad.can_cast(ad.float64, ad.float16)
    assert not ad.can_cast(ad.float16, ad.int64) and not ad.can_cast(ad.uint8, ad.bool)


def test_nextafter_promotes():
    found = ad.nextafter(ad.tensor([1, 2]), ad.tensor(3.0))
    assert found.dtype == ad.float32 and (found > ad.tensor([1, 2])).all()
    with pytest.raises(NotImplementedError, match="nextafter"):
        ad.nextafter(ad.tensor([1]), ad.tensor([2]))
