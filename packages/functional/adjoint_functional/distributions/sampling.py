"""Gamma and Dirichlet samples with derivatives: implicit reparameterisation (M. Figurnov, S. Mohamed, A. Mnih, 2018).

At a fixed probability ``F(z; a) = u`` the sample moves with the parameter as ``dz/da = -(dF/da) / p(z; a)``. Both functions are sums of
positive terms, which are differentiated term by term in float64.
"""

from __future__ import annotations

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import is_tracked

from .. import special

__all__ = ["_dirichlet_grad", "_sample_dirichlet", "_standard_gamma", "_standard_gamma_grad"]

LARGE = 100.0  # concentrations above: an expansion replaces the sum


def _attached(sample: Tensor, moves: Tensor) -> Tensor:
    """The sample with the derivative of ``moves``, whose value is zero."""
    return sample + moves


def _standard_gamma(concentration: Tensor, generator: core.Generator | None = None) -> Tensor:
    """Gamma samples of rate one, with a derivative in the concentration, of which there is no further one.

    G. Marsaglia, W. W. Tsang, A simple method for generating gamma variables, 2000.

    Example::

        >>> ad._standard_gamma(ad.tensor([0.5, 2.0])).shape
        adjoint.Size([2])
    """
    raw = _log_gamma(concentration.detach().double(), generator).exp()
    sample = raw.to(concentration.dtype).clamp(min=core.finfo(concentration.dtype).tiny)
    if not concentration.requires_grad and not _tracked(concentration):
        return sample
    return _attached(sample, (concentration - concentration.detach()) * _standard_gamma_grad(concentration, sample))


def _tracked(x: Tensor) -> bool:
    """Whether forward mode or a transform looks at x."""
    return is_tracked(x)


def _log_gamma(a: Tensor, generator: core.Generator | None) -> Tensor:
    """Logarithms of gamma samples: those of small concentrations are far below the smallest number."""
    if core._core._draws_as_pytorch(generator, a):
        return core._core._gamma_of_twister(a, a, generator).log()
    shifted = core.where(a < 1, a + 1, a)
    d = shifted - 1 / 3
    c = 1 / (9 * d).sqrt()
    found, missing = a.log(), (a > 0) & a.isfinite()  # of others a logarithm is the answer, and nothing is drawn until it fits
    while bool(missing.any()):
        x = core.randn(a.shape, dtype=a.dtype, device=a.device, generator=generator)
        u = core.rand(a.shape, dtype=a.dtype, device=a.device, generator=generator)
        v = (1 + c * x) ** 3
        accepted = missing & (v > 0) & (u.log() < 0.5 * x * x + d - d * v + d * v.clamp(min=1e-300).log())
        found = core.where(accepted, (d * v.clamp(min=1e-300)).log(), found)
        missing = missing & ~accepted
    boost = core.rand(a.shape, dtype=a.dtype, device=a.device, generator=generator).clamp(min=1e-300).log() / a
    return core.where(a < 1, found + boost, found)


def _standard_gamma_grad(concentration: Tensor, sample: Tensor) -> Tensor:
    """How a gamma sample moves with its concentration.

    Example::

        >>> ad._standard_gamma_grad(ad.tensor([1.0]), ad.tensor([0.5]))
        tensor([0.8070])
    """
    a, z = (t.detach().double() for t in core.broadcast_tensors(concentration, sample))
    few = core.where(a < LARGE, a, 1.0)
    g = _gamma_series(few, core.where(a < LARGE, z, 1.0))
    if bool((a >= LARGE).any()):
        g = core.where(a < LARGE, g, _gamma_expansion(a.clamp(min=LARGE), core.where(a < LARGE, LARGE, z)))
    return g.to(concentration.dtype)


