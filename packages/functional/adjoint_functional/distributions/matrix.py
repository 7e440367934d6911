"""Distributions of matrices: Wishart's of covariances, LKJ's of correlations."""

from __future__ import annotations

import math
from typing import Any

import adjoint_core as core
from adjoint_core import Size, Tensor
from adjoint_core._warnings import warn
from adjoint_engine import no_grad

from ..composed import cholesky_inverse, cholesky_solve, mvlgamma
from . import constraints
from .distribution import Distribution, ExponentialFamily, Parametric
from .interval import Beta
from .multivariate import _precision_to_scale_tril
from .sampling import _standard_gamma
from .utils import _standard_normal, broadcast_all, lazy_property

__all__ = ["LKJCholesky", "Wishart"]


def mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of ``mvlgamma`` of p dimensions."""
    steps = core.arange(p, dtype=x.dtype, device=x.device) / 2
    return core.digamma(x.unsqueeze(-1) - steps).sum(-1)


class Wishart(ExponentialFamily):
    """The sum of ``df`` outer products of normal vectors: positive definite matrices.

    Arguments:
        df: degrees of freedom, above n - 1.
        covariance_matrix: of the vectors, ``(..., n, n)``; or one of precision_matrix and scale_tril, as for MultivariateNormal.

    Example::

        >>> ad.distributions.Wishart(ad.tensor(3.0), ad.eye(2)).mean
        tensor([[3., 0.],
                [0., 3.]])
    """

    support: Any = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        matrices = [(name, m) for name, m in given.items() if m is not None]
        if len(matrices) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = matrices
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        df = core.as_tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch_shape = tuple(core.broadcast_shapes(df.shape, matrix.shape[:-2]))
        event_shape = tuple(matrix.shape[-2:])
        self.df = df.expand(batch_shape)
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        if bool((self.df <= event_shape[-1] - 1).any()):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event_shape[-1] - 1}.")
        if bool((self.df < event_shape[-1]).any()):
            warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.")
        if scale_tril is not None:
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self._unbroadcasted_scale_tril = core.linalg.cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """The bound of df depends on the size."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch."""
        new = self._get_checked_instance(Wishart, _instance)
        for name in ("covariance_matrix", "precision_matrix", "scale_tril"):
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name].expand(tuple(batch_shape) + tuple(self.event_shape)))
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        new.df = self.df.expand(batch_shape)
        Distribution.__init__(new, Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _whole(self, matrix: Tensor) -> Tensor:
        return matrix.expand(tuple(self._batch_shape) + tuple(self._event_shape))

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the vectors' covariance."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The vectors' covariance."""
        return self._whole(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the vectors' covariance."""
        return self._whole(cholesky_inverse(self._unbroadcasted_scale_tril))

    def _df(self) -> Tensor:
        return self.df.reshape(tuple(self._batch_shape) + (1, 1))

    @property
    def mean(self) -> Tensor:
        """df times the covariance."""
        return self._df() * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """nan for df up to n + 1."""
        factor = self._df() - self.covariance_matrix.shape[-1] - 1
        return core.where(factor <= 0, math.nan, factor) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        """Of each entry."""
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self._df() * (v.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def rsample(self, sample_shape: Any = Size(), max_try_correction: int | None = None) -> Tensor:
        """Bartlett's factor: chi on the diagonal, normal numbers below it."""
        shape, p = tuple(sample_shape) + tuple(self._batch_shape), self._event_shape[-1]
        freedom = (self.df.unsqueeze(-1) - core.arange(p, dtype=self.df.dtype, device=self.df.device)).expand(shape + (p,))
        chi = (2 * _standard_gamma(freedom / 2)).clamp(min=core.finfo(self.df.dtype).tiny).sqrt()
        factor = core.diag_embed(chi) + _standard_normal(shape + (p, p), self.df.dtype, self.df.device).tril(-1)
        root = self._unbroadcasted_scale_tril @ factor
        return root @ root.mT

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        trace = cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1).sum(-1)
        normalizer = nu * (self._half_log_det() + p * math.log(2) / 2) + mvlgamma(nu / 2, p)
        return -normalizer + (nu - p - 1) / 2 * core.linalg.slogdet(value).logabsdet - trace / 2

    def _half_log_det(self) -> Tensor:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def entropy(self) -> Tensor:
        """In nats."""
        nu, p = self.df, self._event_shape[-1]
        of_scale = (p + 1) * (self._half_log_det() + p * math.log(2) / 2)
        return of_scale + mvlgamma(nu / 2, p) - (nu - p - 1) / 2 * mvdigamma(nu / 2, p) + nu * p / 2

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (-core.linalg.slogdet(-2 * x).logabsdet + math.log(2) * p) + mvlgamma(half, p)


class LKJCholesky(Parametric):
    """Cholesky factors of correlation matrices, of density proportional to ``det ** (concentration - 1)`` of the matrices.

    D. Lewandowski, D. Kurowicka, H. Joe, Generating random correlation matrices based on vines and extended onion method, 2009.

    Arguments:
        dim: of the matrices, at least 2.
        concentration: 1: all correlation matrices alike; above: near to the unit matrix.

    Example::

        >>> ad.allclose(ad.distributions.LKJCholesky(3, 0.5).sample().square().sum(1), ad.ones(3))
        True
    """

    arg_constraints: Any = {"concentration": constraints.positive}
    support: Any = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args=validate_args)
        self._beta = self._betas(self.concentration)

    def _betas(self, concentration: Tensor) -> Beta:
        """Of the squared length of row i without its last entry: i / 2 and concentration + (dim - 1 - i) / 2."""
        marginal = concentration + 0.5 * (self.dim - 2)
        offset = core.arange(self.dim - 1, dtype=concentration.dtype, device=concentration.device)
        first = core.cat([offset.new_zeros((1,)), offset])
        return Beta(first + 0.5, marginal.unsqueeze(-1) - 0.5 * first)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new.dim, new._beta = self.dim, self._beta.expand(tuple(batch_shape) + (self.dim,))

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """The onion method: each row is a direction, and a length below one that leaves the rest to the diagonal."""
        with no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            u = _standard_normal(self._extended_shape(sample_shape), self.concentration.dtype, self.concentration.device).tril(
                -1
            )
            direction = u / u.norm(dim=-1, keepdim=True)
            direction[..., 0, :].fill_(0.0)
            w = core.sqrt(y) * direction
            rest = (1 - (w**2).sum(-1)).clamp(min=core.finfo(w.dtype).tiny).sqrt()
            return w + core.diag_embed(rest)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, of the factor."""
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = core.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        unnormalized = (order * diagonal.log()).sum(-1)
        less = self.dim - 1
        alpha = self.concentration + 0.5 * less
        normalizer = 0.5 * less * math.log(math.pi) + mvlgamma(alpha - 0.5, less) - core.lgamma(alpha) * less
        return unnormalized - normalizer
