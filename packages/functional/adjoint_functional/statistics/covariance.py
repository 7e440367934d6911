"""Covariances and correlations."""

from __future__ import annotations

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all, method, rounded_once
from adjoint_core._warnings import warn

__all__ = ["corrcoef", "cov"]


def _check_weights(samples: int, fweights: Tensor | None, aweights: Tensor | None) -> None:
    for name, w in (("fweights", fweights), ("aweights", aweights)):
        if w is None:
            continue
        if w.ndim > 1:
            raise RuntimeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with {w.ndim} dimensions"
            )
        if w.is_floating_point() != (name == "aweights") or w.is_complex():
            kind = "floating point" if name == "aweights" else "integral"
            raise RuntimeError(f"cov(): expected {name} to have {kind} dtype but got {name} with {w.dtype} dtype")
        if w.numel() != samples:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the input but got {w.numel()} != {samples}"
            )
        if bool(_core._all_lanes(w < 0).any()):
            raise RuntimeError(f"cov(): {name} cannot be negative")


def _warn_of_freedom(norm: Tensor | float) -> None:
    none_left = (
        norm.device.type != "meta" and bool(_core._all_lanes(norm <= 0).any()) if isinstance(norm, Tensor) else norm <= 0
    )
    if none_left:
        warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.")


@method
@rounded_once
def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariance matrix of variables in rows, (n, samples) -> (n, n); one variable has a 0-d variance.

    Arguments:
        correction: what is taken from the number of samples.
        fweights: how often each sample counts, integers.
        aweights: the importance of each sample.

    Example::

        >>> ad.cov(ad.tensor([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]))
        tensor([[ 1., -2.],
                [-2.,  4.]])
    """
    if input.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    x = input.reshape(1, -1) if input.ndim < 2 else input
    x = x if x.is_floating_point() or x.is_complex() else x.to(_core.get_default_dtype())
    _check_weights(x.size(1), fweights, aweights)
    w = fweights
    if aweights is not None:
        w = aweights if w is None else w * aweights
    if w is None:
        total, mean, scaled = x.size(1), x.mean(1, keepdim=True), None
    else:
        total = w.sum()
        mean = (x * w).sum(1, keepdim=True) / total
        scaled = w
    if aweights is None or correction == 0:
        norm = total - correction
    else:
        norm = total - correction * (w * aweights).sum() / total
    _warn_of_freedom(norm)
    centred = x - mean
    c = centred @ (centred if scaled is None else centred * scaled).mH
    c = c / (norm.clamp_min(0) if isinstance(norm, Tensor) else max(norm, 0))
    return c.squeeze()


@method
@rounded_once
def corrcoef(input: Tensor) -> Tensor:
    """The correlation matrix of variables in rows.

    Example::

        >>> ad.corrcoef(ad.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    c = cov(input)
    if c.ndim == 0:
        return c / c
    s = c.diagonal().real.sqrt() if c.is_complex() else c.diagonal().sqrt()
    c = c / s.unsqueeze(1) / s
    return c if c.is_complex() else c.clamp(-1, 1)


check_all(globals())
