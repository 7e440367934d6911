"""State dicts of models and optimizers whose names do not depend on the order of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = [
    "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict", "set_model_state_dict", "set_optimizer_state_dict",
    "set_state_dict",
]  # fmt: skip


def _module(model: Any) -> Any:
    """The module that data parallelism wraps."""
    return model.module if type(model).__name__ == "DistributedDataParallel" else model


def get_model_state_dict(model: Any) -> dict[str, Any]:
    """The state of a module, under the names that it has without data parallelism."""
    return _module(model).state_dict()


def set_model_state_dict(model: Any, model_state_dict: Mapping[str, Any], *, strict: bool = True) -> Any:
    """Gives a module the state; returns what `load_state_dict` does."""
    return _module(model).load_state_dict(model_state_dict, strict=strict)


def _names(model: Any) -> dict[int, str]:
    return {id(p): name for name, p in _module(model).named_parameters()}


def _all(optimizers: Any) -> list[Any]:
    return list(optimizers) if isinstance(optimizers, Iterable) else [optimizers]


def get_optimizer_state_dict(model: Any, optimizers: Any) -> dict[str, Any]:
    """The state of the optimizers of a model, under the names of its parameters."""
    names, out = _names(model), {"state": {}, "param_groups": []}
    for optimizer in _all(optimizers):
        for p, state in optimizer.state.items():
            out["state"][names[id(p)]] = dict(state)
        for group in optimizer.param_groups:
            out["param_groups"].append({**group, "params": [names[id(p)] for p in group["params"]]})
    return out


def set_optimizer_state_dict(model: Any, optimizers: Any, optim_state_dict: Mapping[str, Any]) -> None:
    """Gives the optimizers of a model a state under the names of its parameters."""
    names = _names(model)
    groups = {name: group for group in optim_state_dict["param_groups"] for name in group["params"]}
    for optimizer in _all(optimizers):
        own = optimizer.state_dict()
        order = [names[id(p)] for group in optimizer.param_groups for p in group["params"]]
        own["state"] = {
            i: dict(optim_state_dict["state"][name]) for i, name in enumerate(order) if name in optim_state_dict["state"]
        }
        for saved, group in zip(own["param_groups"], optimizer.param_groups):
            given = groups[names[id(group["params"][0])]]
            saved.update({k: v for k, v in given.items() if k != "params"})
        optimizer.load_state_dict(own)


def get_state_dict(model: Any, optimizers: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The states of a model and of its optimizers."""
    return get_model_state_dict(model), get_optimizer_state_dict(model, optimizers)


def set_state_dict(
    model: Any, optimizers: Any, *, model_state_dict: Mapping[str, Any], optim_state_dict: Mapping[str, Any]
) -> Any:
    """Gives a model and its optimizers their states."""
    set_optimizer_state_dict(model, optimizers, optim_state_dict)
    return set_model_state_dict(model, model_state_dict)
