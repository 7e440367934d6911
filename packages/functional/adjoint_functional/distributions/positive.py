"""Distributions of positive numbers."""

from __future__ import annotations

import math
from typing import Any

import adjoint_core as core
from adjoint_core import Size, Tensor

from . import constraints
from .distribution import ExponentialFamily, Parametric, batch_of
from .sampling import _standard_gamma
from .utils import broadcast_all, uniform

__all__ = ["Chi2", "Exponential", "FisherSnedecor", "Gamma", "GeneralizedPareto"]


class Exponential(Parametric, ExponentialFamily):
    """Density ``rate exp(-rate x)``.

    Example::

        >>> ad.distributions.Exponential(2.0).mean
        tensor(0.5000)
    """

    arg_constraints: Any = {"rate": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of(self.rate, rate), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """1 / rate."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        """0."""
        return core.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        """1 / rate."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        """1 / rate ** 2."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        return (
            core.empty_like(self.rate.detach().expand(self._extended_shape(sample_shape))).contiguous().exponential_()
            / self.rate
        )

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of samples up to a value."""
        if self._validate_args:
            self._validate_sample(value)
        return -core.expm1(-self.rate * value)

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile of a probability."""
        return -core.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        """In nats."""
        return 1.0 - core.log(self.rate)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (-self.rate,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return -core.log(-x)


class Gamma(Parametric, ExponentialFamily):
    """Density proportional to ``x ** (concentration - 1) exp(-rate x)``.

    Samples have derivatives in both parameters, by implicit reparameterisation in the concentration.

    Example::

        >>> ad.distributions.Gamma(3.0, 2.0).mean
        tensor(1.5000)
    """

    arg_constraints: Any = {"concentration": constraints.positive, "rate": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(batch_of(self.concentration, concentration, rate), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """concentration / rate."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        """0 for concentrations below 1."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        """concentration / rate ** 2."""
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        shape = self._extended_shape(sample_shape)
        value = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        return value.clamp(min=core.finfo(value.dtype).tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        value = core.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        a, b = self.concentration, self.rate
        return core.xlogy(a, b) + core.xlogy(a - 1, value) - b * value - core.lgamma(a)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of samples up to a value; no derivative in the concentration."""
        if self._validate_args:
            self._validate_sample(value)
        return core.special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        """In nats."""
        a = self.concentration
        return a - core.log(self.rate) + core.lgamma(a) + (1.0 - a) * core.digamma(a)

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return core.lgamma(x + 1) + (x + 1) * core.log(-y.reciprocal())


class Chi2(Gamma):
    """The sum of ``df`` squares of standard normal numbers.

    Example::

        >>> ad.distributions.Chi2(3.0).mean
        tensor(3.)
    """

    arg_constraints: Any = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch."""
        new = self._get_checked_instance(Chi2, _instance)
        new.concentration, new.rate = self.concentration.expand(batch_shape), self.rate.expand(batch_shape)
        super(Gamma, new).__init__(Size(batch_shape), validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def df(self) -> Tensor:
        """Degrees of freedom."""
        return self.concentration * 2


class FisherSnedecor(Parametric):
    """The ratio of two means of squares, of ``df1`` and ``df2`` normal numbers.

    Example::

        >>> ad.distributions.FisherSnedecor(2.0, 4.0).mean
        tensor(2.)
    """

    arg_constraints: Any = {"df1": constraints.positive, "df2": constraints.positive}
    support: Any = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(batch_of(self.df1, df1, df2), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """nan for df2 up to 2."""
        df2 = core.where(self.df2 > 2, self.df2, math.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        """nan for df1 up to 2."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return core.where(self.df1 <= 2, math.nan, mode)

    @property
    def variance(self) -> Tensor:
        """nan for df2 up to 4."""
        df2 = core.where(self.df2 > 4, self.df2, math.nan)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        shape = self._extended_shape(sample_shape)
        above = 2 * _standard_gamma((self.df1 / 2).expand(shape)) / self.df1
        below = 2 * _standard_gamma((self.df2 / 2).expand(shape)) / self.df2
        tiny = core.finfo(above.dtype).tiny
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        log_beta = a.lgamma() + b.lgamma() - (a + b).lgamma()
        return a * ratio.log() + (a - 1) * value.log() - (a + b) * core.log1p(ratio * value) - log_beta


class GeneralizedPareto(Parametric):
    """Excesses over a threshold: ``loc + scale ((1 - u) ** -concentration - 1) / concentration``; exponential for concentration 0.

    Example::

        >>> ad.distributions.GeneralizedPareto(0.0, 1.0, 0.0).mean
        tensor(1.)
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(batch_of(self.loc, loc, scale, concentration), validate_args=validate_args)

    def _flat(self) -> tuple[Tensor, Tensor]:
        """Where the concentration is 0, to be expanded about to first order, and one that can be divided by."""
        flat = core.isclose(self.concentration, core.zeros_like(self.concentration))
        return flat, core.where(flat, 1.0, self.concentration)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        return self.icdf(uniform(self._extended_shape(sample_shape), self.loc))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        z, (flat, k) = self._z(value), self._flat()
        return -self.scale.log() - core.where(
            flat, z + self.concentration * (z - z * z / 2), (1 + 1 / k) * core.log1p(core.where(flat, 0.0, k * z))
        )

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of samples above a value."""
        if self._validate_args:
            self._validate_sample(value)
        z, (flat, k) = self._z(value), self._flat()
        return core.where(flat, self.concentration * z * z / 2 - z, -core.log1p(core.where(flat, 0.0, k * z)) / k)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of `cdf`."""
        return core.log1p(-core.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of samples up to a value."""
        return core.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile of a probability."""
        flat, k = self._flat()
        log_left = core.log1p(-value)
        return self.loc + self.scale * core.where(
            flat, self.concentration * log_left**2 / 2 - log_left, core.expm1(-k * log_left) / k
        )

    @property
    def mean(self) -> Tensor:
        """inf for concentrations from 1 on."""
        k = self.concentration
        return core.where(k < 1, self.loc + self.scale / (1 - core.where(k < 1, k, 0.0)), math.inf)

    @property
    def variance(self) -> Tensor:
        """inf for concentrations from 1/2 on."""
        k = core.where(self.concentration < 0.5, self.concentration, 0.0)
        return core.where(self.concentration < 0.5, self.scale**2 / ((1 - k) ** 2 * (1 - 2 * k)), math.inf)

    def entropy(self) -> Tensor:
        """In nats."""
        return core.log(self.scale) + self.concentration + 1

    @property
    def mode(self) -> Tensor:
        """The location."""
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From the location on; up to ``loc - scale / concentration`` if the concentration is negative."""
        lower, k = self.loc, self.concentration
        upper = core.where(k < 0, lower - self.scale / core.where(k < 0, k, -1.0), math.inf)
        return constraints.greater_than_eq(lower) if not bool((k < 0).any()) else constraints.interval(lower, upper)
