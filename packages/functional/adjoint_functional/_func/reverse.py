"""func: transformations in reverse mode. Each opens a tape level, so that they nest in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from .._backend import (
    Tensor,
    TreeSpec,
    eye,
    ones_like,
    stack,
    tape_level,
    tree_flatten,
    tree_unflatten,
    vmap,
    zeros,
    zeros_like,
)
from .arguments import ArgNums, Selection, lowered, select, split_aux, tensor_leaves


def grad_and_value(func: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of ``func`` and its value.

    Arguments:
        func: returns a 0-d tensor, or ``(0-d tensor, aux)`` with ``has_aux``; its arguments may be trees.
        argnums: the position, or positions, of the arguments to differentiate.
        has_aux: ``func`` also returns auxiliary values, handed on without derivative.

    Returns:
        ``g(*args, **kwargs) -> (gradient, value)``, or ``(gradient, (value, aux))``. The gradient has the structure
        and shapes of the picked argument; for a tuple of positions it is a tuple.

    Raises:
        RuntimeError: the output is not a 0-d tensor; argnums are out of range.
        ValueError: a picked argument has a leaf that is no tensor.

    Example::

        >>> grad_and_value(lambda x: (x * x).sum())(ad.tensor([1., 2.]))
        (tensor([2., 4.]), tensor(5.))
    """
    api = "grad_and_value(f)(*args)"

    @wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        picked = select(args, argnums, api)
        with tape_level() as level:
            leaves = [level.lift(x) for x in picked.leaves]
            output, aux = split_aux(func(*picked.replaced(leaves), **kwargs), has_aux, api)
            if not isinstance(output, Tensor):
                raise RuntimeError(f"{api}: Expected f(*args) to return a Tensor, got {type(output)}")
            if output.dim() != 0:
                raise RuntimeError(
                    f"{api}: Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} dims. "
                    "Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            gradients = level.grad([output], leaves, [ones_like(output)])
            value = level.lower(output)
            aux = lowered(aux, level.lower)
        result = picked.shaped(_zero_filled(gradients, picked.leaves))
        return (result, (value, aux)) if has_aux else (result, value)

    return wrapper


def grad(func: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of ``func``; see ``grad_and_value`` for arguments and errors.

    Returns:
        ``g(*args, **kwargs) -> gradient``, or ``(gradient, aux)`` with ``has_aux``.

    Example::

        >>> grad(grad(lambda x: x ** 3))(ad.tensor(2.))
        tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapper


def _zero_filled(values: Sequence[Tensor | None], like: Sequence[Tensor]) -> list[Tensor]:
    return [zeros_like(x) if v is None else v for v, x in zip(values, like, strict=True)]


class _Recorded:
    """One evaluation of a function on a tape level of its own, with the way back through it.

    ``pull`` works after the level was left: the graph is kept alive by the outputs.
    """

    def __init__(self, func: Callable[..., Any], picked: Selection, has_aux: bool, api: str) -> None:
        self.picked = picked
        with tape_level() as level:
            self._level = level
            self._leaves = [level.lift(x) for x in picked.leaves]
            output, aux = split_aux(func(*picked.replaced(self._leaves)), has_aux, api)
            self._outputs, self.spec = tensor_leaves(output, api)
            self.outputs = [level.lower(y) for y in self._outputs]
            self.aux = lowered(aux, level.lower)
        for y in self.outputs:
            if not (y.is_floating_point() or y.is_complex()):
                raise RuntimeError(
                    f"{api}: All outputs of f must be floating-point or complex Tensors, got Tensor with dtype {y.dtype}"
                )

    def pull(self, cotangents: Sequence[Tensor], which: slice = slice(None)) -> list[Tensor]:
        """The gradients of the picked leaves, for cotangents of the outputs in ``which``."""
        gradients = self._level.grad(self._outputs[which], self._leaves, list(cotangents))
        return _zero_filled(gradients, self.picked.leaves)


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """``func`` at ``primals``, and its transposed derivative there: ``v -> v^H J``.

    Arguments:
        func: takes tensors or trees of them, returns a tensor or a tree of them.
        primals: the point.
        has_aux: ``func`` returns ``(output, aux)``.

    Returns:
        ``(output, vjp_fn)``, or ``(output, vjp_fn, aux)``. ``vjp_fn(cotangents)`` takes the output's structure and
        shapes and returns a tuple, one entry for each primal; it may be called any number of times.

    Raises:
        RuntimeError: an output is not a floating-point or complex tensor; cotangents differ from it in structure.

    Example::

        >>> output, vjp_fn = vjp(lambda x: x * x, ad.tensor([1., 2.]))
        >>> vjp_fn(ad.ones(2))
        (tensor([2., 4.]),)
    """
    api = "vjp(f, *primals)"
    run = _Recorded(func, select(primals, tuple(range(len(primals))), api), has_aux, api)

    def vjp_fn(cotangents: Any) -> tuple[Any, ...]:
        leaves, spec = tree_flatten(cotangents)
        if spec != run.spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {spec}, primal output: {run.spec}"
            )
        for leaf, y in zip(leaves, run.outputs, strict=True):
            if leaf.shape != y.shape:
                raise RuntimeError(f"vjp_fn: cotangents must have the outputs' shapes, {y.shape}, got {leaf.shape}")
        return run.picked.shaped(run.pull(leaves))

    output = tree_unflatten(run.outputs, run.spec)
    return (output, vjp_fn, run.aux) if has_aux else (output, vjp_fn)


def unit_vectors(x: Tensor) -> Tensor:
    """All one-hot tensors of the shape of ``x``, along a new first dimension."""
    return eye(x.numel(), dtype=x.dtype, device=x.device).reshape((x.numel(), *x.shape))


def nested(blocks: Sequence[Sequence[Tensor]], outputs: TreeSpec, picked: Selection) -> Any:
    """Blocks [output leaf][input leaf] as the output's tree of the input's trees."""
    return tree_unflatten([picked.shaped(row) for row in blocks], outputs)


def jacrev(
    func: Callable[..., Any],
    argnums: ArgNums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that returns the Jacobian of ``func``, row by row in one batched backward pass per output.

    Arguments:
        func: returns a tensor or a tree of them, or ``(output, aux)`` with ``has_aux``.
        argnums: the position, or positions, of the arguments to differentiate.
        has_aux: ``func`` also returns auxiliary values.
        chunk_size: at most so many rows at once, to bound the memory; all of them if None.

    Returns:
        ``J(*args)``: for each output a tensor of shape ``output.shape + arg.shape``, in the output's tree of the
        arguments' trees; ``(J, aux)`` with ``has_aux``.

    Raises:
        ValueError: ``chunk_size`` is not positive.
        RuntimeError: an output is not a floating-point or complex tensor; argnums are out of range.

    Example::

        >>> jacrev(lambda x: x * x)(ad.tensor([1., 2.]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"jacrev: `chunk_size` should be greater than 0, got {chunk_size}")
    api = "jacrev(f)(*args)"

    @wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        picked = select(args, argnums, api)
        run = _Recorded(lambda *inner: func(*inner, **kwargs), picked, has_aux, api)
        blocks: list[list[Tensor]] = []
        for i, y in enumerate(run.outputs):
            one = slice(i, i + 1)
            shapes = [(*y.shape, *x.shape) for x in picked.leaves]
            if y.numel() == 0:
                blocks.append([zeros(s, dtype=x.dtype, device=x.device) for s, x in zip(shapes, picked.leaves, strict=True)])
                continue
            if y.numel() == 1:  # a gradient: nothing to batch
                rows = run.pull([ones_like(y)], one)
            elif chunk_size == 1:
                columns = zip(*(run.pull([v], one) for v in unit_vectors(y)), strict=True)
                rows = [stack(list(column)) for column in columns]
            else:
                pull = vmap(lambda v, one=one: tuple(run.pull([v], one)), randomness="same", chunk_size=chunk_size)
                rows = pull(unit_vectors(y))
            blocks.append([g.reshape(s) for g, s in zip(rows, shapes, strict=True)])
        result = nested(blocks, run.spec, picked)
        return (result, run.aux) if has_aux else result

    return wrapper
