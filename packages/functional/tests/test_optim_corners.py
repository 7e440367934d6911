"""Optimizers and schedules where they meet complex numbers, gradients that others hold, and runs that go on."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad

rates = ad.optim.lr_scheduler


@pytest.mark.parametrize(
    "name", ["SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adadelta", "Adagrad", "RMSprop", "Rprop", "ASGD"]
)
def test_a_complex_parameter_steps_as_its_two_parts(name: str) -> None:
    z = ad.tensor([1 + 2j, -0.5 + 0.3j], dtype=ad.complex128)
    complex_one, parts = ad.nn.Parameter(z.clone()), ad.nn.Parameter(ad.view_as_real(z).clone())
    ours, pairs = (getattr(ad.optim, name)([p], lr=0.05) for p in (complex_one, parts))
    for i in range(6):
        g = z * (3 - i) + 1j
        complex_one.grad, parts.grad = g, ad.view_as_real(g).clone()
        ours.step()
        pairs.step()
        if i == 2:
            for optimizer in (ours, pairs):
                optimizer.load_state_dict(optimizer.state_dict())
    assert ad.view_as_real(complex_one.detach()).tolist() == parts.tolist()


def test_zero_grad_in_place_writes_to_the_gradient_that_others_hold() -> None:
    w = ad.nn.Parameter(ad.ones(2))
    held = w.grad = ad.ones(2)
    ad.optim.SGD([w]).zero_grad(set_to_none=False)
    assert w.grad is held and held.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "make",
    [
        lambda o: rates.ExponentialLR(o, 0.9, last_epoch=3),
        lambda o: rates.CosineAnnealingLR(o, 5, last_epoch=2),
        lambda o: rates.LinearLR(o, last_epoch=2),
        lambda o: rates.PolynomialLR(o, last_epoch=2),
        lambda o: rates.MultiplicativeLR(o, lambda epoch: 0.5, last_epoch=2),
    ],
)
def test_a_run_that_goes_on_keeps_its_rate(make: Any) -> None:
    optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=0.25)
    optimizer.param_groups[0]["initial_lr"] = 1.0
    schedule = make(optimizer)
    assert schedule.get_last_lr() == [0.25]
    schedule.step()
    assert schedule.get_last_lr() != [0.25]


def test_a_factor_counts_from_the_epoch_that_it_takes_over() -> None:
    optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0)
    parts = [rates.LinearLR(optimizer, 0.1, 1.0, 2), rates.MultiplicativeLR(optimizer, lambda epoch: 0.9)]
    schedule = rates.SequentialLR(optimizer, parts, [2])
    seen = []
    for _ in range(4):
        seen.append(round(schedule.get_last_lr()[0], 6))
        schedule.step()
    assert seen == [0.1, 0.55, 0.495, 0.4455]


@pytest.mark.parametrize("name", ["Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "ASGD", "Muon", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam"])  # fmt: skip
def test_sparse_gradients(name):
    p, dense = (ad.nn.Parameter(ad.eye(2)) for _ in range(2))
    p.grad, dense.grad = ad.eye(2).to_sparse(), ad.eye(2)
    optimizer = getattr(ad.optim, name)([p])
    if name not in ("Adagrad", "SGD", "SparseAdam"):
        with pytest.raises(RuntimeError, match=f"{name} does not support sparse gradients; SparseAdam, SGD and Adagrad do"):
            optimizer.step()
        return
    optimizer.step()
    getattr(ad.optim, name.removeprefix("Sparse"))([dense], lr=optimizer.defaults["lr"]).step()
    assert ad.allclose(p, dense)
