"""Hooks of optimizers, what they check, and copies of them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import adjoint as ad

optim = ad.optim


def parameters(n: int = 2) -> list[Any]:
    return [ad.nn.Parameter(ad.ones(k + 1)) for k in range(n)]


class Doubled(optim.SGD):
    """A step of its own that calls the one of its base."""

    def step(self, closure: Any = None) -> Any:
        super().step()
        return super().step(closure)


class Own(optim.Optimizer):
    def __init__(self, params: Any) -> None:
        super().__init__(params, {"lr": 1.0})

    def step(self) -> str:
        return "done"


@pytest.mark.parametrize("kind", ["SGD", "LBFGS", "Doubled", "Own"])
def test_steps(kind: str) -> None:
    p, log = parameters(1)[0], []
    make: Any = {"Doubled": Doubled, "Own": Own}.get(kind) or getattr(optim, kind)
    optimizer: Any = make([p]) if kind == "Own" else make([p], lr=0.1)
    arguments = () if kind == "Own" else (lambda: (p * p).sum(),)
    every = [
        optim.optimizer.register_optimizer_step_pre_hook(lambda *given: log.append("all before")),
        optim.optimizer.register_optimizer_step_post_hook(lambda *given: log.append("all after")),
    ]
    before = optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append(("before", o is args[0], len(args), kwargs)))
    optimizer.register_step_post_hook(lambda o, args, kwargs: log.append("after"))
    result = optimizer.step(*arguments)
    assert log == ["all before", ("before", True, 1 + len(arguments), {}), "after", "all after"]
    assert result == ("done" if kind == "Own" else 1)
    for handle in (*every, before):
        handle.remove()
    log.clear()
    optimizer.step(*arguments)
    assert log == ["after"]


def test_hooks_may_change_arguments() -> None:
    optimizer = optim.SGD(parameters(), lr=0.1)
    handle = optimizer.register_step_pre_hook(lambda o, args, kwargs: ((*args, lambda: 3), {}))
    assert optimizer.step() == 3
    handle.remove()
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 5)
    with pytest.raises(RuntimeError, match="must return None or a tuple of .new_args, new_kwargs., but got 5"):
        optimizer.step()

    def fail(*given: Any) -> None:
        raise LookupError

    optimizer = optim.SGD(parameters(), lr=0.1)
    with optimizer.register_step_pre_hook(fail), pytest.raises(LookupError):
        optimizer.step()
    optimizer.register_step_post_hook(fail)
    with pytest.raises(LookupError):  # hooks run in the step after one that failed
        optimizer.step()


def test_states() -> None:
    optimizer, log = optim.SGD(parameters(), lr=0.1), []
    optimizer.register_state_dict_pre_hook(lambda o: log.append("save"))
    optimizer.register_state_dict_pre_hook(lambda o: log.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: state["param_groups"][0].update(lr=state.pop("more")))
    optimizer.register_load_state_dict_post_hook(lambda o: log.append(o.param_groups[0]["lr"]))
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    assert log == ["first", "save", 1] and state["more"] == 1


@pytest.mark.parametrize(
    "make", [lambda p: optim.Adam(p), lambda p: optim.LBFGS(p, max_iter=2), lambda p: optim.SGD(p, lr=0.1, momentum=0.9)]
)
def test_copies(make: Any) -> None:
    optimizer = make(parameters())
    params = optimizer.param_groups[0]["params"]

    def closure(o: Any) -> Any:
        def loss() -> Any:
            o.zero_grad()
            value = sum((p**4).sum() for p in o.param_groups[0]["params"])
            value.backward()
            return value

        return loss

    optimizer.step(closure(optimizer))
    for twin in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        twin.register_step_pre_hook(lambda *given: None)
        twin.step(closure(twin))
        assert twin.param_groups[0]["params"][0] is not params[0] and not ad.equal(twin.param_groups[0]["params"][0], params[0])


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda p: optim.SGD(p, lr=0.1).add_param_group(p), TypeError, "param_group must be a dict, but got <class 'list'>"),
        (lambda p: optim.SGD([("a", p[0]), p[1]], lr=0.1), ValueError, "Some param names are missing"),
        (lambda p: optim.SGD([("a", p[0])], lr=0.1).add_param_group({"params": p[1]}), ValueError, "cannot add param group without names"),
        (lambda p: optim.SGD(p[:1], lr=0.1).add_param_group({"params": [("b", p[1])]}), ValueError, "cannot add param group with names"),
        (lambda p: optim.Adam(p, foreach=True, fused=True), RuntimeError, "`fused` and `foreach` cannot be `True` together"),
        (lambda p: optim.Adam(p, lr=ad.ones(2)), ValueError, "Tensor lr must be 1-element"),
        (lambda p: optim.Adagrad(p, initial_accumulator_value=-1), ValueError, "Invalid initial_accumulator_value value: -1"),
        (lambda p: optim.LBFGS(p).step(), TypeError, "closure"),
        (lambda p: optim.SGD(p, lr=1).load_state_dict(optim.SGD([{"params": p[0]}, {"params": p[1]}], lr=1).state_dict()), ValueError, "different number of parameter groups"),
        (lambda p: optim.SGD(p, lr=1).load_state_dict(optim.SGD(p[:1], lr=1).state_dict()), ValueError, "doesn't match the size of optimizer's group"),
    ],
)  # fmt: skip
def test_errors(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make(parameters())


def test_a_parameter_twice() -> None:
    p = parameters(1)[0]
    with pytest.warns(UserWarning, match="a parameter group with duplicate parameters"):
        optim.SGD([p, p], lr=0.1)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_takes_complex_parameters(search: str | None) -> None:
    w = ad.nn.Parameter(ad.tensor([2 + 1j, -1 - 0.5j], dtype=ad.complex128))
    optimizer = optim.LBFGS([w], line_search_fn=search, lr=0.5)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((w - (3 + 2j)).abs() ** 2).sum()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)
    assert closure().item() < 1e-9
