"""Ready parametrizations of weights: by length and direction, by their largest singular value, orthogonal ones."""

from __future__ import annotations

from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import no_grad

from .. import functional as F
from ..modules.module import Module
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = dim

    def _length(self, v: Tensor) -> Tensor:
        if self.dim is None or self.dim == -1:
            return v.norm()
        return (
            core.linalg.vector_norm(v, dim=[k for k in range(v.dim()) if k != self.dim % v.dim()], keepdim=True)
            if v.dim() > 1
            else v.abs()
        )

    def forward(self, length: Tensor, v: Tensor) -> Tensor:
        return v * (length / self._length(v))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return self._length(weight), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """The weight as length times direction: ``original0 · original1 / |original1|``.

    Arguments:
        dim: one length for each index there; None: one for all.

    Example::

        >>> layer = ad.nn.utils.parametrizations.weight_norm(ad.nn.Linear(2, 3))
        >>> {k: tuple(v.shape) for k, v in layer.parametrizations.weight.named_parameters()}
        {'original0': (3, 1), 'original1': (3, 2)}
    """
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim, self.eps, self.n_power_iterations = dim, eps, n_power_iterations
        if weight.dim() > 1:
            rows, columns = self._matrix(weight).shape
            for name, size in (("_u", rows), ("_v", columns)):
                self.register_buffer(
                    name, F.normalize(core.randn(size, dtype=weight.dtype, device=weight.device), dim=0, eps=eps)
                )
            self._iterate(self._matrix(weight), 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    @no_grad()
    def _iterate(self, m: Tensor, times: int) -> None:
        for _ in range(times):
            self._u = F.normalize(m.mv(self._v), dim=0, eps=self.eps)
            self._v = F.normalize(m.mH.mv(self._u), dim=0, eps=self.eps)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        m = self._matrix(weight)
        if self.training:
            self._iterate(m.detach(), self.n_power_iterations)
        return weight / core.vdot(self._u.clone(), m.mv(self._v.clone()))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """The weight over its largest singular value, which power iterations follow, one more at each use in training.

    Arguments:
        dim: the rows of the matrix; by default 1 for transposed convolutions, else 0.

    Raises:
        ValueError: there is no such tensor.

    Example::

        >>> layer = ad.nn.utils.parametrizations.spectral_norm(ad.nn.Linear(2, 3), n_power_iterations=20)
        >>> round(ad.linalg.matrix_norm(layer.weight, 2).item(), 3)
        1.0
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    rows = (1 if type(module).__name__.startswith("ConvTranspose") else 0) if dim is None else dim
    return register_parametrization(module, name, _SpectralNorm(weight.detach(), n_power_iterations, rows, eps))


class _Orthogonal(Module):
    """The base times the exponential of an antisymmetric matrix, or its Cayley transform."""

    def __init__(self, weight: Tensor, cayley: bool) -> None:
        super().__init__()
        self.cayley = cayley
        self.register_buffer("base", self._base(weight))

    @staticmethod
    def _base(weight: Tensor) -> Tensor:
        tall = weight if weight.size(-2) >= weight.size(-1) else weight.mT
        q, r = core.linalg.qr(tall, "complete")
        diagonal = r.diagonal(0, -2, -1)
        signs = core.where(diagonal == 0, core.ones_like(diagonal), diagonal.sgn())
        return core.cat([q[..., : signs.size(-1)] * signs.unsqueeze(-2), q[..., signs.size(-1) :]], -1)

    def forward(self, x: Tensor) -> Tensor:
        wide = x.size(-2) < x.size(-1)
        a = (x.mT if wide else x).tril(-1)
        n, k = a.size(-2), a.size(-1)
        a = F.pad(a, (0, n - k)) if n > k else a
        a = a - a.mH
        one = core.eye(n, dtype=x.dtype, device=x.device)
        turn = core.linalg.solve(one - 0.5 * a, one + 0.5 * a) if self.cayley else core.linalg.matrix_exp(a)
        q = (self.base @ turn)[..., :k]
        return q.mT if wide else q

    def right_inverse(self, value: Tensor) -> Tensor:
        self.base = self._base(value)
        return core.zeros_like(value)


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """The weight as a matrix with orthonormal columns, or rows if it has fewer: that nearest to it along a QR decomposition, turned.

    Arguments:
        orthogonal_map: "matrix_exp" (the default) or "cayley", of an antisymmetric matrix that begins as zero.
        use_trivialization: must be True: the tensor can be assigned.

    Raises:
        ValueError: no such tensor, one of fewer than two dimensions, or an unknown map.

    Example::

        >>> layer = ad.nn.utils.parametrizations.orthogonal(ad.nn.Linear(3, 3))
        >>> ad.allclose(layer.weight @ layer.weight.mT, ad.eye(3), atol=1e-5)
        True
    """
    weight: Any = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if orthogonal_map not in (None, "matrix_exp", "cayley") or not use_trivialization:
        raise ValueError(
            f"orthogonal_map has to be one of 'matrix_exp' and 'cayley', with use_trivialization=True. Got: {orthogonal_map}"
        )
    return register_parametrization(module, name, _Orthogonal(weight.detach(), orthogonal_map == "cayley"), unsafe=True)
