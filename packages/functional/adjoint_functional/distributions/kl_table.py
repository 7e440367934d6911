"""The table of divergences. ``KL(p || q)`` is the cross entropy of p with q, less the entropy of p: across types it is computed so."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

from ..nn import functional as F
from .categorical import Categorical, OneHotCategorical
from .discrete import Bernoulli, Binomial, ContinuousBernoulli, Geometric, Poisson
from .images import HalfNormal, Pareto
from .interval import Beta, Gumbel, Uniform
from .kl import kl_divergence, register_kl
from .multivariate import LowRankMultivariateNormal, MultivariateNormal, _batch_mahalanobis
from .positive import Exponential, Gamma
from .real_line import Cauchy, Laplace, Normal
from .simplex import Dirichlet
from .utils import euler_constant

__all__: list[str] = []

INF = math.inf


def pairs(*kinds: tuple[type, type]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function for several pairs of types."""

    def decorator(fun: Callable[..., Any]) -> Callable[..., Any]:
        for p, q in kinds:
            register_kl(p, q)(fun)
        return fun

    return decorator


# ---- one type


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    one = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    zero = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    one = core.where(p.probs == 0, 0.0, core.where(q.probs == 0, INF, one))
    return one + core.where(p.probs == 1, 0.0, core.where(q.probs == 1, INF, zero))


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    return kl_divergence(p._dirichlet, q._dirichlet)


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return core.where(p.total_count > q.total_count, INF, kl)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    t = p.probs * (p.logits - q.logits)
    t = core.where((q.probs == 0).expand(t.shape), INF, t)
    return core.where((p.probs == 0).expand(t.shape), 0.0, t).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Tensor:
    return kl_divergence(p._categorical, q._categorical)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    normalizers = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return normalizers + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    return b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma() + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - core.log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * core.exp(-distance / p.scale) - 1


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@pairs(
    (MultivariateNormal, MultivariateNormal),
    (MultivariateNormal, LowRankMultivariateNormal),
    (LowRankMultivariateNormal, MultivariateNormal),
    (LowRankMultivariateNormal, LowRankMultivariateNormal),
)
def _multivariate(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two {type(p).__name__} with different event shapes cannot be computed")
    mine, other = p.scale_tril, q.scale_tril
    log_dets = other.diagonal(dim1=-2, dim2=-1).log().sum(-1) - mine.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    shape = core.broadcast_shapes(mine.shape, other.shape)
    trace = core.linalg.solve_triangular(other.expand(shape), mine.expand(shape), upper=False).pow(2).sum((-2, -1))
    return log_dets + 0.5 * (trace + _batch_mahalanobis(other, q.loc - p.loc) - p.event_shape[0])


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    kl = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return core.where(p.scale < q.scale, INF, kl)


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    return core.where((q.low > p.low) | (q.high < p.high), INF, ((q.high - q.low) / (p.high - p.low)).log())


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    return _to_gumbel(p, q)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Tensor:
    return _to_continuous_bernoulli(p, q)


# ---- means under p of what the logarithms of densities are made of


@functools.singledispatch
def mean_log(p: Any) -> Tensor:
    """Of log x."""
    raise NotImplementedError


@mean_log.register
def _(p: Beta) -> Tensor:
    return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()


@mean_log.register
def _(p: Exponential) -> Tensor:
    return -euler_constant - p.rate.log()


@mean_log.register
def _(p: Pareto) -> Tensor:
    return p.scale.log() + 1 / p.alpha


@mean_log.register
def _(p: Uniform) -> Tensor:
    return _mean_log_between(p.low, p.high)


def _mean_log_between(low: Tensor, high: Tensor) -> Tensor:
    return (core.xlogy(high, high) - core.xlogy(low, low)) / (high - low) - 1


@functools.singledispatch
def mean_exp(p: Any, t: Tensor) -> Tensor:
    """Of exp(-t x)."""
    raise NotImplementedError


@mean_exp.register
def _(p: Exponential, t: Tensor) -> Tensor:
    return p.rate / (p.rate + t)


@mean_exp.register
def _(p: Gamma, t: Tensor) -> Tensor:
    return (1 + t / p.rate) ** -p.concentration


@mean_exp.register
def _(p: Normal, t: Tensor) -> Tensor:
    return core.exp(-t * p.loc + 0.5 * (t * p.scale).square())


@mean_exp.register
def _(p: Gumbel, t: Tensor) -> Tensor:
    return core.exp(-t * p.loc + core.lgamma(1 + t * p.scale))


@mean_exp.register
def _(p: Uniform, t: Tensor) -> Tensor:
    return (core.exp(-t * p.low) - core.exp(-t * p.high)) / (t * (p.high - p.low))


# ---- across types, by what q needs


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@pairs(*((p, Normal) for p in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform)))
def _to_normal(p: Any, q: Normal) -> Tensor:
    distance = (p.variance + (p.mean - q.loc).square()) / (2 * q.scale.square())
    kl = -p.entropy() + 0.5 * math.log(2 * math.pi) + q.scale.log() + distance
    return core.where(p.alpha <= 2, INF, kl) if isinstance(p, Pareto) else kl


