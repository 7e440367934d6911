"""Every op record is tested, and every hole in the table of tests has a reason."""

import pytest

from adjoint_core import registry
from op_cases import CASES
from op_checks.cells import CELLS

DERIVED: dict[str, str] = {}
"Records without a case of their own, each with the reason."

TESTED = {name for c in CASES for name in (c.name.rpartition(".")[2], *c.records)}


@pytest.mark.parametrize("name", sorted(registry.names()))
def test_every_record_has_a_case(name):
    assert name in TESTED or name in DERIVED, f"{name}: no case in tests/op_cases, and no reason in DERIVED"


def test_derived_holds_no_tested_or_unknown_record():
    assert not DERIVED.keys() & TESTED
    assert not DERIVED.keys() - set(registry.names())
    assert all(DERIVED.values())


@pytest.mark.parametrize("case", [c for c in CASES if c.skip], ids=lambda c: c.id)
def test_holes_have_reasons(case):
    assert not case.skip.keys() - CELLS
    assert all(case.skip.values())
