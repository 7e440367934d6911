"""Every case of tests/op_cases with one operand left on the CPU: an error that says so, unless that operand may be there."""

import pytest
from device_checks import MIXED, NO_KERNEL, agree, tensors_of

import adjoint as ad
from op_cases import CASES

# These copy the operand to where it is needed, look at its shape alone, or treat each on its own.
ANYWHERE = {
    "Tensor.__setitem__", "Tensor.copy_", "Tensor.fill_", "index_put", "as_strided_scatter", "Tensor.reshape_as",
    "Tensor.expand_as", "meshgrid", "select_scatter", "slice_scatter", "diagonal_scatter",
}  # fmt: skip
SEVERAL = [case for case in CASES if len(case.sample()) > 1]


def inputs(case):
    return [ad.tensor(a) for a in case.sample()]


@pytest.mark.parametrize("case", SEVERAL, ids=lambda c: c.id)
def test_one_operand_on_the_cpu(case):
    tensors = inputs(case)
    for left in range(len(tensors)):
        mixed = [t if i == left else t.cuda() for i, t in enumerate(tensors)]
        try:
            found = case.run(ad, mixed)
        except (RuntimeError, NotImplementedError) as error:
            assert MIXED in str(error) or NO_KERNEL.search(str(error)), error
            continue
        # Positions and single numbers may come from the CPU, too.
        assert case.name in ANYWHERE or not tensors[left].is_floating_point() or tensors[left].dim() == 0, case.id
        if all(t.is_cuda for t in tensors_of(found)):
            agree(found, case.run(ad, inputs(case)), ad.float64)
