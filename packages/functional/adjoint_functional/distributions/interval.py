"""Distributions on intervals and on the circle, and Gumbel's of extremes."""

from __future__ import annotations

import math
from typing import Any

import adjoint_core as core
from adjoint_core import Size, Tensor
from adjoint_engine import no_grad

from . import constraints
from .distribution import ExponentialFamily, Parametric, batch_of
from .elementwise_transforms import ExpTransform, PowerTransform
from .images import _Image
from .more_transforms import AffineTransform
from .simplex import Dirichlet
from .utils import broadcast_all, euler_constant, uniform

__all__ = ["Beta", "Gumbel", "Kumaraswamy", "Uniform", "VonMises"]


class Uniform(Parametric):
    """All numbers of ``[low, high)`` alike.

    Raises:
        ValueError: low is not below high.

    Example::

        >>> ad.distributions.Uniform(0.0, 2.0).mean
        tensor(1.)
    """

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(batch_of(self.low, low, high), validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """Each bound by the other one."""
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @property
    def mean(self) -> Tensor:
        """The middle."""
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        """nan: all are alike."""
        return math.nan * self.high

    @property
    def stddev(self) -> Tensor:
        """The length over sqrt(12)."""
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        """The square of the length over 12."""
        return (self.high - self.low).pow(2) / 12

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The interval."""
        return constraints.interval(self.low, self.high)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        shape = self._extended_shape(sample_shape)
        return self.low + core.rand(shape, dtype=self.low.dtype, device=self.low.device) * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        inside = (self.low <= value) & (self.high > value)
        return core.log(inside.type_as(self.low)) - core.log(self.high - self.low)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of samples up to a value."""
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile of a probability."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        """In nats."""
        return core.log(self.high - self.low)


class Beta(Parametric, ExponentialFamily):
    """Density proportional to ``x ** (concentration1 - 1) (1 - x) ** (concentration0 - 1)``.

    Example::

        >>> ad.distributions.Beta(1.0, 3.0).mean
        tensor(0.2500)
    """

    arg_constraints: Any = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support: Any = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        one, zero = broadcast_all(concentration1, concentration0)
        self._dirichlet = Dirichlet(core.stack([one, zero], -1), validate_args=validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch."""
        new = self._get_checked_instance(Beta, _instance)
        new._dirichlet = self._dirichlet.expand(Size(batch_shape))
        super(Beta, new).__init__(Size(batch_shape), validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def concentration1(self) -> Tensor:
        """Of successes."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Tensor:
        """Of failures."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        """The part that concentration1 is of both."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        """Where the density is largest; nan if there is no such place."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        """Of each distribution."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(core.stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        """In nats."""
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return core.lgamma(x) + core.lgamma(y) - core.lgamma(x + y)


class Kumaraswamy(_Image):
    """``(1 - u ** (1 / concentration0)) ** (1 / concentration1)`` of a uniform u: much like Beta, and simple to sample.

    Example::

        >>> ad.distributions.Kumaraswamy(1.0, 1.0).mean
        tensor(0.5000)
    """

    arg_constraints: Any = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support: Any = constraints.unit_interval
    has_rsample = True
    _arguments = ("concentration1", "concentration0")

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(
            core.full_like(self.concentration0, 0), core.full_like(self.concentration0, 1), validate_args=validate_args
        )
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        """b B(1 + n / a, b)"""
        a, b = self.concentration1, self.concentration0
        return core.exp(b.log() + core.lgamma(1 + n / a) + core.lgamma(b) - core.lgamma(1 + n / a + b))

    @property
    def mean(self) -> Tensor:
        """Of each distribution."""
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """nan where a concentration is below 1."""
        a, b = self.concentration1, self.concentration0
        inside = core.where((a < 1) | (b < 1), math.nan, (a - 1) / (a * b - 1))
        return inside ** a.reciprocal()

    @property
    def variance(self) -> Tensor:
        """Of each distribution."""
        return self._moment(2) - self._moment(1).pow(2)

    def entropy(self) -> Tensor:
        """In nats."""
        a, b = self.concentration1, self.concentration0
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * (core.digamma(b + 1) + euler_constant) - core.log(a) - core.log(b)


class Gumbel(_Image):
    """The largest of many: ``loc - scale log(-log u)`` of a uniform u.

    Example::

        >>> ad.distributions.Gumbel(0.0, 1.0).mean
        tensor(0.5772)
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real
    _arguments = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = core.finfo(self.loc.dtype)
        ends = core.full_like(self.loc, info.tiny), core.full_like(self.loc, 1 - info.eps)
        base = Uniform(*ends, validate_args=validate_args)
        transforms = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-core.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=self.loc, scale=-self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)
        if not isinstance(loc, Tensor) and not isinstance(scale, Tensor):
            self._batch_shape = Size()

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Tensor:
        """loc + scale times Euler's constant."""
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        """The location."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """pi scale / sqrt(6)."""
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Tensor:
        """The square of the standard deviation."""
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        """In nats."""
        return self.scale.log() + (1 + euler_constant)


class VonMises(Parametric):
    """On the circle: density ``exp(concentration cos(x - loc)) / (2 pi I0(concentration))`` of angles in [-pi, pi).

    Example::

        >>> ad.distributions.VonMises(0.0, 4.0).variance
        tensor(0.1365)
    """

    arg_constraints: Any = {"loc": constraints.real, "concentration": constraints.positive}
    support: Any = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        log_i0 = core.special.i0e(k).log() + k
        return k * core.cos(value - self.loc) - math.log(2 * math.pi) - log_i0

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """D. J. Best, N. I. Fisher, Efficient simulation of the von Mises distribution, 1979: rejection from a wrapped Cauchy."""
        with no_grad():
            shape = self._extended_shape(sample_shape)
            k = self.concentration.double().expand(shape)
            tau = 1 + (1 + 4 * k**2).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            # r = 1 / k + k is the limit for small k, where the difference cancels
            r = core.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))
            found, missing = core.zeros_like(r), core.ones_like(r, dtype=core.bool)
            while bool(missing.any()):
                u1, u2, u3 = (uniform(shape, r) for _ in range(3))
                z = core.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accepted = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)  # also of those that had been found
                found = core.where(accepted, (u3 - 0.5).sign() * f.clamp(-1, 1).acos(), found)
                missing = missing & ~accepted
            return ((found + math.pi + self.loc.double()) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def mean(self) -> Tensor:
        """The circular mean: the location."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The location."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The circular variance: 1 - I1 / I0."""
        return 1 - core.special.i1e(self.concentration) / core.special.i0e(self.concentration)
