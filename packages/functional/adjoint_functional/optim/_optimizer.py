"""What optimizers share: groups of parameters with options, the step, and a state that survives in `state_dict`."""

from __future__ import annotations

import warnings
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import enable_grad, set_grad_enabled

from . import _together as together
from ._counting import number, on_device
from ._hooks import Hooks


class Optimizer(Hooks):
    """The base of optimizers: a subclass defines ``update`` for one parameter.

    Arguments:
        params: tensors, (name, tensor) pairs, or dicts, each a group with options of its own: ``{"params": [...], "lr": 0.1}``.
        defaults: the options of groups that do not say otherwise.

    Raises:
        ValueError: no parameters, a parameter that is no leaf, or one that is in two groups.
    """

    _takes_sparse = False  # whether gradients may be sparse
    _counts_steps = False  # whether what a step does depends on how many there were

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got {params.type()}"
            )
        if isinstance(defaults, dict) and defaults.get("foreach") and defaults.get("fused"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group: ``params`` and the options that differ from the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change between runs. Please use a list instead.")  # fmt: skip
        listed = [params] if isinstance(params, Tensor) else list(params)
        names = [p[0] for p in listed if isinstance(p, tuple)]
        group = {**dict(self.defaults), **param_group, "params": [p[1] if isinstance(p, tuple) else p for p in listed]}
        if names:
            group["param_names"] = names
        self._check(group)
        self.param_groups.append(group)

    def _check(self, group: dict[str, Any]) -> None:
        """Raises if the parameters of a new group cannot be optimized."""
        params, names = group["params"], group.get("param_names")
        if names is not None and len(names) != len(params):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        if self.param_groups and (names is None) == ("param_names" in self.param_groups[0]):
            rule = (
                "cannot add param group without names to the optimizer"
                if names is None
                else "cannot add param group with names to the optimizer"
            )
            raise ValueError(f"all optimizer param groups should be with/without names. {rule}")
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not (p.is_leaf or group.get("differentiable")):
                raise ValueError("can't optimize a non-leaf Tensor")
        numbers = {id(p) for p in params}
        if len(numbers) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error",
                stacklevel=4,
            )
        if not numbers.isdisjoint(id(p) for g in self.param_groups for p in g["params"]):
            raise ValueError("some parameters appear in more than one parameter group")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients of all parameters, or makes them zero in place."""
        shown = self._shown("zero_grad")
        for p in (p for group in self.param_groups for p in group["params"] if p.grad is not None):
            if set_to_none:
                p.grad = None
            elif p.grad.grad_fn is None:
                p.grad.requires_grad_(False).zero_()
            else:
                p.grad.detach_().zero_()
        shown.end()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step; ``closure``, if given, computes the gradients anew first and returns the loss, which is returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with set_grad_enabled(self.defaults.get("differentiable", False)):
            for group in self.param_groups:
                params = [p for p in group["params"] if p.grad is not None]
                for p in params:
                    self._check_gradient(p, group)
                for p in self._one_by_one(params, group):
                    g, held = real(p.grad), self.state.get(p)
                    state: dict[str, Any] = {} if held is None else held
                    self.update(real(p), -g if group.get("maximize") else g, state, group)
                    if held is None and state:  # what keeps nothing has no entry
                        self.state[p] = state
        return loss

    def _one_by_one(self, params: list[Tensor], group: dict[str, Any]) -> list[Tensor]:
        """The parameters that are left when those are stepped that go together, by the class whose `update` says how."""
        owner = next(c for c in type(self).__mro__ if "update" in vars(c))
        take = vars(owner).get("update_together")
        distinct = len({id(p) for p in params}) == len(params)
        return take(self, params, group) if take and distinct and together.wanted(params, group) else params

    def _check_gradient(self, p: Tensor, group: dict[str, Any]) -> None:
        if p.grad.is_sparse and not self._takes_sparse:
            raise RuntimeError(f"{type(self).__name__} does not support sparse gradients; SparseAdam, SGD and Adagrad do")
        if self._counts_steps and p.is_cuda and not group.get("capturable") and core.cuda.is_current_stream_capturing():
            how = (
                "Give it capturable=True"
                if "capturable" in group
                else "Capture forward and backward, and step outside of the graph"
            )
            raise RuntimeError(
                f"{type(self).__name__}: Attempting CUDA graph capture of a step() that counts steps on the CPU: replays would "
                f"not count. {how}."
            )

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Writes the new value of the parameter ``p``, whose gradient is ``g``; of complex ones both come as pairs of real numbers."""
        raise NotImplementedError(f"{type(self).__name__}: update is not defined")

    def state_dict(self) -> dict[str, Any]:
        """The state of each parameter by its number, what else is in `state` as it is, and the groups with numbers for their parameters."""
        for hook in tuple(self._hooks["state_dict_pre"].values()):
            hook(self)
        numbers = {p: i for i, p in enumerate(p for group in self.param_groups for p in group["params"])}
        groups = [
            {**{k: v for k, v in group.items() if k != "params"}, "params": [numbers[p] for p in group["params"]]}
            for group in self.param_groups
        ]
        state = {
            numbers[p] if isinstance(p, Tensor) else p: dict(s) if isinstance(p, Tensor) else s for p, s in self.state.items()
        }
        return self._changed("state_dict_post", {"state": state, "param_groups": groups})

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes back what ``state_dict`` gave, copied; options that it lacks stay, other words of the groups go.

        Raises:
            ValueError: the groups have other numbers of parameters.
        """
        state_dict = self._changed("load_pre", dict(state_dict))
        given = state_dict["param_groups"]
        if len(given) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if [len(g["params"]) for g in given] != [len(g["params"]) for g in self.param_groups]:
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        params = [p for group in self.param_groups for p in group["params"]]
        numbers = [n for group in given for n in group["params"]]
        kept = self.defaults.keys() | {"param_names"}
        groups = [
            {**{k: v for k, v in old.items() if k in kept}, **deepcopy({**new, "params": None}), "params": old["params"]}
            for old, new in zip(self.param_groups, given)
        ]
        options = [group for group in groups for _ in group["params"]]
        known = {n: (p, group) for n, p, group in zip(numbers, params, options)}
        state: dict[Any, Any] = defaultdict(dict)
        for n, values in state_dict["state"].items():
            if n in known:
                p, group = known[n]
                state[p] = {k: _copied(v, k, p, group) for k, v in values.items()}
            else:
                state[n] = values
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in tuple(self._hooks["load_post"].values()):
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.setdefault("_hooks", defaultdict(OrderedDict))
        self.__dict__.update(state)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += [
                *([""] if i else []),
                f"Parameter Group {i}",
                *(f"    {k}: {group[k]}" for k in sorted(group) if k != "params"),
            ]
        return "\n".join([*lines, ")"])


def _copied(value: Any, key: str, p: Tensor, group: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {k: _copied(v, k, p, group) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, deque)):
        parts = [_copied(v, "", p, group) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if not isinstance(value, Tensor):
        return value
    if key == "step":
        return value.to(p.device if on_device(p, group) else value.device).clone()
    return real(value).to(device=p.device, dtype=real(p).dtype).clone()


def real(t: Tensor) -> Tensor:
    return core.view_as_real(t) if t.is_complex() else t


def expect_real(optimizer: Optimizer, p: Tensor) -> None:
    """Of those that have no step of complex numbers."""
    if p.is_complex():
        raise RuntimeError(f"{type(optimizer).__name__} does not support complex parameters")


def check(**values: Any) -> None:
    """Options that must not be negative, by the names that errors give them."""
    for name, value in values.items():
        if isinstance(value, Tensor) and value.numel() != 1:
            raise ValueError(f"Tensor {name} must be 1-element")
        if not 0.0 <= float(value.detach() if isinstance(value, Tensor) else value):
            shown = (
                "learning rate" if name == "lr" else f"{name.removesuffix('_value')} value" if name.endswith("_value") else name
            )
            raise ValueError(f"Invalid {shown}: {value}")


def options(scope: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a constructor that are options."""
    return {k: v for k, v in scope.items() if k not in ("self", "params", "wrong", "__class__")}


def decayed(p: Tensor, g: Tensor, group: dict[str, Any]) -> Tensor:
    return g if group["weight_decay"] == 0 else g + p * group["weight_decay"]


def started(state: dict[str, Any], p: Tensor, group: dict[str, Any], *names: str) -> None:
    """Starts a state: the number of steps, and sums of the parameter's shape."""
    if not state:
        state["step"] = number(0.0, p, group)
        state.update({name: core.zeros_like(p, memory_format=core.preserve_format) for name in names})


def running(state: dict[str, Any], p: Tensor, group: dict[str, Any], *names: str) -> None:
    """The state for one more step."""
    started(state, p, group, *names)
    state["step"] += 1
