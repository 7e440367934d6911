"""Operations that PyTorch has in `ops.aten` alone."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor


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