def _gamma_series(a: Tensor, z: Tensor) -> Tensor:
    """P(a, z) = z^a e^-z / G(a + 1) * sum of t_n, where t_n = z^n / ((a + 1) ... (a + n)) (DLMF 8.7.1)."""
    term, harmonic = core.ones_like(a), core.zeros_like(a)
    total, weighted = term, harmonic
    n = 0
    while True:
        n += 1
        term = term * z / (a + n)
        harmonic = harmonic + 1 / (a + n)
        total, weighted = total + term, weighted + term * harmonic
        if not bool((term * (1 + harmonic) > 1e-17 * (total + weighted)).any()):
            break
    return -(z / a) * ((z.log() - core.digamma(a + 1)) * total - weighted)


def _gamma_expansion(a: Tensor, z: Tensor) -> Tensor:
    """The derivative, at a fixed normal quantile n, of the Cornish-Fisher expansion of the gamma quantile in 1 / sqrt(a)."""
    low, high = core.igamma(a, z), core.special.gammaincc(a, z)
    n = core.where(low < 0.5, special.ndtri(low.clamp(min=1e-300)), -special.ndtri(high.clamp(min=1e-300)))
    s = a.sqrt()
    first = 1 + n / (2 * s) - (n**3 - 7 * n) / (72 * a * s)
    return first + (3 * n**4 + 7 * n**2 - 16) / (810 * a * a) - (9 * n**5 + 256 * n**3 - 433 * n) / (25920 * a * a * s)


def _sample_dirichlet(concentration: Tensor, generator: core.Generator | None = None) -> Tensor:
    """Dirichlet samples over the last dimension, with a derivative in the concentration, of which there is no further one.

    Example::

        >>> _sample_dirichlet(ad.tensor([0.5, 2.0])).shape
        adjoint.Size([2])
    """
    logs = _log_gamma(concentration.detach().double(), generator)
    sample = (logs - logs.logsumexp(-1, True)).exp().to(concentration.dtype)
    sample = sample.clamp(min=core.finfo(concentration.dtype).tiny)
    if not concentration.requires_grad and not _tracked(concentration):
        return sample
    total = concentration.detach().sum(-1, True).expand(concentration.shape)
    moves = _dirichlet_grad(sample, concentration, total) * (concentration - concentration.detach())
    return _attached(sample, moves - sample * moves.sum(-1, True))


def _dirichlet_grad(x: Tensor, concentration: Tensor, total: Tensor) -> Tensor:
    """How a coordinate of a Dirichlet sample moves with its concentration, over 1 - x: the others shrink in proportion.

    Example::

        >>> ad._dirichlet_grad(ad.tensor([0.5]), ad.tensor([1.0]), ad.tensor([2.0]))
        tensor([0.6931])
    """
    x64, a, t = (v.detach().double() for v in core.broadcast_tensors(x, concentration, total))
    b = t - a
    y = (1 - x64).clamp(min=1e-300)
    left = x64 <= (a + 1) / (t + 2)
    # The sum converges fast on the side of the mean where the argument is small.
    p, q, w = core.where(left, a, b), core.where(left, b, a), core.where(left, x64, y)
    total_sum, own, both = _beta_sums(p, q, w)
    common = core.digamma(t)
    of_left = -((x64.log() - core.digamma(a + 1) + common) * total_sum + both - own) * x64 * y / a
    of_right = ((x64.log() - core.digamma(a) + common) * total_sum + both) * x64 * y / b
    return (core.where(left, of_left, of_right) / y).to(x.dtype)


def _beta_sums(p: Tensor, q: Tensor, w: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """I_w(p, q) = w^p (1 - w)^q / (p B(p, q)) * sum of t_n (DLMF 8.17.8): the sum, and its derivatives by p + q and, negated, by p."""
    term, of_p, of_both = core.ones_like(p), core.zeros_like(p), core.zeros_like(p)
    total, own, both = term, of_p, of_both
    n = 0
    while True:
        n += 1
        term = term * w * (p + q + n - 1) / (p + n)
        of_p, of_both = of_p + 1 / (p + n), of_both + 1 / (p + q + n - 1)
        total, own, both = total + term, own + term * of_p, both + term * of_both
        if not bool((term * (1 + of_p + of_both) > 1e-17 * (total + own + both)).any()):
            return total, own, both
