"""The helpers of checkpoints: inputs cut off, states of devices; and what `checkpoint` does with its contexts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

import adjoint as ad

ck = ad.utils.checkpoint


def test_inputs() -> None:
    x = ad.ones(2, requires_grad=True)
    cut, number = ck.detach_variable((x.exp(), 3))
    assert cut.is_leaf and cut.requires_grad and number == 3
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported. Got Unsupported input type: list"):
        ck.detach_variable([x])
    ck.check_backward_validity([1, x])
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        ck.check_backward_validity([1, x.detach()])


def test_states_of_devices() -> None:
    assert ck.get_device_states(ad.ones(1), [ad.ones(1)], None) == ([], [])
    before = ck.DefaultDeviceType.get_device_type()
    ck.DefaultDeviceType.set_device_type("cpu")
    try:
        ck.set_device_states([], [])
        assert ck.DefaultDeviceType.get_device_type() == "cpu"
    finally:
        ck.DefaultDeviceType.set_device_type(before)


def test_contexts() -> None:
    entered: list[str] = []

    @contextlib.contextmanager
    def context(name: str, swallow: bool) -> Iterator[None]:
        entered.append(name)
        with contextlib.suppress(ZeroDivisionError) if swallow else contextlib.nullcontext():
            yield

    def contexts(swallow: bool = False) -> Any:
        return context("first", swallow), context("second", False)

    x = ad.ones(2, requires_grad=True)
    ck.checkpoint(lambda x: x.sin().cos(), x, use_reentrant=False, context_fn=contexts).sum().backward()
    assert entered == ["first", "second"]
    with ad.no_grad():  # nothing to run again
        ck.checkpoint(ad.sin, x, use_reentrant=False, context_fn=contexts)
    assert entered == ["first", "second"]
    with pytest.raises(RuntimeError, match="context_fn suppressed an exception raised during the checkpointed"):
        ck.checkpoint(lambda x: 1 / 0, x, use_reentrant=False, context_fn=lambda: contexts(swallow=True))
    with pytest.raises(ZeroDivisionError):
        ck.checkpoint(lambda x: 1 / 0, x, use_reentrant=False, context_fn=contexts)


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("segments", [1, 2, 3])
def test_sequences(reentrant: bool, segments: int) -> None:
    layers = ad.nn.Sequential(ad.nn.Linear(3, 3), ad.nn.Tanh(), ad.nn.Dropout(0.5), ad.nn.Linear(3, 2)).double()
    x = ad.randn(4, 3, dtype=ad.float64, requires_grad=True)
    ad.manual_seed(1)
    layers(x).sum().backward()
    expected, x.grad = x.grad, None
    ad.manual_seed(1)
    ck.checkpoint_sequential(layers, segments, x, use_reentrant=reentrant).sum().backward()
    assert ad.allclose(x.grad, expected)


def test_functional_gradients_around_and_inside_are_refused() -> None:
    x = ad.randn(2, 2, requires_grad=True)
    around = ad.func.grad(lambda x: ck.checkpoint(lambda x: (x @ x).sin().sum(), x, use_reentrant=False))
    inside = ad.func.grad(lambda x: (x @ x).sin().sum())
    for f in (lambda: around(x), lambda: ck.checkpoint(inside, x, use_reentrant=False)):
        with pytest.raises(RuntimeError, match="torch.func.{grad, vjp, jacrev, hessian} don't yet support checkpoints"):
            f()
