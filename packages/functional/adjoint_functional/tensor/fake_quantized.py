"""What quantized numbers would be, as floating-point ones: for training that knows of the rounding to come."""

from __future__ import annotations

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all, node, rounded_once

__all__ = ["fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine"]


def _quantized(
    x: Tensor, q: Tensor, scale: Tensor | float, zero_point: Tensor | float, quant_min: int, quant_max: int
) -> Tensor:
    """The numbers that the whole ones q stand for; the gradient is that of x where q is in range."""
    if not x.is_floating_point():
        raise NotImplementedError(f"fake_quantize: expected a floating-point tensor, got {x.dtype}")
    if quant_min > quant_max:
        raise RuntimeError(f"`quant_min` should be less than or equal to `quant_max`, got {quant_min} and {quant_max}")
    clipped = _core.where(q >= quant_min, q.clamp(max=quant_max), quant_min)  # NaN too
    inside = _core.where((q >= quant_min) & (q <= quant_max), x, 0)
    return ((clipped - zero_point) * scale).to(x.dtype) + (inside - inside.detach())


@node("FakeQuantizePerTensorAffineCachemaskBackward0")
@rounded_once
def fake_quantize_per_tensor_affine(
    input: Tensor, scale: float | Tensor, zero_point: int | Tensor, quant_min: int, quant_max: int
) -> Tensor:
    """(round(input / scale) + zero_point, clipped to [quant_min, quant_max], - zero_point) * scale.

    The gradient passes unchanged where nothing is clipped.

    Raises:
        RuntimeError: `quant_min` above `quant_max`, or a number `zero_point` outside of both.

    Example::

        >>> ad.fake_quantize_per_tensor_affine(ad.tensor([0.26, 9.0]), 0.1, 0, 0, 15)
        tensor([0.3000, 1.5000])
    """
    if not isinstance(zero_point, Tensor) and not quant_min <= zero_point <= quant_max:
        raise RuntimeError(f"`zero_point` must be between `quant_min` and `quant_max`, got {zero_point}")
    step = scale.detach() if isinstance(scale, Tensor) else _core.tensor(float(scale), dtype=_core.float32, device=input.device)
    q = (input.detach() * (1 / step)).round() + zero_point
    return _quantized(input, q, step, zero_point, quant_min, quant_max)


@node("FakeQuantizePerChannelAffineCachemaskBackward0")
@rounded_once
def fake_quantize_per_channel_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """`fake_quantize_per_tensor_affine`, with a scale and a zero point for each position along `axis`.

    Raises:
        RuntimeError: `scale` and `zero_point` are not vectors of the size along `axis`, or a whole zero point is out of range.

    Example::

        >>> steps, zeros = ad.tensor([0.5, 2.0]), ad.zeros(2, dtype=ad.int32)
        >>> ad.fake_quantize_per_channel_affine(ad.tensor([[1.2, 1.2]]), steps, zeros, 1, 0, 15)
        tensor([[1., 2.]])
    """
    if not 0 <= axis <= input.dim():
        raise RuntimeError(f"`axis` must be between 0 and number of dimensions of input, got {axis}")
    size = input.size(axis)
    if scale.shape != (size,) or zero_point.shape != (size,):
        raise RuntimeError(
            f"fake_quantize: expected scale and zero_point of {size} elements, got {scale.shape} and {zero_point.shape}"
        )
    whole = not zero_point.is_floating_point()
    if whole and bool(((zero_point < quant_min) | (zero_point > quant_max)).any()):
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    shape = [size if d == axis else 1 for d in range(input.dim())]
    step, zero = scale.detach().view(shape), zero_point.view(shape)
    scaled = input.detach() * (1 / step)
    q = scaled.round() + zero if whole else (scaled + zero).round()
    return _quantized(input, q, step, zero, quant_min, quant_max)


check_all(globals())
