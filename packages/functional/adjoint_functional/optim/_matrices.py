"""Optimizers that look at matrices as such: Adafactor keeps squares by rows and columns, Muon makes steps orthogonal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

from ._optimizer import Optimizer, check, expect_real, options


class Adafactor(Optimizer):
    """Adam without a momentum, whose squares of matrices are kept as means of rows and columns (Shazeer and Stern, arXiv 1804.04235).

    Arguments:
        lr: the largest relative step.
        beta2_decay: the mean of squares forgets ``step ** beta2_decay`` of itself.
        eps: the smallest square root of squares (None: the type's epsilon), and the smallest size of a parameter.
        d: steps whose root mean square is larger are shortened to it.

    Example::

        >>> w = ad.nn.Parameter(ad.ones(2, 2))
        >>> optimizer = ad.optim.Adafactor([w])
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> round(w[0, 0].item(), 4)
        0.99
    """

    _counts_steps = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check(lr=lr, weight_decay_value=weight_decay)
        if beta2_decay > 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        super().__init__(params, options(locals()))

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        expect_real(self, p)
        if not state:
            state["step"] = core.tensor(0.0)
            if g.dim() > 1:
                state["row_var"] = g.new_zeros(tuple(g.shape[:-1]) + (1,))
                state["col_var"] = g.new_zeros(tuple(g.shape[:-2]) + (1, g.shape[-1]))
            else:
                state["variance"] = core.zeros_like(g)
        state["step"] += 1
        step, (eps1, eps2) = float(state["step"]), group["eps"]
        eps1 = core.finfo(p.dtype).eps if eps1 is None else eps1
        fresh = step ** group["beta2_decay"]
        size = max(eps2, _rms(p)) * min(float(group["lr"]), step**-0.5)
        if group["weight_decay"]:
            p.mul_(1 - group["lr"] * group["weight_decay"])
        if g.dim() > 1:
            row = state["row_var"].lerp_((g * g).mean(-1, keepdim=True), fresh)
            column = state["col_var"].lerp_((g * g).mean(-2, keepdim=True), fresh)
            squares = row @ column / row.mean(-2, keepdim=True).clamp(min=eps1)
        else:
            squares = state["variance"].lerp_(g * g, fresh)
        move = g / squares.clamp(min=eps1 * eps1).sqrt()
        p.sub_(move * (size / max(1.0, _rms(move) / group["d"])))


def _rms(x: Tensor) -> float:
    return x.norm(2).item() / x.numel() ** 0.5


class Muon(Optimizer):
    """Momentum whose steps are made orthogonal matrices, by Newton and Schulz's iteration in bfloat16 (K. Jordan, 2024). For matrices only.

    Arguments:
        ns_coefficients: of the iteration's polynomial of degree five.
        eps: the smallest norm that a step is divided by.
        ns_steps: how many iterations.
        adjust_lr_fn: ``"original"``, the root of rows over columns if larger than 1; ``"match_rms_adamw"``, a fifth of the root of
            the longer side, so that rates and decays of AdamW serve.

    Raises:
        ValueError: a parameter is no matrix.

    Example::

        >>> net = ad.nn.Linear(2, 2)
        >>> optimizer = ad.optim.Muon([p for p in net.parameters() if p.ndim == 2])
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check(lr=lr, weight_decay_value=weight_decay)
        if not momentum >= 0.0:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, options(locals()))
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of one parameter."""
        expect_real(self, p)
        if not state:
            state["momentum_buffer"] = core.zeros_like(g)
        momentum = state["momentum_buffer"].lerp_(g, 1 - group["momentum"])
        move = g.lerp(momentum, group["momentum"]) if group["nesterov"] else momentum
        rows, columns = p.shape
        matched = 0.2 * max(rows, columns) ** 0.5
        rate = group["lr"] * (matched if group["adjust_lr_fn"] == "match_rms_adamw" else max(1.0, rows / columns) ** 0.5)
        p.mul_(1 - group["lr"] * group["weight_decay"])
        p.sub_(_orthogonal(move, group).to(p.dtype) * rate)


def _orthogonal(matrix: Tensor, group: dict[str, Any]) -> Tensor:
    a, b, c = group["ns_coefficients"]
    x = matrix.to(core.bfloat16)
    tall = x.size(0) > x.size(1)
    x = x.mT if tall else x
    x = x / x.norm().clamp(min=group["eps"])
    for _ in range(group["ns_steps"]):
        square = x @ x.mT
        x = a * x + (b * square + c * (square @ square)) @ x
    return x.mT if tall else x
