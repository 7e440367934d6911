"""`masked`: reductions and normalisations of the elements that a mask names, as if the others were not there.

`mask` is a tensor of truths that broadcasts to the input; None stands for all elements. `dtype` is the type that is computed in. What
an operation gives where all elements are masked out is its value of no elements: 0 for `sum`, -inf for `amax`, NaN for `mean`.
"""

from __future__ import annotations

from collections.abc import Sequence

import adjoint_core as core
from adjoint_core import Tensor, dtype
from adjoint_core._compose import check_all, rounded_once
from adjoint_core._whole import is_whole

from . import linalg
from .nn import functional as nn

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median",
    "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip

Dims = int | Sequence[int] | None


def _truth(x: Tensor, mask: Tensor | None) -> Tensor | None:
    """The mask in the shape of the input."""
    if mask is None:
        return None
    if mask.ndim > x.ndim:
        raise IndexError(f"masked: mask must have at most {x.ndim} dimensions, as the input, got {mask.ndim}")
    return (mask if mask.dtype is core.bool else mask != 0).broadcast_to(x.shape)


def _filled(x: Tensor, mask: Tensor | None, value: float) -> Tensor:
    """The input with a value at the elements that are masked out."""
    truth = _truth(x, mask)
    return x if truth is None else core.where(truth, x, core.tensor(value, dtype=x.dtype, device=x.device))


def _dims(x: Tensor, dim: Dims) -> tuple[int, ...]:
    return tuple(range(x.ndim)) if dim is None or dim == () else (dim,) if is_whole(dim) else tuple(dim)


def _one_dim(x: Tensor, dim: Dims) -> int:
    """The dimension, also as a sequence of one; the first of all for None, as in PyTorch."""
    return (*_dims(x, dim), 0)[0]


def _wide(x: Tensor, given: dtype | None) -> Tensor:
    """The input in the type to compute in: sums of integers in 64 bits."""
    return x.to(given or (x.dtype if x.is_floating_point() or x.is_complex() else core.int64))


def _floating(x: Tensor, given: dtype | None) -> Tensor:
    return x.to(given or (x.dtype if x.is_floating_point() or x.is_complex() else core.get_default_dtype()))


def _limit(x: Tensor, sign: int) -> float:
    """The largest value of the type, or the smallest."""
    if x.is_floating_point() or x.is_complex():
        return sign * float("inf")
    if x.dtype is core.bool:
        return sign > 0
    info = core.iinfo(x.dtype)
    return info.max if sign > 0 else info.min


