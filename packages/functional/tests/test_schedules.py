"""Schedules of learning rates and the rarer optimizers: closed forms, states that go on, minima that are found, what they refuse."""

import math
from collections.abc import Callable

import pytest

import adjoint as ad
from adjoint.optim import lr_scheduler as rates

pytestmark = pytest.mark.filterwarnings("ignore:Detected call of .lr_scheduler")  # rates are asked without training


def optimizer(lr: float = 1.0, **options: float) -> ad.optim.Optimizer:
    return ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=lr, **options)


def run(schedule: rates.LRScheduler, steps: int) -> list[float]:
    found = list(schedule.get_last_lr())
    for _ in range(steps):
        schedule.step()
        found += schedule.get_last_lr()
    return found


MAKE: dict[str, tuple[Callable[[ad.optim.Optimizer], rates.LRScheduler], Callable[[int], float]]] = {
    "step": (lambda o: rates.StepLR(o, 3, 0.5), lambda t: 0.5 ** (t // 3)),
    "multistep": (lambda o: rates.MultiStepLR(o, [2, 4, 4], 0.1), lambda t: 0.1 ** ((t >= 2) + 2 * (t >= 4))),
    "constant": (lambda o: rates.ConstantLR(o, 0.25, 3), lambda t: 0.25 if t < 3 else 1.0),
    "linear": (lambda o: rates.LinearLR(o, 0.5, 1.0, 4), lambda t: 0.5 + 0.5 * min(t, 4) / 4),
    "exponential": (lambda o: rates.ExponentialLR(o, 0.9), lambda t: 0.9**t),
    "polynomial": (lambda o: rates.PolynomialLR(o, 5, 2), lambda t: (1 - min(t, 5) / 5) ** 2),
    "cosine": (lambda o: rates.CosineAnnealingLR(o, 4, 0.1), lambda t: 0.1 + 0.9 * (1 + math.cos(math.pi * t / 4)) / 2),
    "lambda": (lambda o: rates.LambdaLR(o, lambda t: 1 / (1 + t)), lambda t: 1 / (1 + t)),
    "multiplicative": (lambda o: rates.MultiplicativeLR(o, lambda t: 0.5), lambda t: 0.5**t),
    "restarts": (
        lambda o: rates.CosineAnnealingWarmRestarts(o, 3),
        lambda t: (1 + math.cos(math.pi * (t % 3) / 3)) / 2,
    ),
    "cyclic": (
        lambda o: rates.CyclicLR(o, 1.0, 2.0, 4, cycle_momentum=False),
        lambda t: 1 + (t % 8) / 4 if t % 8 <= 4 else 3 - (t % 8) / 4,
    ),
}


@pytest.mark.parametrize("name", MAKE)
def test_rates_have_their_closed_form_and_go_on_from_a_saved_state(name: str) -> None:
    make, closed = MAKE[name]
    expected = [closed(t) for t in range(12)]
    assert run(make(optimizer()), 11) == pytest.approx(expected)
    first = optimizer()
    schedule = make(first)
    run(schedule, 5)
    second = optimizer()
    other = make(second)
    second.load_state_dict(first.state_dict())
    other.load_state_dict(schedule.state_dict())
    assert run(other, 6) == pytest.approx(expected[5:])


def test_schedules_combine() -> None:
    both = optimizer()
    chained = rates.ChainedScheduler([rates.ExponentialLR(both, 0.9), rates.ConstantLR(both, 0.5, 2)])
    assert run(chained, 3) == pytest.approx([0.5, 0.45, 0.81, 0.729])
    turns = optimizer()
    parts = [rates.ConstantLR(turns, 0.5, 9), rates.ExponentialLR(turns, 0.9)]
    assert run(rates.SequentialLR(turns, parts, [2]), 4) == pytest.approx([0.5, 0.5, 1.0, 0.9, 0.81])


def test_plateau_waits_and_cools_down() -> None:
    schedule = rates.ReduceLROnPlateau(optimizer(), patience=1, cooldown=1, factor=0.5, min_lr=0.2)
    found = []
    for loss in [3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]:
        schedule.step(ad.tensor(loss))
        found += schedule.get_last_lr()
    assert found == [1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2, 0.2]


def test_one_cycle_moves_rate_and_momentum_against_each_other() -> None:
    sgd = optimizer(momentum=0.9)
    schedule = rates.OneCycleLR(sgd, max_lr=2.0, total_steps=11, pct_start=0.5)
    pairs = []
    for _ in range(10):
        pairs.append((sgd.param_groups[0]["lr"], sgd.param_groups[0]["momentum"]))
        schedule.step()
    assert (
        [p[0] for p in pairs].index(max(p[0] for p in pairs)) == [p[1] for p in pairs].index(min(p[1] for p in pairs)) in (4, 5)
    )
    schedule.step()
    with pytest.raises(ValueError, match="total number of steps is 11"):
        schedule.step()


def test_a_rate_that_is_a_tensor_is_written_in_place() -> None:
    sgd = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=ad.tensor(1.0))
    lr = sgd.param_groups[0]["lr"]
    rates.ExponentialLR(sgd, 0.5).step()
    assert sgd.param_groups[0]["lr"] is lr and lr.item() == 0.5


@pytest.mark.parametrize(
    ("make", "error", "rule"),
    [
        (lambda o: rates.StepLR(3, 1), TypeError, "is not an Optimizer"),
        (lambda o: rates.StepLR(o, 1, last_epoch=2), KeyError, "initial_lr"),
        (lambda o: rates.LambdaLR(o, [abs, abs]), ValueError, "Expected 1 lr_lambdas"),
        (lambda o: rates.LinearLR(o, 0), ValueError, "greater than 0"),
        (lambda o: rates.ConstantLR(o, 2), ValueError, "between 0 and 1"),
        (lambda o: rates.ReduceLROnPlateau(o, "best"), ValueError, "mode best is unknown"),
        (lambda o: rates.ReduceLROnPlateau(o, factor=1.0), ValueError, "Factor"),
        (lambda o: rates.CyclicLR(ad.optim.Adagrad(o.param_groups[0]["params"]), 0.1, 1.0), ValueError, "momentum"),
        (lambda o: rates.CyclicLR(o, 0.1, [1.0, 2.0]), ValueError, "same length"),
        (lambda o: rates.OneCycleLR(o, 1.0), ValueError, "total_steps"),
        (lambda o: rates.OneCycleLR(o, 1.0, 5, anneal_strategy="square"), ValueError, "cos"),
        (lambda o: rates.CosineAnnealingWarmRestarts(o, 0), ValueError, "T_0"),
        (lambda o: rates.SequentialLR(o, [rates.StepLR(o, 1)], [1]), ValueError, "one more"),
        (lambda o: rates.ChainedScheduler([]), ValueError, "at least one"),
        (lambda o: rates.LRScheduler(o), NotImplementedError, "get_lr"),
    ],
)
def test_refuses(make: Callable[[ad.optim.Optimizer], object], error: type[Exception], rule: str) -> None:
    with pytest.raises(error, match=rule):
        make(optimizer())


FINDERS = {
    "Adadelta": {"lr": 20.0},
    "Adamax": {"lr": 0.1},
    "NAdam": {"lr": 0.1},
    "RAdam": {"lr": 0.1},
    "ASGD": {"lr": 0.05, "lambd": 0.0},
    "Rprop": {},
    "LBFGS": {"line_search_fn": "strong_wolfe"},
}


@pytest.mark.parametrize("name", FINDERS)
def test_finds_a_minimum_and_goes_on_from_a_saved_state(name: str) -> None:
    def start() -> tuple[ad.Tensor, ad.optim.Optimizer, Callable[[], ad.Tensor]]:
        w = ad.nn.Parameter(ad.tensor([2.0, -3.0], dtype=ad.float64))
        found = getattr(ad.optim, name)([w], **FINDERS[name])

        def closure() -> ad.Tensor:
            found.zero_grad()
            loss = ((w - ad.tensor([1.0, 0.5])) ** 2 * ad.tensor([1.0, 3.0])).sum()
            loss.backward()
            return loss

        return w, found, closure

    w, found, closure = start()
    for _ in range(300):
        found.step(closure)
    assert closure().item() < 1e-3
    first, one, closure = start()
    for _ in range(3):
        one.step(closure)
    second, other, again = start()
    with ad.no_grad():
        second.copy_(first)
    other.load_state_dict(one.state_dict())
    for _ in range(3):
        one.step(closure)
        other.step(again)
    assert second.tolist() == pytest.approx(first.tolist(), abs=1e-9)


def test_optimizers_refuse() -> None:
    w = [ad.nn.Parameter(ad.ones(2))]
    for make, error, rule in (
        (lambda: ad.optim.LBFGS(w).step(), TypeError, "closure"),
        (
            lambda: ad.optim.LBFGS([{"params": w}, {"params": [ad.nn.Parameter(ad.ones(1))]}]),
            ValueError,
            "per-parameter options",
        ),
        (lambda: ad.optim.LBFGS(w, line_search_fn="golden"), ValueError, "strong_wolfe"),
        (lambda: ad.optim.Rprop(w, etas=(1.1, 1.2)), ValueError, "eta"),
        (lambda: ad.optim.NAdam(w, betas=(1.0, 0.9)), ValueError, "beta parameter at index 0"),
        (lambda: ad.optim.SparseAdam([ad.ones(2, 2).to_sparse().requires_grad_()]), ValueError, "indices .0."),
    ):
        with pytest.raises(error, match=rule):
            make()
    adam = ad.optim.SparseAdam(w)
    w[0].sum().backward()
    with pytest.raises(RuntimeError, match="does not support dense gradients"):
        adam.step()
