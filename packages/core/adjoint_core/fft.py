"""`fft`: discrete Fourier transforms with PyTorch's signatures.

`n` and `s` are sizes along the transformed dimensions, to which the input is cut or filled with zeros. `norm` says where the factor 1 / n
stands: "backward" (the default) in inverse transforms, "forward" in the others, "ortho" its root in both.
Real input gives real gradients. float16 and bfloat16 are refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from . import _core
from ._compose import check_all as _check_all
from ._compose import node as _node
from ._core import Tensor
from ._tensor.naming import as_dtype as _as_dtype
from ._whole import is_whole as _is_whole

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "ihfft2",
    "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

Sizes = Sequence[int] | None
Dims = int | Sequence[int] | None


def _scale(n: int, norm: str | None, inverse: bool) -> float:
    if norm not in (None, "forward", "backward", "ortho"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    n = int(n)  # of a tensor, in double precision
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if (norm == "forward") != inverse else 1.0


def _expect_dimension(x: Tensor, dim: int) -> None:
    if x.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not -x.ndim <= dim < x.ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-x.ndim}, {x.ndim - 1}], but got {dim})")


def _sized(x: Tensor, n: int | None, dim: int) -> Tensor:
    """x with n elements along dim: cut, or filled with zeros."""
    _expect_dimension(x, dim)
    if n is None or n == x.size(dim):
        return x
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    if n < x.size(dim):
        return x.narrow(dim, 0, n)
    sizes = list(x.shape)
    sizes[dim] = n - sizes[dim]
    return _core.cat([x, x.new_zeros(sizes)], dim)


def _transform(x: Tensor, n: int | None, dim: int, norm: str | None, inverse: bool) -> Tensor:
    x = _sized(x, n, dim)
    return _core._fft(x, dim, inverse, _scale(_length(x, dim), norm, inverse))


_conjugate = _node("ConjBackward0")(_transform)  # PyTorch conjugates the transform of real numbers
_of_several = _node("FftC2CBackward0")(_transform)  # PyTorch transforms real numbers as complex ones there


def _length(x: Tensor, dim: int) -> int:
    """The size along dim; 1 where the transform will refuse."""
    return max(x.size(dim), 1) if x.ndim else 1


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """y_k = sum of x_j e^(-2 pi i j k / n) along `dim`.

    Example::

        >>> ad.fft.fft(ad.tensor([1., 0., 0., 0.])).real
        tensor([1., 1., 1., 1.])
    """
    return _transform(input, n, dim, norm, False)


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `fft`.

    Example::

        >>> ad.fft.ifft(ad.tensor([4., 0., 0., 0.])).real
        tensor([1., 1., 1., 1.])
    """
    return (_transform if input.is_complex() else _conjugate)(input, n, dim, norm, True)


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The first n // 2 + 1 elements of the `fft` of real numbers, which determine the others.

    Example::

        >>> ad.fft.rfft(ad.tensor([1., 0., 0., 0.])).real
        tensor([1., 1., 1.])
    """
    x = _sized(input, n, dim)
    return _core._rfft(x, dim, _scale(_length(x, dim), norm, False))


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `rfft`: n real numbers, 2 (m - 1) if n is not given, where m is the size of the input.

    Example::

        >>> ad.fft.irfft(ad.tensor([1., 1., 1.]), n=4)
        tensor([1., 0., 0., 0.])
    """
    if n is None:
        _expect_dimension(input, dim)
        n = 2 * (_length(input, dim) - 1)
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return _core._irfft(_sized(input, n // 2 + 1, dim), dim, n, _scale(n, norm, True))


_OTHER = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _other(norm: str | None) -> str:
    """The name under which an inverse transform has the factor that the forward one has under `norm`, and the other way round."""
    return _OTHER.get(norm, str(norm))


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The real `fft` of a signal that is its own conjugate backwards, given its first n // 2 + 1 elements.

    Example::

        >>> ad.fft.hfft(ad.tensor([1., 1., 1.]), n=4)
        tensor([4., 0., 0., 0.])
    """
    _expect_dimension(input, dim)
    return _irfft(_cut(input, [(dim, _half(n))]).conj(), n, dim, _other(norm))


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft`, of real numbers.

    Example::

        >>> ad.fft.ihfft(ad.tensor([4., 0., 0., 0.])).real
        tensor([1., 1., 1.])
    """
    return _rfft(input, n, dim, _other(norm)).conj()


def _plan(x: Tensor, s: Sizes, dim: Dims) -> list[tuple[int, int | None]]:
    """(dimension, size or None) of each transform."""
    if _is_whole(dim):
        dim = (dim,)
    if dim is None:
        dim = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    sizes: list[int | None] = [None] * len(dim) if s is None else [None if n == -1 else n for n in s]
    if len(sizes) != len(dim):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    if x.ndim and any(not -x.ndim <= d < x.ndim for d in dim):
        raise IndexError(f"Dimension out of range (expected to be in range of [{-x.ndim}, {x.ndim - 1}], but got {list(dim)})")
    for d in dim:
        _expect_dimension(x, d)
    dims = [d % x.ndim for d in dim]
    if len(set(dims)) != len(dims):
        raise RuntimeError("FFT dims must be unique")
    if len(dims) > x.ndim:
        raise RuntimeError(f"Got shape with {len(dims)} values but input tensor only has {x.ndim} dimensions.")
    return list(zip(dims, sizes, strict=True))


def _last(plan: list[tuple[int, int | None]], name: str) -> tuple[list[tuple[int, int | None]], tuple[int, int | None]]:
    if not plan:
        raise RuntimeError(f"{name} must transform at least one axis")
    return plan[:-1], plan[-1]


def _cut(x: Tensor, plan: list[tuple[int, int | None]]) -> Tensor:
    """x without what no transform of the plan reads."""
    for d, n in plan:
        if n is not None and 0 < n < x.size(d):
            x = x.narrow(d, 0, n)
    return x


def _half(n: int | None) -> int | None:
    """How many elements of its transform n real numbers need."""
    return None if n is None else n // 2 + 1


def fftn(input: Tensor, s: Sizes = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """`fft` along several dimensions: all, or the last ones that `s` has sizes for.

    Example::

        >>> ad.fft.fftn(ad.eye(2)).real
        tensor([[2., 0.],
                [0., 2.]])
    """
    plan = _plan(input, s, dim)
    input = _cut(input, plan)
    for d, n in plan:
        input = _of_several(input, n, d, norm, False)
    return input.to(input.dtype.to_complex())


def ifftn(input: Tensor, s: Sizes = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of `fftn`.

    Example::

        >>> ad.fft.ifftn(ad.tensor([[2., 0.], [0., 2.]])).real
        tensor([[1., 0.],
                [0., 1.]])
    """
    plan = _plan(input, s, dim)
    input = _cut(input, plan)
    for d, n in plan:
        input = _of_several(input, n, d, norm, True)
    return input.to(input.dtype.to_complex())


def rfftn(input: Tensor, s: Sizes = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """`rfft` along the last of the dimensions, `fft` along the others.

    Example::

        >>> ad.fft.rfftn(ad.ones(2, 2)).real
        tensor([[4., 0.],
                [0., 0.]])
    """
    others, (d, n) = _last(_plan(input, s, dim), "rfftn")
    y = _rfft(_cut(input, others), n, d, norm)
    for d, n in others:
        y = _fft(y, n, d, norm)
    return y


def irfftn(input: Tensor, s: Sizes = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of `rfftn`.

    Example::

        >>> ad.fft.irfftn(ad.tensor([[4., 0.], [0., 0.]]))
        tensor([[1., 1.],
                [1., 1.]])
    """
    others, (d, n) = _last(_plan(input, s, dim), "irfftn")
    input = _cut(input, [*others, (d, _half(n))])
    for other, size in others:
        input = _ifft(input, size, other, norm)
    return _irfft(input, n, d, norm)


def hfftn(input: Tensor, s: Sizes = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """`fft` along all but the last of the dimensions, then `hfft` along that.

    Example::

        >>> ad.fft.hfftn(ad.tensor([[1., 1.], [0., 0.]]))
        tensor([[2., 0.],
                [2., 0.]])
    """
    others, (d, n) = _last(_plan(input, s, dim), "hfftn")
    input = _cut(input, [*others, (d, _half(n))])
    for other, size in others:
        input = _fft(input, size, other, norm)
    return _hfft(input, n, d, norm)


def ihfftn(input: Tensor, s: Sizes = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of `hfftn`, of real numbers.

    Example::

        >>> ad.fft.ihfftn(ad.tensor([[2., 0.], [2., 0.]])).real
        tensor([[1., 1.],
                [0., 0.]])
    """
    others, (d, n) = _last(_plan(input, s, dim), "ihfftn")
    y = _ihfft(_cut(input, others), n, d, norm)
    for d, n in others:
        y = _ifft(y, n, d, norm)
    return y


def fft2(input: Tensor, s: Sizes = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """`fftn` along two dimensions.

    Example::

        >>> ad.fft.fft2(ad.ones(2, 2)).real
        tensor([[4., 0.],
                [0., 0.]])
    """
    return _fftn(input, s, dim, norm)


def ifft2(input: Tensor, s: Sizes = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """`ifftn` along two dimensions.

    Example::

        >>> ad.fft.ifft2(ad.ones(2, 2)).real
        tensor([[1., 0.],
                [0., 0.]])
    """
    return _ifftn(input, s, dim, norm)


def rfft2(input: Tensor, s: Sizes = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """`rfftn` along two dimensions.

    Example::

        >>> ad.fft.rfft2(ad.ones(2, 4)).shape
        adjoint.Size([2, 3])
    """
    return _rfftn(input, s, dim, norm)


def irfft2(input: Tensor, s: Sizes = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """`irfftn` along two dimensions.

    Example::

        >>> ad.fft.irfft2(ad.ones(2, 2))
        tensor([[1., 0.],
                [0., 0.]])
    """
    return _irfftn(input, s, dim, norm)


def hfft2(input: Tensor, s: Sizes = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """`hfftn` along two dimensions.

    Example::

        >>> ad.fft.hfft2(ad.ones(2, 2))
        tensor([[4., 0.],
                [0., 0.]])
    """
    return _hfftn(input, s, dim, norm)


def ihfft2(input: Tensor, s: Sizes = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """`ihfftn` along two dimensions.

    Example::

        >>> ad.fft.ihfft2(ad.ones(2, 2)).real
        tensor([[1., 0.],
                [0., 0.]])
    """
    return _ihfftn(input, s, dim, norm)


def _in_spans(k: Tensor, span: float) -> Tensor:
    """k / span with the digits that others have, who multiply."""
    return k * (1.0 / span) if span else k / span


def _type_of_frequencies(name: str, dtype: Any) -> Any:
    dtype = _as_dtype(dtype) or _core.get_default_dtype()
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    return dtype


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The frequencies of the elements of `fft`, for samples `d` apart: positive ones, then negative ones.

    Example::

        >>> ad.fft.fftfreq(4)
        tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    type_ = _type_of_frequencies("fftfreq", dtype)
    ranges = ((0, (n + 1) // 2), (-(n // 2), 0))
    k = _core.cat([_core.arange(*ends, dtype=type_, device=device) for ends in ranges])
    return _in_spans(k, n * d).requires_grad_(requires_grad)


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The frequencies of the elements of `rfft`, for samples `d` apart.

    Example::

        >>> ad.fft.rfftfreq(4)
        tensor([0.0000, 0.2500, 0.5000])
    """
    k = _core.arange(0, n // 2 + 1, dtype=_type_of_frequencies("rfftfreq", dtype), device=device)
    return _in_spans(k, n * d).requires_grad_(requires_grad)


def _shift(input: Tensor, dim: Dims, back: bool) -> Tensor:
    dims = list(range(input.ndim)) if dim is None else [dim] if _is_whole(dim) else list(dim)
    shifts = [(input.size(d) + (1 if back else 0)) // 2 for d in dims]
    return _core.roll(input, shifts, dims)


def fftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """Elements in the order of `fftfreq` put in ascending order: the zero frequency stands in the middle.

    Example::

        >>> ad.fft.fftshift(ad.fft.fftfreq(4))
        tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    return _shift(input, dim, False)


def ifftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """The inverse of `fftshift`.

    Example::

        >>> ad.fft.ifftshift(ad.fft.fftshift(ad.arange(5)))
        tensor([0, 1, 2, 3, 4])
    """
    return _shift(input, dim, True)


# As they are called here, without what is around those that users call.
_fft, _ifft, _rfft, _irfft, _hfft, _ihfft = fft, ifft, rfft, irfft, hfft, ihfft
_fftn, _ifftn, _rfftn, _irfftn, _hfftn, _ihfftn = fftn, ifftn, rfftn, irfftn, hfftn, ihfftn

_check_all(globals(), out=__all__)
