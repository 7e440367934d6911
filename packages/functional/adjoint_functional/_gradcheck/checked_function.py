"""What is checked: a function at a point, taken apart into real functions where complex numbers come in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .._backend import Tensor, complex, strided
from .numerical import as_tuple, entries, evaluate, full_pattern, is_differentiable
from .report import Mismatch, Tolerances

_PARTS = ("imaginary", "real")


def is_value(y: Any) -> bool:
    return isinstance(y, Tensor) and (y.is_floating_point() or y.is_complex())


@dataclass(frozen=True)
class Case:
    """A function that returns a tuple of floating-point or complex tensors, its inputs, and its outputs there.

    ``part`` says which part of complex outputs (reverse mode) or inputs (forward mode) is looked at; ``halved`` holds
    the positions of those outputs or inputs; ``positions`` are the outputs' places in what the user's function returns.
    """

    func: Callable[..., tuple[Tensor, ...]]
    inputs: tuple[Any, ...]
    outputs: tuple[Tensor, ...]
    positions: tuple[int, ...]
    part: str = ""
    halved: frozenset[int] = frozenset()

    @property
    def which(self) -> list[int]:
        """The positions of the inputs to differentiate."""
        return [i for i, x in enumerate(self.inputs) if is_differentiable(x)]

    @property
    def live(self) -> list[int]:
        """The outputs that have a derivative."""
        return [k for k, y in enumerate(self.outputs) if y.requires_grad]

    def with_full_patterns(self) -> tuple[Any, ...]:
        """The inputs with every entry of sparse ones specified, as the unmasked numerical derivative needs."""
        return tuple(full_pattern(x) for x in self.inputs)

    def mismatch(self, a: Tensor, n: Tensor, output: int, which: int, tol: Tolerances, forward: bool) -> Mismatch:
        """The report on one pair of Jacobians that disagree."""
        inputs = self.with_full_patterns()

        def probe_at(row: int) -> Callable[[Any], Tensor]:
            move = next(move for number, move in entries(inputs[which]) if number == row)
            return lambda step: evaluate(self.func, inputs, which, move, step)[output]

        halved = (which if forward else output) in self.halved
        return Mismatch(
            analytical=a,
            numerical=n,
            output=self.positions[output],
            input=which,
            x=self.inputs[which],
            y=self.outputs[output],
            tol=tol,
            forward=forward,
            part=self.part if halved else "",
            probe_at=probe_at,
        )


def make_case(func: Callable[..., Any], inputs: Sequence[Any]) -> Case:
    """Runs ``func`` once; ValueError for sparse outputs."""
    found = as_tuple(func(*inputs))
    positions = tuple(k for k, y in enumerate(found) if is_value(y))
    outputs = tuple(found[k] for k in positions)
    if any(y.layout is not strided for y in outputs):
        raise ValueError(
            "Sparse output is not supported at gradcheck yet. "
            "Please call to_dense(masked_grad=...) on the output of fn for gradcheck."
        )

    def values(*args: Any) -> tuple[Tensor, ...]:
        return tuple(y for y in as_tuple(func(*args)) if is_value(y))

    return Case(values, tuple(inputs), outputs, positions)


def _part_of(y: Tensor, part: str) -> Tensor:
    return y.imag if part == "imaginary" else y.real


def by_output_parts(case: Case) -> Iterator[Case]:
    """Cases with real outputs only: the imaginary and the real parts, or the case itself if it is real."""
    halved = frozenset(k for k, y in enumerate(case.outputs) if y.is_complex() and y.requires_grad)
    if not any(y.is_complex() for y in case.outputs):
        yield case
        return
    for part in _PARTS:

        def func(*args: Any, part: str = part) -> tuple[Tensor, ...]:
            return tuple(_part_of(y, part) if y.is_complex() else y for y in case.func(*args))

        yield Case(func, case.inputs, func(*case.inputs), case.positions, part, halved)


def by_input_parts(case: Case) -> Iterator[Case]:
    """Cases with real inputs only: the imaginary or the real parts move, the other parts stay."""
    halved = frozenset(i for i in case.which if case.inputs[i].is_complex())
    if not halved:
        yield case
        return
    for part in _PARTS:

        def func(*args: Any, part: str = part) -> tuple[Tensor, ...]:
            whole = list(args)
            for i in halved:
                z = case.inputs[i].detach()
                whole[i] = complex(z.real, args[i]) if part == "imaginary" else complex(args[i], z.imag)
            return case.func(*whole)

        inputs = tuple(
            _part_of(x.detach(), part).clone().requires_grad_() if i in halved else x for i, x in enumerate(case.inputs)
        )
        yield Case(func, inputs, func(*inputs), case.positions, part, halved)
