"""Why two Jacobians disagree, in plain words: compares them, and probes the function at the worst entry."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from .._backend import Tensor, finfo, strided
from .report import Mismatch, Tolerances, headline, location, worst_entry

_LOW_PRECISION_EPS = 1.2e-7  # of float32: what an inner cast loses


def explain(m: Mismatch) -> str:
    """The whole message of a failed comparison: both Jacobians, where, how much, in which mode, and why."""
    row, column, count = worst_entry(m)
    return headline(m) + location(m, row, column, count) + f"Likely cause: {likely_cause(m)}\n"


def likely_cause(m: Mismatch) -> str:
    """The first explanation that fits."""
    row, column, _ = worst_entry(m)
    m = replace(m, numerical=m.numerical.to(m.analytical.device))
    for cause in _causes(m, row, column):
        if cause:
            return cause
    return f"none that is known fits; check the formula of the {_rule(m)} at the entry above."


def _causes(m: Mismatch, row: int, column: int) -> Iterator[str]:
    yield _not_finite(m)
    yield from _probed(m, row, column)
    yield _nothing_or_too_much(m)
    for relation in (_conjugate, _factor, _transposed, _entrywise_factor, _permuted, _lost, _offset):
        yield relation(m)


def _rule(m: Mismatch) -> str:
    return "jvp" if m.forward else "backward"


def _same(a: Tensor, b: Tensor, tol: Tolerances) -> bool:
    return tol.close(a, b)


def _not_finite(m: Mismatch) -> str:
    def bad(t: Tensor) -> bool:
        return not bool((t.abs() < math.inf).all())

    if bad(m.numerical):
        return (
            "not finite: the function itself is nan or inf at, or within eps of, this point (a domain's edge, or "
            "overflow); check at a point inside its domain."
        )
    if bad(m.analytical):
        return f"not finite: the {_rule(m)} gives nan or inf where the function is smooth (0/0, 0*inf, or log of 0 in it)."
    return ""


def _probed(m: Mismatch, row: int, column: int) -> Iterator[str]:
    """Causes that the function itself betrays, along the worst entry."""
    if m.probe_at is None:
        return
    probe = m.probe_at(row)
    a, n = m.analytical[row, column].item(), m.numerical[row, column].item()
    # A complex gradient holds two slopes, along x and along iy: look at the one that is worse.
    turned = isinstance(a - n, complex) and abs((a - n).imag) > abs((a - n).real) and m.x.is_complex()
    unit = 1j if turned else 1.0
    if isinstance(a, complex) and m.x.is_complex():
        a, n = (a.imag, n.imag) if turned else (a.real, n.real)

    def f(h: float) -> complex:
        return complex(probe(h * unit)[column].item())

    yield _not_repeatable(f)
    yield _precision(f, m, a, n)  # first: rounded values look like jumps
    yield _kink(f, m.tol.eps, finfo(m.y.dtype).eps)


def _not_repeatable(f: Callable[[float], complex]) -> str:
    gap = max(abs(f(0.0) - f(0.0)) for _ in range(2))
    if gap == 0:
        return ""
    return (
        f"non-determinism: the function gives different values for the same input (by {gap:.3g}): random numbers such "
        "as dropout or noise, or state that it changes; fix the seed inside it."
    )


def _kink(f: Callable[[float], complex], eps: float, ulp: float) -> str:
    """One-sided slopes that differ however small the step: their gap stays at a kink and grows at a jump."""
    middle = f(0.0)

    def sides(h: float) -> tuple[complex, complex]:
        return (middle - f(-h)) / h, (f(h) - middle) / h

    (left, right), (near_left, near_right) = sides(eps), sides(eps / 4)
    gap, near_gap = abs(right - left), abs(near_right - near_left)
    scale = max(abs(left), abs(right))
    noise = 8 * ulp * max(abs(middle), abs(middle - f(eps))) / (eps / 4)
    if near_gap < 0.01 * scale or near_gap < 10 * noise:
        return ""
    if near_gap > 2.5 * gap:
        return "a jump: the function is discontinuous at this point, so that it has no derivative there."
    if near_gap > 0.6 * gap:
        return (
            f"a kink: the slopes from the left ({_number(left)}) and from the right ({_number(right)}) differ, so that "
            "the function has no derivative at this point; move the input away from it."
        )
    return ""


def _number(value: complex) -> str:
    return f"{value.real:.4g}" if value.imag == 0 else f"{value:.4g}"


def _precision(f: Callable[[float], complex], m: Mismatch, a: complex, n: complex) -> str:
    """Whether another step brings the numerical slope to the analytical one."""

    def error(h: float) -> float:
        return abs((f(h) - f(-h)) / (2 * h) - a)

    eps, now = m.tol.eps, abs(a - n)
    allowed = m.tol.atol + m.tol.rtol * abs(a)
    for factor in (0.1, 0.01, 0.001):
        if error(eps * factor) <= max(allowed, 0.1 * now) and factor * eps > 1e-9:
            return (
                f"precision: eps={eps:g} is too large a step for the curvature here; with eps={eps * factor:g} the "
                "numerical derivative agrees."
            )
    noise = 4 * _LOW_PRECISION_EPS * max(abs(f(0.0)), abs(f(eps))) / eps
    if now > max(noise, abs(a)):
        return ""
    for factor in (10.0, 100.0, 1000.0, 10000.0):
        if error(eps * factor) <= max(allowed, 0.01 * now):
            return (
                f"precision: the function's values are too coarse for eps={eps:g} (lower precision than float64 in its "
                f"input, in a cast inside it or by cancellation); with eps={eps * factor:g} the numerical derivative "
                "agrees. Use float64, or a larger eps."
            )
    return ""


def _nothing_or_too_much(m: Mismatch) -> str:
    if bool((m.analytical == 0).all()):
        return (
            "a missing derivative: the analytical Jacobian is zero throughout; the function detaches this input "
            f"(.detach(), .data, NumPy, no_grad, an intermediate kept outside the graph) or its {_rule(m)} returns None "
            "or zero for it."
        )
    if bool((m.numerical.abs() <= m.tol.atol).all()):
        return (
            f"a derivative of a constant: the function does not vary with this input, yet the {_rule(m)} gives a "
            "gradient (rounding, comparison or a straight-through estimate in the function)."
        )
    return ""


def _factor(m: Mismatch) -> str:
    a, n = m.analytical, m.numerical.to(m.analytical.dtype)
    c = ((a * n.conj()).sum() / (n * n.conj()).sum()).item()
    if not _same(a, n * c, m.tol):
        return ""
    if abs(c + 1) < 1e-3:
        return f"a wrong sign: the {_rule(m)} gives exactly minus the derivative."
    if isinstance(c, complex) and abs(c.imag) > 1e-3 * abs(c):
        return f"a wrong factor: the {_rule(m)} gives {c:.6g} times the derivative (a conjugate of a constant?)."
    c = c.real
    size = ""
    for name, count in (("input", m.x.numel()), ("output", m.y.numel())):
        if m.x.numel() != m.y.numel() and count > 1 and (abs(c * count - 1) < 1e-3 or abs(c - count) < 1e-3 * count):
            size = f" {count} is the number of entries of the {name}: sum or mean?"
    return f"a missing factor: the {_rule(m)} gives {c:.6g} times the derivative, multiply it by {1 / c:.6g}.{size}"


def _conjugate(m: Mismatch) -> str:
    if not m.analytical.is_complex():
        return ""
    # The imaginary part's cotangent is i, whose own conjugate turns the sign.
    sign = -1 if m.part == "imaginary" else 1
    if not _same(m.analytical.conj() * sign, m.numerical, m.tol):
        return ""
    return (
        "a missing conjugate: the backward multiplies by the derivative where it needs its complex conjugate, "
        "grad * f'(z).conj()."
    )


def _transposed(m: Mismatch) -> str:
    a, n = m.analytical, m.numerical
    if a.shape[0] == a.shape[1] and _same(a.transpose(0, 1), n, m.tol):
        return (
            f"transposed: the {_rule(m)} multiplies by the transpose of the right matrix (a backward needs J^T v, a jvp J v)."
        )
    if m.x.dim() >= 2 and m.x.shape[-1] == m.x.shape[-2]:
        flipped = a.reshape(*m.x.shape, a.shape[1]).transpose(-3, -2).reshape(a.shape)
        if _same(flipped, n, m.tol):
            return "transposed: the gradient's last two dimensions are swapped; it needs a .mT."
    if m.y.dim() >= 2 and m.y.shape[-1] == m.y.shape[-2]:
        flipped = a.reshape(a.shape[0], *m.y.shape).transpose(-1, -2).reshape(a.shape)
        if _same(flipped, n, m.tol):
            return "transposed: the last two dimensions of the output's cotangent or tangent are swapped; it needs a .mT."
    return ""


def _entrywise_factor(m: Mismatch) -> str:
    """Rows (or columns) off by a factor that is the input's (or the output's) own entry."""
    a, n = m.analytical, m.numerical
    if m.x.is_complex() or m.y.is_complex() or m.x.layout is not strided:
        return ""
    for name, values in (("input", m.x.detach().reshape(-1, 1)), ("output", m.y.detach().reshape(1, -1))):
        values = values.to(a.dtype)
        if _same(a * values, n, m.tol):
            return f"a missing factor: the {_rule(m)} gives the derivative divided by the {name}'s own value."
        if _same(a, n * values, m.tol):
            return f"a factor too many: the {_rule(m)} gives the derivative times the {name}'s own value."
    return ""


def _permuted(m: Mismatch) -> str:
    a, n = m.analytical, m.numerical
    if a.is_complex() or n.is_complex():
        return ""
    if _same(a.reshape(-1).sort()[0], n.reshape(-1).sort()[0], m.tol):
        return (
            f"misplaced entries: the {_rule(m)} gives the right values in wrong places; an index, flip, roll or permute "
            "is applied where its inverse belongs."
        )
    return ""


def _lost(m: Mismatch) -> str:
    a, n = m.analytical, m.numerical
    wrong = (a - n).abs() > m.tol.atol + m.tol.rtol * n.abs()
    if bool((a[wrong] == 0).all()):
        return (
            f"a missing contribution: the entries that differ are zero in the {_rule(m)}; one path from input to output "
            "is detached, masked or overwritten where it should be added."
        )
    if bool((n[wrong].abs() <= m.tol.atol).all()):
        return (
            f"a contribution too many: the {_rule(m)} gives a derivative to entries that the output does not depend on "
            "(a missing mask, or a gradient summed or broadcast over too many entries)."
        )
    return ""


def _offset(m: Mismatch) -> str:
    gap = m.analytical - m.numerical
    c = gap.reshape(-1)[0].item()
    if m.analytical.numel() < 2 or not _same(m.analytical, m.numerical + c, m.tol):
        return ""
    return (
        f"an added constant: the {_rule(m)} is {c:.6g} too large in every entry (a sum or broadcast of the whole "
        "cotangent or tangent is added)."
    )
