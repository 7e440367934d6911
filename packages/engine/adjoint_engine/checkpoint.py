"""Checkpoints: a function is run again during backward instead of keeping what it saved."""

from __future__ import annotations

import contextlib
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

from . import _engine, trees
from ._backward import backward
from ._checkpoint.inputs import (
    DefaultDeviceType,
    check_backward_validity,
    detach_variable,
    get_device_states,
    set_device_states,
)
from ._checkpoint.log import RunLog, difference
from ._checkpoint.selective import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)
from ._function.context import FunctionCtx
from ._function.function import Function
from ._graph.saved_hooks import saved_tensors_hooks
from ._modes.switches import enable_grad, is_grad_enabled, no_grad
from ._modes.thread_locals import Local

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_device_states",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]

_early_stop: bool | None = None  # what set_checkpoint_early_stop asks for
_debug: bool | None = None  # what set_checkpoint_debug_enabled asks for
_TIP = "\nTip: To see a more detailed error message, pass `debug=True` to `checkpoint(...)` or call it inside `set_checkpoint_debug_enabled(True)`."


class CheckpointError(RuntimeError):
    """The function did something else when it was run again."""


def noop_context_fn() -> tuple[Any, Any]:
    """Two contexts that do nothing: the default of ``context_fn``.

    Example::

        >>> len(ad.utils.checkpoint.noop_context_fn())
        2
    """
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether functions checkpointed inside the block stop, when they are run again, at the last tensor that is needed.

    Example::

        >>> with ad.utils.checkpoint.set_checkpoint_early_stop(False):
        ...     y = ad.utils.checkpoint.checkpoint(ad.exp, ad.ones(1, requires_grad=True), use_reentrant=False)
    """
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Whether functions checkpointed inside the block log their operations for errors; None leaves it to ``debug``.

    Example::

        >>> with ad.utils.checkpoint.set_checkpoint_debug_enabled(True):
        ...     y = ad.utils.checkpoint.checkpoint(ad.exp, ad.ones(1, requires_grad=True), use_reentrant=False)
    """
    global _debug
    before, _debug = _debug, enabled
    try:
        yield
    finally:
        _debug = before


class _Again:
    """Runs `f` as it was run before: with the same random numbers."""

    def __init__(self, f: Callable[..., Any], preserve_rng_state: bool) -> None:
        self.f = f
        self.state = core._core.random_states() if preserve_rng_state else None

    def __call__(self, *args: Any) -> Any:
        if self.state is None:
            return self.f(*args)
        now = core._core.random_states()
        core._core.set_random_states(self.state)
        try:
            return self.f(*args)
        finally:
            core._core.set_random_states(now)


class _Stop(Exception):
    """All that is needed was saved again."""


def _form(t: Tensor) -> dict[str, Any]:
    return {"shape": t.shape, "dtype": t.dtype, "device": t.device}


def _version(t: Tensor) -> int | None:
    return None if _engine.is_lifted(t) or _engine.is_inference(t) else t._version


_current = Local()


class GraphExecGroup:
    """Backwards inside the block run over parts of one graph that do not overlap: each checkpoint is run again at most once.

    Raises:
        RuntimeError: blocks do not nest.
        CheckpointError: in backward, if two of the backwards need the same saved tensor.

    Example::

        >>> x = ad.ones(2, requires_grad=True)
        >>> y, z = ad.utils.checkpoint.checkpoint(lambda x: (x.sin(), x.cos()), x, use_reentrant=False)
        >>> with ad.utils.checkpoint.GraphExecGroup():
        ...     y.sum().backward()
        ...     z.sum().backward()
    """

    def __init__(self) -> None:
        self._used: weakref.WeakKeyDictionary[_Recomputed, set[int]] = weakref.WeakKeyDictionary()

    def __enter__(self) -> None:
        if getattr(_current, "group", None) is not None:
            raise RuntimeError(f"GraphExecGroup contexts cannot be nested. Already inside group {_current.group}")
        _current.group = self

    def __exit__(self, *error: object) -> None:
        _current.group = None

    def use(self, saved: _Recomputed, i: int) -> None:
        """Notes that a backward needs tensor ``i`` of a checkpoint."""
        used = self._used.setdefault(saved, set())
        if i in used:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. Performing two backward "
                "calls that overlap (i.e. require the same saved activation in order to compute gradients) is not allowed while under "
                "the torch.utils.checkpoint.GraphExecGroup context."
            )
        used.add(i)


