"""L-BFGS: steps along a direction that the last gradients' changes bend towards Newton's (Nocedal and Wright, chapters 3 and 7)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import enable_grad, no_grad

from ._optimizer import Optimizer, check, options, real


class _Point(NamedTuple):
    """Along a line: how far, the loss, its gradient, and the slope."""

    t: float
    loss: float
    gradient: Tensor
    slope: float


Evaluate = Callable[[float], _Point]


def _cubic(a: _Point, b: _Point, low: float, high: float) -> float:
    """Where the cubic through two points with their slopes is least, within bounds; the middle where it has no least (3.59)."""
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2
    d2 = math.sqrt(square)
    left, right = (a, b) if a.t <= b.t else (b, a)
    bottom = right.slope - left.slope + 2 * d2
    if bottom == 0:
        return (low + high) / 2
    return min(max(right.t - (right.t - left.t) * (right.slope + d2 - d1) / bottom, low), high)


def _strong_wolfe(
    start: _Point, evaluate: Evaluate, t: float, largest: float, tolerance: float, most: int, c1: float = 1e-4, c2: float = 0.9
) -> tuple[_Point, int]:
    """A point where the loss fell enough and the slope is small (algorithms 3.5 and 3.6), or the best of ``most`` evaluations, and
    their number."""

    def falls(p: _Point) -> bool:
        return p.loss <= start.loss + c1 * p.t * start.slope

    before, now, calls = start, evaluate(t), 1
    while calls < most:
        if not falls(now) or (calls > 2 and now.loss >= before.loss):
            break
        if abs(now.slope) <= -c2 * start.slope:
            return now, calls
        if now.slope >= 0:
            break
        longer = _cubic(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10)
        before, now, calls = now, evaluate(longer), calls + 1
    else:
        before = start
    return _zoomed(start, evaluate, before, now, falls, largest, tolerance, c2, calls, most)


def _zoomed(
    start: _Point, evaluate: Evaluate, a: _Point, b: _Point, falls: Callable[[_Point], bool], largest: float, tolerance: float,
    c2: float, calls: int, most: int,
) -> tuple[_Point, int]:  # fmt: skip
    low, high = (a, b) if a.loss <= b.loss else (b, a)
    stuck = False  # twice in a row near an end of the bracket
    while calls < most and abs(high.t - low.t) * largest >= tolerance:
        first, last = min(low.t, high.t), max(low.t, high.t)
        t, margin = _cubic(low, high, first, last), 0.1 * (last - first)
        near = min(last - t, t - first) < margin
        if near and (stuck or t >= last or t <= first):
            t, near = (last - margin if abs(t - last) < abs(t - first) else first + margin), False
        stuck = near
        now, calls = evaluate(t), calls + 1
        if not falls(now) or now.loss >= low.loss:
            low, high = (now, low) if now.loss < low.loss else (low, now)
            continue
        if abs(now.slope) <= -c2 * start.slope:
            return now, calls
        if now.slope * (high.t - low.t) >= 0:
            high = low
        low = now
    return low, calls


class LBFGS(Optimizer):
    """Quasi-Newton steps with limited memory, for smooth functions of few batches; one group of parameters.

    Arguments:
        params: as those of `SGD`.
        lr: length of a step; with a line search, of its first try.
        max_iter, max_eval: the most iterations, and calls of the closure, in one ``step``; ``max_eval`` is 5/4 of ``max_iter``.
        tolerance_grad: done where no element of the gradient is larger.
        tolerance_change: done where neither the step nor the loss changes by more.
        history_size: how many changes of gradients are kept.
        line_search_fn: None or "strong_wolfe".

    Raises:
        ValueError: several groups of parameters, or an unknown line search.
        TypeError: ``step`` without a closure.

    Example::

        >>> w = ad.nn.Parameter(ad.tensor([2.0, -1.0]))
        >>> optimizer = ad.optim.LBFGS([w], line_search_fn="strong_wolfe")
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = ((w - 3) ** 4).sum()
        ...     loss.backward()
        ...     return loss
        >>> _ = optimizer.step(closure)
        >>> closure().item() < 1e-6
        True
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check(lr=lr)
        if line_search_fn not in (None, "strong_wolfe"):
            raise ValueError(f"line_search_fn: only 'strong_wolfe' is supported, got {line_search_fn!r}")
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        super().__init__(params, options(locals()))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Tensor]:
        params: list[Tensor] = self.param_groups[0]["params"]
        return params

    def _gradient(self) -> Tensor:
        return core.cat([real(core.zeros_like(p) if p.grad is None else p.grad.to_dense()).reshape(-1) for p in self._params])

    def _move(self, origin: list[Tensor], direction: Tensor, t: float) -> None:
        at = 0
        for p, from_ in zip(map(real, self._params), map(real, origin)):
            p.copy_(from_ + (t * direction[at : at + p.numel()]).view_as(p))
            at += p.numel()

    def _evaluate(self, closure: Callable[[], Any]) -> tuple[float, Tensor]:
        with enable_grad():
            found = closure()
        loss = float(found)
        return loss, self._gradient()

    def _direction(self, state: dict[str, Any], g: Tensor) -> Tensor:
        """Minus the gradient times the approximate inverse of the Hessian (algorithm 7.4)."""
        q = -g
        shares = []
        for y, s, r in zip(reversed(state["old_dirs"]), reversed(state["old_stps"]), reversed(state["ro"])):
            shares.append(s.dot(q) * r)
            q = q - y * shares[-1]
        d = q * state["H_diag"]
        for y, s, r, share in zip(state["old_dirs"], state["old_stps"], state["ro"], reversed(shares)):
            d = d + s * (share - y.dot(d) * r)
        return d

    def _learn(self, state: dict[str, Any], g: Tensor, size: int) -> None:
        """Keeps how the gradient changed over the last step, if the function is convex along it."""
        y, s = g - state["prev_flat_grad"], state["d"] * state["t"]
        ys = float(y.dot(s))
        if ys <= 1e-10:
            return
        for name, value in (("old_dirs", y), ("old_stps", s), ("ro", 1 / ys)):
            state[name].append(value)
            del state[name][:-size]
        state["H_diag"] = ys / float(y.dot(y))

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Several iterations; ``closure`` computes the gradients anew and returns the loss. Gives the loss of its first call."""
        return self._steps(closure)

    def _steps(self, closure: Callable[[], Any]) -> Any:
        group, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        with enable_grad():
            first = closure()
        loss, g = float(first), self._gradient()
        state["func_evals"] += 1
        calls = 1
        if float(g.abs().max()) <= group["tolerance_grad"]:
            return first
        for i in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                state.update(d=-g, old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            else:
                self._learn(state, g, group["history_size"])
                state["d"] = self._direction(state, g)
            state.update(prev_flat_grad=g, prev_loss=loss)
            d, slope, lr = state["d"], float(g.dot(state["d"])), float(group["lr"])
            state["t"] = min(1.0, 1.0 / float(g.abs().sum())) * lr if state["n_iter"] == 1 else lr
            if slope > -group["tolerance_change"]:
                break
            loss, g, used = self._iterate(
                closure, _Point(0.0, loss, g, slope), group["max_eval"] - calls, i == group["max_iter"]
            )
            calls += used
            state["func_evals"] += used
            moved = float((d * state["t"]).abs().max())
            if (
                calls >= group["max_eval"]
                or float(g.abs().max()) <= group["tolerance_grad"]
                or moved <= group["tolerance_change"]
                or abs(loss - state["prev_loss"]) < group["tolerance_change"]
            ):
                break
        return first

    def _iterate(self, closure: Callable[[], Any], start: _Point, most: int, last: bool) -> tuple[float, Tensor, int]:
        """Moves the parameters along the direction; the loss and the gradient there, and how often they were computed."""
        group, state = self.param_groups[0], self.state[self._params[0]]
        d = state["d"]
        origin = [p.clone() for p in self._params]
        if group["line_search_fn"] is None:
            self._move(origin, d, state["t"])
            return (start.loss, start.gradient, 0) if last else (*self._evaluate(closure), 1)

        def evaluate(t: float) -> _Point:
            self._move(origin, d, t)
            loss, g = self._evaluate(closure)
            return _Point(t, loss, g, float(g.dot(d)))

        found, calls = _strong_wolfe(start, evaluate, state["t"], float(d.abs().max()), group["tolerance_change"], most + 1)
        state["t"] = found.t
        self._move(origin, d, found.t)
        return found.loss, found.gradient, calls
