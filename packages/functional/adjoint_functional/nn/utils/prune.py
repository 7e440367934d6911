"""Pruning: parts of parameters that a mask sets to zero.

A pruned parameter `weight` becomes `weight_orig`, the mask is the buffer `weight_mask`, and a hook before each forward makes `weight` of them.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, TypeVar

import adjoint_core as core
from adjoint_core import Tensor

from ..modules.module import Module

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer", "RandomStructured",
    "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip

M = TypeVar("M", bound=Module)


class BasePruningMethod(ABC):
    """A way to choose what is set to zero: a subclass says how in ``compute_mask``, and what its masks are of in ``PRUNING_TYPE``.

    ``PRUNING_TYPE`` is "unstructured" (single elements), "structured" (whole slices) or "global".
    """

    _tensor_name: str
    PRUNING_TYPE: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for ``t``, where ``default_mask`` is the one so far."""

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter under its mask."""
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any) -> Any:
        """Prunes a parameter, also one that is pruned already, and adds the hook.

        Arguments:
            importance_scores: by which the mask is chosen in place of the parameter's values.
        """
        before = _method_of(module, name)
        if before is not None:
            del module._forward_pre_hooks[before[0]]
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}")
        if before is None:
            default = core.ones_like(importance_scores)
            module.register_parameter(name + "_orig", module._parameters.pop(name))
        else:
            default = getattr(module, name + "_mask").detach().clone()
            container = before[1]
            if not isinstance(container, PruningContainer):
                container = PruningContainer(container)
                container._tensor_name = name
            container.add_pruning_method(method)
            method = container
        try:
            mask = method.compute_mask(importance_scores, default_mask=default)
        except Exception:
            if before is None:
                module.register_parameter(name, module._parameters.pop(name + "_orig"))
            raise
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A tensor with the parts that the method chooses set to zero."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        default_mask = core.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module: Module) -> None:
        """Makes the parameter what it is under its mask; the hook stays where it is."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _method_of(module: Module, name: str) -> tuple[int, BasePruningMethod] | None:
    """The key of the hook that prunes a parameter, and the hook."""
    hooks = ((key, hook) for key, hook in module._forward_pre_hooks.items() if isinstance(hook, BasePruningMethod))
    return next(((key, hook) for key, hook in hooks if hook._tensor_name == name), None)


class PruningContainer(BasePruningMethod):
    """Several methods one after the other: each prunes what the ones before left.

    Example::

        >>> len(ad.nn.utils.prune.PruningContainer(ad.nn.utils.prune.L1Unstructured(0.2), ad.nn.utils.prune.L1Unstructured(0.2)))
        2
    """

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1 and not isinstance(args[0], Iterable):
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
        else:
            for method in args:
                self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Adds one at the end.

        Raises:
            TypeError: it is no method.
            ValueError: it prunes another parameter.
        """
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        name = getattr(self, "_tensor_name", None)
        if method is not None and name != getattr(method, "_tensor_name", None):
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{name}' to PruningContainer {self}. "
                f"Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """``default_mask`` and what the last method takes away of the rest of ``t``."""
        method = self._pruning_methods[-1]
        mask = default_mask.clone().to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            chosen: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim: int = method.dim  # type: ignore[attr-defined]
            others = [d for d in range(t.dim()) if d != dim % t.dim()]
            chosen = (slice(None),) * (dim % t.dim()) + (mask.sum(others) != 0,)
        elif method.PRUNING_TYPE == "global":
            chosen = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        partial = method.compute_mask(t[chosen], default_mask=mask[chosen])
        mask[chosen] = partial.to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing, and makes the parameter a pruned one.

    Example::

        >>> method = ad.nn.utils.prune.Identity.apply(ad.nn.Linear(2, 1), 'weight')
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask so far."""
        return default_mask