class _Recomputed:
    """The tensors that a run of `run` saves, by their order: made again when the first of them is asked for."""

    def __init__(self, run: Callable[[], Any], arguments: list[Tensor], context: Any, early_stop: bool, compare: bool) -> None:
        self.run = run
        self.first_run_ended = False  # until then, a backward inside it may need what was saved so far
        self.logs: tuple[RunLog, RunLog] | None = None
        self.arguments = [(t, _version(t)) for t in arguments]
        self.context = context
        self.early_stop, self.compare = early_stop, compare
        self.forms: list[dict[str, Any]] = []
        self.values: dict[int, Tensor] = {}

    def pack(self, tensor: Tensor) -> int:
        level = _engine.innermost_slot([tensor])
        if level and _engine.slot_info(level)[:2] == (
            "tape",
            True,
        ):  # when its backward runs, a second run would record nothing there
            raise RuntimeError(
                "torch.func.{grad, vjp, jacrev, hessian} don't yet support checkpoints: differentiate the function itself there, or "
                "use autograd.grad"
            )
        self.forms.append(_form(tensor))
        return len(self.forms) - 1

    def unpack(self, i: int) -> Tensor:
        group = getattr(_current, "group", None)
        if group is not None:
            group.use(self, i)
        if i not in self.values:
            self._recompute()
        return self.values.pop(i)

    def _recompute(self) -> None:
        for number, (t, version) in enumerate(self.arguments):
            if _version(t) != version:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: tensor argument "
                    f"{number} of a checkpointed function is at version {_version(t)}; expected version {version} instead."
                )
        values: list[Tensor] = []

        def keep(tensor: Tensor) -> int:
            if len(values) == len(self.forms) and self.first_run_ended:
                self._fail("trying to save more tensors during recomputation than during the original forward pass.")
            values.append(_engine.detach(tensor) if tensor.requires_grad else tensor)
            if self.early_stop and len(values) == len(self.forms):
                raise _Stop
            return len(values) - 1

        with enable_grad(), saved_tensors_hooks(keep, values.__getitem__), self.context, contextlib.suppress(_Stop):
            self.run()
        self._check(values)
        self.values = dict(enumerate(values[: len(self.forms)]))

    def _fail(self, message: str) -> None:
        error = CheckpointError(f"torch.utils.checkpoint: {message}{'' if self.logs else _TIP}")
        if self.logs:
            raise CheckpointError(difference(*self.logs)) from error
        raise error

    def _check(self, values: list[Tensor]) -> None:
        if len(values) != len(self.forms) and self.first_run_ended:
            self._fail(
                "A different number of tensors was saved during the original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.forms)}\n"
                f"Number of tensors saved during recomputation: {len(values)}."
            )
        pairs = enumerate(zip(self.forms, map(_form, values)))
        different = [f"tensor at position {i}:\nsaved metadata: {a}\nrecomputed metadata: {b}" for i, (a, b) in pairs if a != b]
        if self.compare and different:
            self._fail(
                "Recomputed values for the following tensors have different metadata than during the forward pass.\n"
                + "\n".join(different)
            )


