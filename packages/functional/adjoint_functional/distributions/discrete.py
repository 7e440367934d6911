"""Distributions of counts and of yes and no, and the continuous relative of Bernoulli."""

from __future__ import annotations

import math
from typing import Any

import adjoint_core as core
from adjoint_core import Size, Tensor
from adjoint_engine import no_grad

from ..composed import binomial, poisson
from ..nn import functional as F
from . import constraints
from .distribution import Distribution, ExponentialFamily, Parametric, batch_of
from .sampling import _standard_gamma
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs, probs_to_logits, uniform

__all__ = ["Bernoulli", "Binomial", "ContinuousBernoulli", "Geometric", "NegativeBinomial", "Poisson"]


class ProbsOrLogits(Distribution):
    """Probabilities or log-odds are given; the other is computed when asked for."""

    _binary = True

    def _given(self, probs: Any, logits: Any) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            self.probs = probs
        else:
            self.logits = logits

    @lazy_property
    def logits(self) -> Tensor:
        """Log-odds, or logarithms of probabilities of categories."""
        return probs_to_logits(self.probs, is_binary=self._binary)

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities."""
        return logits_to_probs(self.logits, is_binary=self._binary)

    @property
    def _param(self) -> Tensor:
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]

    @property
    def param_shape(self) -> Size:
        """Of the probabilities."""
        return self._param.size()

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)


class _Binary(ProbsOrLogits, Parametric):
    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        given = logits if probs is None else probs
        self._given(None if probs is None else broadcast_all(probs)[0], None if logits is None else broadcast_all(logits)[0])
        super().__init__(batch_of(self._param, given), validate_args=validate_args)


class Bernoulli(_Binary, ExponentialFamily):
    """1 with a probability, else 0.

    Arguments:
        probs: probabilities of 1.
        logits: their log-odds, instead.

    Example::

        >>> ad.distributions.Bernoulli(ad.tensor(0.25)).log_prob(ad.tensor(1.0))
        tensor(-1.3863)
    """

    support: Any = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    @property
    def mean(self) -> Tensor:
        """The probability."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """nan for the probability one half."""
        return core.where(self.probs == 0.5, math.nan, (self.probs >= 0.5).to(self.probs.dtype))

    @property
    def variance(self) -> Tensor:
        """p (1 - p)."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples without history."""
        with no_grad():
            return core.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        """In nats."""
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """0 and 1."""
        return _enumerated(core.arange(2, dtype=self._param.dtype, device=self._param.device), self._batch_shape, expand)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (core.logit(self.probs),)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return core.log1p(core.exp(x))


def _enumerated(values: Tensor, batch_shape: Any, expand: bool) -> Tensor:
    values = values.reshape((-1,) + (1,) * len(batch_shape))
    return values.expand((-1,) + tuple(batch_shape)) if expand else values


