"""`optim`: optimizers. Each writes new values into parameters from their `.grad`; a state survives in `state_dict`."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import _engine, enable_grad, set_grad_enabled

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop"]


class Optimizer:
    """The base of optimizers: a subclass defines ``update`` for one parameter.

    Arguments:
        params: tensors, (name, tensor) pairs, or dicts, each a group with options of its own: ``{"params": [...], "lr": 0.1}``.
        defaults: the options of groups that do not say otherwise.

    Raises:
        ValueError: no parameters, a parameter that is no leaf, or one that is in two groups.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got {type(params)}"
            )
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
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change between runs. Please use a list instead.")  # fmt: skip
        listed = [params] if isinstance(params, Tensor) else list(params)
        names = [p[0] for p in listed if isinstance(p, tuple)]
        group = {**self.defaults, **param_group, "params": [p[1] if isinstance(p, tuple) else p for p in listed]}
        if names:
            group["param_names"] = names
        known = {id(p) for g in self.param_groups for p in g["params"]}
        for p in group["params"]:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not (p.is_leaf or group.get("differentiable")):
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(p) in known:
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients of all parameters, or makes them zero in place."""
        shown = self._shown("zero_grad")
        for p in (p for group in self.param_groups for p in group["params"] if p.grad is not None):
            p.grad = None if set_to_none else core.zeros_like(p.grad)
        shown.end()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step; ``closure``, if given, computes the gradients anew first and returns the loss, which is returned."""
        loss = None
        shown = self._shown("step")
        if closure is not None:
            with enable_grad():
                loss = closure()
        with set_grad_enabled(self.defaults.get("differentiable", False)):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self.update(p, -p.grad if group["maximize"] else p.grad, self.state[p], group)
        shown.end()
        return loss

    def _shown(self, method: str) -> Any:
        """A range in profiles until it ends, or is forgotten because of an error; as PyTorch calls it."""
        return _engine.Range(f"Optimizer.{method}#{type(self).__name__}.{method}")

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Writes the new value of the parameter ``p``, whose gradient is ``g``."""
        raise NotImplementedError(f"{type(self).__name__}: update is not defined")

    def state_dict(self) -> dict[str, Any]:
        """The state of each parameter by its number, and the groups with numbers for their parameters."""
        numbers = {p: i for i, p in enumerate(p for group in self.param_groups for p in group["params"])}
        groups = [{**group, "params": [numbers[p] for p in group["params"]]} for group in self.param_groups]
        return {"state": {numbers[p]: dict(s) for p, s in self.state.items() if s}, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes back what ``state_dict`` gave, copied.

        Raises:
            ValueError: the groups have other numbers of parameters.
        """
        given = state_dict["param_groups"]
        if [len(g["params"]) for g in given] != [len(g["params"]) for g in self.param_groups]:
            raise ValueError("loaded state dict has a different number of parameter groups, or groups of another size")
        params = [p for group in self.param_groups for p in group["params"]]
        numbers = [n for group in given for n in group["params"]]
        own = {n: {k: _copied(v, k, p) for k, v in state_dict["state"].get(n, {}).items()} for n, p in zip(numbers, params)}
        self.state = defaultdict(dict, {p: own[n] for n, p in zip(numbers, params) if own[n]})
        self.param_groups = [{**old, **new, "params": old["params"]} for old, new in zip(self.param_groups, given)]

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += [
                f"Parameter Group {i}",
                *(f"    {k}: {group[k]}" for k in sorted(group) if k not in ("params", "param_names")),
            ]
        return "\n".join([*lines, ")"])


def _copied(value: Any, key: str, p: Tensor) -> Any:
    if not isinstance(value, Tensor):
        return value
    return value.clone() if key == "step" else value.to(device=p.device, dtype=p.dtype).clone()


def _check(**values: Any) -> None:
    """Options that must not be negative, by the names that errors give them."""
    for name, value in values.items():
        if not 0.0 <= float(value):
            raise ValueError(f"Invalid {name.replace('_value', ' value') if name != 'lr' else 'learning rate'}: {value}")


