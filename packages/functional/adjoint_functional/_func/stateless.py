"""Modules taken apart into a function and a tuple of tensors, as the package functorch does."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from adjoint_functional.nn.modules import Module

from .._backend import Tensor
from .functional_call import functional_call, stack_module_state


class FunctionalModuleWithBuffers(Module):
    """A module that is called with its parameters and buffers in front of its arguments."""

    def __init__(self, stateless_model: Module) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = tuple(name for name, _ in stateless_model.named_parameters())
        self.buffer_names = tuple(name for name, _ in stateless_model.named_buffers())

    def forward(self, params: Sequence[Tensor], buffers: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """What the module gives with these."""
        state = dict(zip(self.param_names + self.buffer_names, (*params, *buffers), strict=True))
        return functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """A module without buffers that is called with its parameters in front of its arguments."""

    def forward(self, params: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """What the module gives with these."""
        return super().forward(params, (), *args, **kwargs)


def _apart(model: Module, disable_autograd_tracking: bool) -> tuple[Module, tuple[Tensor, ...], tuple[Tensor, ...]]:
    model = copy.deepcopy(model)
    params = tuple(model.parameters())
    if disable_autograd_tracking:
        for p in params:
            p.requires_grad_(False)
    return model, params, tuple(model.buffers())


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
    """A copy of a module as a function of its parameters, and these.

    Raises:
        RuntimeError: the module has buffers.

    Example::

        >>> from adjoint._functorch import make_functional
        >>> f, params = make_functional(ad.nn.Linear(2, 3))
        >>> f(params, ad.ones(4, 2)).shape
        adjoint.Size([4, 3])
    """
    if next(model.buffers(), None) is not None:
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    model, params, _ = _apart(model, disable_autograd_tracking)
    return FunctionalModule(model), params


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """A copy of a module as a function of its parameters and buffers, and these."""
    model, params, buffers = _apart(model, disable_autograd_tracking)
    return FunctionalModuleWithBuffers(model), params, buffers


def combine_state_for_ensemble(
    models: Sequence[Module],
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """One function for modules of one kind, and their parameters and buffers, stacked in front: for vmap.

    Raises:
        RuntimeError: no models, or models that differ in kind or in being in training.
    """
    params, buffers = stack_module_state(models)
    return (
        FunctionalModuleWithBuffers(copy.deepcopy(models[0])),
        tuple(p.detach() for p in params.values()),
        tuple(buffers.values()),
    )
