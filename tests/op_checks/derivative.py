"""First and second derivatives of a function of tensors, by every road there is.

Throughout, `f` maps tensors to a list of floating tensors, `xs` are its primals, `us` cotangents of its outputs and
`vs`, `ws` tangents of its inputs. A second derivative is that of `<u, J(x) v>` in the direction `w`: one real number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import adjoint as ad
from adjoint.autograd import forward_ad
from op_checks.numeric import Tensors, inner, is_floating

Function = Callable[..., list[Any]]


def leaves(xs: Tensors) -> list[Any]:
    """The same tensors, as leaves that require a gradient; strides are kept."""
    return [x.detach().requires_grad_() for x in xs]


def gradients(ys: Tensors, xs: Tensors, us: Tensors, create_graph: bool = False) -> list[Any]:
    """Gradients of `<u, y>`, zeros where `y` does not depend on an input."""
    on_graph = [(y, u) for y, u in zip(ys, us, strict=True) if y.requires_grad]
    if not on_graph:
        return [ad.zeros_like(x) for x in xs]
    ys, us = zip(*on_graph, strict=True)
    return list(ad.autograd.grad(ys, xs, us, create_graph=create_graph, allow_unused=True, materialize_grads=True))


def vjp(f: Function, xs: Tensors, us: Tensors) -> list[Any]:
    """`J(x)^T u` by the tape."""
    xs = leaves(xs)
    return gradients(f(*xs), xs, us)


def jvp(f: Function, xs: Tensors, vs: Tensors) -> list[Any]:
    """`J(x) v` by a dual level."""
    with forward_ad.dual_level():
        ys = f(*(forward_ad.make_dual(x.detach(), v) for x, v in zip(xs, vs, strict=True)))
        return [_tangent(y) for y in ys]


def _tangent(y: Any) -> Any:
    primal, tangent = forward_ad.unpack_dual(y)
    return ad.zeros_like(primal) if tangent is None else tangent


def func_jvp(f: Function, xs: Tensors, vs: Tensors) -> tuple[Any, ...]:
    """`J(x) v` by the functional transform, which nests."""
    return ad.func.jvp(lambda *xs: tuple(f(*xs)), tuple(xs), tuple(vs))[1]


def func_vjp(f: Function, xs: Tensors, us: Tensors) -> tuple[Any, ...]:
    """`J(x)^T u` by the functional transform, which nests."""
    return ad.func.vjp(lambda *xs: tuple(f(*xs)), *xs)[1](tuple(us))


def reverse_over_reverse(f: Function, xs: Tensors, us: Tensors, vs: Tensors, ws: Tensors) -> Any:
    xs = leaves(xs)
    first = inner(gradients(f(*xs), xs, us, create_graph=True), vs)
    return inner(gradients([first], xs, [ad.ones_like(first)]), ws)


def forward_over_reverse(f: Function, xs: Tensors, us: Tensors, vs: Tensors, ws: Tensors) -> Any:
    return inner(func_jvp(lambda *xs: list(func_vjp(f, xs, us)), xs, ws), vs)


def reverse_over_forward(f: Function, xs: Tensors, us: Tensors, vs: Tensors, ws: Tensors) -> Any:
    xs = leaves(xs)
    with forward_ad.dual_level():
        ys = f(*(forward_ad.make_dual(x, v) for x, v in zip(xs, vs, strict=True)))
        first = inner([_tangent(y) for y in ys], us)
    return inner(gradients([first], xs, [ad.ones_like(first)]), ws)


def forward_over_forward(f: Function, xs: Tensors, us: Tensors, vs: Tensors, ws: Tensors) -> Any:
    return inner(func_jvp(lambda *xs: list(func_jvp(f, xs, vs)), xs, ws), us)


SECOND_ORDER = (reverse_over_reverse, forward_over_reverse, reverse_over_forward, forward_over_forward)


def difference(g: Callable[..., Any], xs: Tensors, vs: Tensors, h: float = 1e-5) -> float:
    """The derivative of the real number `g(x)` in the direction `v`, by a central difference of fourth order."""

    def at(step: float) -> float:
        return float(g(*(x + step * v for x, v in zip(xs, vs, strict=True))))

    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


def restricted(f: Callable[..., Any], inputs: Tensors, where: list[int]) -> Function:
    """`f` as a function of the inputs at positions `where`, the others being held."""

    def g(*xs: Any) -> list[Any]:
        full = list(inputs)
        for position, x in zip(where, xs, strict=True):
            full[position] = x
        return [y for y in f(full) if is_floating(y)]

    return g