class _Amount(BasePruningMethod):
    """A number of units, or a fraction of them."""

    def __init__(self, amount: float) -> None:
        if not isinstance(amount, numbers.Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        if (isinstance(amount, numbers.Integral) and amount < 0) or (
            not isinstance(amount, numbers.Integral) and not 0 <= amount <= 1
        ):
            raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
        self.amount = amount

    def _count(self, units: int) -> int:
        if not isinstance(self.amount, numbers.Integral):
            return round(self.amount * units)
        if self.amount > units:
            raise ValueError(f"amount={self.amount} should be smaller than the number of parameters to prune={units}")
        return int(self.amount)


class RandomUnstructured(_Amount):
    """Prunes elements at random.

    Example::

        >>> ad.nn.utils.prune.RandomUnstructured(amount=0.5).prune(ad.ones(4)).sum()
        tensor(2.)
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask so far without some elements."""
        mask = default_mask.clone()
        if count := self._count(t.numel()):
            mask.view(-1)[core.rand_like(t).view(-1).topk(count).indices] = 0
        return mask


class L1Unstructured(_Amount):
    """Prunes the elements of smallest magnitude.

    Example::

        >>> ad.nn.utils.prune.L1Unstructured(2).prune(ad.tensor([3.0, -1.0, 2.0, -4.0]))
        tensor([ 3., -0.,  0., -4.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask so far without the smallest elements."""
        mask = default_mask.clone()
        if count := self._count(t.numel()):
            mask.view(-1)[t.abs().view(-1).topk(count, largest=False).indices] = 0
        return mask


class _Slices(_Amount):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _without(self, t: Tensor, default_mask: Tensor, norms: Any) -> Tensor:
        """The mask so far without some slices: those of the smallest of ``norms(t)``."""
        if t.dim() < 2:
            raise ValueError(
                f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape {t.shape} with {t.dim()} dims"
            )
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = self._count(size)
        if count == 0:
            return default_mask
        kept = norms(t).topk(size - count).indices
        mask = core.zeros_like(t)
        mask[(slice(None),) * (self.dim % t.dim()) + (kept,)] = 1
        return mask * default_mask.to(mask.dtype)


class RandomStructured(_Slices):
    """Prunes slices along a dimension at random.

    Example::

        >>> ad.nn.utils.prune.RandomStructured(amount=1, dim=0).prune(ad.ones(2, 3)).sum()
        tensor(3.)
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask so far without some slices."""
        return self._without(t, default_mask, lambda t: core.rand(t.shape[self.dim], device=t.device))


class LnStructured(_Slices):
    """Prunes the slices along a dimension whose n-norm is smallest.

    Example::

        >>> ad.nn.utils.prune.LnStructured(1, n=2, dim=0).prune(ad.tensor([[1.0, 1.0], [3.0, 0.0]]))
        tensor([[0., 0.],
                [3., 0.]])
    """

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask so far without the slices of smallest norm."""
        others = [d for d in range(t.dim()) if d != self.dim % max(t.dim(), 1)]
        return self._without(t, default_mask, lambda t: core.norm(t, p=self.n, dim=others))


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask says.

    Example::

        >>> ad.nn.utils.prune.CustomFromMask(ad.tensor([1, 0])).prune(ad.ones(2))
        tensor([1., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Both masks."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask and mask should have the same shape, got {default_mask.shape} and {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


# ---- by name


def identity(module: M, name: str) -> M:
    """`Identity`, of a module's parameter.

    Example::

        >>> int(ad.nn.utils.prune.identity(ad.nn.Linear(2, 1), 'weight').weight_mask.sum())
        2
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: M, name: str, amount: float) -> M:
    """`RandomUnstructured`, of a module's parameter.

    Example::

        >>> layer = ad.nn.utils.prune.random_unstructured(ad.nn.Linear(2, 4), 'weight', amount=3)
        >>> int(layer.weight_mask.sum())
        5
    """
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module: M, name: str, amount: float, importance_scores: Tensor | None = None) -> M:
    """`L1Unstructured`, of a module's parameter.

    Example::

        >>> layer = ad.nn.utils.prune.l1_unstructured(ad.nn.Linear(2, 3), "weight", amount=2)
        >>> sorted(layer.state_dict()), int(layer.weight_mask.sum())
        (['bias', 'weight_mask', 'weight_orig'], 4)
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: M, name: str, amount: float, dim: int) -> M:
    """`RandomStructured`, of a module's parameter.

    Example::

        >>> layer = ad.nn.utils.prune.random_structured(ad.nn.Linear(2, 4), 'weight', amount=1, dim=0)
        >>> int(layer.weight_mask.sum())
        6
    """
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(module: M, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None) -> M:
    """`LnStructured`, of a module's parameter.

    Example::

        >>> layer = ad.nn.utils.prune.ln_structured(ad.nn.Linear(2, 4), 'weight', amount=0.5, n=2, dim=0)
        >>> int(layer.weight_mask.sum())
        4
    """
    LnStructured.apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: M, name: str, mask: Tensor) -> M:
    """`CustomFromMask`, of a module's parameter.

    Example::

        >>> layer = ad.nn.utils.prune.custom_from_mask(ad.nn.Linear(2, 1), 'weight', ad.tensor([[1, 0]]))
        >>> layer.weight_mask
        tensor([[1., 0.]])
    """
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(
    parameters: Any, pruning_method: type[BasePruningMethod], importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prunes several parameters, pairs of a module and a name, as if they were one.

    Arguments:
        pruning_method: one whose ``PRUNING_TYPE`` is "unstructured"; ``kwargs`` are its arguments.
        importance_scores: a dict from pairs to scores, in place of the values.

    Raises:
        TypeError: the parameters are not iterable, or the method prunes slices.

    Example::

        >>> a, b = ad.nn.Linear(2, 1), ad.nn.Linear(2, 1)
        >>> method = ad.nn.utils.prune.L1Unstructured
        >>> ad.nn.utils.prune.global_unstructured([(a, 'weight'), (b, 'weight')], method, amount=2)
        >>> int((a.weight == 0).sum() + (b.weight == 0).sum())
        2
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    pairs = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    flat = core.cat([scores.get(pair, getattr(*pair)).detach().reshape(-1) for pair in pairs])
    masks = core.cat([getattr(m, name + "_mask", core.ones_like(getattr(m, name))).reshape(-1) for m, name in pairs])
    method: Any = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type {method.PRUNING_TYPE}'
        )
    container = PruningContainer()
    container._tensor_name = method._tensor_name = "temp"
    container.add_pruning_method(method)
    final = container.compute_mask(flat, masks)
    at = 0
    for module, name in pairs:
        size = math.prod(getattr(module, name).shape)
        custom_from_mask(module, name, final[at : at + size].view_as(getattr(module, name)))
        at += size


def remove(module: M, name: str) -> M:
    """Makes a pruned parameter an ordinary one, with zeros where its mask has them.

    Raises:
        ValueError: it is not pruned.

    Example::

        >>> layer = ad.nn.utils.prune.random_unstructured(ad.nn.Linear(2, 4), 'weight', amount=3)
        >>> [name for name, _ in ad.nn.utils.prune.remove(layer, 'weight').named_parameters()]
        ['bias', 'weight']
    """
    found = _method_of(module, name)
    if found is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    found[1].remove(module)
    del module._forward_pre_hooks[found[0]]
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module, or of one below it, is pruned.

    Example::

        >>> ad.nn.utils.prune.is_pruned(ad.nn.Linear(1, 1))
        False
    """
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values())
