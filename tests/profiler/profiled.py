"""What the tests of profiles share: a step of training, profiled, and its events by name."""

import adjoint as ad
from adjoint.autograd import profiler


def step(x):
    ((x @ x) ** 2).sum().backward()


def profiled(run=None, **options):
    x = ad.randn(8, 8, requires_grad=True)
    with profiler.profile(**options) as prof:
        (run or step)(x)
    return prof


def named(prof, name):
    return [e for e in prof.function_events if e.name == name]
