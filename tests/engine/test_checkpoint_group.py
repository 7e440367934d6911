"""GraphExecGroup: several backwards over the parts of one graph."""

import pytest

import adjoint as ad
from adjoint.utils.checkpoint import CheckpointError, GraphExecGroup, checkpoint


def test_parts_of_a_graph_share_one_run():
    runs = []

    def f(x):
        runs.append(1)
        y = x.sin().cos()
        return y, y.sin().cos()

    x = ad.ones(3, requires_grad=True)
    y, z = checkpoint(f, x, use_reentrant=False)
    with GraphExecGroup():
        (at_y,) = ad.autograd.grad(z, y, ad.ones(3))
        (found,) = ad.autograd.grad(y, x, at_y)
    assert len(runs) == 2
    assert found.tolist() == ad.autograd.grad(f(x)[1].sum(), x)[0].tolist()


def test_backwards_that_overlap_are_told():
    out = checkpoint(lambda x: x.sin().cos(), ad.ones(3, requires_grad=True), use_reentrant=False).sum()
    with GraphExecGroup():
        out.backward(retain_graph=True)
        with pytest.raises(CheckpointError, match="Performing two backward calls that overlap"):
            out.backward(retain_graph=True)
        with pytest.raises(RuntimeError, match="GraphExecGroup contexts cannot be nested"):
            GraphExecGroup().__enter__()
    out.backward()
    with GraphExecGroup():
        pass
