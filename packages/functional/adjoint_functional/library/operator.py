"""An operator that a program defines: kernels for devices, a form for device meta, derivatives and a batching rule from its author."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint_core import Tensor, stack
from adjoint_engine import Function, is_grad_enabled, no_grad
from adjoint_engine.trees import tree_flatten, tree_map, tree_unflatten

from .schema import Schema

__all__ = ["Context", "CustomOperator"]


class Context:
    """What `setup_context` and `backward` of an operator get: as that of a Function; `needs_input_grad` follows the arguments."""

    def __init__(self, ctx: Any, spec: Any) -> None:
        self._ctx, self._spec = ctx, spec

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors for `backward`."""
        self._ctx.save_for_backward(*tensors)

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """What was kept."""
        return tuple(self._ctx.saved_tensors)

    def set_materialize_grads(self, value: bool) -> None:
        """Whether gradients that are not there are zeros (the default) or None."""
        self._ctx.set_materialize_grads(value)

    @property
    def needs_input_grad(self) -> tuple[Any, ...]:
        """For each argument, or each tensor of a list, whether its gradient is wanted."""
        return tuple(tree_unflatten(list(self._ctx.needs_input_grad[1:]), self._spec)[0])


class CustomOperator:
    """An operator: ``ops.namespace.name``, called with tensors on any device, inside of any transform.

    Raises:
        RuntimeError: arguments that its schema does not have; no kernel for the device; an output that is an input.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.kernels: dict[str, Callable[..., Any]] = {}
        self.composite: Callable[..., Any] | None = None  # its operations are differentiated one by one
        self.fake: Callable[..., Any] | None = None
        self.backward: Callable[..., Any] | None = None
        self.setup: Callable[..., Any] | None = None
        self.batch: Callable[..., Any] | None = None
        self._function = _function_of(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        positional, named = self.schema.bind(args, kwargs)
        if self.composite is not None:
            return self.composite(*positional, **named)
        leaves, spec = tree_flatten((positional, named))
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        tracked = any(not x._storage_ptr() for x in tensors) or (is_grad_enabled() and any(x.requires_grad for x in tensors))
        if not tracked or self.schema.writes:
            return self.run(positional, named)
        return self._function.apply(spec, *leaves)

    def run(self, positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The kernel's results, without history."""
        tensors = [x for x in tree_flatten((positional, named))[0] if isinstance(x, Tensor)]
        kernel = self._kernel(next((x.device.type for x in tensors), "cpu"))
        with no_grad():
            results = kernel(*positional, **named)
        if any(isinstance(y, Tensor) and any(y is x for x in tensors) for y in tree_flatten(results)[0]):
            raise RuntimeError(
                f"{self.schema.qualname}: an output must not be an input; return a clone. (Its schema: {self.schema})"
            )
        return results

    def _kernel(self, device: str) -> Callable[..., Any]:
        if device == "meta":
            if self.fake is None:
                raise RuntimeError(
                    f"There was no fake impl registered for {self.schema.qualname}: device meta needs one. Please use register_fake to add it."
                )
            return self.fake
        kernel = self.kernels.get(device) or self.kernels.get("")
        if kernel is None:
            raise NotImplementedError(
                f"{self.schema.qualname}: no kernel is registered for device {device}, there are some for {sorted(self.kernels)}"
            )
        return kernel

    def differentiate(self, ctx: Context, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of the positional arguments."""
        if self.backward is None:
            raise RuntimeError(
                f"Trying to backward through {self.schema.qualname} but no autograd formula was registered. Please use register_autograd to add one."
            )
        found = self.backward(ctx, *grads)
        return found if isinstance(found, tuple) else (found,)


def _function_of(op: CustomOperator) -> type[Function]:
    """The Function by which an operator takes part in differentiation and in transforms."""

    class OfOperator(Function):
        @staticmethod
        def forward(spec: Any, *leaves: Any) -> Any:
            return op.run(*tree_unflatten(list(leaves), spec))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            spec, *leaves = inputs
            positional, named = tree_unflatten(list(leaves), spec)
            ctx.given = Context(ctx, spec)
            ctx.alone = not isinstance(output, (list, tuple))
            ctx.count = len(tree_flatten(named)[0])
            if op.setup is not None:
                only = {"keyword_only_inputs": named} if named else {}
                op.setup(ctx=ctx.given, inputs=positional, output=output, **only)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            found = op.differentiate(ctx.given, grads)
            positional = ctx.given.needs_input_grad
            if len(found) != len(positional):
                raise RuntimeError(
                    f"{op.schema.qualname}: backward must return {len(positional)} gradients, one for each argument, got {len(found)}"
                )
            flat: list[Any] = []
            for g, needed in zip(found, positional, strict=True):
                flat += [g] if not isinstance(needed, (list, tuple)) else list(g) if g is not None else [None] * len(needed)
            return None, *flat, *[None] * ctx.count

        @staticmethod
        def vmap(info: Any, in_dims: tuple[Any, ...], spec: Any, *leaves: Any) -> Any:
            positional, named = tree_unflatten(list(leaves), spec)
            dims, _ = tree_unflatten(list(in_dims[1:]), spec)
            if op.batch is not None:
                return op.batch(info, dims, *positional, **named)
            return _one_by_one(op, info.batch_size, in_dims[1:], leaves, spec)

    name = f"GeneratedBackwardFor_{op.schema.qualname.replace('::', '_')}_default"  # that of nodes begins with it
    return type(name, (OfOperator,), {})


def _one_by_one(op: CustomOperator, size: int, dims: tuple[Any, ...], leaves: tuple[Any, ...], spec: Any) -> Any:
    """The batched results of an operator that has no rule: a call for each member."""
    results = []
    for i in range(size):
        own = [x if d is None else x.select(d, i) for x, d in zip(leaves, dims, strict=True)]
        positional, named = tree_unflatten(own, spec)
        results.append(op(*positional, **named))
    if isinstance(results[0], Tensor):
        return stack(results), 0
    joined = [stack(list(column)) for column in zip(*results, strict=True)]
    return type(results[0])(joined), tree_map(lambda _: 0, type(results[0])(joined))
