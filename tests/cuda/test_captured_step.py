"""Optimizers inside CUDA graphs: a count of steps on the CPU would not go on in replays."""

import pytest

import adjoint as ad


@pytest.mark.parametrize("name", ["Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "ASGD"])
def test_a_step_that_counts_on_the_cpu_is_refused(name):
    w = ad.nn.Parameter(ad.zeros(4, device="cuda"))
    w.grad = ad.zeros(4, device="cuda")
    optimizer = getattr(ad.optim, name)([w])
    graph = ad.cuda.CUDAGraph()
    with ad.cuda.graph(graph), pytest.raises(RuntimeError, match="CUDA graph capture of a step"):
        ad.zeros(4, device="cuda")  # something to capture
        optimizer.step()
    graph.reset()
