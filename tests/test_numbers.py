"""Derivatives with respect to tensors beside Python numbers keep the precision of the tensor."""

import math

import pytest

import adjoint as ad


def slope(f) -> float:
    x = ad.tensor([0.7], dtype=ad.float64, requires_grad=True)
    return ad.autograd.grad(f(x).sum(), x)[0].item()


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: ad.pow(2.5, x), 2.5**0.7 * math.log(2.5)),
        (lambda x: ad.pow(2, x), 2**0.7 * math.log(2)),
        (lambda x: ad.lerp(x, x.detach() + 1, 0.3), 0.7),
        (lambda x: x / 3, 1 / 3),
        (lambda x: 1 / x, -1 / 0.49),
        (lambda x: x**0.1, 0.1 * 0.7**-0.9),
    ],
)
def test_numbers_are_double(f, expected):
    assert slope(f) == pytest.approx(expected, rel=4e-16)


@pytest.mark.parametrize(
    "dtype, above",
    [("bool", 2), ("uint8", 2**8), ("int8", 2**7), ("int16", 2**15), ("int32", 2**31), ("int64", 2**63), ("float16", 2**11 + 1)]
    + [("bfloat16", 2**8 + 1), ("float32", 2**24 + 1), ("float64", 2**53 + 1)],
)
def test_random_draws_from_all_integers_of_the_type(dtype, above):
    drawn = [int(v) for v in ad.empty(20000, dtype=getattr(ad, dtype)).random_().tolist()]
    assert 0 <= min(drawn) and above / 2 <= max(drawn) < above
    with pytest.raises(NotImplementedError, match="not defined"):
        ad.empty(2, dtype=ad.complex64).random_()


@pytest.mark.parametrize("kind", [ad.float32, ad.float64])
def test_numbers_alone_give_tensors_of_the_default_type(kind):
    ad.set_default_dtype(kind)
    try:
        for y, value in (
            (ad.add(1.0, 2.0), 3),
            (ad.sub(1, 2.0, alpha=2), -3),
            (ad.div(1, 2), 0.5),
            (ad.pow(2.0, 3), 8),
            (ad.mul(2, 0.5), 1),
        ):
            assert y.dtype == kind and y.item() == value and (y + ad.ones(1, dtype=ad.int8)).dtype == kind
        assert (ad.add(1j, 2)).dtype == (ad.complex64 if kind == ad.float32 else ad.complex128)
    finally:
        ad.set_default_dtype(ad.float32)
    assert ad.add(1, 2).dtype == ad.int64 and ad.maximum(1, 2).dtype == ad.int64 and ad.eq(1, 2).dtype == ad.bool


@pytest.mark.parametrize("b", [ad.bool, ad.uint8, ad.int64, ad.float16, ad.float32], ids=str)
@pytest.mark.parametrize("a", [ad.int64, ad.float32, ad.float64, ad.complex128], ids=str)
def test_alpha_counts_in_the_type_of_the_result(a, b):
    x, y = ad.tensor([3], dtype=a), ad.tensor([1 if b == ad.bool else 7], dtype=b)
    t = ad.result_type(x, y)
    alpha = 0.1 if t.is_floating_point or t.is_complex else 300
    by = y.to(t) * alpha
    ad.testing.assert_close(ad.add(x, y, alpha=alpha), x + by, rtol=0, atol=0)
    if t == a:
        ad.testing.assert_close(x.clone().add_(y, alpha=alpha), x + by, rtol=0, atol=0)
    if b != ad.bool:
        ad.testing.assert_close(ad.sub(x, y, alpha=alpha), x - by, rtol=0, atol=0)
        ad.testing.assert_close(ad.rsub(y, x, alpha=alpha), x - by, rtol=0, atol=0)
    else:
        for f in (ad.sub, ad.Tensor.sub_, lambda x, y, alpha: ad.rsub(y, x, alpha=alpha)):
            with pytest.raises(RuntimeError, match="with a bool tensor"):
                f(x, y, alpha=alpha)


def test_random_draws_from_all_64_bits() -> None:
    drawn = ad.empty(2000, dtype=ad.int64).random_(-(2**63), None)
    assert drawn.min() < -(2**61) and drawn.max() > 2**61 and drawn.unique().numel() == 2000
    assert ad.empty(3, dtype=ad.int64).random_(2**63 - 1, None).tolist() == [2**63 - 1] * 3
