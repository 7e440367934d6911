"""What gradcheck says when it fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._backend import Tensor, allclose, promote_types

NONDETERMINISTIC = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
    "values, although analytical gradient matches numerical gradient. The tolerance for nondeterminism was {tol}, the "
    "difference is {gap:.3g}.\nLikely cause: the backward draws random numbers, adds in a varying order, or changes "
    "what it reads (a saved tensor, an attribute of ctx). Where this is meant, pass nondet_tol."
)


class GradcheckError(RuntimeError):
    """Raised by ``gradcheck`` and ``gradgradcheck`` when derivatives disagree or are malformed.

    Example::

        >>> issubclass(GradcheckError, RuntimeError)
        True
    """


@dataclass(frozen=True)
class Tolerances:
    """The step of central differences, and how far two derivatives may lie apart: ``atol + rtol * |numerical|``."""

    eps: float
    atol: float
    rtol: float

    def close(self, a: Tensor, n: Tensor) -> bool:
        """Whether an analytical Jacobian agrees with a numerical one."""
        dtype = promote_types(a.dtype, n.dtype)
        return bool(allclose(a.to(dtype), n.to(a.device).to(dtype), self.rtol, self.atol))

    def scaled(self, factor: float) -> Tolerances:
        """The same with another absolute tolerance."""
        return replace(self, atol=self.atol * factor)


@dataclass(frozen=True)
class Mismatch:
    """Two Jacobians that disagree, ``(x.numel(), y.numel())``, and what is needed to find out why.

    ``probe(h)`` evaluates the output with the input's entry of the worst element moved by ``h``; it is made by
    ``probe_at(row)``, where a complex ``h`` moves the imaginary part.
    """

    analytical: Tensor
    numerical: Tensor
    output: int
    input: int
    x: Tensor
    y: Tensor
    tol: Tolerances
    forward: bool
    part: str = ""
    probe_at: Callable[[int], Callable[[Any], Tensor]] | None = None


def unravel(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The index of a row-major entry number."""
    index: list[int] = []
    for n in reversed(shape):
        index.append(number % n)
        number //= n
    return tuple(reversed(index))


def _place(name: str, number: int, shape: Sequence[int]) -> str:
    index = ", ".join(map(str, unravel(number, shape)))
    return f"{name}[{index}]" if index else name


def headline(m: Mismatch) -> str:
    """PyTorch's sentence, with both matrices."""
    side = "inputs" if m.forward else "outputs"
    prefix = f"While considering the {m.part} part of complex {side} only, " if m.part else ""
    mode = "computed with forward mode " if m.forward else ""
    return (
        f"{prefix}Jacobian {mode}mismatch for output {m.output} with respect to input {m.input},\n"
        f"numerical:{m.numerical}\nanalytical:{m.analytical}\n"
    )


def worst_entry(m: Mismatch) -> tuple[int, int, int]:
    """Row and column of the entry that breaks the tolerance most, and how many break it."""
    a, n = m.analytical, m.numerical.to(m.analytical.device)
    excess = (a - n).abs() - (m.tol.atol + m.tol.rtol * n.abs())
    excess = excess.where(excess == excess, excess.new_full((), float("inf")))
    flat = int(excess.reshape(-1).argmax())
    row, column = divmod(flat, a.shape[1])
    return row, column, int((excess > 0).sum())


def location(m: Mismatch, row: int, column: int, count: int) -> str:
    """Which entries disagree, by how much, in which mode."""
    a, n = m.analytical[row, column].item(), m.numerical[row, column].item()
    mode = "forward mode (jvp)" if m.forward else "reverse mode (backward)"
    return (
        f"Where: {count} of {m.analytical.numel()} entries differ (a row for each entry of the input, a column for "
        f"each of the output).\n"
        f"Worst: d {_place('output', column, m.y.shape)} / d {_place('input', row, m.x.shape)}: numerical {n:.6g}, "
        f"analytical {a:.6g}, difference {abs(a - n):.3g}, allowed {m.tol.atol + m.tol.rtol * abs(n):.3g}.\n"
        f"Mode: {mode}, {m.x.dtype}, eps {m.tol.eps:g}.\n"
    )