class Geometric(_Binary):
    """How many failures come before the first success.

    Raises:
        ValueError: a probability is 0.

    Example::

        >>> ad.distributions.Geometric(0.25).mean
        tensor(3.)
    """

    support: Any = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args=validate_args)
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) of distribution {self!r} "
                f"to be positive but found invalid values:\n{self.probs}"
            )

    @property
    def mean(self) -> Tensor:
        """1 / p - 1."""
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        """0."""
        return core.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        """(1 / p - 1) / p."""
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples without history."""
        with no_grad():
            return (uniform(self._extended_shape(sample_shape), self.probs).log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        certain = (probs == 1) & (value == 0)  # 0 times an infinite logarithm
        return value * (-core.where(certain, 0.0, probs)).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        """In nats."""
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class _Counted(ProbsOrLogits, Parametric):
    """Of a number of trials."""

    total_count: Tensor

    def __init__(self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        self.total_count, given = broadcast_all(total_count, logits if probs is None else probs)
        self.total_count = self.total_count.type_as(given)
        self._given(None if probs is None else given, None if logits is None else given)
        super().__init__(self._param.size(), validate_args=validate_args)


class Binomial(_Counted):
    """Successes in a number of trials.

    Arguments:
        total_count: how many trials.

    Example::

        >>> ad.distributions.Binomial(4, 0.5).mean
        tensor(2.)
    """

    arg_constraints: Any = {
        "total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real,
    }  # fmt: skip
    has_enumerate_support = True

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """0 up to the number of trials."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        """n p."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        """floor((n + 1) p), at most n."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        """n p (1 - p)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples without history."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        ways = core.lgamma(n + 1) - core.lgamma(value + 1) - core.lgamma(n - value + 1)
        # n log(1 + e^l) without overflow for large l
        return ways + value * self.logits - n * (self.logits.clamp(min=0) + core.log1p(core.exp(-self.logits.abs())))

    def entropy(self) -> Tensor:
        """In nats: of equal numbers of trials only."""
        total_count = int(self.total_count.max())
        if int(self.total_count.min()) != total_count:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(core.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """0 up to the number of trials, if it is the same for all."""
        total_count = int(self.total_count.max())
        if int(self.total_count.min()) != total_count:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return _enumerated(
            core.arange(1 + total_count, dtype=self._param.dtype, device=self._param.device), self._batch_shape, expand
        )


class NegativeBinomial(_Counted):
    """Successes before ``total_count`` failures, of a number that need not be whole.

    Example::

        >>> ad.distributions.NegativeBinomial(2.0, 0.5).mean
        tensor(2.)
    """

    arg_constraints: Any = {
        "total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0), "logits": constraints.real,
    }  # fmt: skip
    support: Any = constraints.nonnegative_integer

    @property
    def mean(self) -> Tensor:
        """n exp(logits)."""
        return self.total_count * core.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        """0 for n up to 1."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        """mean / (1 - p)."""
        return self.mean / core.sigmoid(-self.logits)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Poisson numbers of gamma rates."""
        with no_grad():
            rate = _standard_gamma(self.total_count.expand(self._extended_shape(sample_shape))) * core.exp(self.logits)
            return poisson(rate)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        unnormalized = self.total_count * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        ways = core.lgamma(1.0 + value) + core.lgamma(self.total_count) - core.lgamma(self.total_count + value)
        return unnormalized - core.where(self.total_count + value == 0.0, 0.0, ways)


class Poisson(Parametric, ExponentialFamily):
    """Counts of a rate.

    Example::

        >>> ad.distributions.Poisson(3.0).mean
        tensor(3.)
    """

    arg_constraints: Any = {"rate": constraints.nonnegative}
    support: Any = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of(self.rate, rate), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The rate."""
        return self.rate

    @property
    def mode(self) -> Tensor:
        """The rate, rounded down."""
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        """The rate."""
        return self.rate

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples without history."""
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (core.log(self.rate),)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return core.exp(x)


class ContinuousBernoulli(_Binary, ExponentialFamily):
    """Numbers in [0, 1] of density proportional to ``probs ** x (1 - probs) ** (1 - x)`` (G. Loaiza-Ganem, J. Cunningham, 2019).

    Arguments:
        lims: probabilities between them are as one half, with a Taylor expansion, as the formulas are 0 / 0 there.

    Example::

        >>> ad.distributions.ContinuousBernoulli(ad.tensor(0.5)).mean
        tensor(0.5000)
    """

    support: Any = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._lims = lims
        super().__init__(probs, logits, validate_args=validate_args)
        if probs is not None:
            self.probs = clamp_probs(self.probs)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new._lims = self._lims

    def _split(self) -> tuple[Tensor, Tensor]:
        """Where the formulas hold, and probabilities that they hold for."""
        outside = (self.probs <= self._lims[0]) | (self.probs > self._lims[1])
        return outside, core.where(outside, self.probs, self._lims[0])

    def _cont_bern_log_norm(self) -> Tensor:
        """log of 2 atanh(1 - 2 p) / (1 - 2 p)"""
        outside, p = self._split()
        exact = core.log(core.abs(core.log1p(-p) - core.log(p))) - core.log(core.abs(1 - 2 * p))
        x = (self.probs - 0.5).square()
        return core.where(outside, exact, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Tensor:
        """Of each distribution."""
        outside, p = self._split()
        x = self.probs - 0.5
        return core.where(
            outside,
            p / (2.0 * p - 1.0) + 1.0 / (core.log1p(-p) - core.log(p)),
            0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.square()) * x,
        )

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return core.sqrt(self.variance)

    @property
    def variance(self) -> Tensor:
        """Of each distribution."""
        outside, p = self._split()
        x = (self.probs - 0.5).square()
        exact = p * (p - 1.0) / (1.0 - 2.0 * p).square() + 1.0 / (core.log1p(-p) - core.log(p)).square()
        return core.where(outside, exact, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        return self.icdf(uniform(self._extended_shape(sample_shape), self.probs))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of samples up to a value."""
        if self._validate_args:
            self._validate_sample(value)
        outside, p = self._split()
        found = (core.pow(p, value) * core.pow(1.0 - p, 1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        return core.where(value <= 0, 0.0, core.where(value >= 1, 1.0, core.where(outside, found, value)))

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile of a probability."""
        outside, p = self._split()
        found = (core.log1p(-p + value * (2.0 * p - 1.0)) - core.log1p(-p)) / (core.log(p) - core.log1p(-p))
        near_half = value + 2 * (self.probs - 0.5) * value * (1 - value)  # to first order
        return core.where(outside, found, near_half)

    def entropy(self) -> Tensor:
        """In nats."""
        low, high = core.log1p(-self.probs), core.log(self.probs)
        return self.mean * (low - high) - self._cont_bern_log_norm() - low

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = core.where(outside, x, self._lims[0] - 0.5)
        exact = core.log(core.abs(core.expm1(cut))) - core.log(core.abs(cut))
        return core.where(outside, exact, 0.5 * x + x.square() / 24.0 - x.pow(4) / 2880.0)
