"""A layer of long short-term memory is one node; its derivatives are those of the steps it is made of."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjoint as ad
from adjoint import nn

sizes = st.tuples(st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), st.integers(1, 18))


def layer(size: tuple[int, int, int, int], **options: Any) -> tuple[Any, list[Any]]:
    """A function of an input, the states and the weights, and those."""
    steps, batch, features, hidden = size
    net = nn.LSTM(features, hidden, dtype=ad.float64, **options)
    ends = (1 + net.bidirectional, batch, hidden)
    names = [n for n, _ in net.named_parameters()]
    given = [ad.randn(*shape, dtype=ad.float64) for shape in ((steps, batch, features), ends, ends)]
    values = [v.detach().requires_grad_() for v in (*given, *net.parameters())]

    def run(x: Any, h: Any, c: Any, *weights: Any) -> tuple[Any, ...]:
        y, (last_h, last_c) = ad.func.functional_call(net, dict(zip(names, weights)), (x, (h, c)))
        return y, last_h, last_c

    return run, values


@given(sizes, st.booleans(), st.booleans())
def test_gradients_are_those_of_the_steps(size: Any, bias: bool, bidirectional: bool) -> None:
    ad.manual_seed(0)
    run, values = layer(size, bias=bias, bidirectional=bidirectional)
    outputs = run(*values)
    cotangents = [ad.randn_like(y) for y in outputs]
    at_once = ad.autograd.grad(outputs, values, cotangents, retain_graph=True)
    of_steps = ad.autograd.grad(outputs, values, cotangents, create_graph=True)
    for a, b in zip(at_once, of_steps, strict=True):
        assert b.requires_grad and not a.requires_grad
        ad.testing.assert_close(a, b.detach())


@given(sizes)
def test_steps_and_the_node_compute_the_same(size: Any) -> None:
    run, values = layer(size)
    values = [v.detach() for v in values]
    lifted, _ = ad.func.jvp(run, tuple(values), tuple(ad.randn_like(v) for v in values))  # steps, under a transform
    for a, b in zip(run(*values), lifted, strict=True):
        ad.testing.assert_close(a, b)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_derivatives_of_both_orders(bidirectional: bool) -> None:
    run, values = layer((3, 2, 2, 3), bidirectional=bidirectional)
    assert ad.autograd.gradcheck(run, values) and ad.autograd.gradgradcheck(run, values)


def test_only_what_is_asked_for_is_computed() -> None:
    run, (x, *rest) = layer((3, 2, 2, 3))
    rest = [v.detach() for v in rest]
    run(x, *rest)[0].sum().backward()
    assert x.grad is not None and all(v.grad is None for v in rest)
    with ad.no_grad():
        assert not run(x, *rest)[0].requires_grad


def test_outputs_changed_in_place_are_refused_backward_and_stay_usable() -> None:
    run, values = layer((3, 2, 2, 3))
    y = run(*values)[0]
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    assert y.detach().isfinite().all()


def test_in_half_types() -> None:
    net, x = nn.LSTM(3, 4), ad.randn(5, 2, 3)
    half = nn.LSTM(3, 4, dtype=ad.bfloat16)
    half.load_state_dict(net.state_dict())
    y = half(x.bfloat16())[0]
    assert y.dtype is ad.bfloat16
    ad.testing.assert_close(y.float(), net(x)[0], atol=2e-2, rtol=2e-2)


@pytest.mark.parametrize("name", ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"])
def test_transforms_of_one_weight(name: str) -> None:
    net, x = nn.LSTM(3, 4, dtype=ad.float64), ad.randn(5, 2, 3, dtype=ad.float64)
    weights = {k: v.detach() for k, v in net.named_parameters()}

    def loss(w: Any) -> Any:
        return ad.func.functional_call(net, {**weights, name: w}, (x,))[0].sum()

    expected = ad.autograd.grad(net(x)[0].sum(), getattr(net, name))[0]
    ad.testing.assert_close(ad.func.grad(loss)(weights[name]), expected)
    ad.testing.assert_close(ad.func.jacfwd(loss)(weights[name]), expected)


def test_inputs_that_depend_on_the_weights_or_are_the_same() -> None:
    net = nn.LSTM(4, 4, dtype=ad.float64)
    net.weight_hh_l0 = net.weight_ih_l0
    x = ad.randn(3, 2, 4, dtype=ad.float64, requires_grad=True)
    y, state = net(x)
    outputs = net(y, state)[0].sin().sum()
    wanted = [x, *net.parameters()]
    at_once = ad.autograd.grad(outputs, wanted, retain_graph=True)
    for a, b in zip(at_once, ad.autograd.grad(outputs, wanted, create_graph=True), strict=True):
        ad.testing.assert_close(a, b.detach())


def test_complex_numbers_and_mixed_types() -> None:
    net, x = nn.LSTM(2, 3, dtype=ad.complex128), ad.randn(3, 2, 2, dtype=ad.complex128, requires_grad=True)
    assert ad.autograd.gradcheck(lambda x: net(x)[0], (x,))
    real, wide = nn.LSTM(2, 3), ad.zeros(1, 2, 3, dtype=ad.float64)
    with pytest.raises(RuntimeError, match="dtype"):
        real(ad.ones(4, 2, 2), (wide.float(), wide))
