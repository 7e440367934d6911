"""Computed tensors that were given memory of another shape or type: gradients that do not fit what made them are refused, never written."""

import gc

import pytest

import adjoint as ad


def leaf():
    return ad.arange(12.0).reshape(3, 4).requires_grad_()


MADE = {
    "select": lambda x: x[0],
    "softmax": lambda x: x.softmax(-1),
    "mul": lambda x: x * 2,
    "diagonal": lambda x: x.diagonal(),
    "unfold": lambda x: x.unfold(1, 2, 1),
    "narrow": lambda x: x[1:],
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("shape", [(7,), (300, 500), (0,)])
def test_another_shape(name, shape):
    x = leaf()
    y = MADE[name](x)
    y.data = ad.ones(shape)
    assert y.shape == shape and y.requires_grad
    for use in (y.sum(), (y * 2).sum(), y.reshape(-1).sum()):
        with pytest.raises(RuntimeError, match=r"got a gradient of shape .* given other memory"):
            use.backward()
    assert x.grad is None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [[3.0] * 4] * 3


def test_a_shape_that_the_result_broadcasts_to_sums_up():
    x = leaf()
    y = x[0]
    y.data = ad.ones(2, 4)
    assert y.grad_fn.name() == "SelectBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [[2.0] * 4, [0.0] * 4, [0.0] * 4]


def test_another_type():
    x = leaf()
    y = x.cumsum(0)
    y.data = y.double()
    y.sum().backward()
    assert x.grad.dtype == ad.float32 and x.grad[:, 0].tolist() == [3.0, 2.0, 1.0]
    z = x.cumsum(0)
    z.data = ad.ones(3, 4, dtype=ad.complex64)
    with pytest.raises(RuntimeError, match="got a gradient of type complex64 for a result of type float32"):
        z.abs().sum().backward()


def test_a_shape_changed_in_place_without_a_record():
    x = leaf()
    y = x[0]
    with ad.no_grad():
        y.unsqueeze_(0)
    (y.expand(10, 4) * 2).sum().backward()
    assert x.grad.tolist() == [[20.0] * 4, [0.0] * 4, [0.0] * 4]


def test_a_view_of_other_memory_cannot_follow_its_base():
    base = ad.zeros(3, 4)
    view, before = base[0], base[1]
    inner = view[1:]
    view.data = ad.ones(2)
    assert view.tolist() == [1.0, 1.0] and inner.tolist() == [0.0, 0.0, 0.0]
    base.add_(leaf())
    assert before.tolist() == [4.0, 5.0, 6.0, 7.0]
    for v in (view, inner):
        with pytest.raises(RuntimeError, match="given other memory"):
            v.sum()


def test_a_view_cannot_follow_its_base_to_another_device():
    base = ad.zeros(2, 3)
    view = base.diagonal()
    base.data = ad.ones(2, 3, device="meta")
    with pytest.raises(RuntimeError, match="given other memory"):
        view.mul_(leaf()[0, 0])


def test_views_of_a_view_of_other_memory_outlive_the_base():
    for _ in range(50):
        view = ad.zeros(500, 500)[0]
        inner = view[1:]
        view.data = ad.ones(3)
        gc.collect()
        assert inner.sum().item() == 0.0 and inner._base is not None


def test_set_has_no_derivative():
    y = leaf() * 2
    with pytest.raises(RuntimeError, match="derivative is not implemented"):
        y.set_(ad.ones(7))
    with ad.no_grad():
        y.set_(ad.ones(7))
    with pytest.raises(RuntimeError, match="got a gradient of shape"):
        y.sum().backward()


@pytest.mark.parametrize("view", [lambda x: x[99], lambda x: x.view(-1)])
def test_views_of_a_base_that_was_resized_do_not_follow_it(view):
    base = ad.zeros(100, 100)
    v = view(base)
    base.resize_(2, 2)
    base.add_(ad.ones(2, 2, requires_grad=True))
    with pytest.raises(RuntimeError, match="before the shape of its base was changed in place"):
        v.sum()


def test_a_view_without_history_stays_unusable():
    base = ad.zeros(3, 4)
    with ad.no_grad():
        view = base[0]
    base.add_(leaf())
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        (view * 2).sum()
    view.data = ad.ones(2, 4)
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        (view * 2).sum().backward()
