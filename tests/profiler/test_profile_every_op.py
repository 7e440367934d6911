"""Every operation is seen by a profile, and every node that its backward runs was made by a call that the profile shows."""

import pytest

import adjoint as ad
from adjoint.autograd.profiler import profile
from op_cases import CASES
from op_checks.cells import posed
from op_checks.numeric import tensors


@pytest.mark.parametrize("case", [pytest.param(c, id=c.id) for c in CASES if c.differentiable])
def test_calls_and_nodes_are_joined(case):
    f, xs = posed(case, tensors(case.sample()))
    xs = [x.requires_grad_() for x in xs]
    with profile(record_shapes=True, profile_memory=True, with_flops=True) as prof:
        ys = [y for y in f(*xs) if y.requires_grad]
        ad.autograd.grad([y.abs().sum() for y in ys], xs, allow_unused=True)
    events = prof.function_events
    assert any(e.name.startswith("aten::") for e in events)
    made = {e.sequence_nr for e in events if not e.fwd_thread}
    ran = {e.sequence_nr: e.name for e in events if e.scope == 1 and e.sequence_nr >= 0}
    lost = {name for number, name in ran.items() if number not in made}
    assert lost <= {"torch::autograd::CopySlices"}  # a base's history; the node of the write itself is inside
    for event in events:
        assert event.self_cpu_time_total >= -1e-3 and event.time_range.elapsed_us() >= 0


@pytest.mark.parametrize("case", [pytest.param(c, id=c.id) for c in CASES if not c.differentiable])
def test_calls_without_derivatives_are_seen(case):
    xs = tensors(case.sample())
    with profile() as prof:
        case.run(ad, xs)
    assert any(e.name.startswith("aten::") for e in prof.function_events)
