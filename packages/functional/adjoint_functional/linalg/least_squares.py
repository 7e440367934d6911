"""Pseudo-inverses, least squares and ranks, as `linalg` has them. Leading dimensions are a batch."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor, _core, _results, finfo
from adjoint_core._compose import check_all, node
from adjoint_core.linalg import eigvalsh, qr, solve_triangular, svdvals

__all__ = ["lstsq", "matrix_rank", "pinv"]

Tolerance = float | Tensor | None


def _cutoff(S: Tensor, shape: Any, atol: Tolerance, rtol: Tolerance) -> Tensor:
    """What singular values of matrices of `shape` must be above to count, to compare with S (..., k)."""

    def aligned(t: float | Tensor) -> Any:
        return t.unsqueeze(-1) if isinstance(t, Tensor) and t.ndim else t

    if rtol is None:
        some = atol is not None if not isinstance(atol, Tensor) else True
        default = max(shape[-2:]) * finfo(S.dtype).eps
        rtol = _core.where(atol > 0, 0.0, default) if isinstance(atol, Tensor) else 0.0 if some and atol > 0 else default  # type: ignore[operator]
    largest = S.amax(-1, True) if S.size(-1) else S.new_zeros(())
    return _core.maximum(largest * aligned(rtol), largest * 0 + aligned(0.0 if atol is None else atol))


def matrix_rank(
    A: Tensor, tol: Tolerance = None, hermitian: bool = False, *, atol: Tolerance = None, rtol: Tolerance = None
) -> Tensor:
    """How many singular values of A (..., m, n) are above max(atol, rtol * the largest): int64.

    `rtol` is max(m, n) eps unless it or a positive `atol` is given; `tol` is an `atol` with `rtol` 0.

    Example::

        >>> ad.linalg.matrix_rank(ad.tensor([[1., 2.], [2., 4.]]))
        tensor(1)
    """
    if tol is not None:
        atol, rtol = tol, 0.0
    D = A.detach()
    S = eigvalsh(D).abs() if hermitian else svdvals(D)
    return (S > _cutoff(S, A.shape, atol, rtol)).sum(-1)


def pinv(
    A: Tensor, rcond: Tolerance = None, hermitian: bool = False, *, atol: Tolerance = None, rtol: Tolerance = None
) -> Tensor:
    """The pseudo-inverse (..., n, m) of A (..., m, n); singular values up to max(atol, rtol * the largest) count as 0.

    `rcond` is another name of `rtol`. The derivative is the one at a rank that stays the same; repeated singular values do no harm.

    Example::

        >>> ad.linalg.pinv(ad.tensor([[2.], [0.]]))
        tensor([[0.5000, 0.0000]])
    """
    D, rtol = A.detach(), rcond if rtol is None else rtol
    if hermitian:
        S, U = _core._eigh(D, False)
        size, Vh = S.abs(), U.mH
    else:
        U, S, Vh = _core._svd(D, False)
        size = S
    counts = size > _cutoff(size, A.shape, atol, rtol)
    inverse = (counts / _core.where(counts, S, 1.0)).to(A.dtype)
    return _core._pinv(A, (Vh.mH * inverse[..., None, :]) @ U.mH)


def _by_triangles(A: Tensor, rtol: float) -> Tensor | None:
    """The pseudo-inverse of A (..., m, n) from its QR factorisation, or None unless all are surely of full rank.

    The least singular value is at least 1 over the Frobenius norm of the pseudo-inverse, and the largest at most that of A.
    """
    m, n = A.shape[-2:]
    if m < n:
        found = _by_triangles(A.mH, rtol)
        return None if found is None else found.mH
    Q, R = qr(A)
    inverse = solve_triangular(R, Q.mH, upper=True)
    condition = (A.abs().square().sum((-2, -1)) * inverse.abs().square().sum((-2, -1))).sqrt()
    return inverse if bool((_core._all_lanes(condition) * max(rtol, 0.0) < 0.5).all()) else None


@node("LinalgLstsqBackward0")
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """The X of smallest norm that makes the norm of A X - B smallest; A (..., m, n), B (..., m, k) or vectors (..., m).

    Also the squares of these norms, (..., k), if m > n, all ranks are n and the driver is not "gelsy", the default; the ranks and, for
    "gelss" and "gelsd", the singular values. What is not computed is empty. Drivers differ in what they return only.

    Example::

        >>> ad.linalg.lstsq(ad.tensor([[2.], [0.]]), ad.tensor([[1.], [3.]])).solution
        tensor([[0.5000]])
    """
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got " + str(driver)
        )
    if A.dtype != B.dtype:
        raise RuntimeError(f"torch.linalg.lstsq: Expected A and B to have the same dtype, got {A.dtype} and {B.dtype}")
    if A.ndim < 2 or B.ndim < 1:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions and other at least 1.")
    vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and A.shape[:-1] == B.shape)
    right = B.unsqueeze(-1) if vector else B
    m, n = A.shape[-2:]
    if right.size(-2) != m:
        raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size(-2), got {m} and {right.size(-2)}")
    rtol = max(m, n) * finfo(A.dtype).eps if rcond is None else rcond
    D, surely = A.detach(), None
    if A.device.type == "cpu" and A.numel():
        surely = _by_triangles(D, rtol)
    if surely is None:
        X, rank = pinv(A, rtol=rtol) @ right, matrix_rank(D, rtol=rtol)
    else:
        inverse, rank = _core._pinv(A, surely), _core.full(A.shape[:-2], min(m, n), dtype=_core.int64, device=A.device)
        X = inverse @ right
        X = X + inverse @ (right - A @ X)  # a step of refinement: the product with an inverse is not backward stable
    none = _core.empty(0, dtype=A.dtype.to_real(), device=A.device)
    known = m > n and driver not in (None, "gelsy") and bool((_core._all_lanes(rank) == n).all())
    residuals = (A @ X - right).abs().square().sum(-2) if known else none
    S = svdvals(D) if driver in ("gelsd", "gelss") else none
    return _results.lstsq(
        X.squeeze(-1) if vector else X,
        residuals,
        _core.empty(0, dtype=_core.int64, device=A.device) if driver == "gels" else rank,
        S,
    )


check_all(globals(), out=__all__)
