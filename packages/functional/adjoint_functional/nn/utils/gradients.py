"""What is done to the parameters of a model between backward and step.

`foreach` chooses between ways of computing the same in PyTorch; here it has no effect.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from types import GeneratorType
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_core._warnings import warn
from adjoint_engine import no_grad

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector", "vector_to_parameters",
]  # fmt: skip


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    listed = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in listed if p.grad is not None]


def get_total_norm(
    tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all elements of the tensors together; of the order ``norm_type``, which may be ``"inf"``.

    Example::

        >>> ad.nn.utils.get_total_norm([ad.tensor([3.0]), ad.tensor([4.0])])
        tensor(5.)
    """
    norm_type = float(norm_type)
    listed = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not listed:
        return core.tensor(0.0)
    norm = core.linalg.vector_norm(core.stack([core.linalg.vector_norm(x, norm_type) for x in listed]), norm_type)
    if error_if_nonfinite and not bool(norm.isfinite()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. "
            "To disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return norm


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales the gradients in place so that their norm together is at most `max_norm`; returns the norm before.

    Example::

        >>> w = ad.ones(2, requires_grad=True)
        >>> (w * 3).sum().backward()
        >>> ad.nn.utils.clip_grad_norm_([w], 1.0)
        tensor(4.2426)
    """
    listed = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if not listed and isinstance(parameters, GeneratorType):
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    norm = get_total_norm(_gradients(listed), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, max_norm, norm)
    return norm


def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """The old name of `clip_grad_norm_`."""
    warnings.warn(
        "`nn.utils.clip_grad_norm` is now deprecated in favor of `nn.utils.clip_grad_norm_`.", FutureWarning, stacklevel=2
    )
    return clip_grad_norm_(*args, **kwargs)


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scales the gradients in place by `max_norm / total_norm`, if that is below 1.

    Example::

        >>> w = ad.ones(2, requires_grad=True)
        >>> (w * ad.tensor([3.0, 4.0])).sum().backward()
        >>> ad.nn.utils.clip_grads_with_norm_(w, 1.0, ad.tensor(10.0))
        >>> w.grad
        tensor([0.3000, 0.4000])
    """
    scale = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    for g in _gradients(parameters):
        g.mul_(scale)


@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Clamps each element of the gradients to [-clip_value, clip_value], in place.

    Example::

        >>> w = ad.ones(2, requires_grad=True)
        >>> (w * ad.tensor([3.0, 0.5])).sum().backward()
        >>> ad.nn.utils.clip_grad_value_(w, 1.0)
        >>> w.grad
        tensor([1.0000, 0.5000])
    """
    for g in _gradients(parameters):
        g.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of the parameters as one vector; gradients flow through it.

    Example::

        >>> ad.nn.utils.parameters_to_vector([ad.zeros(1, 2), ad.ones(1)])
        tensor([0., 0., 1.])
    """
    return core.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Replaces the parameters' memory by pieces of a vector, in order.

    Example::

        >>> w = ad.nn.Parameter(ad.zeros(2))
        >>> ad.nn.utils.vector_to_parameters(ad.tensor([1.0, 2.0]), [w])
        >>> w.detach()
        tensor([1., 2.])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"vector_to_parameters: expected Tensor, but got: {type(vec).__name__}")
    at = 0
    for p in parameters:
        p.data = vec[at : at + p.numel()].view_as(p).data
        at += p.numel()
