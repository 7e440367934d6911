"""func: transformations, their nesting, trees, aux, argnums."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad


def t(*values: Any) -> Any:
    return ad.tensor(values, dtype=ad.float64)


def same(a: Any, b: Any) -> bool:
    return tuple(a.shape) == tuple(b.shape) and bool(ad.allclose(a, b))


def test_grad_nests() -> None:
    x = ad.tensor(2.0, dtype=ad.float64)
    f = ad.func.grad(lambda y: y**4)
    for expected in (32.0, 48.0, 48.0, 24.0):
        assert f(x).item() == pytest.approx(expected)
        f = ad.func.grad(f)


def test_grad_and_value_with_aux_and_trees() -> None:
    def loss(params: dict[str, Any], x: Any) -> Any:
        y = params["w"] * x + params["b"]
        return (y * y).sum(), y

    params = {"w": t(1.0, 2.0), "b": t(0.5, 0.5)}
    gradient, (value, aux) = ad.func.grad_and_value(loss, has_aux=True)(params, t(1.0, 1.0))
    assert set(gradient) == {"w", "b"}
    assert same(gradient["w"], 2 * aux) and same(value, (aux * aux).sum())
    assert not value.requires_grad and not aux.requires_grad


def test_argnums() -> None:
    def f(a: Any, b: Any) -> Any:
        return (a * a * b).sum()

    a, b = t(1.0, 2.0), t(3.0, 4.0)
    assert same(ad.func.grad(f, 1)(a, b), a * a)
    ga, gb = ad.func.grad(f, (0, -1))(a, b)
    assert same(ga, 2 * a * b) and same(gb, a * a)
    with pytest.raises(RuntimeError, match="only 2 positional inputs"):
        ad.func.grad(f, 2)(a, b)
    with pytest.raises(RuntimeError, match="must be unique"):
        ad.func.grad(f, (0, 0))(a, b)


def test_vjp_and_jvp_and_linearize() -> None:
    x, v = t(1.0, 2.0), t(1.0, -1.0)

    def f(a: Any) -> Any:
        return {"s": a.sin(), "q": (a * a).sum()}

    out, pull = ad.func.vjp(f, x)
    (g,) = pull({"s": v, "q": ad.ones((), dtype=ad.float64)})
    assert same(g, v * x.cos() + 2 * x)
    _, tangent = ad.func.jvp(f, (x,), (v,))
    assert same(tangent["s"], v * x.cos()) and same(tangent["q"], (2 * x * v).sum())
    out2, push = ad.func.linearize(f, x)
    assert same(out2["s"], out["s"]) and same(push(v)["q"], tangent["q"]) and same(push(2 * v)["s"], 2 * tangent["s"])
    with pytest.raises(RuntimeError, match="same as pytree structure"):
        pull(v)


@pytest.mark.parametrize("jac", ["jacrev", "jacfwd"])
def test_jacobians(jac: str) -> None:
    x, y = t(1.0, 2.0), t(3.0, 4.0, 5.0)

    def f(a: Any, b: Any) -> Any:
        return {"outer": a[:, None] * b, "sum": a.sum()}

    J = getattr(ad.func, jac)(f, (0, 1))(x, y)
    assert J["outer"][0].shape == (2, 3, 2) and J["outer"][1].shape == (2, 3, 3)
    assert same(J["sum"][0], ad.ones(2, dtype=ad.float64)) and same(J["sum"][1], ad.zeros(3, dtype=ad.float64))
    assert same(J["outer"][0][0, :, 0], y) and same(J["outer"][1][1, 2], t(0.0, 0.0, 2.0))


def test_jacrev_in_chunks_and_of_scalars() -> None:
    x = t(1.0, 2.0, 3.0)
    whole = ad.func.jacrev(lambda a: a.cumsum(0) * a)(x)
    assert same(ad.func.jacrev(lambda a: a.cumsum(0) * a, chunk_size=2)(x), whole)
    assert ad.func.jacrev(lambda a: a * a)(ad.tensor(3.0)).item() == 6.0
    assert ad.func.jacfwd(lambda a: a * a)(ad.tensor(3.0)).item() == 6.0
    with pytest.raises(ValueError, match="greater than 0"):
        ad.func.jacrev(ad.sin, chunk_size=0)


@pytest.mark.parametrize("jac", ["jacrev", "jacfwd"])
def test_jacobians_of_nothing(jac: str) -> None:
    transform = getattr(ad.func, jac)
    assert transform(lambda a: a[:0])(t(1.0, 2.0)).shape == (0, 2)
    assert transform(lambda a: a.sum() + ad.ones(3, dtype=ad.float64))(ad.zeros(0, dtype=ad.float64)).shape == (3, 0)


def test_hessian_all_ways() -> None:
    def f(a: Any) -> Any:
        return (a.sin() * a.roll(1)).sum()

    x = t(0.3, 0.5, -0.2)
    H = ad.func.hessian(f)(x)
    fn = ad.func
    for outer in (fn.jacrev, fn.jacfwd):
        for inner in (fn.jacrev, fn.jacfwd):
            assert same(outer(inner(f))(x), H)
    batched = fn.vmap(fn.hessian(f))(ad.stack([x, 2 * x]))
    assert same(batched[0], H) and same(batched[1], fn.hessian(f)(2 * x))


def test_errors() -> None:
    x = t(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"scalar Tensor, got tensor with 1 dims.*vjp or jacrev"):
        ad.func.grad(lambda a: a)(x)
    with pytest.raises(RuntimeError, match="to return a Tensor"):
        ad.func.grad(lambda a: 1.0)(x)
    with pytest.raises(RuntimeError, match="Expected primals to be a tuple"):
        ad.func.jvp(ad.sin, x, x)
    with pytest.raises(RuntimeError, match="same python structure"):
        ad.func.jvp(ad.sin, (x,), (x, x))
    with pytest.raises(RuntimeError, match="strict=True"):
        ad.func.jvp(lambda a: ad.ones(2), (x,), (x,), strict=True)
    with pytest.raises(RuntimeError, match="should be a tuple: \\(output, aux\\)"):
        ad.func.grad(lambda a: a.sum(), has_aux=True)(x)


def test_names_that_a_module_has_not_are_attributes_during_the_call() -> None:
    class Scaled(ad.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.plain = ad.ones(())

        def forward(self, x: ad.Tensor) -> ad.Tensor:
            return x * self.plain * getattr(self, "extra", 1)

    m, x = ad.nn.Sequential(Scaled()), t(1.0, 2.0)
    call = ad.func.functional_call
    assert call(m, {"0.extra": ad.tensor(5.0), "0.plain": ad.tensor(2.0)}, x).tolist() == [10, 20]
    assert m(x).tolist() == [1, 2] and not hasattr(m[0], "extra")
    for names, error in ((["1.extra"], AttributeError), (["0.training"], TypeError), (["0."], KeyError)):
        with pytest.raises(error):
            call(m, {"0.extra": x, **dict.fromkeys(names, x)}, x)
        assert not hasattr(m[0], "extra")
    with pytest.raises(ValueError, match="multiple dictionaries"):
        call(m, [{"0.extra": x}, {"0.extra": x}], x)
    with pytest.raises(RuntimeError, match="Unexpected key"):
        call(m, {"0.extra": x}, x, strict=True)


def test_tied_weights_are_given_once() -> None:
    class Tied(ad.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = ad.nn.Linear(2, 2), ad.nn.Linear(2, 2)
            self.b.weight = self.a.weight

        def forward(self, x: Any) -> Any:
            return self.b(self.a(x))

    x, weight, other = ad.ones(1, 2), ad.ones(2, 2), ad.zeros(2, 2)
    call = ad.func.functional_call
    assert call(Tied(), {"a.weight": weight, "b.weight": weight}, x).shape == (1, 2)
    with pytest.raises(ValueError, match=r"\['a.weight', 'b.weight'\], which are tied"):
        call(Tied(), {"a.weight": weight, "b.weight": other}, x)
    biases = {"a.bias": x[0], "b.bias": x[0]}
    assert call(Tied(), {"b.weight": weight, **biases}, x, strict=True).shape == (1, 2)
    with pytest.raises(RuntimeError, match="Missing key.*'a.weight'"):
        call(Tied(), {"b.weight": weight, **biases}, x, strict=True, tie_weights=False)
    assert call(Tied(), {"a.weight": weight, "b.weight": other}, x, tie_weights=False).shape == (1, 2)
