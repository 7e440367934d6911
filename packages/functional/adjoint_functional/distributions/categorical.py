"""Distributions over categories: as numbers, as one-hot vectors, as counts."""

from __future__ import annotations

from typing import Any

import adjoint_core as core
from adjoint_core import Size, Tensor
from adjoint_engine import no_grad

from ..composed import multinomial
from ..nn import functional as F
from . import constraints
from .discrete import Binomial, ProbsOrLogits
from .distribution import Distribution
from .utils import broadcast_all, clamp_probs

__all__ = ["Categorical", "Multinomial", "OneHotCategorical", "OneHotCategoricalStraightThrough"]

OF_CATEGORIES: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}


class Categorical(ProbsOrLogits):
    """The number of a category.

    Arguments:
        probs: of shape ``(..., n)``, not negative; they are divided by their sum.
        logits: logarithms of probabilities, up to a constant, instead.

    Example::

        >>> d = ad.distributions.Categorical(ad.tensor([1.0, 3.0]))
        >>> d.probs, d.sample().dtype
        (tensor([0.2500, 0.7500]), adjoint.int64)
    """

    arg_constraints: Any = OF_CATEGORIES
    has_enumerate_support = True
    _binary = False

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        given = logits if probs is None else probs
        if given is not None and given.dim() < 1:
            raise ValueError(f"`{'logits' if probs is None else 'probs'}` parameter must be at least one-dimensional.")
        self._given(
            None if probs is None else probs / probs.sum(-1, keepdim=True),
            None if logits is None else logits - logits.logsumexp(dim=-1, keepdim=True),
        )
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch."""
        new = self._get_checked_instance(Categorical, _instance)
        for name in ("probs", "logits"):
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name].expand(tuple(batch_shape) + (self._num_events,))
        new._num_events = self._num_events
        Distribution.__init__(new, Size(batch_shape), validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """0 up to n - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        """nan: categories have none."""
        return core.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mode(self) -> Tensor:
        """The likeliest category."""
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        """nan: categories have none."""
        return self.mean

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples without history, of dtype int64."""
        with no_grad():
            sample_shape = Size(sample_shape)
            flat = self.probs.reshape(-1, self._num_events)
            count = sample_shape.numel()
            if count == 0 or flat.shape[0] == 0:
                return core.empty(self._extended_shape(sample_shape), dtype=core.int64, device=flat.device)
            return multinomial(flat, count, True).T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, logits = core.broadcast_tensors(value, self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        """In nats."""
        logits = self.logits.clamp(min=core.finfo(self.logits.dtype).min)  # 0 times -inf
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All categories."""
        values = core.arange(self._num_events, dtype=core.int64, device=self._param.device)
        values = values.reshape((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values


class _OfCategories(Distribution):
    """What a Categorical knows."""

    arg_constraints: Any = OF_CATEGORIES
    _categorical: Categorical

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def probs(self) -> Tensor:
        """Of the categories."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """Of the probabilities."""
        return self._categorical.param_shape

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    def _of(self, categorical: Categorical, validate_args: bool | None) -> None:
        self._categorical = categorical
        Distribution.__init__(self, categorical.batch_shape, categorical.param_shape[-1:], validate_args=validate_args)


class OneHotCategorical(_OfCategories):
    """A vector with a one at a category.

    Arguments: those of `Categorical`.

    Example::

        >>> ad.distributions.OneHotCategorical(ad.ones(3)).sample().sum()
        tensor(1.)
    """

    support: Any = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._of(Categorical(probs, logits), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch."""
        new = self._get_checked_instance(OneHotCategorical, _instance)
        new._of(self._categorical.expand(Size(batch_shape)), False)
        new._validate_args = self._validate_args
        return new

    @property
    def mean(self) -> Tensor:
        """The probabilities."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The likeliest category."""
        return F.one_hot(self.probs.argmax(-1), self.probs.shape[-1]).to(self.probs.dtype)

    @property
    def variance(self) -> Tensor:
        """p (1 - p) of each coordinate."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples without history."""
        return F.one_hot(self._categorical.sample(sample_shape), self._event_shape[0]).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        """In nats."""
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All one-hot vectors."""
        n = self.event_shape[0]
        values = core.eye(n, dtype=self._param.dtype, device=self._param.device).reshape(
            (n,) + (1,) * len(self.batch_shape) + (n,)
        )
        return values.expand((n,) + tuple(self.batch_shape) + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same, whose samples have the derivative of the probabilities (Y. Bengio, N. Leonard, A. Courville, 2013): it is biased.

    Example::

        >>> p = ad.tensor([0.2, 0.8], requires_grad=True)
        >>> x = ad.distributions.OneHotCategoricalStraightThrough(p).rsample()
        >>> float(x.sum().detach()), x.requires_grad
        (1.0, True)
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with the derivative of the probabilities."""
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(_OfCategories):
    """How often each category comes in a number of draws.

    Arguments:
        total_count: how many draws; the same for all of the batch.

    Example::

        >>> ad.distributions.Multinomial(4, ad.ones(2)).mean
        tensor([2., 2.])
    """

    def __init__(self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._of(Categorical(probs, logits), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch."""
        new = self._get_checked_instance(Multinomial, _instance)
        new.total_count = self.total_count
        new._of(self._categorical.expand(Size(batch_shape)), False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Counts with a sum of at most the number of draws."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        """n p."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        """n p (1 - p)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples without history."""
        picked = self._categorical.sample(Size((self.total_count,) + tuple(sample_shape)))
        return F.one_hot(picked, self._event_shape[0]).sum(0).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        impossible = (value == 0) & (logits == -float("inf"))
        ways = core.lgamma(value.sum(-1) + 1) - core.lgamma(value + 1).sum(-1)
        return ways + (core.where(impossible, 0.0, logits) * value).sum(-1)

    def entropy(self) -> Tensor:
        """In nats."""
        n = self.total_count
        one = Binomial(n, probs=clamp_probs(self.probs))
        counts = one.enumerate_support(expand=False)[1:]
        terms = (core.exp(one.log_prob(counts)) * core.lgamma(counts + 1)).sum([0, -1])
        return (
            n * self._categorical.entropy() - core.lgamma(core.tensor(n + 1.0, dtype=terms.dtype, device=terms.device)) + terms
        )
