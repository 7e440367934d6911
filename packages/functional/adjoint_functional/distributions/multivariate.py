"""Normal vectors, with a whole covariance or one of low rank, and what is made of them."""

from __future__ import annotations

import math
from typing import Any

import adjoint_core as core
from adjoint_core import Size, Tensor

from ..composed import cholesky_inverse
from . import constraints
from .distribution import Distribution
from .images import _Image
from .matrix_transforms import StickBreakingTransform
from .real_line import Normal
from .utils import _standard_normal, lazy_property

__all__ = ["LogisticNormal", "LowRankMultivariateNormal", "MultivariateNormal"]


def _batch_mahalanobis(factor: Tensor, x: Tensor) -> Tensor:
    """``x^T (L L^T)^-1 x`` of vectors ``(..., n)`` and lower triangular factors ``(..., n, n)``; the batches broadcast."""
    solved = core.linalg.solve_triangular(factor, x.unsqueeze(-1), upper=False)
    return solved.squeeze(-1).pow(2).sum(-1)


def _batch_mv(matrix: Tensor, x: Tensor) -> Tensor:
    """Matrices times vectors."""
    return (matrix @ x.unsqueeze(-1)).squeeze(-1)


def _precision_to_scale_tril(precision: Tensor) -> Tensor:
    """The Cholesky factor of the inverse: of the matrix read backwards, whose factor is inverted and read backwards."""
    factor = core.linalg.cholesky(core.flip(precision, (-2, -1)))
    upper = core.transpose(core.flip(factor, (-2, -1)), -2, -1)
    eye = core.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return core.linalg.solve_triangular(upper, eye, upper=False)


class _Gaussian(Distribution):
    """What both kinds say of themselves."""

    loc: Tensor
    support: Any = constraints.real_vector
    has_rsample = True

    @property
    def mean(self) -> Tensor:
        """The location."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The location."""
        return self.loc


