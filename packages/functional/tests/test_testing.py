"""`assert_close` against NumPy's, its messages, and the tensors that `make_tensor` makes."""

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import assert_close, make_tensor

T = ad.tensor
NAN = float("nan")


def fails(actual: object, expected: object, *fragments: str, **options: object) -> None:
    with pytest.raises(AssertionError) as error:
        assert_close(actual, expected, **options)
    for fragment in fragments:
        assert fragment in str(error.value), str(error.value)


@pytest.mark.parametrize("dtype", [ad.float16, ad.float32, ad.float64, ad.complex64, ad.int32, ad.bool])
def test_agrees_with_numpy(dtype: ad.dtype) -> None:
    for seed in range(20):
        ad.manual_seed(seed)
        a = make_tensor(2, 3, dtype=dtype)
        e = ad.where(ad.rand(2, 3) < 0.8, a, make_tensor(2, 3, dtype=dtype))
        if dtype.is_floating_point:
            e = e * (1 + 10.0 ** -(seed / 2))
        for rtol, atol in ((1e-3, 1e-5), (0.0, 0.5), (0.0, 0.0)):
            if np.allclose(a.numpy(), e.numpy(), rtol=rtol, atol=atol):
                assert_close(a, e, rtol=rtol, atol=atol)
            else:
                fails(a, e, "Mismatched elements", rtol=rtol, atol=atol)


def test_says_what_differs() -> None:
    fails(T([1, 2, 3]), T([1, 5, 3]), "not equal", "1 / 3 (33.3%)", "absolute difference: 3 at index (1,)\n", "0.6000")
    fails(T([[0.0], [NAN]]), T([[0.0], [NAN]]), "nan at index (1, 0) (up to 1e-05 allowed)")
    assert_close(T([NAN, 1]), T([NAN, 1]), equal_nan=True)
    fails(1.0, 2.0, "Scalars are not close!\n\nExpected 2.0 but got 1.0.\nAbsolute difference: 1.0 (up to 1e-07 allowed)")
    fails(T(1.0), T(2.0), "Scalars are not close", "up to 1e-05")
    fails(1, 1.0, "(d)types do not match")
    assert_close(1, 1.0, check_dtype=False)
    fails(True, False, "Booleans mismatch")
    fails(None, 1, "None mismatch")
    assert_close(None, None)


def test_says_which_attribute_differs() -> None:
    one = ad.ones(2, 3)
    fails(one, one.t(), "attribute 'shape'")
    fails(one, one.double(), "attribute 'dtype'")
    assert_close(one, one.double(), check_dtype=False)
    fails(one, one.t().contiguous().t(), "attribute 'stride()'", check_stride=True)
    fails(one.to_sparse(), one, "attribute 'layout'")
    assert_close(one.to_sparse(), one, check_layout=False)
    fails(T([1.0, 0]).to_sparse(), T([2.0, 0]).to_sparse(), "Sparse COO values are not close")
    fails(T([1.0, 0]).to_sparse(), T([0, 1.0]).to_sparse(), "Sparse COO indices are not equal")
    fails(T([1.0, 1]).to_sparse(), T([0, 1.0]).to_sparse(), "specified values", "2 != 1")


def test_containers_say_where() -> None:
    assert_close({"a": [1, T([1.0])]}, {"a": (1, T([1.0]))})
    fails({"a": [1, T([1.0])]}, {"a": (1, T([2.0]))}, "The failure occurred for item ['a'][1]")
    fails([1], [1, 2], "length of the sequences mismatch: 1 != 2")
    fails({"a": 1}, {"b": 1}, "Missing keys in the actual mapping: ['b']", "Additional keys in the actual mapping: ['a']")
    assert_close(np.ones(2), np.ones(2))
    for a, e in ((T([1.0]), 1.0), ("a", "a"), ({1}, {1}), (np.ones(2), ad.ones(2))):
        with pytest.raises(TypeError, match="No comparison pair"):
            assert_close(a, e)


def test_messages_and_tolerances_of_the_caller() -> None:
    fails(1, 2, "before 'Scal", msg=lambda text: f"before {text[:4]!r}")
    with pytest.raises(AssertionError, match=r"\Amine\Z"):
        assert_close(1, 2, msg="mine")
    with pytest.raises(ValueError, match="got no atol"):
        assert_close(1, 1, rtol=0.1)

    class Sub(ad.Tensor):
        pass

    sub = ad.ones(1).as_subclass(Sub)
    assert_close(sub, ad.ones(1))
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close(sub, ad.ones(1), allow_subclasses=False)


@pytest.mark.parametrize("name", ["bool", "uint8", "int8", "int64", "float16", "bfloat16", "float32", "float64", "complex64"])
def test_made_tensors_lie_in_their_interval(name: str) -> None:
    dtype = getattr(ad, name)
    x = make_tensor(40, 50, dtype=dtype)
    parts = (x.real, x.imag) if dtype.is_complex else (x.double(),)
    least, most = {"bool": (0, 1), "uint8": (0, 9)}.get(name, (-9, 9))
    assert all(least <= p.min() and p.max() <= most and p.max() - p.min() > 0.9 * (most - least) for p in parts)
    low, high = (0, 1) if name == "bool" else (2, 4)
    x = make_tensor((3, 2), dtype=dtype, low=low, high=high, noncontiguous=True)
    assert x.dtype is dtype and x.shape == (3, 2) and x.stride() == (4, 2)
    if not dtype.is_complex:
        assert low <= x.min() and x.max() < high
    assert (make_tensor(30, dtype=dtype, low=0, high=1, exclude_zero=True) != 0).all()


def test_made_tensors_take_options() -> None:
    assert make_tensor(2, dtype=ad.float32, requires_grad=True).is_leaf
    assert make_tensor((1, 2, 3, 3), dtype=ad.float32, memory_format=ad.channels_last).stride() == (18, 1, 6, 2)
    assert make_tensor(dtype=ad.float32).shape == () and make_tensor(0, 3, dtype=ad.int8, noncontiguous=True).shape == (0, 3)
    assert make_tensor(9, dtype=ad.float32, low=-float("inf"), high=float("inf")).isfinite().all()
    assert make_tensor(9, dtype=ad.uint8, low=-5, high=1000).dtype is ad.uint8
    for options, rule in (
        ({"dtype": ad.int64, "requires_grad": True}, "not supported for boolean and integral"),
        ({"dtype": ad.float32, "low": 2, "high": 1}, "must be less than"),
        ({"dtype": ad.float32, "low": NAN}, "cannot be NaN"),
        ({"dtype": ad.int8, "low": -500, "high": -300}, "only supports"),
        ({"dtype": ad.int64, "low": 1.5, "high": 1.7}, "there is no"),
        ({"dtype": ad.float32, "noncontiguous": True, "memory_format": ad.channels_last}, "mutually exclusive"),
    ):
        with pytest.raises(ValueError, match=rule):
            make_tensor(2, **options)


@pytest.mark.parametrize("dtype", [ad.float32, ad.bfloat16, ad.complex64])
def test_one_value(dtype: Any) -> None:
    with pytest.warns(FutureWarning, match="low==high"):
        x = ad.testing.make_tensor(3, dtype=dtype, low=2, high=2)
    assert ad.equal(x, ad.full((3,), 2 + 2j if dtype.is_complex else 2, dtype=dtype))


def test_random_tensors_are_uniform_draws():
    ad.manual_seed(0)
    x = ad.testing.make_tensor(3, dtype=ad.float32, low=-1, high=1)
    ad.manual_seed(0)
    assert ad.equal(x, ad.empty(3).uniform_(-1, 1))
