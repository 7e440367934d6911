"""backward and grad: reverse mode from outputs to leaves or to chosen inputs."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from adjoint_core import Tensor, _core, ones, zeros_like
from adjoint_core._protocol import ask
from adjoint_core._warnings import warn_once

from . import _engine
from ._transforms.levels import batch_level

_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can cause "
    "a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use this function, make "
    "sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid the leak."
)


class GradientEdge(NamedTuple):
    """An output of a node: where a gradient can be fed in or asked for without holding a tensor.

    Example::

        >>> x = ad.tensor(3., requires_grad=True)
        >>> edge = ad.autograd.graph.get_gradient_edge(x)
        >>> ad.autograd.grad(x * x, edge)
        (tensor(6.),)
    """

    node: Any
    output_nr: int
    ownership_token: Any = None  # kept alive with the edge


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of ``tensor``: its ``grad_fn`` and output number, or the ``AccumulateGrad`` of a leaf.

    Raises:
        RuntimeError: the tensor does not require grad.

    Example::

        >>> x = ad.ones(2, requires_grad=True)
        >>> ad.autograd.graph.get_gradient_edge(x * 2).node.name()
        'MulBackward0'
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(*_engine.gradient_edge(tensor))


def _sequence(x: Any) -> list[Any]:
    if isinstance(x, (Tensor, GradientEdge)):
        return [x]
    return list(x.values()) if isinstance(x, Mapping) else list(x)


def _edge(x: Any, what: str) -> GradientEdge:
    if isinstance(x, GradientEdge):
        return x
    if not isinstance(x, Tensor):
        raise TypeError(f"{what}: expected a Tensor or a GradientEdge, got {type(x).__name__}")
    return GradientEdge(*_engine.gradient_edge(x))


def _cotangents(outputs: list[Any], given: Any, what: str) -> list[Tensor | None]:
    """One for each of the outputs; more than that are not looked at, as in PyTorch."""
    grads = [None] * len(outputs) if given is None else _sequence(given)[: len(outputs)]
    if len(grads) < len(outputs):
        raise RuntimeError(
            f"got {len(outputs)} tensors and {len(grads)} gradients: one gradient is needed for each of the {what}"
        )
    for g in grads:
        if g is not None and not isinstance(g, Tensor):
            raise TypeError("gradients can be either Tensors or None, but got " + type(g).__name__)
    return grads


_callbacks: list[tuple[int, int, Callable[[], Any]]] = []  # (thread, backward, callback), of all threads
_finishing = threading.local()  # .task: the backward whose callbacks run


def _current() -> int:
    return max(_engine.current_task(), getattr(_finishing, "task", -1))


def queue_callback(callback: Callable[[], Any]) -> None:
    """Calls ``callback()`` when the backward that runs now in this thread has ended well.

    Raises:
        RuntimeError: no backward is running.
    """
    task = _current()
    if task < 0:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    _callbacks.append((_engine.backward_thread(), task, callback))


def queue_last_callback(callback: Callable[[], Any]) -> None:
    """The same when the outermost backward of this thread has ended well: the one that runs now may be inside of another."""

    def run() -> None:
        around = _engine.current_task()
        if around < 0:
            callback()
        else:
            _callbacks.append((_engine.backward_thread(), around, run))

    queue_callback(run)


def _take_callback(around: int) -> tuple[int, int, Callable[[], Any]] | None:
    """The oldest callback of a backward that has ended in this thread: its number is larger than that of the one `around` it."""
    for entry in _callbacks:
        if entry[0] == _engine.backward_thread() and entry[1] > around:
            _callbacks.remove(entry)
            return entry
    return None


def _finish(around: int) -> None:
    """Runs what was queued, and what that queues."""
    before = getattr(_finishing, "task", -1)
    try:
        while _callbacks and (entry := _take_callback(around)) is not None:
            _finishing.task = entry[1]
            entry[2]()
    finally:
        _finishing.task = before


def with_callbacks(run: Callable[..., Any], *args: Any) -> Any:
    """``run(*args)``, a backward, and then what was queued for its end; after an error, nothing."""
    try:
        found = run(*args)
        if _callbacks:
            _finish(_current())
    except BaseException:
        _forget()
        raise
    return found


def _forget() -> None:
    while _callbacks and _take_callback(_current()) is not None:
        pass


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Adds the gradients of ``tensors`` to the ``.grad`` of the leaves.

    Arguments:
        tensors: outputs, or gradient edges: one, a sequence or a mapping.
        grad_tensors: a cotangent of the same shape per output; None stands for 1 where the output is a scalar.
        retain_graph: keep what was saved, so that backward can run again; ``create_graph`` by default.
        create_graph: record the backward too, for higher derivatives.
        inputs: accumulate only into these.

    Raises:
        RuntimeError: an output does not require grad, is no scalar and has no cotangent, or its graph was freed.

    Example::

        >>> x = ad.tensor([1., 2.], requires_grad=True)
        >>> ad.autograd.backward((x * x).sum())
        >>> x.grad
        tensor([2., 4.])
    """
    if grad_variables is None and not create_graph:
        try:  # all is said in C++ where all are tensors
            done = _engine.backward(tensors, grad_tensors, retain_graph, False, inputs)
            if _callbacks:
                _finish(_current())
        except BaseException:
            _forget()
            raise
        if done is not NotImplemented:
            return
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if create_graph:
        warn_once(_CYCLE)
    outputs = _sequence(tensors)
    wanted = [] if inputs is None else _sequence(inputs)
    if inputs is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    keep = create_graph if retain_graph is None else bool(retain_graph)
    cotangents = _cotangents(outputs, grad_tensors, "tensors")
    accumulate(outputs, cotangents, keep, create_graph, wanted)


