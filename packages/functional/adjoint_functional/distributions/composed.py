"""Distributions made of others: dimensions that count as one sample, images under transforms, mixtures."""

from __future__ import annotations

from typing import Any

import adjoint_core as core
from adjoint_core import Size, Tensor
from adjoint_engine import no_grad

from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["Independent", "MixtureSameFamily", "TransformedDistribution"]


class Independent(Distribution):
    """Some batch dimensions at the right become part of the sample.

    Arguments:
        base_distribution: the one that has them.
        reinterpreted_batch_ndims: how many.

    Example::

        >>> d = ad.distributions.Independent(ad.distributions.Normal(ad.zeros(3), 1.0), 1)
        >>> d.batch_shape, d.event_shape, d.log_prob(ad.zeros(3))
        (adjoint.Size([]), adjoint.Size([3]), tensor(-2.7568))
    """

    arg_constraints: Any = {}

    def __init__(self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None) -> None:
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}"
            )
        shape = tuple(base_distribution.batch_shape) + tuple(base_distribution.event_shape)
        event_dim = reinterpreted_batch_ndims + len(base_distribution.event_shape)
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        super().__init__(shape[: len(shape) - event_dim], shape[len(shape) - event_dim :], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same for a larger batch."""
        new = self._get_checked_instance(Independent, _instance)
        inner = tuple(self.event_shape)[: self.reinterpreted_batch_ndims]
        new.base_dist = self.base_dist.expand(Size(tuple(batch_shape) + inner))
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        Distribution.__init__(new, Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """The base's."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """The base's, if no dimension was taken."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @property
    def support(self) -> Any:
        """The base's, of more dimensions."""
        result = self.base_dist.support
        return constraints.independent(result, self.reinterpreted_batch_ndims) if self.reinterpreted_batch_ndims else result

    @property
    def mean(self) -> Tensor:
        """The base's."""
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        """The base's."""
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        """The base's."""
        return self.base_dist.variance

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """The base's samples."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """The base's samples, with derivatives."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """The sum of the base's."""
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        """The sum of the base's."""
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """The base's, if no dimension was taken."""
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """The image of a distribution under transforms.

    Arguments:
        transforms: one, or a list, the first one first.

    Example::

        >>> base, exp = ad.distributions.Normal(0.0, 1.0), ad.distributions.ExpTransform()
        >>> ad.distributions.TransformedDistribution(base, [exp]).log_prob(ad.tensor(1.0))
        tensor(-0.9189)
    """

    arg_constraints: Any = {}

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms = (
            [transforms] if isinstance(transforms, Transform) else list(transforms) if isinstance(transforms, list) else None
        )
        if self.transforms is None or not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError(f"transforms must be a Transform or a list of Transforms, but was {transforms}")
        base_shape = tuple(base_distribution.batch_shape) + tuple(base_distribution.event_shape)
        base_event = len(base_distribution.event_shape)
        transform = ComposeTransform(self.transforms)
        if len(base_shape) < transform.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {transform.domain.event_dim}, but got {base_shape}."
            )
        forward_shape = transform.forward_shape(base_shape)
        expanded = tuple(transform.inverse_shape(forward_shape))
        if base_shape != expanded:  # parameters of the transforms make the batch larger
            base_distribution = base_distribution.expand(expanded[: len(expanded) - base_event])
        taken = transform.domain.event_dim - base_event
        self.base_dist = Independent(base_distribution, taken) if taken > 0 else base_distribution
        event_dim = transform.codomain.event_dim + max(base_event - transform.domain.event_dim, 0)
        cut = len(forward_shape) - event_dim
        super().__init__(Size(forward_shape[:cut]), Size(forward_shape[cut:]), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same for a larger batch."""
        new = self._get_checked_instance(TransformedDistribution, _instance)
        new.transforms = self.transforms
        inner = ComposeTransform(self.transforms).inverse_shape(tuple(batch_shape) + tuple(self.event_shape))
        new.base_dist = self.base_dist.expand(tuple(inner)[: len(inner) - len(self.base_dist.event_shape)])
        Distribution.__init__(new, Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """The codomain of the last transform."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        missing = len(self.event_shape) - support.event_dim
        return constraints.independent(support, missing) if missing > 0 else support

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """The base's."""
        return self.base_dist.has_rsample

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Images of the base's samples."""
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Images of the base's samples, with derivatives."""
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x: Tensor) -> Tensor:
        for transform in self.transforms or ():
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        """The base's at the preimage, less the logarithms of the Jacobians."""
        if self._validate_args:
            self._validate_sample(value)
        event_dim, total, y = len(self.event_shape), 0.0, value
        for transform in reversed(self.transforms or ()):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            total = total - _sum_rightmost(transform.log_abs_det_jacobian(x, y), event_dim - transform.domain.event_dim)
            y = x
        return total + _sum_rightmost(self.base_dist.log_prob(y), event_dim - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value: Tensor) -> Tensor:
        """Where the transforms fall, the probability of the complement."""
        sign: Any = 1
        for transform in self.transforms or ():
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        """The base's at the preimage."""
        for transform in reversed(self.transforms or ()):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        """The image of the base's."""
        return self._forward(self.base_dist.icdf(self._monotonize_cdf(value)))


