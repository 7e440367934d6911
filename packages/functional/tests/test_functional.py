"""autograd.functional: values, structure, options, errors."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad

F = ad.autograd.functional


def t(*values: Any, grad: bool = False) -> Any:
    return ad.tensor(values, dtype=ad.float64, requires_grad=grad)


def same(a: Any, b: Any) -> bool:
    return tuple(a.shape) == tuple(b.shape) and bool(ad.allclose(a, b))


def smooth(x: Any) -> Any:
    return (x.sin() * x.roll(1)).sum()


@pytest.mark.parametrize("options", [{}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}])
def test_jacobian_of_tuples(options: dict[str, Any]) -> None:
    x, y = t(1.0, 2.0), t(3.0, 4.0)
    J = F.jacobian(lambda a, b: (a * b, (a + b).sum()), (x, y), **options)
    assert same(J[0][0], ad.diag(y)) and same(J[0][1], ad.diag(x))
    assert same(J[1][0], t(1.0, 1.0)) and same(J[1][1], t(1.0, 1.0))


@pytest.mark.parametrize("options", [{}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}])
def test_jacobian_of_a_constant_is_zero(options: dict[str, Any]) -> None:
    J = F.jacobian(lambda x: ad.ones(2, dtype=ad.float64), t(1.0, 2.0, 3.0), **options)
    assert same(J, ad.zeros(2, 3, dtype=ad.float64))


def test_jacobian_of_empty_and_scalar_tensors() -> None:
    assert F.jacobian(lambda x: x * 2, ad.zeros(0)).shape == (0, 0)
    assert F.jacobian(lambda x: x * x, ad.tensor(3.0)).item() == 6.0


@pytest.mark.parametrize("options", [{}, {"vectorize": True}, {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}])
def test_hessian(options: dict[str, Any]) -> None:
    x, y = t(1.0, 2.0), t(3.0, 4.0, 5.0)
    H = F.hessian(lambda a, b: (a**3).sum() * b.sum(), (x, y), **options)
    assert same(H[0][0], ad.diag(6 * x * 12))
    assert same(H[0][1], (3 * x**2)[:, None].expand(2, 3))
    assert same(H[1][0], H[0][1].t())
    assert same(H[1][1], ad.zeros(3, 3, dtype=ad.float64))


def test_products_agree_with_the_matrices() -> None:
    x, v = t(0.1, 0.7, -0.4), t(1.0, -2.0, 0.5)
    H = F.hessian(smooth, x)
    assert same(F.hvp(smooth, x, v)[1], H @ v)
    assert same(F.vhp(smooth, x, v)[1], v @ H)
    J = F.jacobian(lambda a: a.cumsum(0), x)
    assert same(F.jvp(lambda a: a.cumsum(0), x, v)[1], J @ v)
    assert same(F.vjp(lambda a: a.cumsum(0), x, v)[1], v @ J)


@pytest.mark.parametrize("product", ["vjp", "jvp", "vhp", "hvp"])
def test_create_graph(product: str) -> None:
    x = t(2.0, grad=True)
    func = getattr(F, product)
    plain = func(lambda a: (a**4).sum(), x, None)
    assert not plain[0].requires_grad and not plain[1].requires_grad
    out, result = func(lambda a: (a**4).sum(), x, None, create_graph=True)
    assert out.requires_grad
    # d/dx of 4x^3 is 12x^2, of 12x^2 is 24x: both 48 at 2.
    assert ad.autograd.grad(result.sum(), x)[0].item() == pytest.approx(48.0)


class Cubed(ad.autograd.Function):
    """Without a jvp."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 3 * x * x


def test_functions_without_jvp_fall_back_to_reverse_mode() -> None:
    x, v = t(1.0, 2.0), t(1.0, 1.0)
    assert same(F.jvp(Cubed.apply, x, v)[1], 3 * x**2)
    assert same(F.hvp(lambda a: Cubed.apply(a).sum(), x, v)[1], 6 * x)