def accumulate(outputs: list[Any], cotangents: list[Tensor | None], keep: bool, create: bool, wanted: list[Any]) -> None:
    """``backward`` without its checks."""
    if with_callbacks(_engine.backward, outputs, cotangents, keep, create, wanted or None) is NotImplemented:
        with_callbacks(_run_edges, outputs, cotangents, wanted, keep, create, True)


def _one(form: Any) -> Tensor:
    """The cotangent of a scalar output for which none was given."""
    if form.shape.numel() != 1:
        raise RuntimeError(f"grad can be implicitly created only for scalar outputs, got an output of shape {list(form.shape)}")
    return ones(form.shape, dtype=form.dtype, device=form.device)


def _fitted(grad: Tensor, dtype: Any, i: int) -> Tensor:
    if grad.is_complex() != dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{i}] has a dtype of {grad.dtype} and output[{i}] has a dtype of {dtype}."
        )
    return grad.to(dtype)


def _form(y: Any) -> Any:
    """What has the shape, dtype and device of an output."""
    return y.node._input_metadata[y.output_nr] if isinstance(y, GradientEdge) else y


def _run_edges(
    outputs: list[Any], cotangents: list[Tensor | None], inputs: list[Any], keep: bool, create: bool, accumulate: bool
) -> tuple[Tensor | None, ...]:
    if accumulate:
        for x in inputs:
            if isinstance(x, Tensor):
                x.retain_grad()
    roots = [_edge(y, "outputs") for y in outputs]
    grads: list[Tensor] = []
    for i, (y, g) in enumerate(zip(outputs, cotangents, strict=True)):
        form = _form(y)
        grads.append(_one(form) if g is None else _fitted(g, form.dtype, i))
    return _engine.run_from_edges(roots, grads, [_edge(x, "inputs") for x in inputs], keep, create, accumulate)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of ``outputs`` with respect to ``inputs``; nothing is accumulated.

    Arguments:
        outputs: tensors or gradient edges: one, a sequence or a mapping.
        inputs: likewise.
        grad_outputs: a cotangent per output, of its shape (with ``is_grads_batched``: with a batch in front).
        retain_graph: keep what was saved; ``create_graph`` by default.
        create_graph: record the backward too.
        allow_unused: give None for inputs that the outputs do not depend on, instead of an error.
        is_grads_batched: run all rows of ``grad_outputs`` at once by vmap.
        materialize_grads: zeros instead of None; implies ``allow_unused``.

    Returns:
        A tuple with one gradient per input, of its shape and dtype (a mapping gives a mapping).

    Raises:
        RuntimeError: an output or input does not require grad, an input was not used, or the graph was freed.

    Example::

        >>> x = ad.tensor(3., requires_grad=True)
        >>> ad.autograd.grad(x ** 3, x)
        (tensor(27.),)
    """
    if only_inputs and not is_grads_batched and not materialize_grads:
        try:
            gradients = _engine.grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, True)
            if _callbacks:
                _finish(_current())
        except BaseException:
            _forget()
            raise
        if gradients is not NotImplemented:
            return gradients
    how = (only_inputs, allow_unused, is_grads_batched, materialize_grads)
    return _grad_generally(outputs, inputs, grad_outputs, retain_graph, create_graph, *how)


def _grad_generally(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any,
    retain_graph: bool | None,
    create_graph: bool,
    only_inputs: bool,
    allow_unused: bool | None,
    is_grads_batched: bool,
    materialize_grads: bool,
) -> Any:
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if not only_inputs:
        warnings.warn(
            "`only_inputs` argument is deprecated and is ignored now (defaults to True). To accumulate gradients for other "
            "parts of the graph, use autograd.backward.",
            FutureWarning,
            stacklevel=3,
        )
    ys, xs = _sequence(outputs), _sequence(inputs)
    if _core._is_answered((*ys, *xs)):
        how = {"retain_graph": retain_graph, "create_graph": create_graph, "allow_unused": allow_unused}
        how |= {"grad_outputs": grad_outputs, "is_grads_batched": is_grads_batched, "materialize_grads": materialize_grads}
        return ask(grad, (*ys, *xs), (outputs, inputs), how)
    if not xs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    keep = create_graph if retain_graph is None else bool(retain_graph)
    cotangents = _cotangents(ys, grad_outputs, "outputs")
    found = (_batched if is_grads_batched else _grad)(ys, xs, cotangents, keep, create_graph)
    if materialize_grads:
        found = tuple(_zeros(x, create_graph) if g is None else g for g, x in zip(found, xs, strict=True))
    elif not allow_unused:
        _engine.check_used(found)
    return dict(zip(inputs, found, strict=True)) if isinstance(inputs, Mapping) else found


def _zeros(x: Any, requires_grad: bool) -> Tensor:
    if isinstance(x, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    return zeros_like(x).requires_grad_(requires_grad)


def _grad(ys: list[Any], xs: list[Any], cotangents: list[Tensor | None], keep: bool, create: bool) -> tuple[Tensor | None, ...]:
    found = with_callbacks(_engine.grad, ys, xs, cotangents, keep, create, True, False)
    return with_callbacks(_run_edges, ys, cotangents, xs, keep, create, False) if found is NotImplemented else found


def _check_lanes(ys: list[Any], cotangents: Sequence[Tensor | None]) -> None:
    for i, (y, g) in enumerate(zip(ys, cotangents, strict=True)):
        shape = _form(y).shape
        if g is not None and g.shape[1:] != shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The sizes of "
                "the remaining dimensions are expected to match the shape of corresponding output, but a mismatch was detected: "
                f"grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of {shape}. If you only want some tensors "
                "in `grad_output` to be considered batched, consider using vmap."
            )


def _batched(
    ys: list[Any], xs: list[Any], cotangents: Sequence[Tensor | None], keep: bool, create: bool
) -> tuple[Tensor | None, ...]:
    _check_lanes(ys, cotangents)
    sizes = {g.shape[0] for g in cotangents if g is not None}
    if len(sizes) != 1:
        raise RuntimeError(f"grad: is_grads_batched=True needs grad_outputs with one common leading size, got {sorted(sizes)}")
    with batch_level(sizes.pop(), strict=False) as level:
        lifted = [None if g is None else level.lift(g, 0) for g in cotangents]
        found = _grad(ys, xs, lifted, keep, create)
        return tuple(None if g is None else level.lower(g, 0) for g in found)
