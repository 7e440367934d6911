"""`nn.utils._per_sample_grad`: for each parameter the gradient of each member of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint_core import Tensor
from adjoint_engine import Function, vmap
from adjoint_engine.trees import tree_flatten

from ..._func.functional_call import functional_call
from ..modules import Module

__all__ = ["call_for_per_sample_grads"]


class _ForEach(Function):
    """A parameter once for each member of a batch; their gradients are kept apart, in `grad_sample`."""

    @staticmethod
    def forward(ctx: Any, p: Tensor, owner: Any, batch: int, factor: int) -> Tensor:
        ctx.owner, ctx.factor = owner, factor
        return p.expand(batch, *p.shape)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        known = getattr(ctx.owner, "grad_sample", None)
        new = grad * ctx.factor
        ctx.owner.grad_sample = new if known is None else known + new
        return None, None, None, None


def _batch_size(given: Any, place: int) -> int:
    sizes = {t.size(place) for t in tree_flatten(given)[0] if isinstance(t, Tensor) and t.dim() > place}
    if len(sizes) != 1:
        raise RuntimeError(
            "When inferring batch_size, expected all inputs to have the same batch size, got "
            + str(sorted(sizes))
            + "; give batch_size"
        )
    return sizes.pop()


def call_for_per_sample_grads(
    module: Module, *, batch_size: int | None = None, loss_reduction: str = "sum", batch_first: bool = True
) -> Callable[..., Any]:
    """The module as a function whose backward gives each parameter a `grad_sample`, (batch, ...), and no `grad`.

    Arguments:
        batch_size: that of the arguments unless told.
        loss_reduction: whether the loss is the "sum" or the "mean" over the batch: of each member it is the gradient of its own loss.
        batch_first: the batch is the first dimension of arguments and results, else the second.

    Raises:
        RuntimeError: another reduction, no module, arguments of different batches; a parameter has a `grad_sample` already.

    Example::

        >>> from adjoint.nn.utils._per_sample_grad import call_for_per_sample_grads
        >>> layer = ad.nn.Linear(2, 3)
        >>> call_for_per_sample_grads(layer)(ad.ones(4, 2)).sum().backward()
        >>> layer.weight.grad_sample.shape, layer.weight.grad
        (adjoint.Size([4, 3, 2]), None)
    """
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(f"Expected loss_reduction argument to be sum or mean, got {loss_reduction}")
    if not isinstance(module, Module):
        raise RuntimeError(f"Module passed must be nn.Module, got {type(module).__name__}")
    if not (batch_size is None or isinstance(batch_size, int)):
        raise RuntimeError(f"Batch size passed must be None or an integer, got {type(batch_size).__name__}")
    if batch_size is not None and batch_size < 1:
        raise RuntimeError(f"Batch size must be positive, got {batch_size}")
    place = 0 if batch_first else 1
    for p in module.parameters():
        if getattr(p, "grad_sample", None) is not None:
            raise RuntimeError(
                "Current Expanded Weights accumulates the gradients, which will be incorrect for multiple calls without clearing gradients. "
                "Please clear out the grad_sample parameter first"
            )

    def call(*args: Any, **kwargs: Any) -> Any:
        batch = batch_size or _batch_size((args, kwargs), place)
        factor = batch if loss_reduction == "mean" else 1
        copies = {name: _ForEach.apply(p, p, batch, factor) for name, p in module.named_parameters() if p.requires_grad}

        def one(own: dict[str, Tensor], *args: Any) -> Any:
            alone = [a.unsqueeze(place) if isinstance(a, Tensor) else a for a in args]
            result = functional_call(module, own, tuple(alone), kwargs)
            return result.squeeze(place) if isinstance(result, Tensor) else tuple(r.squeeze(place) for r in result)

        dims = [place if isinstance(a, Tensor) else None for a in args]
        return vmap(one, in_dims=(0, *dims), out_dims=place, randomness="different")(copies, *args)

    return call
