"""The optimizers in most use: SGD, Adam and AdamW, RMSprop, Adagrad."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

from . import _together as together
from ._counting import less_power, on_device, put, read, root, take_ratio
from ._optimizer import Optimizer, check, decayed, options, real, running, started


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
        foreach, fused: on a GPU all parameters step in one launch unless ``foreach=False``; the numbers are the same.
        differentiable: the step itself is recorded.

    Example::

        >>> w = ad.nn.Parameter(ad.tensor([2.0]))
        >>> optimizer = ad.optim.SGD([w], lr=0.25)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.tolist()
        [1.0]
    """

    _takes_sparse = True

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
        check(lr=lr, momentum_value=momentum, weight_decay_value=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        g = decayed(p, g, group)
        if momentum := group["momentum"]:
            v = state.get("momentum_buffer")
            state["momentum_buffer"] = v = g.clone() if v is None else v.mul_(momentum).add_(g, alpha=1 - group["dampening"])
            g = g.add(v, alpha=momentum) if group["nesterov"] else v
        p.sub_(g * group["lr"])

    def update_together(self, params: list[Tensor], group: dict[str, Any]) -> list[Tensor]:
        """The same for all parameters on a GPU, one launch for those of a type; the others are returned."""
        rest, rows = [], []
        for p in params:
            if p.grad.is_sparse:
                rest.append(p)
                continue
            tensors = [real(p.grad), real(p)]
            along = self.state.get(p, {}).get("momentum_buffer") if group["momentum"] else None
            if not together.alike(tensors if along is None else [*tensors, along]):
                rest.append(p)
                continue
            phase = 0 if not group["momentum"] else 1 if along is None else 2  # none, the first step, a later one
            if phase == 1:
                self.state[p]["momentum_buffer"] = along = core.empty_like(tensors[1])
            rows.append((phase, [*tensors, along] if phase else tensors))
        numbers = [
            -1.0 if group["maximize"] else 1.0,
            group["weight_decay"],
            group["momentum"],
            1 - group["dampening"],
            group["lr"],
        ]
        for phase, lists in together.by_kind(rows):
            together.update("sgd", lists, numbers, [group["weight_decay"] != 0, phase, group["nesterov"]])
        return rest


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
        foreach, fused: on a GPU all parameters step in one launch unless ``foreach=False``; the numbers are the same.
        capturable: counts steps on the parameters' GPU, so that a CUDA graph may capture a step. The first must have run before.
        differentiable: the step itself is recorded.

    Example::

        >>> w = ad.nn.Parameter(ad.tensor([2.0]))
        >>> optimizer = ad.optim.Adam([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.tolist()
        [1.5]
    """

    _counts_steps = True

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
        check(lr=lr, epsilon_value=eps, weight_decay_value=weight_decay)
        if not isinstance(betas, (tuple, list)) or len(betas) != 2:
            raise ValueError(f"Adam: betas must be two numbers, got {betas!r}")
        if wrong := [i for i in (0, 1) if not 0.0 <= betas[i] < 1.0]:
            raise ValueError(f"Invalid beta parameter at index {wrong[0]}: {betas[wrong[0]]}")
        super().__init__(params, options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        running(state, p, group, "exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else []))
        (beta1, beta2), lr, step = group["betas"], group["lr"], read(state["step"], p, group)
        if group["decoupled_weight_decay"]:
            p.mul_(1 - lr * group["weight_decay"])
        else:
            g = decayed(p, g, group)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(g, 1 - beta1)
        square.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        if group["amsgrad"]:
            square = put(state, "max_exp_avg_sq", core.maximum(state["max_exp_avg_sq"], square), group)
        spread = square.sqrt() / root(less_power(beta2, step)) + group["eps"]
        take_ratio(p, mean, spread, lr / less_power(beta1, step))

    def update_together(self, params: list[Tensor], group: dict[str, Any]) -> list[Tensor]:
        """The same for all parameters on a GPU, one launch for those of a type that are as many steps old; the others are returned."""
        names = ["exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else [])]
        rest, rows, counts = [], [], []
        for p in params:
            state = self.state.get(p, {})
            tensors, counted = [real(p.grad), real(p), *(state[name] for name in names if state)], on_device(p, group)
            if not together.alike(tensors) or (counted and not state.get("step", p).is_cuda):
                rest.append(p)
                continue
            state = self.state[p]
            started(state, tensors[1], group, *names)
            tensors = [*tensors[:2], *(state[name] for name in names)]
            if counted:
                counts.append((None, [state["step"], state["step"]]))
                rows.append((None, [*tensors, state["step"]]))
            else:
                state["step"] += 1
                rows.append((float(state["step"]), tensors))
        for _, lists in together.by_kind(counts):
            together.update("count_steps", lists, [], [])
        for step, lists in together.by_kind(rows):
            self._launch(lists, step, group)
        return rest

    def _launch(self, lists: together.Lists, step: float | None, group: dict[str, Any]) -> None:
        (beta1, beta2), lr, decay = group["betas"], group["lr"], group["weight_decay"]
        kind = 2 if group["decoupled_weight_decay"] else decay != 0
        counts = lists.pop() if step is None else []
        if step is None:
            of_count = [math.log(beta) if beta > 0 else -math.inf for beta in (beta1, beta2)] + [lr]
        else:
            of_count = [0.0, root(less_power(beta2, step)), -lr / less_power(beta1, step)]
        numbers = [
            -1.0 if group["maximize"] else 1.0,
            1 - lr * decay if kind == 2 else decay,
            1 - beta1,
            beta2,
            1 - beta2,
            group["eps"],
        ]
        together.update("adam", lists, [*numbers, *of_count], [kind, group["amsgrad"], step is None], counts)


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
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        forms = {
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **forms, decoupled_weight_decay=True)  # type: ignore[arg-type]


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
        check(lr=lr, epsilon_value=eps, momentum_value=momentum, weight_decay_value=weight_decay, alpha_value=alpha)
        super().__init__(params, options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        momentum, alpha = group["momentum"], group["alpha"]
        names = ["square_avg", *(["momentum_buffer"] if momentum else []), *(["grad_avg"] if group["centered"] else [])]
        running(state, p, group, *names)
        g = decayed(p, g, group)
        square = state["square_avg"].mul_(alpha).addcmul_(g, g, value=1 - alpha)
        if group["centered"]:
            square = square - state["grad_avg"].lerp_(g, 1 - alpha).square()
        spread = square.sqrt() + group["eps"]
        if momentum:
            p.sub_(state["momentum_buffer"].mul_(momentum).addcdiv_(g, spread) * group["lr"])
        else:
            take_ratio(p, g, spread, group["lr"])


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

    _takes_sparse = True
    _counts_steps = True

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
        check(lr=lr, lr_decay_value=lr_decay, weight_decay_value=weight_decay, epsilon_value=eps)
        check(initial_accumulator_value_value=initial_accumulator_value)
        super().__init__(params, options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        if not state:
            state.update(step=core.tensor(0.0), sum=core.full_like(p, group["initial_accumulator_value"]))
        state["step"] += 1
        g = decayed(p, g, group)
        lr = group["lr"] / (1 + (float(state["step"]) - 1) * group["lr_decay"])
        p.sub_(g / (state["sum"].add_(g * g).sqrt() + group["eps"]) * lr)
