"""Optimizers and schedules of learning rates beside PyTorch's: the same parameters and rates, step by step."""

import math
import warnings

import pytest

import adjoint as ad

torch = pytest.importorskip("torch")

OPTIMIZERS = {
    "SGD": [{}, {"momentum": 0.9, "nesterov": True}],
    "Adam": [{"lr": 0.1}],
    "AdamW": [{"lr": 0.1}],
    "RMSprop": [{"centered": True}],
    "Adagrad": [{"lr_decay": 0.1}],
    "Adadelta": [{}, {"weight_decay": 0.1, "rho": 0.8}],
    "Adamax": [{"lr": 0.1}, {"weight_decay": 0.1, "maximize": True}],
    "NAdam": [{"lr": 0.1}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RAdam": [{"lr": 0.01}, {"weight_decay": 0.1, "decoupled_weight_decay": True, "betas": (0.8, 0.9)}],
    "ASGD": [{"lr": 0.05}, {"t0": 4, "weight_decay": 0.1, "lr": 0.05}],
    "Rprop": [{}, {"lr": 0.2, "etas": (0.3, 1.4), "step_sizes": (1e-2, 0.3)}],
    "LBFGS": [
        {},
        {"lr": 0.5, "history_size": 3, "max_iter": 4},
        {"line_search_fn": "strong_wolfe", "max_iter": 5},
        {"line_search_fn": "strong_wolfe", "history_size": 5, "lr": 3},
    ],
}


def trained(library, name, options):
    w = library.tensor([[1.5, -2.0, 0.3], [0.7, 0.01, -1.1]], dtype=library.float64, requires_grad=True)
    v = library.tensor([2.0, -1.0], dtype=library.float64, requires_grad=True)
    optimizer = getattr(library.optim, name)([w, v], **options)

    def closure():
        optimizer.zero_grad()
        loss = ((w * w).sum(1) * v).sin().sum() + ((w - 1) ** 4).sum() + (v**2).sum()
        loss.backward()
        return loss

    path = []
    for _ in range(12):
        optimizer.step(closure)
        path += [*w.flatten().tolist(), *v.tolist()]
    return path


@pytest.mark.parametrize(("name", "options"), [(n, o) for n, all_of in OPTIMIZERS.items() for o in all_of])
def test_optimizers_take_the_same_path(name, options):
    assert trained(ad, name, options) == pytest.approx(trained(torch, name, options), rel=1e-8, abs=1e-8)


def test_sparse_adam_touches_the_same_rows():
    def table(library):
        rows = library.ones(5, 2, dtype=library.float64, requires_grad=True)
        optimizer = library.optim.SparseAdam([rows], lr=0.1)
        for index in ([0, 1, 1], [3], [1, 0]):
            optimizer.zero_grad()
            (library.nn.functional.embedding(library.tensor(index), rows, sparse=True) ** 3).sum().backward()
            optimizer.step()
        return rows.detach().flatten().tolist()

    assert table(ad) == pytest.approx(table(torch), abs=1e-12)


def averages(rates):
    return (torch if rates is torch.optim.lr_scheduler else ad).optim.swa_utils


SCHEDULES = {
    "lambda": lambda m, o: m.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (1 + e)]),
    "multiplicative": lambda m, o: m.MultiplicativeLR(o, lambda e: 0.97),
    "step": lambda m, o: m.StepLR(o, 3, 0.5),
    "multistep": lambda m, o: m.MultiStepLR(o, [2, 5, 5, 9], 0.3),
    "constant": lambda m, o: m.ConstantLR(o, 0.2, 4),
    "linear": lambda m, o: m.LinearLR(o, 0.1, 0.8, 6),
    "exponential": lambda m, o: m.ExponentialLR(o, 0.93),
    "polynomial": lambda m, o: m.PolynomialLR(o, 12, 2.0),
    "cosine": lambda m, o: m.CosineAnnealingLR(o, 7, 0.01),
    "chained": lambda m, o: m.ChainedScheduler([m.ExponentialLR(o, 0.9), m.LinearLR(o, 0.1, 1, 5), m.CosineAnnealingLR(o, 9)]),
    "sequential": lambda m, o: m.SequentialLR(
        o, [m.LinearLR(o, 0.1, 1, 5), m.ExponentialLR(o, 0.9), m.CosineAnnealingLR(o, 9)], [5, 12]
    ),
    "plateau": lambda m, o: m.ReduceLROnPlateau(o, patience=2, factor=0.5, cooldown=1),
    "plateau of a largest": lambda m, o: m.ReduceLROnPlateau(o, "max", patience=1, threshold_mode="abs", min_lr=[0.1, 0.001]),
    "cyclic": lambda m, o: m.CyclicLR(o, 0.1, 0.7, 5, 3),
    "cyclic, halved": lambda m, o: m.CyclicLR(o, [0.1, 0.2], [0.7, 0.9], 4, mode="triangular2"),
    "cyclic, exponential": lambda m, o: m.CyclicLR(o, 0.1, 0.7, 4, mode="exp_range", gamma=0.9, cycle_momentum=False),
    "cyclic, scaled": lambda m, o: m.CyclicLR(o, 0.1, 0.7, 4, scale_fn=lambda x: 1 / x, base_momentum=0.5),
    "warm restarts": lambda m, o: m.CosineAnnealingWarmRestarts(o, 4, 2, 0.01),
    "averages of weights": lambda m, o: averages(m).SWALR(o, [0.05, 0.7], 6),
    "averages of weights, linear": lambda m, o: averages(m).SWALR(o, 0.05, 8, "linear"),
    "one cycle": lambda m, o: m.OneCycleLR(o, 0.7, 50),
    "one cycle, linear": lambda m, o: m.OneCycleLR(
        o, [0.7, 0.9], epochs=10, steps_per_epoch=5, anneal_strategy="linear", pct_start=0.4
    ),
    "one cycle, three phases": lambda m, o: m.OneCycleLR(o, 0.7, 50, three_phase=True, div_factor=10, final_div_factor=100),
}


def scheduled(library, make, kind):
    groups = [{"params": [library.ones(1, requires_grad=True)], "lr": lr} for lr in (0.5, 0.05)]
    options = {"momentum": 0.9} if kind == "SGD" else {}
    optimizer = getattr(library.optim, kind)(groups, **options)
    schedule = make(library.optim.lr_scheduler, optimizer)
    found = []
    for i in range(40):
        found += [group["lr"] for group in optimizer.param_groups]
        found += [group.get("momentum", group.get("betas", [0])[0]) for group in optimizer.param_groups]
        found += schedule.get_last_lr()
        optimizer.step()
        schedule.step(*([math.cos(i * 0.7) / (i + 1)] if "Plateau" in type(schedule).__name__ else []))
    return found


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_give_the_same_rates(name, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert scheduled(ad, SCHEDULES[name], kind) == pytest.approx(scheduled(torch, SCHEDULES[name], kind), rel=1e-12)
