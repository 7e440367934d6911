"""Linear and bilinear maps."""

from __future__ import annotations

from adjoint_core import Tensor, _core
from adjoint_core._compose import rounded_once


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weight.T + bias; weight is (out, in).

    Example::

        >>> ad.nn.functional.linear(ad.tensor([1., 2.]), ad.tensor([[1., 1.], [0., 1.]]))
        tensor([3., 2.])
    """
    return _core._linear(input, weight, bias)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1 @ weight[k] @ x2 for each k; weight is (out, in1, in2).

    Example::

        >>> ad.nn.functional.bilinear(ad.ones(1, 2), ad.ones(1, 3), ad.ones(4, 2, 3))
        tensor([[6., 6., 6., 6.]])
    """
    _core._expect_type("bilinear", "weight", weight, "input1", input1)
    _core._expect_type("bilinear", "bias", bias, "weight", weight)
    return _bilinear(input1, input2, weight, bias)


@rounded_once
def _bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    y = _core.einsum("...i,kij,...j->...k", input1, weight, input2)
    return y if bias is None else y + bias