def _options(scope: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a constructor that are options."""
    return {k: v for k, v in scope.items() if k not in ("self", "params", "wrong", "__class__")}


def _decayed(p: Tensor, g: Tensor, group: dict[str, Any]) -> Tensor:
    return g if group["weight_decay"] == 0 else g + p * group["weight_decay"]


def _running(state: dict[str, Any], p: Tensor, *names: str) -> None:
    """Starts a state: the number of steps, and sums of the parameter's shape."""
    if not state:
        state["step"] = core.tensor(0.0)
        state.update({name: core.zeros_like(p, memory_format=core.preserve_format) for name in names})
    state["step"] += 1


class SGD(Optimizer):
    """Gradient descent: ``p -= lr · g``, with ``momentum`` along ``v = momentum · v + (1 - dampening) · g`` instead of g.

    Arguments:
        params: see `Optimizer`.
        lr: length of a step.
        momentum: share of the last direction that is kept.
        dampening: share of a new gradient that is not added to it.
        weight_decay: adds ``weight_decay · p`` to the gradient.
        nesterov: looks ahead along the momentum.
        maximize: ascends.
        foreach, fused: accepted; all do the same.
        differentiable: the step itself is recorded.

    Example::

        >>> w = ad.nn.Parameter(ad.tensor([2.0]))
        >>> optimizer = ad.optim.SGD([w], lr=0.25)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.tolist()
        [1.0]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        _check(lr=lr, momentum_value=momentum, weight_decay_value=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, _options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        g = _decayed(p, g, group)
        if momentum := group["momentum"]:
            v = state.get("momentum_buffer")
            state["momentum_buffer"] = v = g.clone() if v is None else v.mul_(momentum).add_(g, alpha=1 - group["dampening"])
            g = g.add(v, alpha=momentum) if group["nesterov"] else v
        p.sub_(g * group["lr"])


class Adam(Optimizer):
    """Steps of about ``lr`` in each element: running means of gradients over those of their squares.

    Arguments:
        params: see `Optimizer`.
        lr: length of a step.
        betas: shares of the running mean, and of that of squares, that are kept.
        eps: added to the root of the latter.
        weight_decay: adds ``weight_decay · p`` to the gradient, or shrinks p itself if ``decoupled_weight_decay``.
        amsgrad: divides by the largest mean of squares so far.
        maximize: ascends.
        foreach, capturable, fused: accepted; all do the same.
        differentiable: the step itself is recorded.

    Example::

        >>> w = ad.nn.Parameter(ad.tensor([2.0]))
        >>> optimizer = ad.optim.Adam([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.tolist()
        [1.5]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        _check(lr=lr, epsilon_value=eps, weight_decay_value=weight_decay)
        if wrong := [i for i in (0, 1) if not 0.0 <= betas[i] < 1.0]:
            raise ValueError(f"Invalid beta parameter at index {wrong[0]}: {betas[wrong[0]]}")
        super().__init__(params, _options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        _running(state, p, "exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else []))
        (beta1, beta2), lr, step = group["betas"], group["lr"], float(state["step"])
        if group["decoupled_weight_decay"]:
            p.mul_(1 - lr * group["weight_decay"])
        else:
            g = _decayed(p, g, group)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(g, 1 - beta1)
        square.mul_(beta2).add_((g * g.conj()).real if g.is_complex() else g * g, alpha=1 - beta2)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = square = core.maximum(state["max_exp_avg_sq"], square)
        root = square.sqrt() / math.sqrt(1 - beta2**step) + group["eps"]
        p.sub_(mean / root * (lr / (1 - beta1**step)))


class AdamW(Adam):
    """`Adam` with decoupled weight decay: ``p`` shrinks by ``lr · weight_decay`` before each step.

    Example::

        >>> ad.optim.AdamW([ad.nn.Parameter(ad.ones(1))]).param_groups[0]["weight_decay"]
        0.01
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **options, decoupled_weight_decay=True)


class RMSprop(Optimizer):
    """Divides the gradient by the root of the running mean of its squares (of its variance if ``centered``).

    Arguments as those of `SGD`; ``alpha`` is the share of the running mean that is kept.

    Example::

        >>> w = ad.nn.Parameter(ad.tensor([2.0]))
        >>> optimizer = ad.optim.RMSprop([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> round(w.item(), 4)
        1.0
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check(lr=lr, epsilon_value=eps, momentum_value=momentum, weight_decay_value=weight_decay, alpha_value=alpha)
        super().__init__(params, _options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        momentum, alpha = group["momentum"], group["alpha"]
        names = ["square_avg", *(["momentum_buffer"] if momentum else []), *(["grad_avg"] if group["centered"] else [])]
        _running(state, p, *names)
        g = _decayed(p, g, group)
        square = state["square_avg"].mul_(alpha).add_(g * g, alpha=1 - alpha)
        if group["centered"]:
            square = square - state["grad_avg"].lerp_(g, 1 - alpha).square()
        move = g / (square.sqrt() + group["eps"])
        p.sub_((state["momentum_buffer"].mul_(momentum).add_(move) if momentum else move) * group["lr"])


class Adagrad(Optimizer):
    """Divides the gradient by the root of the sum of all its squares so far.

    Arguments as those of `SGD`; the length of step n is ``lr / (1 + (n - 1) · lr_decay)``.

    Example::

        >>> w = ad.nn.Parameter(ad.tensor([2.0]))
        >>> optimizer = ad.optim.Adagrad([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.tolist()
        [1.5]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        _check(lr=lr, lr_decay_value=lr_decay, weight_decay_value=weight_decay, epsilon_value=eps)
        super().__init__(params, _options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        if not state:
            state.update(step=core.tensor(0.0), sum=core.full_like(p, group["initial_accumulator_value"]))
        state["step"] += 1
        g = _decayed(p, g, group)
        lr = group["lr"] / (1 + (float(state["step"]) - 1) * group["lr_decay"])
        p.sub_(g / (state["sum"].add_(g * g).sqrt() + group["eps"]) * lr)
