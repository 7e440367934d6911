"""Distributions of positive numbers that are images of others: their logarithms, powers and absolute values."""

from __future__ import annotations

import math
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

from . import constraints
from .composed import TransformedDistribution
from .elementwise_transforms import AbsTransform, ExpTransform, PowerTransform
from .more_transforms import AffineTransform
from .positive import Exponential, Gamma
from .real_line import Cauchy, Normal
from .utils import broadcast_all, euler_constant

__all__ = ["HalfCauchy", "HalfNormal", "InverseGamma", "LogNormal", "Pareto", "Weibull"]


class _Image(TransformedDistribution):
    """Images of a distribution, expanded with it; ``_arguments`` are those of the constructor."""

    _arguments: tuple[str, ...]

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch."""
        owner = next(c for c in type(self).__mro__ if c.__init__.__globals__["__package__"] == __package__)
        new = self._get_checked_instance(owner, _instance)
        owner.__init__(new, *(getattr(self, name).expand(batch_shape) for name in self._arguments), validate_args=False)
        new._validate_args = self._validate_args
        return new


class _Half(_Image):
    """The absolute value of a distribution that is symmetric about 0."""

    arg_constraints: Any = {"scale": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True
    _arguments = ("scale",)

    @property
    def scale(self) -> Tensor:
        """The base's."""
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        """0."""
        return core.zeros_like(self.scale)

    def log_prob(self, value: Any) -> Tensor:
        """The logarithm of the density: twice the base's."""
        value = core.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        if self._validate_args:
            self._validate_sample(value)
        return core.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of samples up to a value."""
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Tensor:  # type: ignore[override]
        """The quantile of a probability."""
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        """In nats."""
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """The absolute value of a normal number of mean 0.

    Example::

        >>> ad.distributions.HalfNormal(1.0).mean
        tensor(0.7979)
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """scale sqrt(2 / pi)."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        """scale ** 2 (1 - 2 / pi)."""
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """The absolute value of a Cauchy number of location 0: its mean is infinite.

    Example::

        >>> ad.distributions.HalfCauchy(1.0).sample().shape
        adjoint.Size([])
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """inf."""
        return core.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        """inf."""
        return self.base_dist.variance


class LogNormal(_Image):
    """exp of a normal number.

    Example::

        >>> ad.distributions.LogNormal(0.0, 1.0).mean
        tensor(1.6487)
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.positive
    has_rsample = True
    _arguments = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        """exp(loc + scale ** 2 / 2)."""
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        """exp(loc - scale ** 2)."""
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        """Of each distribution."""
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        """In nats."""
        return self.base_dist.entropy() + self.loc


class InverseGamma(_Image):
    """1 over a gamma number.

    Example::

        >>> ad.distributions.InverseGamma(3.0, 2.0).mean
        tensor(1.)
    """

    arg_constraints: Any = {"concentration": constraints.positive, "rate": constraints.positive}
    support: Any = constraints.positive
    has_rsample = True
    _arguments = ("concentration", "rate")

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(base.rate.new_tensor(-1.0)), validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:
        """The gamma number's."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The gamma number's."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        """inf for concentrations up to 1."""
        a = self.concentration
        return core.where(a > 1, self.rate / core.where(a > 1, a - 1, 1.0), math.inf)

    @property
    def mode(self) -> Tensor:
        """rate / (concentration + 1)."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """inf for concentrations up to 2."""
        a = core.where(self.concentration > 2, self.concentration, 3.0)
        return core.where(self.concentration > 2, self.rate.square() / ((a - 1).square() * (a - 2)), math.inf)

    def entropy(self) -> Tensor:
        """In nats."""
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class Pareto(_Image):
    """Density ``alpha scale ** alpha / x ** (alpha + 1)`` above ``scale``.

    Example::

        >>> ad.distributions.Pareto(1.0, 2.0).mean
        tensor(2.)
    """

    arg_constraints: Any = {"alpha": constraints.positive, "scale": constraints.positive}
    _arguments = ("scale", "alpha")

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """inf for alpha up to 1."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        """The scale."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """inf for alpha up to 2."""
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From the scale on."""
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Tensor:
        """In nats."""
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(_Image):
    """``scale`` times a power, 1 / ``concentration``, of an exponential number.

    Example::

        >>> ad.distributions.Weibull(1.0, 1.0).mean
        tensor(1.)
    """

    arg_constraints: Any = {"scale": constraints.positive, "concentration": constraints.positive}
    support: Any = constraints.positive
    _arguments = ("scale", "concentration")

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(core.ones_like(self.scale), validate_args=validate_args)
        transforms = [PowerTransform(exponent=self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """scale G(1 + 1 / concentration)."""
        return self.scale * core.exp(core.lgamma(1 + self.concentration_reciprocal))

    @property
    def mode(self) -> Tensor:
        """0 for concentrations up to 1."""
        k = self.concentration.clamp(min=1)
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Tensor:
        """Of each distribution."""
        r = self.concentration_reciprocal
        return self.scale.pow(2) * (core.exp(core.lgamma(1 + 2 * r)) - core.exp(2 * core.lgamma(1 + r)))

    def entropy(self) -> Tensor:
        """In nats."""
        return euler_constant * (1 - self.concentration_reciprocal) + core.log(self.scale * self.concentration_reciprocal) + 1
