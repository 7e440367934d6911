"""Random numbers of distributions made of uniform ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adjoint_core import Generator, Tensor, _core
from adjoint_core._compose import method, with_out, without_effect

__all__ = ["binomial", "multinomial", "normal", "poisson"]


def _anywhere(condition: Tensor) -> bool:
    """Whether it holds anywhere, in whichever lane of a vmap."""
    return not condition.is_meta and bool(_core._all_lanes(condition).any())


def _uniform(like: Tensor, generator: Generator | None) -> Tensor:
    """In (0, 1], of the dtype of `like`; PyTorch's numbers are of float64."""
    kind = like.dtype if like.is_floating_point() else None
    if _core._draws_as_pytorch(generator, like):
        kind = _core.float64
    return 1 - _core.rand(tuple(like.shape), generator=generator, dtype=kind, device=like.device)


def _lower_uniform(like: Tensor, generator: Generator | None) -> Tensor:
    """In (0, 1]; of PyTorch's numbers those in [0, 1), of which each of these is the rest to one."""
    u = _uniform(like, generator)
    return 1 - u if _core._draws_as_pytorch(generator, like) else u


@with_out
@method
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None) -> Tensor:
    """Positions drawn with probabilities in proportion to `input`, (n,) or (rows, n): (num_samples,) or (rows, num_samples).

    Raises:
        RuntimeError: weights that are negative, sum to zero or are integers, no samples, or more than positions without `replacement`.

    Example::

        >>> ad.multinomial(ad.tensor([0.0, 1.0, 0.0]), 3, replacement=True)
        tensor([1, 1, 1])
    """
    if input.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not input.is_floating_point():
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {input.dtype}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    p = input.detach()
    if _anywhere(~(p.isfinite() & (p >= 0))):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if _anywhere(p.sum(-1) <= 0):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    as_pytorch = _core._draws_as_pytorch(generator, p)
    if not replacement or (as_pytorch and num_samples == 1):
        if num_samples > p.size(-1):
            raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
        return (p / -_uniform(p, generator).log()).nan_to_num(0.0).topk(num_samples, -1).indices  # 0 / 0: a zero weight
    total = p.cumsum(-1)
    kind = _core.float64 if as_pytorch else p.dtype
    u = _core.rand(*p.shape[:-1], num_samples, generator=generator, dtype=kind, device=p.device) * total[..., -1:]
    return _core.searchsorted(total.to(kind), u, right=True).clamp_max(p.size(-1) - 1)


