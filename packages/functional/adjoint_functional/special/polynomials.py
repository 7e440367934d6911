"""Orthogonal polynomials of `special`: whole degrees n, derivatives of all orders in x."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all, rounded_once

__all__ = [
    "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w", "hermite_polynomial_h",
    "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p", "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w",
]  # fmt: skip


def _pair(input: Any, n: Any) -> tuple[Tensor, Tensor]:
    """x, of floating type, and the degrees, of shapes that broadcast."""
    if isinstance(input, Tensor) and isinstance(n, Tensor) and input.dtype is n.dtype and input.is_floating_point():
        return input, n.detach()
    if not isinstance(input, Tensor) and not isinstance(n, Tensor):
        raise TypeError(f"expected a tensor among x and n, got {type(input).__name__} and {type(n).__name__}")
    if isinstance(input, Tensor) and not isinstance(n, Tensor) and input.is_floating_point():
        return input, _core.full((), n)  # as a number, on whatever device the operand is
    tensors = [v for v in (input, n) if isinstance(v, Tensor)]
    given = [v if isinstance(v, Tensor) else _core.full((), v, device=tensors[0].device) for v in (input, n)]
    dtype = _core.result_type(*tensors) if len(tensors) == 2 else tensors[0].dtype
    if dtype.is_complex:
        raise NotImplementedError(f"not implemented for {dtype}: expected real numbers")
    x, degree = _core.broadcast_tensors(given[0].to(dtype if dtype.is_floating_point else _core.get_default_dtype()), given[1])
    return x, degree.detach().to(x.dtype) if degree.is_floating_point() else degree.detach()


def _documentation(name: str, what: str, value: str) -> str:
    """What a polynomial says of itself; `value` is that of degree 2 at 0.25."""
    example = f"Example::\n\n    >>> ad.special.{name}(ad.tensor([0.25]), 2)\n    tensor([{value}])"
    return f"{what}, elementwise; 0 for negative degrees.\n\n{example}"


_FAMILIES = ("t", "v", "w", "gegenbauer", "h", "he", "l")
"As the record `orthogonal_polynomial` counts them."


def _polynomial(name: str, what: str, value: str, family: str, parameter: float = 0) -> Callable[..., Tensor]:
    number = _FAMILIES.index(family)

    def polynomial(input: Tensor | float, n: Tensor | float) -> Tensor:
        return _core._orthogonal_polynomial(*_pair(input, n), number, parameter)

    polynomial.__name__ = name
    polynomial.__doc__ = _documentation(name, f"{what} of degree n at x", value)
    return rounded_once(polynomial)


_KINDS: dict[str, tuple[str, float]] = {"t": ("t", 0), "u": ("gegenbauer", 1), "v": ("v", 0), "w": ("w", 0)}


def _chebyshev(kind: str, *values: str) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    """Of x, and of 2x - 1."""
    name, what = f"chebyshev_polynomial_{kind}", f"Chebyshev's polynomial {kind.upper()}"
    plain: Any = _polynomial(name, what, values[0], *_KINDS[kind])
    at = plain.__wrapped__

    def shifted(input: Tensor | float, n: Tensor | float) -> Tensor:
        if isinstance(input, Tensor) and not (input.is_floating_point() or input.is_complex()):
            input = input.to(_core.get_default_dtype())  # 2x - 1 of bytes would wrap around
        return at(2 * input - 1, n)

    shifted.__name__ = "shifted_" + name
    shifted.__doc__ = _documentation(shifted.__name__, f"{what} of degree n at 2x - 1", values[1])
    return plain, rounded_once(shifted)


chebyshev_polynomial_t, shifted_chebyshev_polynomial_t = _chebyshev("t", "-0.8750", "-0.5000")
chebyshev_polynomial_u, shifted_chebyshev_polynomial_u = _chebyshev("u", "-0.7500", "0.")
chebyshev_polynomial_v, shifted_chebyshev_polynomial_v = _chebyshev("v", "-1.2500", "1.")
chebyshev_polynomial_w, shifted_chebyshev_polynomial_w = _chebyshev("w", "-0.2500", "-1.")
hermite_polynomial_h = _polynomial("hermite_polynomial_h", "The physicists' Hermite polynomial", "-1.7500", "h")
hermite_polynomial_he = _polynomial("hermite_polynomial_he", "The probabilists' Hermite polynomial", "-0.9375", "he")
laguerre_polynomial_l = _polynomial("laguerre_polynomial_l", "Laguerre's polynomial", "0.5312", "l")
legendre_polynomial_p = _polynomial("legendre_polynomial_p", "Legendre's polynomial", "-0.4062", "gegenbauer", 0.5)

check_all(globals(), out=__all__)
