"""Tensors whose shape, history or memory is changed in place after others came to depend on them."""

from __future__ import annotations

import pytest

import adjoint as ad

STALE = "before the shape of its base was changed in place"
"A view that would have to follow a write through the new shape says so: PyTorch's follows it."


def made() -> tuple[ad.Tensor, ad.Tensor]:
    x = ad.arange(6.0, requires_grad=True)
    return x, x.reshape(2, 3) * 1


def test_gradient_of_a_view_made_before_its_base_was_transposed() -> None:
    x, y = made()
    row = y[0]
    y.t_()
    y.mul_(2)
    with pytest.raises(RuntimeError, match=STALE):
        row.sum()


def test_write_through_a_view_made_before_its_base_was_transposed() -> None:
    x, y = made()
    row = y[0]
    y.t_()
    with pytest.raises(RuntimeError, match=STALE):
        row.mul_(5)
    assert ad.autograd.grad((y * y).sum(), x)[0].tolist() == [0, 2, 4, 6, 8, 10]


def test_tangent_of_a_view_made_before_its_base_was_transposed() -> None:
    def f(x: ad.Tensor) -> ad.Tensor:
        y = x * 1
        row = y[0]
        y.t_()
        y.mul_(2)
        return row

    with pytest.raises(RuntimeError, match=STALE):
        ad.func.jvp(f, (ad.ones(2, 3),), (ad.ones(2, 3),))


def test_view_made_before_its_base_lost_a_dimension() -> None:
    x = ad.arange(6.0, requires_grad=True)
    y = x.reshape(1, 2, 1, 3) * 1
    part = y[0]
    y.squeeze_(0)
    y.add_(y)
    with pytest.raises(RuntimeError, match=STALE):
        part.clone()


def test_unfold_is_a_view() -> None:
    x = ad.zeros(4)
    x.unfold(0, 2, 2).fill_(1.0)
    assert x.tolist() == [1, 1, 1, 1]


def test_detaching_a_saved_tensor_is_noticed() -> None:
    x = ad.tensor([0.3], requires_grad=True)
    y = x * x
    z = y.sin()
    y.detach_()
    with pytest.raises(RuntimeError, match="detach"):
        ad.autograd.grad(z.sum(), x, create_graph=True)


def test_detach_in_place_ends_a_tangent() -> None:
    def f(x: ad.Tensor) -> ad.Tensor:
        y = x * 2
        y.detach_()
        return y * x

    assert ad.func.jvp(f, (ad.ones(2),), (ad.ones(2),))[1].tolist() == [2, 2]


def test_replacing_the_memory_of_a_saved_tensor_is_noticed() -> None:
    x = ad.tensor([0.3], requires_grad=True)
    y = x * x
    z = y.sin()
    with ad.no_grad():
        y.set_(ad.zeros(1))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


@pytest.mark.parametrize("name", ["exp_", "relu_"])
def test_second_derivative_after_a_write_through_a_view(name: str) -> None:
    x = ad.tensor([0.5, 1.0], requires_grad=True)
    y = x * 1
    part = y[1:]
    getattr(part, name)()
    (g,) = ad.autograd.grad((part**3).sum(), x, create_graph=True)
    expected = 6.0 if name == "relu_" else 9 * ad.exp(ad.tensor(3.0)).item()
    assert ad.autograd.grad(g.sum(), x)[0][1].item() == pytest.approx(expected)
