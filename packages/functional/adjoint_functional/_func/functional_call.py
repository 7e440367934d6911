"""Modules as functions of their parameters."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._backend import Tensor, stack


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | tuple[Mapping[str, Tensor], ...] | list[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``module(*args, **kwargs)`` with other tensors in place of its parameters and buffers, for this call.

    Arguments:
        parameter_and_buffer_dicts: tensors by path; the module's own stand where none is given.
        args: a tuple of arguments, or the only one.
        tie_weights: a tensor for one path of a shared parameter stands at its other paths too.
        strict: every path must be given, by itself or by one that it is tied to, and no other.

    Raises:
        RuntimeError: with ``strict``, the paths are not those of the module.
        AttributeError: a path leads to no module; within one, a name that it does not have is an attribute during the call.
        ValueError: two dictionaries have the same path, or two paths of a shared parameter are given two tensors.

    Example::

        >>> layer = ad.nn.Linear(2, 1, bias=False)
        >>> loss = lambda weight: ad.func.functional_call(layer, {"weight": weight}, ad.ones(2)).sum()
        >>> ad.func.grad(loss)(ad.zeros(1, 2))
        tensor([[1., 1.]])
    """
    dicts = parameter_and_buffer_dicts
    parts = [dicts] if isinstance(dicts, Mapping) else dicts
    given = {k: v for d in parts for k, v in d.items()}
    if len(given) < sum(map(len, parts)):
        twice = [k for k in given if sum(k in d for d in parts) > 1]
        raise ValueError(
            f"functional_call: {twice} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    with _reparametrize_module(module, given, tie_weights=tie_weights, strict=strict):
        return module(*(() if args is None else args if isinstance(args, tuple) else (args,)), **(kwargs or {}))


@contextlib.contextmanager
def _reparametrize_module(
    module: Any,
    parameters_and_buffers: Mapping[str, Tensor],
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> Iterator[None]:
    """Within the context a module has other tensors in place of its parameters and buffers; as `functional_call` says."""
    given = dict(parameters_and_buffers)
    own = dict((*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)))
    if tie_weights:  # first: a path whose tensor another path gives is not missing
        tied = {id(own[k]): v for k, v in given.items() if k in own}
        if others := {id(own[k]) for k, v in given.items() if k in own and tied[id(own[k])] is not v}:
            names = [k for k in given if k in own and id(own[k]) in others]
            raise ValueError(
                f"functional_call got multiple values for keys {names}, which are tied. Consider using tie_weights=False"
            )
        given |= {k: tied[id(v)] for k, v in own.items() if k not in given and id(v) in tied}
    wrong = {"Unexpected": [k for k in given if k not in own], "Missing": [k for k in own if k not in given]}
    if strict and any(wrong.values()):
        lines = [f"\n\t{what} key(s): {', '.join(map(repr, keys))}." for what, keys in wrong.items() if keys]
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:{''.join(lines)}")
    former: dict[str, Any] = {}
    try:
        for path, t in given.items():
            former[path] = _swap(module, path, t)
        yield
    finally:
        for path, t in reversed(former.items()):  # a module may have two paths
            _swap(module, path, t)


_ABSENT = object()


def _swap(module: Any, path: str, t: Any) -> Any:
    """Puts a tensor where the path leads: a parameter, a buffer or an attribute, which may be new. What was there."""
    owner_path, _, name = path.rpartition(".")
    owner = module.get_submodule(owner_path)
    if not name:
        raise KeyError('functional_call: tensor name can\'t be empty string ""')
    for place in (owner._parameters, owner._buffers):
        if name in place:
            former, place[name] = place[name], t
            return former
    former = getattr(owner, name, _ABSENT)
    if former is not _ABSENT and not isinstance(former, Tensor):
        raise TypeError(f"functional_call: attribute `{name}`: {former!r} is not an instance of Tensor")
    delattr(owner, name) if t is _ABSENT else setattr(owner, name, t)
    return former


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters, and the buffers, of modules of one kind, stacked in front: for vmap over ``functional_call``.

    Raises:
        RuntimeError: no models, or models that differ in kind, in being in training, or in what requires grad.

    Example::

        >>> parameters, buffers = ad.func.stack_module_state([ad.nn.Linear(2, 3), ad.nn.Linear(2, 3)])
        >>> parameters["weight"].shape
        adjoint.Size([2, 3, 2])
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    for what, kinds in (
        ("be of the same class", {type(m) for m in models}),
        ("have the same training/eval mode", {m.training for m in models}),
    ):
        if len(kinds) > 1:
            raise RuntimeError(f"stack_module_state: Expected all models to {what}, got {kinds}")

    def stacked(named: list[dict[str, Tensor]], leaves: bool) -> dict[str, Tensor]:
        for k in named[0]:
            if len({d[k].requires_grad for d in named}) > 1:
                raise RuntimeError(f"stack_module_state: Expected {k} from each model to have the same .requires_grad")
        together = {k: stack([d[k] for d in named]).detach() for k in named[0]}
        return {k: t.requires_grad_(leaves and named[0][k].requires_grad) for k, t in together.items()}

    return stacked([dict(m.named_parameters()) for m in models], True), stacked(
        [dict(m.named_buffers()) for m in models], False
    )


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Makes the batch normalizations in a module use the statistics of each batch only: vmap cannot write into buffers outside.

    Example::

        >>> model = ad.func.replace_all_batch_norm_modules_(ad.nn.Sequential(ad.nn.BatchNorm1d(2)))
        >>> model[0].running_mean is None
        True
    """
    for module in root.modules():
        if hasattr(module, "running_mean") and hasattr(module, "num_batches_tracked"):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
