"""Distributions on the real line."""

from __future__ import annotations

import math
from typing import Any

import adjoint_core as core
from adjoint_core import Size, Tensor
from adjoint_engine import no_grad

from . import constraints
from .distribution import ExponentialFamily, Parametric, batch_of
from .sampling import _standard_gamma
from .utils import _standard_normal, broadcast_all, uniform

__all__ = ["Cauchy", "Laplace", "Normal", "StudentT"]


class _LocationScale(Parametric):
    """``loc + scale * z`` for a z without parameters."""

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real
    has_rsample = True
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_of(self.loc, loc, scale), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The location."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The location."""
        return self.loc

    def _check(self, value: Tensor) -> None:
        if self._validate_args:
            self._validate_sample(value)


class Normal(_LocationScale, ExponentialFamily):
    """Gaussian.

    Arguments:
        loc: the mean.
        scale: the standard deviation, positive; the two broadcast.

    Example::

        >>> ad.distributions.Normal(0.0, 1.0).log_prob(ad.tensor(0.0))
        tensor(-0.9189)
    """

    _mean_carrier_measure = 0

    @property
    def stddev(self) -> Tensor:
        """The scale."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """The square of the scale."""
        return self.stddev.pow(2)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples without history."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        return self.loc + _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        self._check(value)
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - 0.5 * math.log(2 * math.pi)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of samples up to a value."""
        self._check(value)
        return 0.5 * (1 + core.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile of a probability."""
        return self.loc + self.scale * core.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        """In nats."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + core.log(self.scale)

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return -0.25 * x.pow(2) / y + 0.5 * core.log(-math.pi / y)


class Laplace(_LocationScale):
    """Double exponential: density ``exp(-|x - loc| / scale) / (2 scale)``.

    Example::

        >>> ad.distributions.Laplace(0.0, 1.0).variance
        tensor(2.)
    """

    @property
    def variance(self) -> Tensor:
        """Twice the square of the scale."""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        u = uniform(self._extended_shape(sample_shape), self.loc)
        return self.icdf(u)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        self._check(value)
        return -core.log(2 * self.scale) - core.abs(value - self.loc) / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of samples up to a value."""
        self._check(value)
        z = value - self.loc
        return 0.5 - 0.5 * z.sign() * core.expm1(-z.abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile of a probability."""
        term = value - 0.5
        return self.loc - self.scale * term.sign() * core.log1p(-2 * term.abs())

    def entropy(self) -> Tensor:
        """In nats."""
        return 1 + core.log(2 * self.scale)


class Cauchy(_LocationScale):
    """Density ``1 / (pi scale (1 + ((x - loc) / scale)**2))``: it has no mean.

    Example::

        >>> ad.distributions.Cauchy(0.0, 1.0).sample((3,)).shape
        adjoint.Size([3])
    """

    @property
    def mean(self) -> Tensor:
        """nan."""
        return core.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        """inf."""
        return core.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        noise = core.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device).cauchy_()
        return self.loc + noise * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        self._check(value)
        return -math.log(math.pi) - self.scale.log() - ((value - self.loc) / self.scale).pow(2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of samples up to a value."""
        self._check(value)
        return core.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile of a probability."""
        return core.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        """In nats."""
        return math.log(4 * math.pi) + self.scale.log()


class StudentT(Parametric):
    """Student's t, shifted and scaled.

    Arguments:
        df: degrees of freedom, positive.

    Example::

        >>> ad.distributions.StudentT(3.0).variance
        tensor(3.)
    """

    arg_constraints: Any = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The location; nan for df up to 1."""
        return core.where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self) -> Tensor:
        """The location."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """inf for df in (1, 2], nan below."""
        df = core.where(self.df > 2, self.df, 3.0)
        finite = self.scale.pow(2) * df / (df - 2)
        return core.where(self.df > 2, finite, core.where(self.df > 1, math.inf, math.nan))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        shape = self._extended_shape(sample_shape)
        normal = _standard_normal(shape, self.df.dtype, self.df.device)
        squares = 2 * _standard_gamma((self.df / 2).expand(shape))
        return self.loc + self.scale * normal * core.rsqrt(squares / self.df)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        normalizer = (
            self.scale.log()
            + 0.5 * (self.df.log() + math.log(math.pi))
            + core.lgamma(0.5 * self.df)
            - core.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * core.log1p(y**2.0 / self.df) - normalizer

    def entropy(self) -> Tensor:
        """In nats."""
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = core.lgamma(half) + math.lgamma(0.5) - core.lgamma(more)
        return self.scale.log() + more * (core.digamma(more) - core.digamma(half)) + 0.5 * self.df.log() + log_beta
