"""Operations that PyTorch has in `ops.aten` alone."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor
from adjoint_engine import enable_grad, grad, inference_mode

from .nn.functional.native import grid_sampler


def _max_pool_backward(n: int) -> Any:
    def backward(
        grad_output: Tensor,
        self: Tensor,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        ceil_mode: bool,
        indices: Tensor,
    ) -> Tensor:
        flat = self.new_zeros(self.shape).flatten(-n)
        return flat.scatter_add(-1, indices.flatten(-n), grad_output.flatten(-n)).reshape(self.shape)

    backward.__name__ = backward.__qualname__ = f"max_pool{n}d_with_indices_backward"
    backward.__doc__ = "The cotangent of what was pooled: each element of `grad_output` where its window had the maximum."
    return backward


max_pool2d_with_indices_backward, max_pool3d_with_indices_backward = map(_max_pool_backward, (2, 3))


def _grid_sampler_backward(n: int) -> Any:
    def backward(
        grad_output: Tensor,
        input: Tensor,
        grid: Tensor,
        interpolation_mode: int,
        padding_mode: int,
        align_corners: bool,
        output_mask: Any = (True, True),
    ) -> tuple[Tensor | None, Tensor | None]:
        with inference_mode(False), enable_grad():  # whatever the caller is in; of its tensors copies can require grad
            leaves = [x.detach().clone().requires_grad_(wanted) for x, wanted in zip((input, grid), output_mask, strict=True)]
            sampled = grid_sampler(*leaves, interpolation_mode, padding_mode, align_corners)
            found = iter(grad(sampled, [x for x in leaves if x.requires_grad], grad_output) if any(output_mask) else ())
        return next(found) if output_mask[0] else None, next(found) if output_mask[1] else None

    backward.__name__ = backward.__qualname__ = f"grid_sampler_{n}d_backward"
    backward.__doc__ = "The cotangents of the images and of the positions, None where `output_mask` asks for none."
    return backward


grid_sampler_2d_backward, grid_sampler_3d_backward = map(_grid_sampler_backward, (2, 3))
