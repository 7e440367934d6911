"""The batching rule of a Function with `generate_vmap_rule`."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor

from .._transforms.levels import batch_level


class GeneratedRule:
    """The batching rule of a Function with ``generate_vmap_rule``: forward, backward and jvp each under vmap."""

    def __init__(self, cls: Any, base: Any, dims: tuple[int | None, ...], info: Any) -> None:
        self.cls, self.base, self.dims, self.info = cls, base, dims, info

    def run(self, values: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], bool]:
        rule, cls, shape = self, self.cls, {}

        class Batched(self.base):  # type: ignore[misc, name-defined]
            generate_vmap_rule = True  # one more dimension outside

            @staticmethod
            def forward(*args: Any) -> Any:
                with batch_level(*rule.info) as level:
                    result = cls.forward(*rule._lift(level, args), **kwargs)
                    shape["single"] = not isinstance(result, tuple)
                    outputs = (result,) if shape["single"] else result
                    return tuple(level.lower(y, 0) if isinstance(y, Tensor) else y for y in outputs)

            @staticmethod
            def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
                ctx.save_for_backward(*(a for a in (*inputs, *output) if isinstance(a, Tensor)))
                ctx.template = [isinstance(a, Tensor) or a for a in (*inputs, *output)]
                ctx.n_inputs = len(inputs)
                ctx.single = shape["single"]

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                with batch_level(*rule.info) as level:
                    inner = rule._inner_context(level, ctx)
                    found = inner.apply(*(None if g is None else level.lift(g, 0) for g in grads))
                    found = found if isinstance(found, tuple) else (found,)
                    lowered = [None if g is None else level.lower(g, 0) for g in found]
                return tuple(None if g is None else rule._gathered(g, d) for g, d in zip(lowered, rule.dims, strict=False))

            @staticmethod
            def jvp(ctx: Any, *tangents: Any) -> Any:
                with batch_level(*rule.info) as level:
                    inner = rule._inner_context(level, ctx)
                    found = inner.apply_jvp(*rule._lift(level, tangents))
                    found = found if isinstance(found, tuple) else (found,)
                    return tuple(None if t is None else level.lower(t, 0) for t in found)

        return Batched.apply(*values), shape["single"]

    def _lift(self, level: batch_level, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            level.lift(a, d) if d is not None and isinstance(a, Tensor) else a for a, d in zip(args, self.dims, strict=True)
        )

    def _gathered(self, g: Tensor, dim: int | None) -> Tensor:
        return g.sum(0) if dim is None else g.movedim(0, dim)

    def _inner_context(self, level: batch_level, ctx: Any) -> Any:
        """The user's context for one example, made from what the batched Function saved."""
        saved = iter(ctx.saved_tensors)
        everything = [next(saved) if t is True else t for t in ctx.template]
        inputs = self._lift(level, tuple(everything[: ctx.n_inputs]))
        outputs = tuple(level.lift(y, 0) if isinstance(y, Tensor) else y for y in everything[ctx.n_inputs :])
        inner = self.cls._backward_cls()
        inner.needs_input_grad = ctx.needs_input_grad
        self.cls.setup_context(inner, inputs, outputs[0] if ctx.single else outputs)
        return inner
