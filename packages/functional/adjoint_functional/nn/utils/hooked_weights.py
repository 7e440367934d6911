"""Weights that a hook computes before each forward: the older way to norm them; `parametrizations` is the newer one."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import Parameter, no_grad

from .. import functional as F
from ..modules.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module

__all__ = ["remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norm over all dimensions but one; -1: over all.

    Example::

        >>> ad.norm_except_dim(ad.ones(2, 4), 2, 0)
        tensor([[2.],
                [2.]])
    """
    if dim == -1:
        return v.norm(pow)
    return v.transpose(0, dim).flatten(1).norm(pow, dim=1).view((-1,) + (1,) * (v.dim() - 1)).transpose(0, dim)


def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """``g v / |v|``, the norm over all dimensions but one."""
    return v * (g / norm_except_dim(v, 2, dim))


class WeightNorm:
    """The hook of `weight_norm`."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """``g v / |v|``."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return _weight_norm(v, g, self.dim)

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Replaces a weight by its direction ``{name}_v`` and its length ``{name}_g``, of each slice along ``dim`` (None: of all).

    Deprecated in PyTorch: `parametrizations.weight_norm` does it without a hook.

    Raises:
        RuntimeError: the weight is normed already.

    Example::

        >>> layer = ad.nn.utils.weight_norm(ad.nn.Linear(3, 2))  # doctest: +SKIP
        >>> layer.weight_g.shape  # doctest: +SKIP
        adjoint.Size([2, 1])
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if _found(module, WeightNorm, name) is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook, weight = WeightNorm(name, dim), getattr(module, name)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, 2, hook.dim).data))
    module.register_parameter(name + "_v", Parameter(weight.data))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def _found(module: Module, kind: type, name: str) -> Any:
    """The key of a weight's hook, and the hook."""
    hooks = module._forward_pre_hooks.items()
    return next(((key, hook) for key, hook in hooks if isinstance(hook, kind) and hook.name == name), None)  # type: ignore[attr-defined]


def _removed(module: Module, kind: type, name: str) -> Any:
    """The hook of a weight, which is taken off."""
    found = _found(module, kind, name)
    if found is None:
        raise ValueError(f"{kind.__name__.replace('N', '_n').lower()} of '{name}' not found in {module}")
    del module._forward_pre_hooks[found[0]]
    return found[1]


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Makes the weight a parameter again.

    Raises:
        ValueError: it is not normed.

    Example: ``remove_weight_norm(layer)``
    """
    hook = _removed(module, WeightNorm, name)
    weight = hook.compute_weight(module)
    delattr(module, name)
    del module._parameters[name + "_g"], module._parameters[name + "_v"]
    setattr(module, name, Parameter(weight.data))
    return module


class SpectralNorm:
    """The hook of `spectral_norm`: the largest singular value is estimated by power iteration."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def matrix(self, weight: Tensor) -> Tensor:
        """The weight as a matrix, with ``dim`` for its rows."""
        return weight.movedim(self.dim, 0).flatten(1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight over its largest singular value; in training the vectors of the estimate are renewed in place."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.mT @ u, dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix @ v, dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()  # the next call writes to the buffers, and backward needs these
        return weight / core.dot(u, matrix @ v)

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> M:
    """Divides a weight by its largest singular value (T. Miyato and others, 2018), estimated anew at each call in training.

    Arguments:
        dim: the outputs; None: 1 for transposed convolutions, else 0.

    Raises:
        RuntimeError: the weight is normed already.

    Example::

        >>> layer = ad.nn.utils.spectral_norm(ad.nn.Linear(3, 2))
        >>> sorted(layer.state_dict())
        ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    if _found(module, SpectralNorm, name) is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    hook, weight = SpectralNorm(name, n_power_iterations, dim, eps), module._parameters[name]
    assert weight is not None
    with no_grad():
        rows, columns = hook.matrix(weight).size()
        u, v = (F.normalize(weight.new_empty(n).normal_(0, 1), dim=0, eps=eps) for n in (rows, columns))
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Makes the weight, over its singular value, a parameter again.

    Raises:
        ValueError: it is not normed.

    Example::

        >>> layer = ad.nn.utils.spectral_norm(ad.nn.Linear(2, 1))
        >>> ad.nn.utils.remove_spectral_norm(layer)
        Linear(in_features=2, out_features=1, bias=True)
    """
    hook = _removed(module, SpectralNorm, name)
    with no_grad():
        weight = hook.compute_weight(module, False)
    delattr(module, name)
    del module._buffers[name + "_u"], module._buffers[name + "_v"], module._parameters[name + "_orig"]
    module.register_parameter(name, Parameter(weight.detach()))
    return module