class MixtureSameFamily(Distribution):
    """A mixture of the distributions along the last batch dimension of another one.

    Arguments:
        mixture_distribution: a Categorical that picks one.
        component_distribution: the batch of them.

    Example::

        >>> D = ad.distributions
        >>> mix = D.MixtureSameFamily(D.Categorical(ad.ones(2)), D.Normal(ad.tensor([-1.0, 1.0]), 1.0))
        >>> mix.mean, mix.variance
        (tensor(0.), tensor(2.))
    """

    arg_constraints: Any = {}
    has_rsample = False

    def __init__(self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None) -> None:
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of torch.distributions.Distribution")
        mixed, batch = tuple(mixture_distribution.batch_shape), tuple(component_distribution.batch_shape)[:-1]
        for a, b in zip(reversed(mixed), reversed(batch)):
            if a != 1 and b != 1 and a != b:
                raise ValueError(f"`mixture_distribution.batch_shape` ({mixed}) is not compatible with `component_distribution.batch_shape`({batch})")  # fmt: skip
        count = component_distribution.batch_shape[-1]
        if mixture_distribution.logits.shape[-1] != count:
            raise ValueError(f"`mixture_distribution component` ({mixture_distribution.logits.shape[-1]}) does not equal `component_distribution.batch_shape[-1]` ({count})")  # fmt: skip
        self._num_component = count
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(batch, component_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same for a larger batch."""
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        new._component_distribution = self.component_distribution.expand(tuple(batch_shape) + (self._num_component,))
        new._mixture_distribution = self.mixture_distribution.expand(batch_shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        Distribution.__init__(new, Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        """The components'."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """The one that picks."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The batch of components."""
        return self._component_distribution

    def _weights(self) -> Tensor:
        probs = self.mixture_distribution.probs
        return probs.reshape(tuple(probs.shape) + (1,) * self._event_ndims)

    @property
    def mean(self) -> Tensor:
        """The weighted mean of the components'."""
        return (self._weights() * self.component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        """The mean of the components' variances, and the variance of their means."""
        weights, dim = self._weights(), -1 - self._event_ndims
        within = (weights * self.component_distribution.variance).sum(dim)
        return within + (weights * (self.component_distribution.mean - self._pad(self.mean)).pow(2.0)).sum(dim)

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def cdf(self, value: Tensor) -> Tensor:
        """The weighted sum of the components'."""
        return (self.component_distribution.cdf(self._pad(value)) * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the weighted sum of the components' densities."""
        if self._validate_args:
            self._validate_sample(value)
        of_components = self.component_distribution.log_prob(self._pad(value))
        return core.logsumexp(of_components + core.log_softmax(self.mixture_distribution.logits, dim=-1), dim=-1)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """A component is picked for each sample."""
        with no_grad():
            picked = self.mixture_distribution.sample(sample_shape)
            samples = self.component_distribution.sample(sample_shape)
            gather_dim = len(tuple(sample_shape)) + len(self.batch_shape)
            at = picked.reshape(tuple(picked.shape) + (1,) * (self._event_ndims + 1))
            at = at.expand(tuple(samples.shape[:gather_dim]) + (1,) + tuple(self.event_shape))
            return samples.gather(gather_dim, at).squeeze(gather_dim)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n  {self.mixture_distribution},\n  {self.component_distribution})"
