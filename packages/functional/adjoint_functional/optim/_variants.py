"""Optimizers that vary Adam and SGD. Formulas: the papers that each docstring names, with PyTorch's order of operations."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

from ._counting import less_power, number, on_device, put, read, root, take_ratio
from ._optimizer import Optimizer, check, decayed, options, running


def _check_betas(betas: tuple[float, float]) -> None:
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def _shrunk(p: Tensor, g: Tensor, group: dict[str, Any]) -> Tensor:
    """The gradient with weight decay, or the parameter shrunk in its place."""
    if not group["decoupled_weight_decay"]:
        return decayed(p, g, group)
    p.mul_(1 - group["lr"] * group["weight_decay"])
    return g


class Adadelta(Optimizer):
    """Steps as long as those before, over the size of gradients (Zeiler, arXiv 1212.5701).

    Arguments as those of `SGD`; ``rho`` is the share of both running means of squares that is kept.

    Example::

        >>> w = ad.nn.Parameter(ad.tensor([2.0]))
        >>> optimizer = ad.optim.Adadelta([w])
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> round(w.item(), 4)
        1.9968
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check(lr=lr, epsilon_value=eps, weight_decay_value=weight_decay)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        super().__init__(params, options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        running(state, p, group, "square_avg", "acc_delta")
        g, rho, eps = decayed(p, g, group), group["rho"], group["eps"]
        square = state["square_avg"].mul_(rho).addcmul_(g, g, value=1 - rho)
        move = (state["acc_delta"] + eps).sqrt() / (square + eps).sqrt() * g
        state["acc_delta"].mul_(rho).addcmul_(move, move, value=1 - rho)
        p.sub_(move * group["lr"])


class Adamax(Optimizer):
    """`Adam` with the largest gradient, fading, in place of the mean of squares (Kingma and Ba, arXiv 1412.6980, section 7).

    Example::

        >>> w = ad.nn.Parameter(ad.tensor([2.0]))
        >>> optimizer = ad.optim.Adamax([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.tolist()
        [1.5]
    """

    _counts_steps = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check(lr=lr, epsilon_value=eps, weight_decay_value=weight_decay)
        _check_betas(betas)
        super().__init__(params, options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        running(state, p, group, "exp_avg", "exp_inf")
        g, (beta1, beta2) = decayed(p, g, group), group["betas"]
        mean = state["exp_avg"].lerp_(g, 1 - beta1)
        largest = put(state, "exp_inf", core.maximum(state["exp_inf"] * beta2, g.abs() + group["eps"]), group)
        take_ratio(p, mean, largest, group["lr"] / less_power(beta1, read(state["step"], p, group)))


class NAdam(Optimizer):
    """`Adam` that looks ahead along its momentum (Dozat, ICLR workshop 2016).

    Arguments as those of `Adam`; ``momentum_decay`` says how soon the momentum reaches ``betas[0]``.

    Example::

        >>> w = ad.nn.Parameter(ad.tensor([2.0]))
        >>> optimizer = ad.optim.NAdam([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.item() < 2
        True
    """

    _counts_steps = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check(lr=lr, epsilon_value=eps, weight_decay_value=weight_decay, momentum_decay_value=momentum_decay)
        _check_betas(betas)
        super().__init__(params, options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        if not state:
            state["step"], state["mu_product"] = number(0.0, p, group), number(1.0, p, group)
            state.update({name: core.zeros_like(p, memory_format=core.preserve_format) for name in ("exp_avg", "exp_avg_sq")})
        state["step"] += 1
        (beta1, beta2), lr, step = group["betas"], group["lr"], read(state["step"], p, group)
        g = _shrunk(p, g, group)
        now, ahead = (beta1 * (1 - 0.5 * 0.96 ** (k * group["momentum_decay"])) for k in (step, step + 1))
        state["mu_product"] *= now
        product = read(state["mu_product"], p, group)
        mean = state["exp_avg"].lerp_(g, 1 - beta1)
        square = state["exp_avg_sq"].mul_(beta2).addcmul_(g, g, value=1 - beta2)
        spread = (square / less_power(beta2, step)).sqrt() + group["eps"]
        take_ratio(p, g, spread, lr * (1 - now) / (1 - product))
        take_ratio(p, mean, spread, lr * ahead / (1 - product * ahead))


class RAdam(Optimizer):
    """`Adam` that trusts its mean of squares only once enough steps stand behind it (Liu and others, arXiv 1908.03265).

    Arguments as those of `Adam`.

    Example::

        >>> w = ad.nn.Parameter(ad.tensor([2.0]))
        >>> optimizer = ad.optim.RAdam([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> round(w.item(), 4)
        1.6
    """

    _counts_steps = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check(lr=lr, epsilon_value=eps, weight_decay_value=weight_decay)
        _check_betas(betas)
        super().__init__(params, options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        running(state, p, group, "exp_avg", "exp_avg_sq")
        (beta1, beta2), step = group["betas"], read(state["step"], p, group)
        g = _shrunk(p, g, group)
        mean = state["exp_avg"].lerp_(g, 1 - beta1) / less_power(beta1, step)
        square = state["exp_avg_sq"].mul_(beta2).addcmul_(g, g, value=1 - beta2)
        less = less_power(beta2, step)
        most = 2 / (1 - beta2) - 1  # the length of the running mean of squares, in the end and by now
        length = most - 2 * step * (1 - less) / less
        if on_device(p, group) or length > 5:
            share = (length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)
            rectified = mean * (root(share * less) / (square.sqrt() + group["eps"]))
            mean = core.where(length > 5, rectified, mean) if on_device(p, group) else rectified
        p.sub_(mean * group["lr"])


class ASGD(Optimizer):
    """Gradient descent whose mean over the steps after ``t0`` is kept in ``state["ax"]`` (Polyak and Juditsky, 1992).

    Arguments as those of `SGD`; ``lambd`` shrinks the parameter, ``alpha`` is the power by which steps get shorter.

    Example::

        >>> w = ad.nn.Parameter(ad.tensor([2.0]))
        >>> optimizer = ad.optim.ASGD([w], lr=0.25, lambd=0.0)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.tolist()
        [1.0]
    """

    _counts_steps = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check(lr=lr, weight_decay_value=weight_decay)
        super().__init__(params, options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        if not state:
            state["step"], state["eta"] = number(0.0, p, group), number(float(group["lr"]), p, group)
            state["mu"], state["ax"] = number(1.0, p, group), core.zeros_like(p, memory_format=core.preserve_format)
        state["step"] += 1
        step, eta, mu = (read(state[name], p, group) for name in ("step", "eta", "mu"))
        lr, g = float(group["lr"]), decayed(p, g, group)
        p.mul_(1 - group["lambd"] * eta).sub_(g * eta)
        if on_device(p, group):
            state["ax"].add_((p - state["ax"]) * mu)
            state["eta"].copy_(lr / (1 + group["lambd"] * lr * step) ** group["alpha"])
            state["mu"].copy_(1 / (step - group["t0"]).clamp(min=1.0))
            return
        state["ax"].copy_(p) if mu == 1 else state["ax"].add_((p - state["ax"]) * mu)
        state["eta"] = core.tensor(lr / (1 + group["lambd"] * lr * step) ** group["alpha"])
        state["mu"] = core.tensor(1 / max(1.0, step - group["t0"]))


class Rprop(Optimizer):
    """Steps by the sign of the gradient, longer while it stays, shorter when it turns (Riedmiller and Braun, 1993).

    Arguments:
        params, maximize, foreach, differentiable: as those of `SGD`.
        lr: the length of first steps.
        etas: the factors by which steps get shorter and longer.
        step_sizes: the least and the greatest length.
        capturable: as that of `Adam`.

    Example::

        >>> w = ad.nn.Parameter(ad.tensor([2.0]))
        >>> optimizer = ad.optim.Rprop([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.tolist()
        [1.5]
    """

    _counts_steps = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check(lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        if not state:
            state["step"], state["prev"] = number(0.0, p, group), core.zeros_like(p, memory_format=core.preserve_format)
            state["step_size"] = core.full_like(g, float(group["lr"]))
        state["step"] += 1
        shorter, longer = group["etas"]
        turn = g * state["prev"]
        factor = core.ones_like(g).masked_fill_(turn > 0, longer).masked_fill_(turn < 0, shorter)
        length = put(state, "step_size", (state["step_size"] * factor).clamp(*group["step_sizes"]), group)
        g = put(state, "prev", core.where(turn < 0, 0.0, g), group)
        p.sub_(g.sign() * length)


class SparseAdam(Optimizer):
    """`Adam` for sparse gradients, as `embedding` gives them with ``sparse=True``: only the rows with a gradient are touched.

    Raises:
        ValueError: sparse parameters.
        RuntimeError: in ``step``, for dense gradients.

    Example::

        >>> table = ad.nn.Embedding(3, 1, sparse=True)
        >>> optimizer = ad.optim.SparseAdam(table.parameters(), lr=0.5)
        >>> before = table.weight.detach().clone()
        >>> table(ad.tensor([1])).sum().backward()
        >>> optimizer.step()
        >>> [round(step, 4) for step in (before - table.weight).flatten().tolist()]
        [0.0, 0.5, 0.0]
    """

    _takes_sparse = True
    _counts_steps = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if not 0.0 < float(lr):
            raise ValueError(f"Invalid learning rate: {lr}")
        check(epsilon_value=eps)
        _check_betas(betas)
        super().__init__(params, options(locals()))
        if sparse := [i for i, p in enumerate(p for group in self.param_groups for p in group["params"]) if p.is_sparse]:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")
        if odd := [i for i, p in enumerate(p for group in self.param_groups for p in group["params"]) if p.is_complex()]:
            raise ValueError(f"Complex params at indices {odd}: SparseAdam does not support complex parameters")

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        if not g.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        running(state, p, group, "exp_avg", "exp_avg_sq")
        g, (beta1, beta2), step = g.coalesce(), group["betas"], float(state["step"])
        rows, values = g.indices().unbind(0), g.values()
        mean = core.lerp(state["exp_avg"][rows], values, 1 - beta1)
        square = core.lerp(state["exp_avg_sq"][rows], values * values, 1 - beta2)
        state["exp_avg"][rows], state["exp_avg_sq"][rows] = mean, square
        move = mean / (square.sqrt() + group["eps"])
        p[rows] = p[rows] - move * (group["lr"] * math.sqrt(1 - beta2**step) / (1 - beta1**step))