@pytest.mark.parametrize("product", ["vjp", "jvp", "vhp", "hvp", "jacobian", "hessian"])
def test_strict_rejects_independence(product: str) -> None:
    func = getattr(F, product)
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not require gradients"):
        func(lambda a: ad.ones((), dtype=ad.float64), t(1.0), strict=True)
    if product in ("vjp", "vhp", "hvp", "jacobian"):
        with pytest.raises(RuntimeError, match="independent of input 1"):
            v = () if product in ("vjp", "jacobian") else ((t(1.0), t(1.0)),)
            func(lambda a, b: (a * a).sum(), (t(1.0), t(2.0)), *v, strict=True)
    if product in ("vhp", "hvp", "hessian"):
        with pytest.raises(RuntimeError, match="linear function"):
            func(lambda a: (2 * a).sum(), t(1.0), strict=True)
    if product == "hessian":
        with pytest.raises(RuntimeError, match="with respect to input 1 is independent of the input"):
            func(lambda a, b: (a * a).sum(), (t(1.0), t(2.0)), strict=True)


def test_errors() -> None:
    x = t(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"v has invalid size: should be .*2.* but got .*1"):
        F.vjp(lambda a: a * a, x, t(1.0))
    with pytest.raises(RuntimeError, match="Entry 1 in v has invalid size"):
        F.jvp(lambda a, b: a * b, (x, x), (x, t(1.0)))
    with pytest.raises(RuntimeError, match="v is a tuple of invalid length: should be 2 but got 1"):
        F.jvp(lambda a, b: a * b, (x, x), (x,))
    with pytest.raises(RuntimeError, match="user-provided function returns a single Tensor with a single element"):
        F.vjp(lambda a: a * a, x)
    with pytest.raises(RuntimeError, match="input to the user-provided function is a single Tensor"):
        F.hvp(lambda a: a.sum(), x)
    with pytest.raises(RuntimeError, match="hessian should return a single Tensor"):
        F.hessian(lambda a: (a.sum(), a.sum()), x)
    with pytest.raises(RuntimeError, match="should contain a single element"):
        F.hessian(lambda a: a, x)
    with pytest.raises(TypeError, match="The inputs given to jacobian must be either a Tensor or a tuple of Tensors"):
        F.jacobian(lambda a: a, 3.0)
    with pytest.raises(TypeError, match="value at index 1 has type"):
        F.vjp(lambda a: (a, 1.0), x)
    with pytest.raises(AssertionError, match="Expected strategy"):
        F.jacobian(lambda a: a, x, strategy="sideways")
    with pytest.raises(NotImplementedError, match="vectorize=True"):
        F.jacobian(lambda a: a, x, strategy="forward-mode")


def test_captured_input_is_a_constant() -> None:
    x = t(2.0, grad=True)
    assert F.jacobian(lambda a: a * x, x).item() == 2.0


@pytest.mark.parametrize("transform", [ad.func.grad, lambda f: lambda x: ad.func.jvp(f, (x,), (ad.ones_like(x),))])
@pytest.mark.parametrize("options", [{}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}])
def test_results_without_a_graph_inside_transforms_are_errors(transform: Any, options: dict[str, Any]) -> None:
    """Their derivative would be zero."""
    x = ad.tensor([1.0, 2.0])

    def f(x: ad.Tensor) -> ad.Tensor:
        return ad.autograd.functional.jacobian(lambda y: y**3, x, **options).sum()

    with pytest.raises(RuntimeError, match="create_graph=True"):
        transform(f)(x)
    with pytest.raises(RuntimeError, match="create_graph=True"):
        transform(ad.vmap(lambda x: f(x[None]) * x))(x)
    assert ad.vmap(lambda x: f(x[None]))(x).tolist() == [3.0, 12.0]
    if not options:
        g = transform(lambda x: ad.autograd.functional.jacobian(lambda y: y**3, x, create_graph=True).sum())
        assert (g(x)[1] if isinstance(g(x), tuple) else g(x).sum()) == 18