class MultivariateNormal(_Gaussian):
    """Normal vectors.

    Arguments:
        loc: the mean, of shape ``(..., n)``.
        covariance_matrix: positive definite, of shape ``(..., n, n)``; or one of
        precision_matrix: its inverse;
        scale_tril: its lower Cholesky factor, which costs least.

    Example::

        >>> d = ad.distributions.MultivariateNormal(ad.zeros(2), ad.eye(2))
        >>> d.log_prob(ad.zeros(2))
        tensor(-1.8379)
    """

    arg_constraints: Any = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        matrices = [(name, m) for name, m in given.items() if m is not None]
        if len(matrices) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = matrices
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = core.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(tuple(batch_shape) + (-1, -1)))
        self.loc = loc.expand(tuple(batch_shape) + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        if scale_tril is not None:
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self._unbroadcasted_scale_tril = core.linalg.cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch."""
        new = self._get_checked_instance(MultivariateNormal, _instance)
        inner = tuple(batch_shape) + tuple(self.event_shape)
        new.loc = self.loc.expand(inner)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        for name in ("covariance_matrix", "precision_matrix", "scale_tril"):
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name].expand(inner + tuple(self.event_shape)))
        Distribution.__init__(new, Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _whole(self, matrix: Tensor) -> Tensor:
        return matrix.expand(tuple(self._batch_shape) + tuple(self._event_shape) * 2)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self._whole(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return self._whole(cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def variance(self) -> Tensor:
        """The diagonal of the covariance."""
        squares = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squares.expand(tuple(self._batch_shape) + tuple(self._event_shape))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        return self.loc + _batch_mv(
            self._unbroadcasted_scale_tril,
            _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device),
        )

    def _half_log_det(self) -> Tensor:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()

    def entropy(self) -> Tensor:
        """In nats."""
        h = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return h.expand(self._batch_shape) if len(self._batch_shape) else h


class LowRankMultivariateNormal(_Gaussian):
    """Normal vectors whose covariance is ``W W^T + D`` with a narrow W and a diagonal D: cheap for long vectors.

    Arguments:
        loc: of shape ``(..., n)``.
        cov_factor: W, of shape ``(..., n, rank)``.
        cov_diag: the diagonal of D, positive, of shape ``(..., n)``.

    Example::

        >>> d = ad.distributions.LowRankMultivariateNormal(ad.zeros(2), ad.tensor([[1.], [0.]]), ad.ones(2))
        >>> d.variance
        tensor([2., 1.])
    """

    arg_constraints: Any = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        n = loc.shape[-1]
        if cov_factor.shape[-2] != n:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {n} x m")
        if cov_diag.shape[-1] != n:
            raise ValueError(f"cov_diag must be a batch of vectors with shape ({n},)")
        try:
            batch_shape = tuple(core.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]))
        except RuntimeError:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from None
        self.loc, self.cov_diag = loc.expand(batch_shape + (-1,)), cov_diag.expand(batch_shape + (-1,))
        self.cov_factor = cov_factor.expand(batch_shape + tuple(cov_factor.shape[-2:]))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = self._capacitance(cov_factor, cov_diag)

    @staticmethod
    def _capacitance(factor: Tensor, diagonal: Tensor) -> Tensor:
        """The Cholesky factor of ``I + W^T D^-1 W``, of the size of the rank: the matrix inversion lemma needs no other."""
        rank = factor.size(-1)
        inner = factor.mT / diagonal.unsqueeze(-2)
        return core.linalg.cholesky(inner @ factor + core.eye(rank, dtype=factor.dtype, device=factor.device))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch."""
        new = self._get_checked_instance(LowRankMultivariateNormal, _instance)
        inner = tuple(batch_shape) + tuple(self.event_shape)
        new.loc, new.cov_diag = self.loc.expand(inner), self.cov_diag.expand(inner)
        new.cov_factor = self.cov_factor.expand(inner + tuple(self.cov_factor.shape[-1:]))
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, getattr(self, name))
        Distribution.__init__(new, Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def variance(self) -> Tensor:
        """The diagonal of the covariance."""
        found = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return found.expand(tuple(self._batch_shape) + tuple(self._event_shape))

    def _whole(self, matrix: Tensor) -> Tensor:
        return matrix.expand(tuple(self._batch_shape) + tuple(self._event_shape) * 2)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        w = self._unbroadcasted_cov_factor
        return self._whole(w @ w.mT + core.diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance: D^-1 - D^-1 W C^-1 W^T D^-1."""
        d = self._unbroadcasted_cov_diag
        a = core.linalg.solve_triangular(
            self._capacitance_tril, self._unbroadcasted_cov_factor.mT / d.unsqueeze(-2), upper=False
        )
        return self._whole(core.diag_embed(d.reciprocal()) - a.mT @ a)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        w = self._unbroadcasted_cov_factor / root
        inner = w @ w.mT + core.eye(w.shape[-2], dtype=w.dtype, device=w.device)
        return self._whole(root * core.linalg.cholesky(inner))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples with derivatives in the parameters."""
        shape = self._extended_shape(sample_shape)
        narrow = _standard_normal(tuple(shape[:-1]) + tuple(self.cov_factor.shape[-1:]), self.loc.dtype, self.loc.device)
        wide = self._unbroadcasted_cov_diag.sqrt() * _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_cov_factor, narrow) + wide

    def _log_det(self) -> Tensor:
        return 2 * self._capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) + self._unbroadcasted_cov_diag.log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        x, d = value - self.loc, self._unbroadcasted_cov_diag
        inner = _batch_mv(self._unbroadcasted_cov_factor.mT / d.unsqueeze(-2), x)
        distance = (x.pow(2) / d).sum(-1) - _batch_mahalanobis(self._capacitance_tril, inner)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + distance)

    def entropy(self) -> Tensor:
        """In nats."""
        h = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return h.expand(self._batch_shape) if len(self._batch_shape) else h


class LogisticNormal(_Image):
    """Points of the simplex, by stick breaking of normal vectors: one coordinate more than the normal numbers.

    Example::

        >>> ad.distributions.LogisticNormal(ad.zeros(2), ad.ones(2)).sample().shape
        adjoint.Size([3])
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch."""
        new = self._get_checked_instance(LogisticNormal, _instance)
        return super(_Image, self).expand(batch_shape, _instance=new)

    @property
    def loc(self) -> Tensor:
        """The mean of the normal numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the normal numbers."""
        return self.base_dist.base_dist.scale
