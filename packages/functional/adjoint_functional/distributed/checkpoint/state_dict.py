"""State dicts of models and optimizers whose names do not depend on the order of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from adjoint_core import Tensor

from ...utils.pytree import tree_map_only

__all__ = [
    "StateDictOptions", "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict", "set_model_state_dict", "set_optimizer_state_dict",
    "set_state_dict",
]  # fmt: skip


def _module(model: Any) -> Any:
    """The module that data parallelism wraps."""
    return model.module if type(model).__name__ == "DistributedDataParallel" else model


@dataclass
class StateDictOptions:
    """What the functions below leave out or do besides; no state is in parts here, so every one is a full one.

    Attributes:
        cpu_offload: tensors that are got are copied to the CPU.
        ignore_frozen_params: parameters that take no gradient are left out of what is got, and need not be in what is set.
        strict: a model that is set wants the names that it has, no others.
        broadcast_from_rank0, flatten_optimizer_state_dict: True raises NotImplementedError.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False

    def __post_init__(self) -> None:
        for name in ("broadcast_from_rank0", "flatten_optimizer_state_dict"):
            if getattr(self, name):
                raise NotImplementedError(
                    f"StateDictOptions: {name} must be False, as each rank has the state of its whole model by name"
                )


def _on_its_device(state: Any, options: StateDictOptions) -> Any:
    return tree_map_only(Tensor, lambda t: t.cpu(), state) if options.cpu_offload else state


def _frozen(model: Any, options: StateDictOptions) -> set[str]:
    """The names that are left out."""
    named = _module(model).named_parameters() if options.ignore_frozen_params else ()
    return {name for name, p in named if not p.requires_grad}


def get_model_state_dict(model: Any, *, options: StateDictOptions | None = None) -> dict[str, Any]:
    """The state of a module, under the names that it has without data parallelism."""
    options = options or StateDictOptions()
    frozen = _frozen(model, options)
    return {name: _on_its_device(value, options) for name, value in _module(model).state_dict().items() if name not in frozen}


def set_model_state_dict(model: Any, model_state_dict: Mapping[str, Any], *, options: StateDictOptions | None = None) -> Any:
    """Gives a module the state; returns what `load_state_dict` does."""
    options = options or StateDictOptions()
    own = _module(model).state_dict()
    kept = {name: own[name] for name in _frozen(model, options)}
    return _module(model).load_state_dict({**kept, **model_state_dict}, strict=options.strict)


def _names(model: Any) -> dict[int, str]:
    return {id(p): name for name, p in _module(model).named_parameters()}


def _all(optimizers: Any) -> list[Any]:
    return list(optimizers) if isinstance(optimizers, Iterable) else [optimizers]


def get_optimizer_state_dict(model: Any, optimizers: Any, *, options: StateDictOptions | None = None) -> dict[str, Any]:
    """The state of the optimizers of a model, under the names of its parameters."""
    names, out = _names(model), {"state": {}, "param_groups": []}
    for optimizer in _all(optimizers):
        for p, state in optimizer.state.items():
            out["state"][names[id(p)]] = dict(state)
        for group in optimizer.param_groups:
            out["param_groups"].append({**group, "params": [names[id(p)] for p in group["params"]]})
    return _on_its_device(out, options or StateDictOptions())  # type: ignore[no-any-return]


def set_optimizer_state_dict(
    model: Any, optimizers: Any, optim_state_dict: Mapping[str, Any], *, options: StateDictOptions | None = None
) -> None:
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


def get_state_dict(
    model: Any, optimizers: Any, *, options: StateDictOptions | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The states of a model and of its optimizers."""
    return get_model_state_dict(model, options=options), get_optimizer_state_dict(model, optimizers, options=options)


def set_state_dict(
    model: Any,
    optimizers: Any,
    *,
    model_state_dict: Mapping[str, Any],
    optim_state_dict: Mapping[str, Any],
    options: StateDictOptions | None = None,
) -> Any:
    """Gives a model and its optimizers their states."""
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)
