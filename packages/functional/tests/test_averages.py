"""Averages of weights."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad

pytestmark = pytest.mark.filterwarnings("ignore:Detected call of .lr_scheduler")  # rates are asked without training

swa = ad.optim.swa_utils


def models(n: int) -> list[Any]:
    return [ad.nn.Sequential(ad.nn.Linear(2, 3), ad.nn.BatchNorm1d(3)) for _ in range(n)]


def fill(model: Any, value: float) -> None:
    for t in (*model.parameters(), *model.buffers()):
        t.data.fill_(value)


@pytest.mark.parametrize("buffers", [False, True])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 4.0),
        ({"avg_fn": swa.get_swa_avg_fn()}, 4.0),
        ({"multi_avg_fn": swa.get_swa_multi_avg_fn()}, 4.0),
        ({"avg_fn": swa.get_ema_avg_fn(0.5)}, 5.0),
        ({"multi_avg_fn": swa.get_ema_multi_avg_fn(0.5)}, 5.0),
    ],
)
def test_averages(options: dict[str, Any], expected: float, buffers: bool) -> None:
    (model,) = models(1)
    averaged = swa.AveragedModel(model, use_buffers=buffers, **options)
    for value in (1.0, 3.0, 8.0):
        fill(model, value)
        averaged.update_parameters(model)
    linear, norm = averaged.module
    assert averaged.n_averaged == 3 and {*linear.weight.flatten().tolist(), *norm.bias.tolist()} == {expected}
    assert set(norm.running_mean.tolist()) == {expected if buffers else 8.0}
    x = ad.randn(4, 2)
    assert ad.equal(averaged.eval()(x), averaged.module(x)) and "n_averaged" in averaged.state_dict()


def test_statistics_of_batches() -> None:
    (model,) = models(1)
    model.eval()
    batches = [(ad.randn(5, 2), "label") for _ in range(3)]
    swa.update_bn(batches, model)
    hidden = [model[0](x).detach() for x, _ in batches]
    assert ad.allclose(model[1].running_mean, sum(h.mean(0) for h in hidden) / 3, atol=1e-6)
    assert ad.allclose(model[1].running_var, sum(h.var(0) for h in hidden) / 3, atol=1e-6)
    assert model[1].momentum == 0.1 and not model.training
    swa.update_bn([], ad.nn.Linear(1, 1))


@pytest.mark.parametrize(("strategy", "half"), [("linear", 0.55), ("cos", 0.55)])
def test_rates(strategy: str, half: float) -> None:
    optimizer = ad.optim.SGD(
        [{"params": [ad.nn.Parameter(ad.ones(1))]}, {"params": [ad.nn.Parameter(ad.ones(1))], "lr": 2.0}], lr=1.0
    )
    schedule = swa.SWALR(optimizer, swa_lr=[0.1, 0.2], anneal_epochs=4, anneal_strategy=strategy)
    rates = [schedule.get_last_lr()]
    for _ in range(6):
        schedule.step()
        rates.append(schedule.get_last_lr())
    assert (
        rates[0] == [1.0, 2.0] and rates[2] == pytest.approx([half, 1.1]) and rates[4] == rates[6] == pytest.approx([0.1, 0.2])
    )
    assert swa.SWALR(optimizer, swa_lr=0.3, anneal_epochs=0).get_last_lr() == [0.3, 0.3]


def test_errors() -> None:
    optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0)
    for make, error, words in [
        (lambda: swa.get_ema_avg_fn(1.5), ValueError, "Invalid decay value 1.5"),
        (lambda: swa.SWALR(optimizer, 0.1, anneal_strategy="x"), ValueError, "anneal_strategy must be one of"),
        (lambda: swa.SWALR(optimizer, 0.1, anneal_epochs=-1), ValueError, "anneal_epochs must be equal or greater than 0"),
        (lambda: swa.SWALR(optimizer, [0.1, 0.2]), ValueError, "same length as optimizer.param_groups"),
        (lambda: swa.AveragedModel(ad.nn.Linear(1, 1), avg_fn=swa.get_swa_avg_fn(), multi_avg_fn=swa.get_swa_multi_avg_fn()), AssertionError, "Only one"),
    ]:  # fmt: skip
        with pytest.raises(error, match=words):
            make()
