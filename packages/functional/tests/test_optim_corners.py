"""Optimizers and schedules where they meet complex numbers, gradients that others hold, and runs that go on."""

from __future__ import annotations

import collections
from typing import Any

import pytest

import adjoint as ad

pytestmark = pytest.mark.filterwarnings("ignore:Detected call of .lr_scheduler")  # rates are asked without training

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


def test_words_that_were_not_saved_leave_the_groups() -> None:
    optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(2))], lr=0.5)
    saved = optimizer.state_dict()
    assert list(saved["param_groups"][0])[-1] == "params"
    ad.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    assert optimizer.state_dict()["param_groups"][0]["initial_lr"] == 0.5
    optimizer.load_state_dict(saved)
    assert optimizer.state_dict() == saved
    del saved["param_groups"][0]["momentum"]  # of an older version
    optimizer.load_state_dict(saved)
    assert optimizer.param_groups[0]["momentum"] == 0


def test_names_of_parameters_are_printed_with_their_group() -> None:
    optimizer = ad.optim.SGD(ad.nn.Linear(2, 1).named_parameters(), lr=0.1)
    assert "    param_names: ['weight', 'bias']\n" in repr(optimizer)
    assert "param_names" not in repr(ad.optim.SGD(ad.nn.Linear(2, 1).parameters(), lr=0.1))


def test_states_within_states_are_copied() -> None:
    p = ad.nn.Parameter(ad.ones(2))
    optimizer = ad.optim.SGD([p], lr=0.5)
    inner = ad.ones(2, dtype=ad.float64)
    saved = {
        "state": {0: {"history": [inner, 3], "more": {"step": inner}, "both": (inner,)}},
        "param_groups": optimizer.state_dict()["param_groups"],
    }
    optimizer.load_state_dict(saved)
    state = optimizer.state[p]
    assert (
        state["history"][0].dtype == ad.float32
        and state["more"]["step"].dtype == ad.float64
        and isinstance(state["both"], tuple)
    )
    for t in (state["history"][0], state["more"]["step"], state["both"][0]):
        t.zero_()
    assert inner.tolist() == [1, 1] and state["history"][1] == 3


def test_what_a_plateau_lowers_can_be_replaced_and_started_again() -> None:
    optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0)
    schedule = ad.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    told: list[int] = []
    schedule._reduce_lr = told.append  # type: ignore[method-assign]
    for loss in (1.0, 1.0, 1.0):
        schedule.step(loss)
    assert told == [2, 3] and schedule.get_last_lr() == [1.0]
    schedule._reset()
    assert schedule.best == schedule.mode_worse and schedule.num_bad_epochs == 0


def test_groups_that_come_after_a_plateau() -> None:
    optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0)
    schedules = [ad.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=least) for least in (0.25, [0.25])]
    optimizer.add_param_group({"params": [ad.nn.Parameter(ad.ones(1))], "lr": 2.0})
    for schedule in schedules:
        schedule.step(1.0)
    schedules[0].step(1.0)
    assert [group["lr"] for group in optimizer.param_groups] == [0.25, 0.25]
    with pytest.raises(RuntimeError, match="min_lrs has 1 rates for 2 parameter groups"):
        schedules[1].step(1.0)


def test_states_of_any_mapping_are_copied() -> None:
    p = ad.ones(2, requires_grad=True)
    optimizer = ad.optim.SGD([p], lr=0.1)
    inner = ad.ones(1)
    state = {0: {"a": collections.defaultdict(list, {1: [inner]}), "b": collections.deque([inner])}}
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    found = optimizer.state[p]
    assert found["a"] == {1: [inner]} and found["a"][1][0] is not inner and found["b"][0] is not inner
