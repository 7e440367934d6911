"""One line per operation: the source of the generated tests."""

from op_cases import (
    activation,
    binary,
    complex_numbers,
    composed,
    fft,
    index,
    linalg,
    logic,
    matmul,
    neural,
    reduce,
    scan,
    shape,
    special,
    unary,
)
from op_cases._case import Case as Case
from op_cases._case import case as case

SUBJECTS = (
    unary,
    special,
    activation,
    binary,
    reduce,
    scan,
    matmul,
    linalg,
    fft,
    complex_numbers,
    shape,
    index,
    logic,
    neural,
    composed,
)
CASES: list[Case] = [c for subject in SUBJECTS for c in subject.CASES]

_ids = [c.id for c in CASES]
assert len(set(_ids)) == len(_ids), f"two cases are called {sorted({i for i in _ids if _ids.count(i) > 1})}"
