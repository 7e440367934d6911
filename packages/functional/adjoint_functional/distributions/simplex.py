"""Dirichlet."""

from __future__ import annotations

from typing import Any

import adjoint_core as core
from adjoint_core import Size, Tensor

from ..nn import functional as F
from . import constraints
from .distribution import ExponentialFamily, Parametric
from .sampling import _sample_dirichlet

__all__ = ["Dirichlet"]


class Dirichlet(Parametric, ExponentialFamily):
    """Probabilities of n outcomes: density proportional to the product of ``x[i] ** (concentration[i] - 1)``.

    Samples have derivatives by implicit reparameterisation.

    Arguments:
        concentration: of shape ``(..., n)``, positive.

    Example::

        >>> ad.distributions.Dirichlet(ad.tensor([1.0, 3.0])).mean
        tensor([0.2500, 0.7500])
    """

    arg_constraints: Any = {"concentration": constraints.independent(constraints.positive, 1)}
    support: Any = constraints.simplex
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        return _sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return core.xlogy(a - 1.0, value).sum(-1) + core.lgamma(a.sum(-1)) - core.lgamma(a).sum(-1)

    @property
    def mean(self) -> Tensor:
        """Each concentration's part of all."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        """Where the density is largest: a corner if all concentrations are below 1."""
        less = (self.concentration - 1).clamp(min=0.0)
        mode = less / less.sum(-1, True)
        corner = F.one_hot(self.concentration.argmax(-1), self.concentration.shape[-1]).to(mode.dtype)
        return core.where((self.concentration < 1).all(-1, keepdim=True), corner, mode)

    @property
    def variance(self) -> Tensor:
        """Of each coordinate."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        """In nats."""
        a = self.concentration
        total, k = a.sum(-1), a.size(-1)
        digammas = (k - total) * core.digamma(total) + ((a - 1.0) * core.digamma(a)).sum(-1)
        return core.lgamma(a).sum(-1) - core.lgamma(total) - digammas

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return x.lgamma().sum(-1) - core.lgamma(x.sum(-1))
