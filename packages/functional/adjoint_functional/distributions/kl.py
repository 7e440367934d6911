"""Divergences of Kullback and Leibler, from a table by the types of the two distributions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from adjoint_core import Tensor
from adjoint_engine import grad as gradient

from .composed import Independent, TransformedDistribution
from .distribution import Distribution, ExponentialFamily
from .utils import _sum_rightmost

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY: dict[tuple[type, type], Callable[..., Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates the function that computes the divergence of two types. Of several that fit, the nearest in descent is taken.

    Raises:
        TypeError: not types. They may be of another family than `Distribution`'s, as those of probabilistic languages are.

    Example::

        >>> class Mine(ad.distributions.Normal):
        ...     pass
        >>> @ad.distributions.register_kl(Mine, Mine)
        ... def kl(p, q):
        ...     return (p.loc - q.loc).square()
        >>> ad.distributions.kl_divergence(Mine(1.0, 1.0), Mine(3.0, 1.0))
        tensor(4.)
    """
    for kind in (type_p, type_q):
        if not isinstance(kind, type):
            raise TypeError(f"Expected a Distribution subclass but got {kind}")

    def decorator(fun: Callable[..., Any]) -> Callable[..., Any]:
        _KL_REGISTRY[type_p, type_q] = fun
        _dispatch_kl.cache_clear()
        return fun

    return decorator


@functools.cache
def _dispatch_kl(type_p: type, type_q: type) -> Callable[..., Any] | None:
    fits = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not fits:
        return None
    return _KL_REGISTRY[min(fits, key=lambda pair: (_descent(type_p, pair[0]), _descent(type_q, pair[1])))]


def _descent(kind: type, base: type) -> int:
    """How far above a class stands; farthest if only a metaclass's `__subclasscheck__` says that it does."""
    return kind.__mro__.index(base) if base in kind.__mro__ else len(kind.__mro__)


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The mean of ``log p(x) - log q(x)`` over samples x of p, in closed form; of the batch's shape.

    Raises:
        NotImplementedError: there is no closed form for the two types.

    Example::

        >>> D = ad.distributions
        >>> D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(1.0, 1.0))
        tensor(0.5000)
    """
    fun = _dispatch_kl(type(p), type(q))
    if fun is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
    return fun(p, q)


@register_kl(ExponentialFamily, ExponentialFamily)
def _families(p: Any, q: Any) -> Tensor:
    """The Bregman divergence of the normalizer."""
    if type(p) is not type(q):
        raise NotImplementedError(f"The cross KL-divergence between different exponential families cannot be computed using Bregman divergences: {type(p).__name__} and {type(q).__name__}")  # fmt: skip
    params = [v.detach().requires_grad_() for v in p._natural_params]
    normalizer = p._log_normalizer(*params)
    gradients = gradient([normalizer.sum()], params, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for mine, other, g in zip(params, q._natural_params, gradients):
        result = result - _sum_rightmost((other - mine) * g, len(q.event_shape))
    return result


@register_kl(TransformedDistribution, TransformedDistribution)
def _images(p: Any, q: Any) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError(f"kl_divergence: the transforms differ: {p.transforms} and {q.transforms}")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independents(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            f"kl_divergence: reinterpreted_batch_ndims differ: {p.reinterpreted_batch_ndims} and {q.reinterpreted_batch_ndims}"
        )
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
