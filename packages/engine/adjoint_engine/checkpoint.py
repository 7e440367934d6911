"""Checkpoints: a function is run again during backward instead of keeping what it saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

from . import _engine
from ._backward import backward
from ._context import FunctionCtx
from ._function import Function
from ._modes import enable_grad, no_grad
from ._saved_hooks import saved_tensors_hooks

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential"]


class CheckpointError(RuntimeError):
    """The function did something else when it was run again."""


class _Again:
    """Runs `f` as it was run before: with the same random numbers."""

    def __init__(self, f: Callable[..., Any], preserve_rng_state: bool) -> None:
        self.f = f
        self.state = core.get_rng_state() if preserve_rng_state else None

    def __call__(self, *args: Any) -> Any:
        if self.state is None:
            return self.f(*args)
        now = core.get_rng_state()
        core.set_rng_state(self.state)
        try:
            return self.f(*args)
        finally:
            core.set_rng_state(now)


class _Recomputed:
    """The tensors that a run of `run` saves, by their order: made again when the first of them is asked for."""

    def __init__(self, run: Callable[[], Any]) -> None:
        self.run = run
        self.count = 0
        self.values: dict[int, Tensor] = {}

    def pack(self, tensor: Tensor) -> int:
        self.count += 1
        return self.count - 1

    def unpack(self, i: int) -> Tensor:
        if i not in self.values:
            self._recompute()
        return self.values.pop(i)

    def _recompute(self) -> None:
        values: list[Tensor] = []

        def keep(tensor: Tensor) -> int:
            values.append(_engine.detach(tensor))
            return len(values) - 1

        with enable_grad(), saved_tensors_hooks(keep, values.__getitem__):
            self.run()
        if len(values) != self.count:
            raise CheckpointError(
                "checkpoint: A different number of tensors was saved during the original forward and recomputation. "
                f"Number of tensors saved during forward: {self.count}. Number of tensors saved during recomputation: {len(values)}"
            )
        self.values = dict(enumerate(values))


class _Reentrant(Function):
    """Forward records nothing; backward runs the function again and goes back through it."""

    @staticmethod
    def forward(ctx: FunctionCtx, run: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        ctx.again = _Again(run, preserve)
        tensors = [a for a in args if isinstance(a, Tensor)]
        ctx.args = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*tensors)
        with no_grad():
            return run(*args)

    @staticmethod
    def backward(ctx: FunctionCtx, *cotangents: Any) -> Any:
        args, needed = list(ctx.args), ctx.needs_input_grad[2:]
        for i, x in zip(ctx.places, ctx.saved_tensors):
            args[i] = _engine.detach(x).requires_grad_(needed[i])
        with enable_grad():
            out = ctx.again(*args)
        pairs = [
            (y, v)
            for y, v in zip(out if isinstance(out, tuple) else (out,), cotangents)
            if isinstance(y, Tensor) and y.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([y for y, _ in pairs], [v for _, v in pairs])
        return (None, None, *(a.grad if isinstance(a, Tensor) else None for a in args))


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool = False, preserve_rng_state: bool = True, **kwargs: Any
) -> Any:
    """``function(*args, **kwargs)``, whose intermediate tensors are made again in backward instead of being kept.

    Arguments:
        use_reentrant: record nothing and start a second backward inside the first one: no keyword arguments, no double backward.
        preserve_rng_state: the second run sees the random numbers of the first.

    Raises:
        CheckpointError: in backward, if the second run saves other tensors than the first.

    Example::

        >>> y = ad.utils.checkpoint.checkpoint(lambda x: x.exp().sin(), ad.ones(2, requires_grad=True))
    """
    if use_reentrant:
        if kwargs:
            raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
        return _Reentrant.apply(function, preserve_rng_state, *args)
    again = _Again(lambda: function(*args, **kwargs), preserve_rng_state)
    saved = _Recomputed(again)
    with saved_tensors_hooks(saved.pack, saved.unpack):
        return function(*args, **kwargs)


def checkpoint_sequential(functions: Iterable[Callable[..., Any]], segments: int, input: Any, **options: Any) -> Any:
    """Applies the functions one after the other, in `segments` parts of which all but the last are checkpoints."""
    steps = list(functions)
    size = len(steps) // segments

    def run(part: list[Callable[..., Any]]) -> Callable[[Any], Any]:
        def chain(x: Any) -> Any:
            for step in part:
                x = step(x)
            return x

        return chain

    for k in range(segments - 1):
        input = checkpoint(run(steps[k * size : (k + 1) * size]), input, **options)
    return run(steps[(segments - 1) * size :])(input)
