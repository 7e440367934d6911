"""Operators that a program defines: what they take, their derivatives, batches and forms, and how they say what does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import Tensor
from adjoint_engine import operators


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """What a test defines is gone behind it."""
    before = dict(operators.CUSTOM)
    yield
    for name in set(operators.CUSTOM) - set(before):
        del operators.CUSTOM[name]
        getattr(ad.ops, name.partition("::")[0]).__dict__.pop(name.partition("::")[2], None)


def power() -> Any:
    """x ** n by NumPy, with all that can be registered."""

    @ad.library.custom_op("test::power", mutates_args=())
    def power(x: Tensor, n: int = 2) -> Tensor:
        return ad.from_numpy(x.numpy() ** n)

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.n = inputs[1]

    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * ctx.n * power(x, ctx.n - 1), None

    power.register_autograd(backward, setup_context=setup)
    power.register_fake(lambda x, n=2: ad.empty_like(x))
    return power


def test_calls() -> None:
    f, x = power(), ad.tensor([2.0, 3.0])
    for y in (f(x), f(x, n=2), ad.ops.test.power(x), ad.ops.test.power.default(x, 2)):
        assert y.tolist() == [4.0, 9.0]
    assert (
        repr(f) == "<CustomOpDef(test::power)>"
        and str(ad.ops.test.power.default._schema) == "test::power(Tensor x, SymInt n=2) -> Tensor"
    )
    assert f(ad.ones(2, 3, device="meta")).shape == (2, 3)


def test_derivatives() -> None:
    f, x = power(), ad.tensor([2.0, 3.0], dtype=ad.float64, requires_grad=True)
    assert ad.autograd.gradcheck(f, (x, 3)) and ad.autograd.gradgradcheck(f, (x, 3))
    assert f(x).grad_fn.name() == "GeneratedBackwardFor_test_power_defaultBackward"
    with ad.no_grad():
        assert not f(x).requires_grad
    assert ad.func.grad(lambda x: f(x, 3).sum())(x.detach()).tolist() == [12.0, 27.0]


def test_batches() -> None:
    f, x = power(), ad.arange(6.0).view(3, 2)
    assert ad.vmap(f)(x).tolist() == (x**2).tolist()  # no rule: one by one
    assert ad.vmap(ad.func.grad(lambda x: f(x).sum()), in_dims=1)(x).tolist() == (2 * x).T.tolist()
    f.register_vmap(lambda info, dims, x, n: (x.detach() * 0 + info.batch_size, dims[0]))
    assert ad.vmap(f)(x).tolist() == [[3.0, 3.0]] * 3


def test_lists_names_and_several_results() -> None:
    @ad.library.custom_op("test::mixed", mutates_args=())
    def mixed(xs: list[Tensor], *, by: float = 2.0, more: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return xs[0] * xs[1], xs[0] * by

    def setup(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
        ctx.by = keyword_only_inputs["by"]
        ctx.save_for_backward(*inputs[0])

    def backward(ctx: Any, g: Any, h: Any) -> Any:
        a, b = ctx.saved_tensors
        assert ctx.needs_input_grad == ([True, True],)
        return [g * b + h * ctx.by, g * a]

    mixed.register_autograd(backward, setup_context=setup)
    a, b = (ad.tensor([v], requires_grad=True) for v in (2.0, 3.0))
    y, z = mixed([a, b], by=5.0)
    (y + z).sum().backward()
    assert (y.item(), z.item(), a.grad.item(), b.grad.item()) == (6.0, 10.0, 8.0, 2.0)
    y, z = ad.vmap(lambda a: mixed([a, a]))(ad.ones(4))
    assert y.shape == z.shape == (4,)


def test_arguments_that_are_written() -> None:
    @ad.library.custom_op("test::inc", mutates_args={"x"})
    def inc(x: Tensor, y: Tensor) -> None:
        x += y

    x = ad.zeros(2)
    version = x._version
    assert inc(x, ad.ones(2)) is None and x.tolist() == [1.0, 1.0] and x._version > version
    assert str(ad.ops.test.inc.default._schema) == "test::inc(Tensor(a0!) x, Tensor y) -> ()"


def test_libraries() -> None:
    lib = ad.library.Library("test", "DEF")
    assert lib.define("twice(Tensor x, *, float by=2.0) -> Tensor") == "twice"

    @ad.library.impl(lib, "twice", "CPU")
    def twice(x: Tensor, *, by: float = 2.0) -> Tensor:
        return x * by

    assert ad.ops.test.twice(ad.ones(1), by=3.0).item() == 3.0
    ad.library.define("test::sinh", "(Tensor x) -> Tensor")
    ad.library.impl("test::sinh", "default")(ad.sinh)
    x = ad.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        ad.ops.test.sinh(x).sum().backward()
    ad.library.Library("test", "IMPL").impl("sinh", ad.sinh, "CompositeImplicitAutograd")
    ad.ops.test.sinh(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cosh([1.0]), rtol=1e-6)
    ad.library.Library("test", "IMPL").impl("sinh", ad.cosh, "CUDA")
    lib._destroy()
    with pytest.raises(RuntimeError, match="test::sinh is not defined"):
        ad.library.register_fake("test::sinh", ad.empty_like)


def test_what_does_not_fit() -> None:
    f = power()
    for call, text in (
        (lambda: f("x"), "Expected a value of type 'Tensor' for argument 'x' but instead found type 'str'"),
        (lambda: f(), "missing value for argument 'x'"),
        (lambda: f(ad.ones(1), 2, 3), "expected at most 2 argument"),
        (lambda: f(ad.ones(1), m=3), "unexpected argument.*m"),
        (lambda: ad.library.register_vmap("test::other", abs), "test::other is not defined"),
    ):
        with pytest.raises(RuntimeError, match=text):
            call()
    with pytest.raises(AttributeError, match="has no operator 'other'"):
        _ = ad.ops.test.other
    alias = ad.library.custom_op("test::alias", lambda x: x, mutates_args=(), schema="(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="an output must not be an input"):
        alias(ad.ones(1))
    with pytest.raises(RuntimeError, match="no fake impl registered for test::alias"):
        alias(ad.ones(1, device="meta"))
    ad.library.define("test::nowhere", "(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="test::nowhere: no kernel is registered for device cpu"):
        ad.ops.test.nowhere(ad.ones(1))


@pytest.mark.parametrize(
    ("function", "text"),
    [(lambda x: x, "Parameter x must have a type annotation"), (len, "."), ("text", "unsupported type"), ("rest", "varargs")],
)
def test_functions_without_a_schema(function: Any, text: str) -> None:
    def odd(x: dict) -> Tensor: ...  # type: ignore[type-arg]
    def rest(*xs: Tensor) -> Tensor: ...

    function = {"text": odd, "rest": rest}.get(function, function) if isinstance(function, str) else function
    with pytest.raises(ValueError, match=text):
        ad.library.custom_op("test::odd", function, mutates_args=())
    for bad in ("noname", "a::b::c"):
        with pytest.raises(ValueError, match="namespace::name"):
            ad.library.define(bad, "(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match="expected a schema"):
        ad.library.define("test::odd", "Tensor x")


def test_opcheck() -> None:
    f = power()
    assert set(ad.library.opcheck(f, (ad.randn(3, requires_grad=True),)).values()) == {"SUCCESS"}
    f.register_fake(lambda x, n=2: ad.empty(1, device="meta"))
    with pytest.raises(RuntimeError, match="register_fake gave"):
        ad.library.opcheck(f, (ad.randn(3),))
