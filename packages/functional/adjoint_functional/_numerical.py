"""Numerical Jacobians, by central differences: (f(x + h) - f(x - h)) / 2h, one entry of an input at a time.

Jacobians here have one row for each entry of the input and one column for each entry of the output.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ._backend import Tensor, arange, sparse_coo_tensor, stack, zeros

Func = Callable[..., Any]
# Moves one entry of an input by a step, and returns the whole input.
Move = Callable[[Any], Tensor]


def as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def is_differentiable(value: Any) -> bool:
    """Whether a value is a floating-point or complex tensor that requires grad."""
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex()) and value.requires_grad


def full_pattern(x: Any) -> Any:
    """A sparse tensor with every entry specified; anything else as it is."""
    if not (isinstance(x, Tensor) and x.is_sparse):
        return x
    dense = x.detach().to_dense()
    sparse_shape = x.shape[: x.sparse_dim()]
    rows = [axis.reshape(-1) for axis in _axes(sparse_shape, x)]
    values = dense.reshape(-1, *x.shape[x.sparse_dim() :])
    return sparse_coo_tensor(stack(rows), values, x.shape).coalesce().requires_grad_(x.requires_grad)


def _axes(shape: Sequence[int], x: Tensor) -> Iterator[Tensor]:
    """For each dimension the coordinates of all entries, in row-major order."""
    for d, n in enumerate(shape):
        ones = [1] * len(shape)
        ones[d] = n
        yield arange(n, device=x.device).reshape(ones).expand(list(shape))


def _mover(x: Tensor, index: tuple[int, ...], wrap: Callable[[Tensor], Tensor]) -> Move:
    def move(step: Any) -> Tensor:
        moved = x.clone()
        moved[index] = x[index] + step
        return wrap(moved)

    return move


def entries(x: Tensor) -> Iterator[tuple[int, Move]]:
    """The entries of ``x`` (of a sparse one, those specified): their row-major number, and how to move each."""
    requires_grad = x.requires_grad
    x = x.detach()
    if not x.is_sparse:
        for number, index in enumerate(itertools.product(*(range(n) for n in x.shape))):
            yield number, _mover(x, index, lambda t: t.requires_grad_(requires_grad))
        return
    x = x.coalesce()
    indices, values = x.indices(), x.values()

    def rebuilt(moved: Tensor) -> Tensor:
        return sparse_coo_tensor(indices, moved, x.shape).coalesce().requires_grad_(requires_grad)

    places = list(zip(*indices.tolist(), strict=True))
    for index in itertools.product(*(range(n) for n in values.shape)):
        number = 0
        for coordinate, n in zip((*places[index[0]], *index[1:]), x.shape, strict=True):
            number = number * n + coordinate
        yield number, _mover(values, index, rebuilt)


def _flat(output: Tensor) -> Tensor:
    return (output.to_dense() if output.is_sparse else output).detach().reshape(-1)


def evaluate(fn: Func, inputs: Sequence[Any], which: int, moved: Tensor) -> list[Tensor]:
    """The flat outputs of ``fn`` with one input replaced."""
    args = list(inputs)
    args[which] = moved
    return [_flat(y).clone() for y in as_tuple(fn(*args)) if isinstance(y, Tensor)]


def slope(fn: Func, inputs: Sequence[Any], which: int, move: Move, step: Any, eps: float) -> list[Tensor]:
    """The central difference of each output along one direction of one input.

    Raises:
        AssertionError: an output changes its shape or dtype when the input is moved.
    """
    above = evaluate(fn, inputs, which, move(step))
    below = evaluate(fn, inputs, which, move(-step))
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
