"""From the table of cases to pytest parameters, and the pieces that the cells of one case share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad
from op_cases import CASES, Case
from op_checks.derivative import Function, restricted
from op_checks.numeric import floating, parts, tensors

CELLS = frozenset(
    """
    value complex_value single half adjoint order1 partial kinks kinks_adjoint alias leaves_inputs
    reverse_over_reverse forward_over_reverse reverse_over_forward forward_over_forward
    complex_adjoint complex_order1 complex_order2 transposed strided expanded empty scalar
    inplace inplace_view inplace_alias vmap vmap_alone vmap_of_vjp vmap_of_jvp vjp_of_vmap
""".split()
)
"The columns of the table: what a case may list as not applying."


def every(cell: str, where: Callable[[Case], object] = lambda case: True) -> Any:
    """Parametrise a test over the cases for which `where` holds; a case that lists the cell as not applying is skipped."""
    assert cell in CELLS
    chosen = [c for c in CASES if where(c)]
    marks = [[pytest.mark.skip(reason=c.skip[cell])] if cell in c.skip else [] for c in chosen]
    return pytest.mark.parametrize("case", [pytest.param(c, id=c.id, marks=m) for c, m in zip(chosen, marks, strict=True)])


def differentiable(case: Case) -> bool:
    """The operation has a derivative with respect to some input."""
    return bool(case.differentiable)


def problem(case: Case, seed: int = 0, **options: Any) -> tuple[Function, list[Any]]:
    """The case as a function of its differentiable inputs, and these inputs."""
    return posed(case, tensors(case.sample(seed, **options)))


def posed(case: Case, inputs: list[Any]) -> tuple[Function, list[Any]]:
    """The case as a function of its differentiable inputs, given tensors for all of them."""
    where = case.differentiable
    return restricted(lambda ts: floating(case.run(ad, ts)), inputs, where), [inputs[i] for i in where]


def results(case: Case, inputs: list[Any]) -> list[Any]:
    """All results of the case."""
    return parts(case.run(ad, inputs))