@pairs(*((p, Exponential) for p in (Beta, ContinuousBernoulli, Gamma, Pareto, Uniform)))
def _to_exponential(p: Any, q: Exponential) -> Tensor:
    kl = -p.entropy() - q.rate.log() + q.rate * p.mean
    if isinstance(p, Pareto):
        return core.where(p.alpha <= 1, INF, kl)
    return core.where(p.low < 0, INF, kl) if isinstance(p, Uniform) else kl


@pairs(*((p, Gamma) for p in (Beta, Exponential, Pareto, Uniform)))
def _to_gamma(p: Any, q: Gamma) -> Tensor:
    a, b = q.concentration, q.rate
    kl = -p.entropy() - a * b.log() + a.lgamma() - (a - 1) * mean_log(p) + b * p.mean
    if isinstance(p, Pareto):
        return core.where(p.alpha <= 1, INF, kl)
    return core.where(p.low < 0, INF, kl) if isinstance(p, Uniform) else kl


@pairs((Exponential, Gumbel), (Gamma, Gumbel), (Normal, Gumbel), (Uniform, Gumbel))
def _to_gumbel(p: Any, q: Gumbel) -> Tensor:
    t = 1 / q.scale
    return -p.entropy() + q.scale.log() + t * (p.mean - q.loc) + core.exp(t * q.loc) * mean_exp(p, t)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    distance = p.loc - q.loc
    z = distance / p.scale
    away = p.scale * math.sqrt(2 / math.pi) * core.exp(-0.5 * z.square()) + distance * core.erf(math.sqrt(0.5) * z)
    return -p.entropy() + core.log(2 * q.scale) + away / q.scale


@pairs((Beta, Uniform), (ContinuousBernoulli, Uniform))
def _unit_uniform(p: Any, q: Uniform) -> Tensor:
    return core.where((q.low > 0) | (q.high < 1), INF, -p.entropy() + (q.high - q.low).log())


def _outside_unit(p: Any, kl: Tensor) -> Tensor:
    return core.where((p.low < 0) | (p.high > 1), INF, kl) if isinstance(p, Uniform) else kl


@pairs((Beta, ContinuousBernoulli), (Uniform, ContinuousBernoulli))
def _to_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    return _outside_unit(p, -p.entropy() - p.mean * q.logits - core.log1p(-q.probs) - q._cont_bern_log_norm())


@register_kl(Uniform, Beta)
def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    a, b = q.concentration1, q.concentration0
    logs = (a - 1) * mean_log(p) + (b - 1) * _mean_log_between(1 - p.high, 1 - p.low)
    return _outside_unit(p, -p.entropy() - logs + a.lgamma() + b.lgamma() - (a + b).lgamma())


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    kl = -p.entropy() - q.alpha.log() - q.alpha * q.scale.log() + (q.alpha + 1) * mean_log(p)
    return core.where(p.low < q.scale, INF, kl)


# ---- samples of p lie where q has none

NEVER = {
    Poisson: (Bernoulli, Binomial),
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
}


@pairs(*((p, q) for p, several in NEVER.items() for q in several))
def _infinite(p: Any, q: Any) -> Tensor:
    like = next(v for v in p.__dict__.values() if isinstance(v, Tensor)) if not isinstance(p, Beta) else p.concentration1
    return core.full(core.broadcast_shapes(p.batch_shape, q.batch_shape), INF, dtype=like.dtype, device=like.device)
