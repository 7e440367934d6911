"""What gradcheck hands to a function in forward mode, and what it takes back from backward."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad
from adjoint.autograd import Function, forward_ad, gradcheck


def leaf() -> ad.Tensor:
    return ad.tensor([0.5, 1.5], dtype=ad.float64, requires_grad=True)


@pytest.mark.parametrize("batched", [False, True])
def test_functions_of_any_form_take_part(batched: bool) -> None:
    class Double(Function):
        @staticmethod
        def forward(ctx: Any, x: ad.Tensor, y: ad.Tensor) -> ad.Tensor:
            if forward_ad._current_level >= 0:
                assert not x.requires_grad and not y.requires_grad
            return 2 * x + y

        @staticmethod
        def jvp(ctx: Any, x_t: ad.Tensor, y_t: ad.Tensor) -> ad.Tensor:
            return 2 * x_t + y_t

    assert forward_ad._current_level == -1
    assert gradcheck(
        Double.apply, (leaf(), leaf()), check_forward_ad=True, check_backward_ad=False, check_batched_forward_grad=batched
    )


@pytest.mark.parametrize("fast", [False, True])
def test_every_input_has_a_tangent(fast: bool) -> None:
    def wrong(x: ad.Tensor, y: ad.Tensor) -> ad.Tensor:
        if forward_ad._current_level >= 0:
            primal, tangent = forward_ad.unpack_dual(y)
            y = forward_ad.make_dual(primal, tangent * 1.1)
        return x + y

    with pytest.raises(RuntimeError, match="Jacobian computed with forward mode mismatch for output 0 with respect to input 1"):
        gradcheck(wrong, (leaf(), leaf()), check_forward_ad=True, check_undefined_grad=False, fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_layouts_of_gradients(fast: bool) -> None:
    class Sparse(Function):
        @staticmethod
        def forward(ctx: Any, x: ad.Tensor) -> ad.Tensor:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: ad.Tensor) -> ad.Tensor:
            return g.to_sparse()

    with pytest.raises(
        RuntimeError, match="grad is incorrect layout for input 0: got adjoint.sparse_coo, expected adjoint.strided"
    ):
        gradcheck(Sparse.apply, (leaf(),), fast_mode=fast)
    x = ad.eye(2, dtype=ad.float64).to_sparse().requires_grad_()
    assert gradcheck(lambda s: s.to_dense(), (x,), masked=True, check_batched_grad=True, fast_mode=fast)
    full = ad.ones(2, 2, dtype=ad.float64).to_sparse().requires_grad_()
    assert gradcheck(lambda s: s.sum(), (full,), masked=True, fast_mode=fast)
