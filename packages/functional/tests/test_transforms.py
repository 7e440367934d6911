"""Transforms with views, in-place calls, inference mode and custom Functions inside."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad
from adjoint import vmap
from adjoint.autograd import Function
from adjoint.func import grad, hessian, jacfwd, jacrev, jvp, vjp


def view_of_what_is_written(x: ad.Tensor) -> ad.Tensor:
    y = x.clone()
    v = y[0]
    y.sin_()
    return v


def test_a_view_that_is_returned_follows_writes_to_its_base() -> None:
    x, t = ad.tensor([0.5, 1.0, 2.0]), ad.tensor([1.0, 0.0, 0.0])
    slope = ad.cos(x[0]).item()
    expected = [slope, 0, 0]
    f = view_of_what_is_written
    assert grad(f)(x).tolist() == jacrev(f)(x).tolist() == jacfwd(f)(x).tolist() == expected
    assert vjp(f, x)[1](ad.tensor(1.0))[0].tolist() == expected
    assert jvp(f, (x,), (t,))[1].item() == slope
    assert vmap(grad(f))(ad.stack([x, x])).tolist() == [expected, expected]
    assert hessian(f)(x)[0, 0].item() == pytest.approx(-ad.sin(x[0]).item())


@pytest.mark.parametrize("made_inside", [False, True])
def test_inference_mode_around_a_transform(made_inside: bool) -> None:
    x = ad.tensor([1.0, 2.0])
    with ad.inference_mode():
        x = x * 1 if made_inside else x
        assert grad(lambda x: (x**2).sum())(x).tolist() == [2, 4]
        assert jacrev(lambda x: x**2)(x).tolist() == [[2, 0], [0, 4]]
        assert vjp(lambda x: x * x, x)[1](ad.ones(2))[0].tolist() == [2, 4]
        assert jacrev(grad(lambda x: (x**3).sum()))(x).tolist() == [[6, 0], [0, 12]]
        assert vmap(grad(lambda x: x**2))(x).tolist() == [2, 4]
        assert ad.is_inference_mode_enabled()
    assert not ad.is_inference_mode_enabled()

    def f(x: ad.Tensor) -> ad.Tensor:
        with ad.inference_mode():
            c = x**2
        return (x - c).sum()

    assert grad(f)(ad.tensor([1.0, 2.0])).tolist() == [1, 1]


def rule(vmap_rule: Any) -> Any:
    return type(
        "Ruled",
        (Function,),
        {
            "forward": staticmethod(lambda *a: a[0]),
            "setup_context": staticmethod(lambda *a: None),
            "vmap": staticmethod(vmap_rule),
        },
    ).apply


def test_vmap_rules_take_and_give_trees() -> None:
    seen = []

    def swapped(info: Any, in_dims: Any, x: ad.Tensor, ys: list[ad.Tensor]) -> Any:
        seen.append((info.batch_size, in_dims, [tuple(y.shape) for y in ys]))
        return [x + ys[0], {"x": x}], [0, {"x": 0}]

    x = ad.tensor([1.0, 2.0])
    total, parts = vmap(lambda x: rule(swapped)(x, [x, ad.ones(3)]))(x)
    assert total.tolist() == [2, 4] and parts["x"].tolist() == [1, 2]
    assert seen == [(2, (0, [0, None]), [(2,), (3,)])]


@pytest.mark.parametrize("returned", [lambda x: (x, (None,)), lambda x: ([x], (0,)), lambda x: ((x, x), (0,))])
def test_what_vmap_rules_return_must_fit(returned: Any) -> None:
    with pytest.raises(RuntimeError, match=r"Ruled.vmap returned an incompatible \(output, out_dims\) tuple"):
        vmap(rule(lambda info, in_dims, x: returned(x)))(ad.ones(2))


def test_words_about_wrong_functions() -> None:
    x, captured = ad.ones(2), ad.ones(2)
    with pytest.raises(RuntimeError, match=r"vjp\(f, \*primals\): Expected f to be a function that has non-empty output"):
        vjp(lambda x: None, x)
    with pytest.raises(
        RuntimeError, match="Trying to set a forward gradient that has a different size than that of the original Tensor"
    ):
        jvp(ad.sin, (x,), (ad.ones(3),))
    with pytest.raises(RuntimeError, match="would mutate a captured Tensor"):
        grad(lambda x: captured.copy_(x).sum())(x)
