"""Distribution: what all distributions can do, and families of the exponential kind."""

from __future__ import annotations

import warnings
from typing import Any

import adjoint_core as core
from adjoint_core import Size, Tensor
from adjoint_engine import grad as gradient
from adjoint_engine import no_grad

from . import constraints
from .utils import lazy_property

__all__ = ["Distribution", "ExponentialFamily", "Parametric"]


class Distribution:
    """The base of distributions.

    A batch of ``batch_shape`` independent distributions, a sample of each of ``event_shape``; ``sample(shape)`` gives ``shape`` of such
    batches. `rsample` does so with derivatives in the parameters, where ``has_rsample``.

    Arguments:
        validate_args: parameters and samples are checked; None: unless Python runs with ``-O``.

    Raises:
        ValueError: a parameter violates its constraint.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check by default.

        Example: ``Distribution.set_default_validate_args(False)`` where speed counts more.
        """
        if value not in [True, False]:
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape: Any = Size(), event_shape: Any = Size(), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize the distribution "
                "with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        for name, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # computed from another one, which is checked
            value = getattr(self, name)
            if not bool(constraint.check(value).all()):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} to "
                    f"satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch, on the same memory."""
        raise NotImplementedError

    @property
    def batch_shape(self) -> Size:
        """Of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """Of one sample of one distribution."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """The set that each parameter lies in."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The set that samples lie in."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """Of each distribution."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """Where the density is largest."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """Of each distribution."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples without history."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """``sample((n,))``, by an old name."""
        warnings.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2)
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, at a value."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of samples up to a value."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile of a probability."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values that samples can have, along a new first dimension."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """In nats."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """exp of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any = Size()) -> Size:
        return Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def _validate_sample(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = len(self._event_shape)
        if tuple(value.shape[value.dim() - events :]) != tuple(self._event_shape):
            raise ValueError(f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}.")
        expected = tuple(self._batch_shape) + tuple(self._event_shape)
        for i, j in zip(reversed(value.shape), reversed(expected)):
            if i != 1 and j != 1 and i != j:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {Size(expected)}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not bool(support.check(value).all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also define a custom "
                ".expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def __repr__(self) -> str:
        names = [name for name in self.arg_constraints if name in self.__dict__]
        shown = (self.__dict__[name] for name in names)
        texts = [f"{name}: {v if v.numel() == 1 else v.size()}" for name, v in zip(names, shown)]
        return f"{type(self).__name__}({', '.join(texts)})"


class Parametric(Distribution):
    """A distribution that its parameters describe: all that are given are expanded with it."""

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch, on the same memory."""
        owner = next(c for c in type(self).__mro__ if "__init__" in vars(c))
        if owner.__init__.__globals__["__package__"] != __package__:  # a constructor that is not known here
            owner = next(c for c in type(self).__mro__ if c.__init__.__globals__["__package__"] == __package__)
        new = self._get_checked_instance(owner, _instance)
        batch_shape = Size(batch_shape)
        for name, constraint in self.arg_constraints.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                inner = value.dim() - constraint.event_dim
                new.__dict__[name] = value.expand(tuple(batch_shape) + tuple(value.shape[inner:]))
        self._expand_more(new, batch_shape)
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        """What a class keeps beside its parameters."""


class ExponentialFamily(Distribution):
    """Densities ``exp(<natural parameters, t(x)> - log_normalizer + carrier(x))``: the entropy and divergences follow from the normalizer."""

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """By the derivative of the normalizer in the natural parameters, which is the mean of t(x)."""
        result = -self._mean_carrier_measure
        params = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*params)
        gradients = gradient([normalizer.sum()], params, create_graph=True)
        result = result + normalizer
        for p, g in zip(params, gradients):
            result = result - (p * g).reshape(tuple(self._batch_shape) + (-1,)).sum(-1)
        return result


def is_number(*values: Any) -> bool:
    """Whether all are Python numbers, so that a distribution has no batch."""
    return not any(isinstance(v, Tensor) for v in values)


def batch_of(value: Tensor, *given: Any) -> core.Size:
    """The batch shape of broadcast parameters: none if all were numbers."""
    return Size() if is_number(*given) else value.shape
