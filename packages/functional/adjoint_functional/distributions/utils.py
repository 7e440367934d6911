"""What distributions share: shapes and types of parameters, probabilities and their logarithms, values computed once."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any, Generic, TypeVar, overload

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import enable_grad

from ..composed import tril_indices
from ..nn import functional as F

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec", "vec_to_tril_matrix",
]  # fmt: skip

euler_constant = 0.57721566490153286060
T, R = TypeVar("T"), TypeVar("R")


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors of one shape, from tensors and numbers; numbers take the type and the device of the first tensor.

    Raises:
        ValueError: a value is neither.

    Example::

        >>> ad.distributions.utils.broadcast_all(ad.zeros(2), 1)
        (tensor([0., 0.]), tensor([1., 1.]))
    """
    if not all(isinstance(v, (Tensor, Number)) or hasattr(v, "__torch_function__") for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    lead = next((v for v in values if isinstance(v, Tensor)), None)
    dtype, device = (core.get_default_dtype(), None) if lead is None else (lead.dtype, lead.device)
    return tuple(
        core.broadcast_tensors(*(core.tensor(v, dtype=dtype, device=device) if isinstance(v, Number) else v for v in values))
    )


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Independent standard normal numbers."""
    return core.randn(shape, dtype=dtype, device=device)


def uniform(shape: Any, like: Tensor) -> Tensor:
    """Independent uniform numbers in (0, 1): not 0, whose logarithm is infinite."""
    info = core.finfo(like.dtype)
    return core.rand(shape, dtype=like.dtype, device=like.device).clamp(min=info.tiny, max=1 - info.eps / 2)


def _sum_rightmost(value: Tensor, dims: int) -> Tensor:
    """The sum over the last ``dims`` dimensions."""
    return value if dims == 0 else value.reshape(value.shape[: value.dim() - dims] + (-1,)).sum(-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities whose logarithms, and those of their complements, are finite."""
    eps = core.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of logarithms: sigmoid of log-odds if ``is_binary``, else softmax over the last dimension."""
    return core.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds of probabilities if ``is_binary``, else their logarithms; 0 and 1 are moved inside by the type's epsilon."""
    inside = clamp_probs(probs)
    return core.log(inside) - core.log1p(-inside) if is_binary else core.log(inside)


class lazy_property(Generic[T, R]):  # noqa: N801
    """A property that is computed when first asked for, with history, and then is an attribute."""

    def __init__(self, wrapped: Callable[[T], R]) -> None:
        self.wrapped, self.__doc__ = wrapped, wrapped.__doc__

    @overload
    def __get__(self, instance: None, owner: Any = None) -> lazy_property[T, R]: ...
    @overload
    def __get__(self, instance: T, owner: Any = None) -> R: ...
    def __get__(self, instance: T | None, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The lower triangle of matrices ``(..., n, n)``, row by row, up to a diagonal.

    Example::

        >>> ad.distributions.utils.tril_matrix_to_vec(ad.tensor([[1., 0.], [2., 3.]]))
        tensor([1., 2., 3.])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = tril_indices(n, n, diag, device=mat.device)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The inverse of `tril_matrix_to_vec`: zeros above the diagonal.

    Example::

        >>> ad.distributions.utils.vec_to_tril_matrix(ad.tensor([1., 2., 3.]))
        tensor([[1., 0.],
                [2., 3.]])
    """
    # k entries below diagonal `diag` of n rows: k = (n + diag) (n + diag + 1) / 2 for diag <= 0
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if round(n) - n > core.finfo(vec.dtype).eps or round(n) < n:
        raise ValueError(f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as the lower triangular part of a square D x D matrix.")  # fmt: skip
    n = round(n)
    rows, columns = tril_indices(n, n, diag, device=vec.device)
    flat = core.zeros(vec.shape[:-1] + (n * n,), dtype=vec.dtype, device=vec.device)
    at = (rows * n + columns).expand(vec.shape)
    return flat.scatter(-1, at, vec).reshape(vec.shape[:-1] + (n, n))