@with_out
def normal(
    mean: Tensor | float,
    std: Tensor | float = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    dtype: _core.dtype | None = None,
    layout: Any = None,
    device: _core.device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Samples of normal distributions: of one for each element of `mean` and `std`, which broadcast, or in `size` for two numbers.

    The derivatives by `mean` and `std` are zero: `mean + std * randn_like(mean)` is the reparametrised form.

    Raises:
        RuntimeError: a negative `std`.
        TypeError: two numbers without `size`, or tensors of a dimension or more with it.

    Example::

        >>> ad.normal(ad.tensor([1., 2.]), 0.0)
        tensor([1., 2.])
    """
    if size is not None:
        mean, std = (x.item() if isinstance(x, Tensor) and not x.ndim else x for x in (mean, std))
    like = mean if isinstance(mean, Tensor) else std
    if not isinstance(like, Tensor):
        if size is None:
            raise TypeError(f"normal: two numbers need a size, got mean={mean}, std={std}")
        if not like >= 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
        found = _core.empty(size, dtype=dtype, device=device).normal_(mean, std, generator=generator)
        return found.requires_grad_() if requires_grad else found
    if size is not None:
        raise TypeError(f"normal: the size is that of mean and std, which are tensors, got size={size}")
    if not like.is_floating_point() and not like.is_complex():
        raise NotImplementedError(f"normal: not implemented for {like.dtype}")
    parameters = mean, std
    mean, std = (x.detach() if isinstance(x, Tensor) else x for x in parameters)
    if _anywhere(_core.as_tensor(std) < 0):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    shape = _core.broadcast_shapes(*(tuple(x.shape) for x in (mean, std) if isinstance(x, Tensor)))
    drawn = (_core.randn(shape, generator=generator, dtype=like.dtype, device=like.device) * std + mean).to(like.dtype)
    return without_effect(drawn, *(x for x in parameters if isinstance(x, Tensor)))


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """The number of successes in `count` trials, of probability `prob` each; the two broadcast.

    Raises:
        RuntimeError: a negative count, or a probability outside [0, 1].
        ValueError: a count that is not of a floating dtype.

    Example::

        >>> ad.binomial(ad.tensor([3.0, 5.0]), ad.tensor([1.0, 0.0]))
        tensor([3., 0.])
    """
    if not count.is_floating_point():
        raise ValueError(f"binomial only supports floating-point dtypes for count, got: {count.dtype}")
    n, p = _core.broadcast_tensors(count.detach().double(), prob.detach().double())
    if _anywhere(~((n >= 0) & (p >= 0) & (p <= 1))):
        raise RuntimeError("binomial: counts must not be negative and probabilities lie in [0, 1]")
    if _core._draws_as_pytorch(generator, n):
        return without_effect(_core._binomial_of_twister(n, p, generator).to(count.dtype), prob)
    rare = p.minimum(1 - p)
    found = _successes(n.floor(), rare, generator)
    return without_effect(_core.where(p > 0.5, n.floor() - found, found).to(count.dtype), prob)


def _successes(n: Tensor, p: Tensor, generator: Generator | None) -> Tensor:
    """Geometric gaps between successes, counted: L. Devroye, Non-Uniform Random Variate Generation, 1986, X.4.3, first waiting time."""
    count, left = _core.zeros_like(n), n
    while True:
        gap = _core.where(p > 0, (_uniform(n, generator).log() / _core.log1p(-p)).ceil().clamp_min(1), math.inf)
        left = left - gap
        if not _anywhere(left >= 0):
            return count
        count = count + (left >= 0)


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson numbers with the rates `input`, by which their derivative is zero.

    Example::

        >>> ad.poisson(ad.tensor([0.0, 0.0]))
        tensor([0., 0.])
    """
    if not input.is_floating_point():
        raise NotImplementedError(f"poisson: not implemented for {input.dtype}")
    rate = input.detach().double()
    if _anywhere(~((rate >= 0) & rate.isfinite())):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    if _core._draws_as_pytorch(generator, rate):
        return without_effect(_core._poisson_of_twister(rate, rate, generator).to(input.dtype), input)
    few, many = _arrivals(rate.clamp_max(10), generator), _transformed_rejection(rate.clamp_min(10), generator)
    return without_effect(_core.where(rate < 10, few, many).to(input.dtype), input)


def _arrivals(rate: Tensor, generator: Generator | None) -> Tensor:
    """Arrivals of exponential gaps, counted."""
    count, left = _core.zeros_like(rate), rate + _uniform(rate, generator).log()
    while _anywhere(left > 0):
        count = count + (left > 0)
        left = left + _uniform(rate, generator).log()
    return count


def _transformed_rejection(rate: Tensor, generator: Generator | None) -> Tensor:
    """W. Hoermann, The transformed rejection method for generating Poisson random variables, 1993: algorithm PTRS."""
    b = 0.931 + 2.53 * rate.sqrt()
    a = 0.02483 * b - 0.059
    squeeze, alpha = 0.9277 - 3.6224 / (b - 2), 1.1239 + 1.1328 / (b - 3.4)
    count, missing = _core.zeros_like(rate), _core.ones_like(rate, dtype=_core.bool)
    while _anywhere(missing):
        u, v = _uniform(rate, generator) - 0.5, _uniform(rate, generator)
        from_edge = 0.5 - u.abs()
        k = ((2 * a / from_edge + b) * u + rate + 0.43).floor()
        likely = (v * alpha / (a / from_edge.square() + b)).log() <= k * rate.log() - rate - (k + 1).lgamma()
        found = ((from_edge >= 0.07) & (v <= squeeze)) | ((k >= 0) & ((from_edge >= 0.013) | (v <= from_edge)) & likely)
        count = _core.where(missing & found, k, count)
        missing = missing & ~found
    return count


def _expect_continuous(name: str, x: Tensor) -> None:
    if not x.is_floating_point():
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. dtype must be a floating point but you specified {x.dtype}"
        )


@method
def exponential_(self: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fills with exponential numbers of rate `lambd`."""
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    _expect_continuous("Exponential", self)
    return self.copy_(-_uniform(self, generator).log() / lambd)


@method
def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fills with the number of trials, of probability `p` each, up to the first success."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return self.copy_((_lower_uniform(self, generator).log() / math.log1p(-p)).ceil().clamp_min(1))


@method
def log_normal_(self: Tensor, mean: float = 1, std: float = 2, *, generator: Generator | None = None) -> Tensor:
    """Fills with exponentials of normal numbers."""
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return self.normal_(mean, std, generator=generator).exp_()


@method
def cauchy_(self: Tensor, median: float = 0, sigma: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fills with Cauchy numbers."""
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    _expect_continuous("Cauchy", self)
    return self.copy_(median + sigma * ((_lower_uniform(self, generator) - 0.5) * math.pi).tan())
