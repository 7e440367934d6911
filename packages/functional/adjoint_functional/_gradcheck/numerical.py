"""Numerical Jacobians, by central differences: (f(x + h) - f(x - h)) / 2h, one entry of an input at a time.

Jacobians here have one row for each entry of the input and one column for each entry of the output. Dense inputs are moved in
place, and back: a function may hold the input itself, as a module holds its parameters.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any

from .._backend import Tensor, arange, sparse_bsc, sparse_bsr, sparse_coo_tensor, stack, strided, zeros

Func = Callable[..., Any]
# Inside the context, the whole input with something of it moved by the step.
Move = Callable[[Any], AbstractContextManager[Tensor]]


def as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def is_differentiable(value: Any) -> bool:
    """Whether a value is a floating-point or complex tensor that requires grad."""
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex()) and value.requires_grad


def full_pattern(x: Any) -> Any:
    """A sparse tensor with every entry specified; anything else as it is."""
    if not (isinstance(x, Tensor) and x.layout is not strided):
        return x
    dense = x.detach().to_dense()
    sparse_shape = x.shape[: x.ndim - x.dense_dim()]
    rows = [axis.reshape(-1) for axis in _axes(sparse_shape, x)]
    values = dense.reshape(-1, *x.shape[len(sparse_shape) :])
    return _laid_out_as(x, sparse_coo_tensor(stack(rows), values, x.shape)).requires_grad_(x.requires_grad)


def _laid_out_as(x: Tensor, coordinates: Tensor) -> Tensor:
    if x.is_sparse:
        return coordinates.coalesce()
    batches = x.ndim - x.dense_dim() - 2
    block = x.values().shape[batches + 1 : batches + 3] if x.layout in (sparse_bsr, sparse_bsc) else None
    return coordinates.to_sparse(layout=x.layout, blocksize=block)


def _axes(shape: Sequence[int], x: Tensor) -> Iterator[Tensor]:
    """For each dimension the coordinates of all entries, in row-major order."""
    for d, n in enumerate(shape):
        ones = [1] * len(shape)
        ones[d] = n
        yield arange(n, device=x.device).reshape(ones).expand(list(shape))


def moved(x: Tensor, index: Any, delta: Callable[[Any], Any]) -> Move:
    """Adds ``delta(step)`` to ``x[index]`` for as long as the context lasts."""
    data = x.data

    @contextmanager
    def move(step: Any) -> Iterator[Tensor]:
        before = data[index].clone()
        data[index] = before + delta(step)
        try:
            yield x
        finally:
            data[index] = before

    return move


def entries(x: Tensor) -> Iterator[tuple[int, Move]]:
    """The entries of ``x`` (of a sparse one, those specified): their row-major number, and how to move each."""
    if x.layout is strided:
        for number, index in enumerate(itertools.product(*(range(n) for n in x.shape))):
            yield number, moved(x, index, lambda step: step)
        return
    requires_grad = x.requires_grad
    given, x = x.detach(), x.detach().to_sparse().coalesce()
    indices, values = x.indices(), x.values()

    def rebuilt(index: tuple[int, ...], step: Any) -> AbstractContextManager[Tensor]:
        with moved(values, index, lambda step: step)(step):
            made = _laid_out_as(given, sparse_coo_tensor(indices, values.clone(), x.shape))
            return nullcontext(made.requires_grad_(requires_grad))

    places = list(zip(*indices.tolist(), strict=True))
    for index in itertools.product(*(range(n) for n in values.shape)):
        number = 0
        for coordinate, n in zip((*places[index[0]], *index[1:]), x.shape, strict=True):
            number = number * n + coordinate
        yield number, partial(rebuilt, index)


def _flat(output: Tensor) -> Tensor:
    return (output.to_dense() if output.layout is not strided else output).detach().reshape(-1)


def evaluate(fn: Func, inputs: Sequence[Any], which: int, move: Move, step: Any) -> list[Tensor]:
    """The flat outputs of ``fn`` with one input moved."""
    args = list(inputs)
    with move(step) as args[which]:
        return [_flat(y).clone() for y in as_tuple(fn(*args)) if isinstance(y, Tensor)]


def slope(fn: Func, inputs: Sequence[Any], which: int, move: Move, step: Any, eps: float) -> list[Tensor]:
    """The central difference of each output along one direction of one input.

    Raises:
        AssertionError: an output changes its shape or dtype when the input is moved.
    """
    above = evaluate(fn, inputs, which, move, step)
    below = evaluate(fn, inputs, which, move, -step)
    for a, b in zip(above, below, strict=True):
        for what, got, other in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
            if got != other:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are perturbed by {eps}, "
                    f"but got: {what}s {got} and {other}."
                )
    return [(a - b) / (2 * eps) for a, b in zip(above, below, strict=True)]


def _row(fn: Func, inputs: Sequence[Any], which: int, move: Move, eps: float, complex_input: bool) -> list[Tensor]:
    along = slope(fn, inputs, which, move, eps, eps)
    if not complex_input:
        return along
    # A real function of z = x + iy: its gradient is df/dx + i df/dy.
    across = slope(fn, inputs, which, move, eps * 1j, eps)
    return [dx + 1j * dy for dx, dy in zip(along, across, strict=True)]


def jacobian_wrt(
    fn: Func, which: int, inputs: Sequence[Any], outputs: Sequence[Tensor], eps: float, x: Tensor | None = None
) -> tuple[Tensor, ...]:
    """For each output the matrix of its derivatives by input number ``which``, ``(x.numel(), output.numel())``.

    For a complex input the outputs must be real. Entries that a sparse input does not specify give zeros.
    """
    x = inputs[which] if x is None else x
    rows = {number: _row(fn, inputs, which, move, eps, x.is_complex()) for number, move in entries(x)}
    matrices = []
    for k, y in enumerate(outputs):
        if not rows:
            matrices.append(zeros(x.numel(), y.numel(), dtype=y.dtype, device=y.device))
            continue
        blank = next(iter(rows.values()))[k].new_zeros(y.numel())
        matrices.append(stack([rows[i][k] if i in rows else blank for i in range(x.numel())]))
    return tuple(matrices)
