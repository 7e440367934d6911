"""The record behind cross_entropy on GPUs, on the CPU: the composition's values and derivatives, of first and second order."""

import pytest

import adjoint as ad
from adjoint_core import _core

F = ad.nn.functional


@pytest.mark.parametrize("ignored", [-100, 1])
@pytest.mark.parametrize("shape", [(4, 7), (2, 5, 3)], ids=str)
@pytest.mark.parametrize("dtype", [ad.float32, ad.float64], ids=lambda t: t.name)
def test_as_composed(shape, dtype, ignored):
    x = (ad.randn(shape, dtype=dtype) * 3 + 1000).requires_grad_()
    target = ad.randint(0, shape[1], (shape[0], *shape[2:]))
    target.view(-1)[0] = ignored if ignored >= 0 else 0
    for create_graph in (False, True):
        found = []
        composed = F.cross_entropy(x, target, reduction="none", ignore_index=ignored)
        for loss in (_core._class_entropy(x, target, 1, ignored)[0], composed):
            (first,) = ad.autograd.grad(
                loss, x, ad.arange(loss.numel()).reshape(loss.shape).to(dtype), create_graph=create_graph
            )
            second = ad.autograd.grad(first.square().sum(), x) if create_graph else ()
            found.append((loss, first, *second))
        for got, wanted in zip(*found, strict=True):
            ad.testing.assert_close(got, wanted)


@pytest.mark.parametrize("shape", [(7,), (4, 7), (2, 5, 3)], ids=str)
def test_a_cotangent_that_is_one_number(shape):
    x = ad.randn(shape, requires_grad=True)
    classes, rest = (shape[0], ()) if len(shape) == 1 else (shape[1], (shape[0], *shape[2:]))
    loss, counts = _core._class_entropy(x, ad.randint(0, classes, rest), 1 if rest else 0, 2)
    spread, each = (
        ad.autograd.grad(loss, x, v, retain_graph=True)[0] for v in (ad.tensor(3.0).expand(rest), ad.full(rest, 3.0))
    )
    assert spread.equal(each) and (counts == 0).equal(loss == 0) and not counts.requires_grad


def test_what_it_takes():
    assert _core._class_entropy(ad.zeros(2, 3), ad.tensor([3, 0]), 1, -100)[0].isnan().tolist() == [True, False]
    losses, counts = _core._class_entropy(ad.zeros(3, 3), ad.tensor([3, 0, -100]), 1, 3)
    assert losses.isnan().tolist() == [False, False, True] and counts.tolist() == [0, 1, 1]
    with pytest.raises(RuntimeError, match="one for each row, got int64 of"):
        _core._class_entropy(ad.zeros(2, 3), ad.tensor([0, 0, 0]), 1, -100)
    with pytest.raises(RuntimeError, match="classes along dimension 2"):
        _core._class_entropy(ad.zeros(2, 3), ad.tensor([0, 0]), 2, -100)
