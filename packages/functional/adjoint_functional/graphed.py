"""Functions and modules whose forward and backward are replayed as CUDA graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from adjoint_core import Tensor, cuda, empty_like
from adjoint_engine import Function, Parameter, grad, once_differentiable
from adjoint_engine.trees import tree_flatten, tree_unflatten

from .nn.modules import Module

__all__ = ["make_graphed_callables"]

Pool = tuple[int, int]


def make_graphed_callables(
    callables: Any, sample_args: Any, num_warmup_iters: int = 3, allow_unused_input: bool = False, pool: Pool | None = None
) -> Any:
    """Versions of functions or modules that replay their work on a GPU, for training loops as they are.

    Forward and backward of each are captured once, on `sample_args`; a call copies its arguments to where the samples lie, replays,
    and returns the tensors that every call returns. There is no second derivative.

    Arguments:
        callables: a function or `nn.Module` without hooks, or a tuple of them in the order in which they will run. Modules are
            changed in place, and replay while they are in the mode, training or evaluation, in which they were captured.
        sample_args: its arguments, a tuple of tensors (or trees of them) of the shapes, types and `requires_grad` of later calls;
            for a tuple, a tuple of such tuples.
        num_warmup_iters: how often each runs before its capture.
        allow_unused_input: whether inputs that need a gradient may go unused.
        pool: where the memory comes from, as for `cuda.graph`.

    Example::

        >>> step = ad.cuda.make_graphed_callables(model, (x,))  # doctest: +SKIP
        >>> loss = step(x).sum()  # doctest: +SKIP
        >>> loss.backward()  # doctest: +SKIP

    Raises:
        TypeError: an argument or a result is no tensor; a call's arguments are not as in `sample_args`.
        ValueError: a sample is not on a GPU, a module has hooks, or buffers that require gradients; a call's tensors have other
            shapes or types than the samples.
    """
    several = isinstance(callables, tuple)
    parts = [
        _Part(f, args) for f, args in (zip(callables, sample_args, strict=True) if several else [(callables, sample_args)])
    ]
    pool = pool or cuda.graph_pool_handle()
    cuda.synchronize()
    with cuda.stream(cuda.Stream()):
        for part in parts:
            for _ in range(num_warmup_iters):
                part.run_once(allow_unused_input)
    for part in parts:  # in the order in which they will run: they share memory
        part.capture_forward(pool)
    for part in reversed(parts):
        part.capture_backward(pool, allow_unused_input)
    graphed = tuple(part.replaying() for part in parts)
    return graphed if several else graphed[0]


def _wanted(tensors: Iterable[Tensor]) -> list[Tensor]:
    return [t for t in tensors if t.requires_grad]


class _Part:
    """One callable: its graphs, and the tensors that they read and write."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.function, self.args = function, args
        self.arguments, self.argument_spec = tree_flatten(args)
        for argument in self.arguments:
            if not isinstance(argument, Tensor):
                raise TypeError(f"make_graphed_callables: sample_args must contain only tensors, got {argument!r}")
            if not argument.is_cuda:
                raise ValueError(f"make_graphed_callables: sample_args must be on a GPU, got a tensor on {argument.device}")
        self.parameters: tuple[Parameter, ...] = ()
        if isinstance(function, Module):
            _expect_plain(function)
            self.parameters = tuple(function.parameters())
        self.inputs = [*self.arguments, *self.parameters]
        self.forward_graph, self.backward_graph = cuda.CUDAGraph(), cuda.CUDAGraph()

    def run_once(self, allow_unused: bool) -> None:
        results, _ = tree_flatten(self.function(*self.args))
        for result in results:
            if not isinstance(result, Tensor):
                raise TypeError(f"make_graphed_callables: a callable must return only tensors, got {result!r}")
        outputs = _wanted(results)
        if outputs:
            grad(outputs, _wanted(self.inputs), [empty_like(y) for y in outputs], allow_unused=allow_unused)

    def capture_forward(self, pool: Pool) -> None:
        with cuda.graph(self.forward_graph, pool=pool):
            result = self.function(*self.args)
        self.outputs, self.result_spec = tree_flatten(result)

    def capture_backward(self, pool: Pool, allow_unused: bool) -> None:
        self.cotangents = [empty_like(y) if y.requires_grad else None for y in self.outputs]
        given = [c for c in self.cotangents if c is not None]
        self.gradients: list[Tensor | None] = [None] * len(self.inputs)
        if not given:
            return
        with cuda.graph(self.backward_graph, pool=pool):
            found = grad(_wanted(self.outputs), _wanted(self.inputs), given, allow_unused=allow_unused)
        left = iter(found)
        self.gradients = [next(left) if x.requires_grad else None for x in self.inputs]

    def replaying(self) -> Callable[..., Any]:
        """The function that replays; a module is given it as its forward."""
        replay = _node(self)

        def call(*args: Any, **keywords: Any) -> Any:
            if keywords:
                raise TypeError(f"a graphed callable takes no keyword arguments, got {', '.join(keywords)}")
            results = replay.apply(*self.checked(args), *self.parameters)
            return tree_unflatten(results if isinstance(results, tuple) else (results,), self.result_spec)

        module = self.function
        if not isinstance(module, Module):
            return call
        captured_in, eager = module.training, module.forward

        def forward(*args: Any, **keywords: Any) -> Any:
            return (call if module.training == captured_in else eager)(*args, **keywords)

        module.forward = forward  # type: ignore[method-assign]
        return module

    def checked(self, args: tuple[Any, ...]) -> list[Any]:
        """The tensors of a call, which must be like the samples."""
        given, spec = tree_flatten(args)
        if spec != self.argument_spec:
            raise TypeError(f"a graphed callable takes arguments as in sample_args, {self.argument_spec}, got {spec}")
        for i, (sample, value) in enumerate(zip(self.arguments, given, strict=True)):
            if not isinstance(value, Tensor):
                raise TypeError(f"a graphed callable takes only tensors, got {value!r}")
            if value.shape != sample.shape or value.dtype != sample.dtype:
                expected, got = ((tuple(t.shape), t.dtype) for t in (sample, value))
                raise ValueError(f"a graphed callable takes tensors like its samples: tensor {i} is {expected}, got {got}")
        return given


def _expect_plain(module: Module) -> None:
    if module._forward_hooks or module._forward_pre_hooks or module._backward_hooks or module._backward_pre_hooks:
        raise ValueError("make_graphed_callables: a module must not have hooks when it is captured; register them afterwards")
    if _wanted(module.buffers()):
        raise ValueError("make_graphed_callables: of a module only parameters may require gradients, not buffers")


def _node(part: _Part) -> type[Function]:
    class Graphed(Function):
        """Replays one part."""

        @staticmethod
        def forward(ctx: Any, *inputs: Tensor) -> Any:
            _put(part.arguments, inputs)
            part.forward_graph.replay()
            return tuple(y.detach() for y in part.outputs)

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, *cotangents: Tensor) -> Any:
            _put(part.cotangents, cotangents)
            part.backward_graph.replay()
            return tuple(g if g is None else g.detach() for g in part.gradients)

    return Graphed


def _same_memory(a: Tensor, b: Tensor) -> bool:
    return a.data_ptr() == b.data_ptr() and a.shape == b.shape and a.stride() == b.stride()


def _put(places: Iterable[Tensor | None], values: Iterable[Tensor]) -> None:
    """Copies what does not lie there already."""
    for place, value in zip(places, values, strict=False):
        if place is not None and not _same_memory(place, value):
            place.detach().copy_(value)
