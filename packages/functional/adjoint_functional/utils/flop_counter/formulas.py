"""How many floating-point operations an operation takes, by the shapes of its operands and results: a product and a sum are two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import Any

from adjoint_core import Tensor
from adjoint_engine.operators import OpOverloadPacket, ops
from adjoint_engine.trees import tree_flatten, tree_map

__all__ = ["conv_flop_count", "flop_registry", "register_flop_formula", "with_shapes"]

Shape = Sequence[int]
Formula = Callable[..., int]
flop_registry: dict[Any, Formula] = {}
"The formula of each operation, which takes its arguments and, as `out_val`, its result."
aten = ops.aten


def _shape(value: Any) -> Any:
    return value.shape if isinstance(value, Tensor) else value


def with_shapes(formula: Formula) -> Formula:
    """A formula of shapes as one of tensors: `out_val` becomes `out_shape`."""

    @wraps(formula)
    def of_tensors(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        args, kwargs, out_shape = tree_map(_shape, (args, kwargs, out_val))
        return formula(*args, out_shape=out_shape, **kwargs)

    return of_tensors


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Formula], Formula]:
    """A decorator of the formula of one operation, ``ops.mine.scale``, or of a list of them.

    The formula takes the operation's arguments, shapes in place of tensors, and `out_shape`, that of the result; with `get_raw` the tensors
    themselves, and `out_val`.

    Raises:
        ValueError: a target is no operation.
        RuntimeError: an operation has a formula already.

    Example::

        >>> @ad.utils.flop_counter.register_flop_formula(ad.ops.aten.erf)
        ... def erf_flop(x_shape, out_shape=None):
        ...     return 10 * out_shape.numel()
        >>> with ad.utils.flop_counter.FlopCounterMode(display=False) as counter:
        ...     y = ad.erf(ad.ones(2, 3))
        >>> counter.get_total_flops()
        60
    """

    def register(formula: Formula) -> Formula:
        of_tensors = formula if get_raw else with_shapes(formula)
        for target in tree_flatten(targets)[0]:
            if not isinstance(target, OpOverloadPacket):
                raise ValueError(
                    "register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. torch.ops.mylib.foo), "
                    f"got {target} which is of type {type(target)}"
                )
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = of_tensors
        return of_tensors

    return register


@register_flop_formula(aten.mm)
def _mm(a: Shape, b: Shape, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    return 2 * a[0] * a[1] * b[1]


@register_flop_formula([aten.bmm, aten.matmul])
def _bmm(a: Shape, b: Shape, *args: Any, out_shape: Shape, **kwargs: Any) -> int:
    return 2 * prod(out_shape) * a[-1]


def conv_flop_count(x_shape: Shape, w_shape: Shape, out_shape: Shape, transposed: bool = False) -> int:
    """The operations of a convolution: each position of the output, of the input where it is `transposed`, meets the whole weight.

    Example::

        >>> from adjoint.utils.flop_counter import conv_flop_count
        >>> conv_flop_count((2, 3, 8, 8), (6, 3, 3, 3), (2, 6, 6, 6))
        23328
    """
    return 2 * x_shape[0] * prod((x_shape if transposed else out_shape)[2:]) * prod(w_shape)


@register_flop_formula(aten.convolution)
def _conv(
    x: Shape, w: Shape, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, *rest: Any, out_shape: Shape
) -> int:
    return conv_flop_count(x, w, out_shape, transposed)


@register_flop_formula(aten.convolution_backward)
def _conv_backward(grad: Shape, x: Shape | None, w: Shape | None, *rest: Any, out_shape: Shape) -> int:
    """Of the gradient of the input, made without it, or of that of the weight; for groups the latter is PyTorch's, as if there were none."""
    if x is None:
        assert w is not None
        return conv_flop_count(grad, w, out_shape, True)
    return 2 * prod(grad) * x[1] * prod(out_shape[2:])


def _products(query: Shape, key: Shape, value: Shape, of_keys: int, of_values: int) -> int:
    """So many products along the features of the keys, and so many along those of the values."""
    return 2 * prod(query[:-1]) * key[-2] * (of_keys * query[-1] + of_values * value[-1])


@register_flop_formula(aten.attention)
def _attention(query: Shape, key: Shape, value: Shape, *args: Any, **kwargs: Any) -> int:
    return _products(query, key, value, 1, 1)


@register_flop_formula(aten.attention_vjp)
def _attention_vjp(query: Shape, key: Shape, value: Shape, *args: Any, **kwargs: Any) -> int:
    """With the weights, made again, and their gradient: counted once, as PyTorch does."""
    return _products(query, key, value, 3, 2)