def sum(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The sum along dimensions, of integers in 64 bits.

    Example::

        >>> ad.masked.sum(ad.tensor([1.0, 2.0]), mask=ad.tensor([True, False]))
        tensor(1.)
    """
    x = _filled(_wide(input, dtype), mask, 0)
    return core.sum(x, _dims(x, dim), keepdim, dtype=x.dtype)


def prod(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The product along dimensions, of integers in 64 bits.

    Example::

        >>> ad.masked.prod(ad.tensor([3.0, 2.0]), mask=ad.tensor([True, False]))
        tensor(3.)
    """
    x = _filled(_wide(input, dtype), mask, 1)
    for d in sorted((d % x.ndim for d in _dims(x, dim)), reverse=True) if x.ndim else ():
        x = core.prod(x, d, keepdim)
    return x


def cumsum(input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """Sums of the elements up to each along a dimension.

    Example::

        >>> ad.masked.cumsum(ad.tensor([1.0, 2.0, 3.0]), 0, mask=ad.tensor([True, False, True]))
        tensor([1., 1., 4.])
    """
    return core.cumsum(_filled(input.to(dtype or input.dtype), mask, 0), _one_dim(input, dim), dtype=dtype or input.dtype)


def cumprod(input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """Products of the elements up to each along a dimension.

    Example::

        >>> ad.masked.cumprod(ad.tensor([2.0, 3.0]), 0, mask=ad.tensor([True, False]))
        tensor([2., 2.])
    """
    return core.cumprod(_filled(input.to(dtype or input.dtype), mask, 1), _one_dim(input, dim), dtype=dtype or input.dtype)


def amax(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The largest element along dimensions.

    Example::

        >>> ad.masked.amax(ad.tensor([1.0, 2.0]), mask=ad.tensor([True, False]))
        tensor(1.)
    """
    x = input.to(dtype or input.dtype)
    return core.amax(_filled(x, mask, _limit(x, -1)), _dims(x, dim), keepdim)


def amin(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The smallest element along dimensions.

    Example::

        >>> ad.masked.amin(ad.tensor([1.0, 0.0]), mask=ad.tensor([True, False]))
        tensor(1.)
    """
    x = input.to(dtype or input.dtype)
    return core.amin(_filled(x, mask, _limit(x, 1)), _dims(x, dim), keepdim)


def argmax(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The position of the largest element along a dimension, or in the flattened input; in the type of the input, as in PyTorch.

    Example::

        >>> ad.masked.argmax(ad.tensor([1, 2]), mask=ad.tensor([True, False]))
        tensor(0)
    """
    x = input.to(dtype or input.dtype)
    return core.argmax(_filled(x, mask, _limit(x, -1)), dim, keepdim).to(x.dtype)


def argmin(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The position of the smallest element along a dimension, or in the flattened input; in the type of the input, as in PyTorch.

    Example::

        >>> ad.masked.argmin(ad.tensor([2, 1]), mask=ad.tensor([True, False]))
        tensor(0)
    """
    x = input.to(dtype or input.dtype)
    return core.argmin(_filled(x, mask, _limit(x, 1)), dim, keepdim).to(x.dtype)


def _count(x: Tensor, mask: Tensor | None, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    """How many elements are not masked out."""
    truth = _truth(x, mask)
    ones = core.ones_like(x, dtype=core.int64) if truth is None else truth
    return core.sum(ones, dims, keepdim)


@rounded_once
def mean(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The mean along dimensions; ValueError for integers without a `dtype`.

    Example::

        >>> ad.masked.mean(ad.tensor([1.0, 2.0]), mask=ad.tensor([True, False]))
        tensor(1.)
    """
    x = input.to(dtype or input.dtype)
    if not (x.is_floating_point() or x.is_complex()):
        raise ValueError(f"mean: the input must be floating point or complex without dtype, got {x.dtype}")
    dims = _dims(x, dim)
    return core.sum(_filled(x, mask, 0), dims, keepdim) / _count(x, mask, dims, keepdim)


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The median along a dimension, the lower of two in the middle, NaN left out as what is masked.

    ValueError for integers where all are masked out.

    Example::

        >>> ad.masked.median(ad.tensor([1.0, 2.0, 9.0]), mask=ad.tensor([True, True, False]))
        tensor(1.)
    """
    x = input.to(dtype or input.dtype)
    truth = _truth(x, mask)
    dim = _one_dim(x, dim)
    if x.is_floating_point():
        return core.nanmedian(_filled(x, mask, float("nan")), dim, keepdim)[0]
    if truth is None:
        return core.median(x, dim, keepdim)[0]
    if not bool(truth.any(dim).all()):
        raise ValueError(f"median: of {x.dtype} some elements of each row must not be masked out")
    ranked = core.sort(_filled(x, mask, _limit(x, 1)), dim=dim)[0]
    middle = core.gather(ranked, dim, (truth.sum(dim, keepdim=True) - 1) // 2)
    return middle if keepdim else middle.squeeze(dim)


def logsumexp(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The logarithm of the sum of exponentials along dimensions.

    Example::

        >>> ad.masked.logsumexp(ad.tensor([1.0, 2.0]), mask=ad.tensor([True, False]))
        tensor(1.)
    """
    x = input.to(dtype or input.dtype)
    filled = _filled(x, mask, _limit(x, -1))
    return core.logsumexp(filled, _dims(x, dim), keepdim).to(x.dtype)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: dtype | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """The logarithm of the sum of two exponentials, either of which may be masked out.

    Example::

        >>> ad.masked.logaddexp(ad.tensor(1.0), ad.tensor(2.0), input_mask=ad.tensor(False))
        tensor(2.)
    """
    x, y = input.to(dtype or input.dtype), other.to(dtype or input.dtype)
    return core.logaddexp(_filled(x, input_mask, -float("inf")), _filled(y, other_mask, -float("inf")))


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The norm of vectors along dimensions, of order `ord`.

    Example::

        >>> ad.masked.norm(ad.tensor([3.0, 4.0]), mask=ad.tensor([True, False]))
        tensor(3.)
    """
    x = input.to(dtype or input.dtype)
    order = 2.0 if ord is None else ord
    return linalg.vector_norm(_filled(x, mask, float("inf") if order < 0 else 0), order, _dims(x, dim), keepdim)


def _variance(x: Tensor, dim: Dims, correction: float, keepdim: bool, mask: Tensor | None) -> Tensor:
    dims = _dims(x, dim)
    number = _count(x, mask, dims, True)
    middle = core.sum(_filled(x, mask, 0), dims, True) / number
    apart = _filled(x - middle, mask, 0)
    squares = core.sum(apart * apart.conj(), dims, keepdim)
    return squares / (_count(x, mask, dims, keepdim) - correction).clamp_min(0)


def _correction(unbiased: bool | None, correction: float | None) -> float:
    if unbiased is not None and correction is not None:
        raise RuntimeError("only one of unbiased and correction may be given, got both")
    return correction if correction is not None else 1 if unbiased is None else int(unbiased)


@rounded_once
def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The variance along dimensions: squares of deviations summed, divided by their number less the correction (1).

    Of complex numbers it is complex too, with imaginary parts of 0, as in PyTorch.

    Example::

        >>> ad.masked.var(ad.tensor([1.0, 3.0, 9.0]), mask=ad.tensor([True, True, False]))
        tensor(2.)
    """
    return _variance(_floating(input, dtype), dim, _correction(unbiased, correction), keepdim, mask)


@rounded_once
def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The square root of the variance along dimensions.

    Example::

        >>> ad.masked.std(ad.tensor([1.0, 3.0, 9.0]), mask=ad.tensor([True, True, False]))
        tensor(1.4142)
    """
    return core.sqrt(_variance(_floating(input, dtype), dim, _correction(unbiased, correction), keepdim, mask))


def softmax(input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """Exponentials along a dimension divided by their sum; 0 where masked out.

    Example::

        >>> ad.masked.softmax(ad.tensor([1.0, 2.0]), 0, mask=ad.tensor([True, False]))
        tensor([1., 0.])
    """
    x = input.to(dtype or input.dtype)
    return core.softmax(_filled(x, mask, _limit(x, -1)), _one_dim(x, dim))


def log_softmax(input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of `softmax`; -inf where masked out.

    Example::

        >>> ad.masked.log_softmax(ad.tensor([1.0, 2.0]), 0, mask=ad.tensor([True, False]))
        tensor([0., -inf])
    """
    x = input.to(dtype or input.dtype)
    return core.log_softmax(_filled(x, mask, _limit(x, -1)), _one_dim(x, dim))


def softmin(input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """`softmax` of the negative input.

    Example::

        >>> ad.masked.softmin(ad.tensor([1.0, 2.0]), 0, mask=ad.tensor([True, False]))
        tensor([1., 0.])
    """
    x = input.to(dtype or input.dtype)
    return nn.softmin(_filled(x, mask, _limit(x, 1)), _one_dim(x, dim))


@rounded_once
def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The input divided by its norm along a dimension, which is at least `eps`; 0 where masked out.

    Example::

        >>> ad.masked.normalize(ad.tensor([3.0, 4.0]), 2.0, 0, mask=ad.tensor([True, False]))
        tensor([1., 0.])
    """
    x = input.to(dtype or input.dtype)
    length = norm(x, ord, dim, keepdim=True, mask=mask)
    return _filled(x, mask, 0) / length.clamp_min(eps)


check_all(globals())
