"""The record behind cross_entropy on GPUs, on the CPU: the composition's values and derivatives, of first and second order."""

import pytest

import adjoint as ad
from adjoint_core import _core

F = ad.nn.functional


@pytest.mark.parametrize("shape", [(4, 7), (2, 5, 3)], ids=str)
@pytest.mark.parametrize("dtype", [ad.float32, ad.float64], ids=lambda t: t.name)
def test_as_composed(shape, dtype):
    x = (ad.randn(shape, dtype=dtype) * 3 + 1000).requires_grad_()
    target = ad.randint(0, shape[1], (shape[0], *shape[2:]))
    for create_graph in (False, True):
        found = []
        for loss in (_core._class_entropy(x, target, 1), F.cross_entropy(x, target, reduction="none")):
            (first,) = ad.autograd.grad(loss, x, ad.ones_like(loss) * 2, create_graph=create_graph)
            second = ad.autograd.grad(first.square().sum(), x) if create_graph else ()
            found.append((loss, first, *second))
        for got, wanted in zip(*found, strict=True):
            ad.testing.assert_close(got, wanted)


def test_what_it_takes():
    assert _core._class_entropy(ad.zeros(2, 3), ad.tensor([3, 0]), 1).isnan().tolist() == [True, False]
    with pytest.raises(RuntimeError, match="one for each row, got int64 of"):
        _core._class_entropy(ad.zeros(2, 3), ad.tensor([0, 0, 0]), 1)
    with pytest.raises(RuntimeError, match="classes along dimension 2"):
        _core._class_entropy(ad.zeros(2, 3), ad.tensor([0, 0]), 2)