class CheckpointFunction(Function):
    """Forward records nothing; backward runs the function again and goes back through it."""

    @staticmethod
    def forward(ctx: FunctionCtx, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.again = _Again(run_function, preserve_rng_state)
        tensors = [a for a in args if isinstance(a, Tensor)]
        ctx.args = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*tensors)
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: FunctionCtx, *cotangents: Any) -> Any:
        if _engine.inputs_given():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to .backward(). "
                "To resolve this error, you can either set use_reentrant=False, or call .backward() without passing the `inputs` argument."
            )
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


def _chosen(use_reentrant: bool | None) -> bool:
    if use_reentrant is None:
        warnings.warn(
            "checkpoint: the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended, but if you need "
            "to preserve the current default behavior, you can pass use_reentrant=True.",
            stacklevel=3,
        )
        return True
    return use_reentrant


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, whose intermediate tensors are made again in backward instead of being kept.

    Arguments:
        use_reentrant: record nothing and start a second backward inside the first one: no keyword arguments, no double backward,
            no ``grad``. Say which; True, with a warning, is the default.
        preserve_rng_state: the second run sees the random numbers of the first.
        context_fn: gives two contexts, in which the first and the second run happen.
        determinism_check: "default" compares shape, dtype and device of what both runs save; "none" does not.
        debug: errors list the operations of both runs; ``set_checkpoint_debug_enabled`` wins over it.
        early_stop: the second run ends as soon as all that is needed was saved.

    Raises:
        CheckpointError: in backward, if the second run saves other tensors than the first.
        RuntimeError: inside ``func.grad`` and its kin, or around them.
        ValueError: options of ``use_reentrant=False`` with ``use_reentrant=True``, or an unknown ``determinism_check``.

    Example::

        >>> f = lambda x: x.exp().sin()
        >>> y = ad.utils.checkpoint.checkpoint(f, ad.ones(2, requires_grad=True), use_reentrant=False)
    """
    if _chosen(use_reentrant):
        if kwargs:
            raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    debug = debug if _debug is None else _debug
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    first, second = (RunLog(), RunLog()) if debug else context_fn()
    if not is_grad_enabled():
        return function(*args, **kwargs)
    again = _Again(lambda: function(*args, **kwargs), preserve_rng_state)
    tensors = [t for t in trees.tree_flatten((args, kwargs))[0] if isinstance(t, Tensor)]
    stop = early_stop if _early_stop is None else _early_stop
    saved = _Recomputed(again, tensors, second, stop, determinism_check == "default")
    saved.logs = (first, second) if debug else None
    with saved_tensors_hooks(saved.pack, saved.unpack), first:
        found = function(*args, **kwargs)
        saved.first_run_ended = True
    if not saved.first_run_ended:
        raise RuntimeError(
            "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during the checkpointed "
            "forward. This is not supported because checkpoint cannot return a value for a failed forward."
        )
    return found


def checkpoint_sequential(
    functions: Iterable[Callable[..., Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    *,
    preserve_rng_state: bool = True,
) -> Any:
    """Applies the functions one after the other, in ``segments`` parts of which all but the last are checkpoints.

    Arguments:
        functions: a ``Sequential``, or functions of one tensor.
        segments: how many parts, at least 1.
        input: what the first function takes.
        use_reentrant, preserve_rng_state: as in ``checkpoint``.

    Example::

        >>> x = ad.ones(2, requires_grad=True)
        >>> y = ad.utils.checkpoint.checkpoint_sequential([ad.exp, ad.sin, ad.cos], 2, x, use_reentrant=False)
    """
    reentrant = _chosen(use_reentrant)
    steps = list(functions)
    size = len(steps) // segments

    def run(part: list[Callable[..., Any]]) -> Callable[[Any], Any]:
        def chain(x: Any) -> Any:
            for step in part:
                x = step(x)
            return x

        return chain

    for k in range(segments - 1):
        input = checkpoint(
            run(steps[k * size : (k + 1) * size]), input, use_reentrant=reentrant, preserve_rng_state=preserve_rng_state
        )
    return run(steps[(segments - 1) * size :])(input)
