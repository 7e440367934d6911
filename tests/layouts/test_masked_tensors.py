"""`masked.MaskedTensor`, as PyTorch's tutorials use it: what is not there takes no part, forward or backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad
from adjoint.masked import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

pytestmark = pytest.mark.filterwarnings("ignore:MaskedTensor is a prototype")
DATA = ad.arange(12.0).reshape(3, 4)
MASK = DATA % 3 != 1


def filled(t: Any) -> Any:
    """The data with -1 where nothing is, as numbers."""
    assert is_masked_tensor(t)
    return t.to_tensor(-1).tolist()


def test_as_text() -> None:
    mt = masked_tensor(DATA[:2], MASK[:2])
    assert repr(mt) == (
        "MaskedTensor(\n  [\n    [  0.0000,       --,   2.0000,   3.0000],\n    [      --,   5.0000,   6.0000,       --]\n  ]\n)"
    )
    assert repr(mt.sum()) == "MaskedTensor( 16.0000, True)" and repr(mt[0, 1]) == "MaskedTensor(--, False)"
    assert (
        repr(masked_tensor(ad.tensor([1, 22, 333]), ad.tensor([True, False, True]))) == "MaskedTensor(\n  [1,       --, 333]\n)"
    )


def test_what_cannot_be() -> None:
    for data, mask, error in ((DATA, DATA, "mask must have dtype bool"), ([1], MASK, "data must be a Tensor"), (DATA.cdouble(), MASK, "complex128 is not"),
                              (masked_tensor(DATA, MASK), MASK, "data must be a Tensor"), (DATA.to_sparse(), MASK, "the same layout")):  # fmt: skip
        with pytest.raises(TypeError, match=error):
            masked_tensor(data, mask)
    with pytest.raises(ValueError, match="dim"):
        masked_tensor(DATA, MASK[0])
    with pytest.raises(ValueError, match="size"):
        masked_tensor(DATA, MASK[:2])
    with pytest.raises(ValueError, match="Input masks must match"):
        masked_tensor(DATA, MASK) + masked_tensor(DATA, ~MASK)
    with pytest.raises(TypeError, match="matmul|mm"):
        masked_tensor(DATA, MASK) @ masked_tensor(DATA, MASK).t()
    with pytest.raises(ValueError, match="the mask hides"):
        masked_tensor(DATA, MASK)[0, 1].item()
    with pytest.warns(UserWarning, match="requires_grad"):
        masked_tensor(DATA.clone().requires_grad_(), MASK)


@pytest.mark.parametrize("f", [lambda t: t * t, lambda t: 2 - t, lambda t: t / (DATA + 1), lambda t: DATA * t, lambda t: -t.abs(), lambda t: t.exp().log1p(),
                               lambda t: t**2, lambda t: t.clamp(2, 5), lambda t: t.relu(), lambda t: t.clone().add_(1), lambda t: t.to(ad.float64),
                               lambda t: t.t(), lambda t: t.reshape(4, 3), lambda t: t[1:, ::2], lambda t: ad.cat([t, t]), lambda t: ad.stack([t, t], 1),
                               lambda t: t.permute(1, 0)[None], lambda t: t.split(2)[0], lambda t: t.expand(2, 3, 4), lambda t: t.detach()])  # fmt: skip
def test_elements_and_places(f: Callable[[Any], Any]) -> None:
    found, data = f(masked_tensor(DATA, MASK)), f(DATA)
    assert is_masked_tensor(found) and found.dtype is data.dtype and ad.equal(found.get_data(), data)
    moved = f(MASK.float()).bool() if found.shape != DATA.shape else MASK
    assert ad.equal(found.get_mask(), moved)


def test_reductions_are_of_what_is_there() -> None:
    mt = masked_tensor(DATA, MASK)
    for name in ("sum", "mean", "prod", "amin", "amax", "argmin", "argmax", "var", "std", "norm"):
        plain = getattr(ad.masked, name)
        assert filled(getattr(mt, name)()) == plain(DATA, mask=MASK).item()
        dim = {"norm": {"dim": 1}}.get(name, {"dim": 1, "keepdim": True})
        assert filled(getattr(ad, name)(mt, **dim)) == plain(DATA, mask=MASK, **dim).tolist()
    assert filled((mt < 12).all(1)) == [True] * 3 and filled(mt.sum((0, 1))) == 44
    nothing = masked_tensor(DATA, MASK & (DATA < 4))
    assert filled(nothing.amax(1)) == [3, -1, -1] and filled(nothing[1].sum()) == -1
    assert filled(ad.softmax(mt, 1).sum(1)) == pytest.approx([1, 1, 1], abs=1e-6) and filled(ad.ones_like(mt)[0]) == [
        1,
        -1,
        1,
        1,
    ]


@pytest.mark.parametrize("f", [lambda t: (t * t).sum(), lambda t: t.exp().mean(), lambda t: (t * DATA).sum(1).sum(), lambda t: t.prod(), lambda t: t.amax(),
                               lambda t: (t / (t + 1)).sum(), lambda t: t.var(), lambda t: t.std(0).sum(), lambda t: t.tanh().sigmoid().sum(),
                               lambda t: (t.transpose(0, 1) * 3).sum(), lambda t: (t + ad.ones(4)).sum(), lambda t: ad.cat([t, t]).sum(),
                               lambda t: t.clamp(2, 5).sum(), lambda t: (t[0] * 2).sum()])  # fmt: skip
def test_gradients(f: Callable[[Any], Any]) -> None:
    """Beside those of plain tensors: of the sum over what is there, with the rest anything."""
    t = masked_tensor(DATA, MASK, requires_grad=True)
    y = f(t)
    y.backward()
    assert t.is_leaf and is_masked_tensor(t.grad) and bool((t.grad.get_mask() <= MASK).all())
    for place in MASK.nonzero().tolist():
        step = ad.zeros(3, 4, dtype=ad.float64)
        step[tuple(place)] = 1e-6
        up, down = (f(masked_tensor(DATA.double() + s * step, MASK)).item() for s in (1, -1))
        if t.grad.get_mask()[tuple(place)] and DATA[tuple(place)] not in (2, 5):
            assert t.grad.get_data()[tuple(place)].item() == pytest.approx((up - down) / 2e-6, rel=1e-3, abs=1e-3)


def test_a_nan_under_the_mask_reaches_nobody() -> None:
    x = ad.tensor([1.0, 1.0], requires_grad=True)
    div = ad.tensor([0.0, 1.0])
    as_masked_tensor(x / div, div != 0).sum().backward()
    assert isinstance(x.grad, MaskedTensor) and filled(x.grad) == [-1, 1]
    x = ad.tensor([-10.0, 0.0, 50.0, 100.0])
    mx, my = masked_tensor(x, x < 0, requires_grad=True), masked_tensor(ad.ones_like(x), x >= 0, requires_grad=True)
    y = ad.where(x < 0, mx.exp(), my)
    assert y.get_mask().all()
    y.sum().backward()
    assert (
        filled(mx.grad)[1:] == [-1, -1, -1]
        and mx.grad is not None
        and mx.grad[0].item() > 0
        and filled(my.grad) == [-1, 1, 1, 1]
    )
    w = ad.ones(3, 4, requires_grad=True)
    (masked_tensor(DATA, MASK) * w).sum().backward()
    assert filled(w.grad) == masked_tensor(DATA, MASK).to_tensor(-1).tolist()


def test_data_comes_out_with_its_history() -> None:
    t = masked_tensor(DATA, MASK, requires_grad=True)
    (t * 2).get_data().sum().backward()
    assert filled(t.grad) == ad.where(MASK, 2.0, -1.0).tolist()
    t.grad = None
    assert t.grad is None and t.to_tensor(0).grad_fn is not None


def test_sparse_ones() -> None:
    places = ad.tensor([[0, 1, 1], [2, 0, 2]])
    data = ad.sparse_coo_tensor(places, [3.0, 4.0, 5.0], (2, 3))
    ms = masked_tensor(data, ad.sparse_coo_tensor(places, [True, False, True], (2, 3)))
    assert ms.layout is ad.sparse_coo and ms.is_sparse_coo() and ms.is_sparse and "--,       --,   5.0000" in repr(ms)
    assert filled((ms * ms + 1).to_dense()) == [[-1, -1, 10], [-1, -1, 26]] and filled(ms.sum()) == 8 and filled(ms.mean()) == 4
    assert ms.pow(2).get_data().to_dense().tolist() == [[0, 0, 9], [16, 0, 25]] and filled(ms.argmax()) == 5
    rows = ms.to_sparse_csr()
    assert rows.is_sparse_csr() and filled(rows.sin().to_dense()) == filled(ms.to_dense().sin())
    mt = masked_tensor(DATA, MASK, requires_grad=True)
    assert mt.to_sparse_coo().layout is ad.sparse_coo and filled(mt.to_sparse().to_dense()) == filled(mt)
    (mt.to_sparse() * 3).sum().backward()
    assert filled(mt.grad) == ad.where(MASK, 3.0, -1.0).tolist()
    with pytest.raises(ValueError, match="the same indices"):
        masked_tensor(data, ad.sparse_coo_tensor([[0, 0, 1], [0, 1, 1]], [True] * 3, (2, 3)))
