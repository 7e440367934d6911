"""Continuous relatives of discrete distributions, with derivatives: of a temperature at which they become discrete.

C. Maddison, A. Mnih, Y. W. Teh, The concrete distribution, 2017; E. Jang, S. Gu, B. Poole, Categorical reparameterization, 2017.
"""

from __future__ import annotations

from typing import Any

import adjoint_core as core
from adjoint_core import Size, Tensor

from . import constraints
from .categorical import Categorical
from .composed import TransformedDistribution
from .discrete import ProbsOrLogits
from .distribution import Distribution, Parametric, batch_of
from .elementwise_transforms import ExpTransform, SigmoidTransform
from .utils import broadcast_all, clamp_probs, uniform

__all__ = ["ExpRelaxedCategorical", "LogitRelaxedBernoulli", "RelaxedBernoulli", "RelaxedOneHotCategorical"]


class LogitRelaxedBernoulli(ProbsOrLogits, Parametric):
    """The log-odds of `RelaxedBernoulli`.

    Example::

        >>> ad.distributions.relaxed_bernoulli.LogitRelaxedBernoulli(ad.tensor(0.5), ad.tensor([0.3])).rsample().shape
        adjoint.Size([1])
    """

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    support: Any = constraints.real
    has_rsample = True

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self.temperature = temperature
        given = logits if probs is None else probs
        self._given(None if probs is None else broadcast_all(probs)[0], None if logits is None else broadcast_all(logits)[0])
        super().__init__(batch_of(self._param, given), validate_args=validate_args)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new.temperature = self.temperature

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        shape = self._extended_shape(sample_shape)
        probs, u = clamp_probs(self.probs.expand(shape)), clamp_probs(uniform(shape, self.probs))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        diff = logits - value.mul(self.temperature)
        return core.as_tensor(self.temperature).log() + diff - 2 * diff.exp().log1p()


class _Relaxed(TransformedDistribution):
    """The image of a distribution with a temperature and probabilities."""

    base_dist: Any
    has_rsample = True

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch."""
        owner = next(c for c in type(self).__mro__ if c.__init__.__globals__["__package__"] == __package__)
        return super().expand(batch_shape, _instance=self._get_checked_instance(owner, _instance))

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """Log-odds, or logarithms of probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """Probabilities."""
        return self.base_dist.probs


class RelaxedBernoulli(_Relaxed):
    """Numbers in (0, 1) that are near 0 or 1 at low temperatures.

    Arguments:
        temperature: positive.
        probs: of 1; or
        logits: log-odds.

    Example::

        >>> ad.distributions.RelaxedBernoulli(ad.tensor(0.5), ad.tensor(0.3)).rsample().shape
        adjoint.Size([])
    """

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    support: Any = constraints.unit_interval

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args=validate_args)


class ExpRelaxedCategorical(Distribution):
    """The logarithms of `RelaxedOneHotCategorical`.

    Example::

        >>> ad.distributions.relaxed_categorical.ExpRelaxedCategorical(ad.tensor(0.5), ad.ones(3)).rsample().shape
        adjoint.Size([3])
    """

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support: Any = constraints.real_vector
    has_rsample = True

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch."""
        new = self._get_checked_instance(ExpRelaxedCategorical, _instance)
        new.temperature, new._categorical = self.temperature, self._categorical.expand(Size(batch_shape))
        Distribution.__init__(new, Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    @property
    def param_shape(self) -> Size:
        """Of the probabilities."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """Probabilities."""
        return self._categorical.probs

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        u = clamp_probs(uniform(self._extended_shape(sample_shape), self.logits))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        n = self._categorical._num_events
        logits, value = broadcast_all(self.logits, value)
        t = core.as_tensor(self.temperature, dtype=value.dtype, device=value.device)
        scale = core.lgamma(core.full_like(t, float(n))) + t.log() * (n - 1)
        score = logits - value * t
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(_Relaxed):
    """Points of the simplex that are near its corners at low temperatures.

    Arguments:
        temperature: positive.
        probs: of the corners, ``(..., n)``; or
        logits: their logarithms.

    Example::

        >>> ad.distributions.RelaxedOneHotCategorical(ad.tensor(0.5), ad.ones(3)).rsample().shape
        adjoint.Size([3])
    """

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support: Any = constraints.simplex

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(
            ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args),
            ExpTransform(),
            validate_args=validate_args,
        )
