"""The state of a module by name: saved, loaded, or lent for one call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import Parameter, no_grad
from adjoint_engine.graph import RemovableHandle

from .hooks import register


class IncompatibleKeys(NamedTuple):
    """What did not fit when a state was loaded."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class State:
    """state_dict and its inverse."""

    def get_extra_state(self) -> Any:
        """What a subclass wants to save beside tensors; ``set_extra_state`` takes it back."""
        raise NotImplementedError(f"{type(self).__name__}: get_extra_state is not defined")

    def set_extra_state(self, state: Any) -> None:
        """Takes back what ``get_extra_state`` gave."""
        raise NotImplementedError(f"{type(self).__name__}: set_extra_state is not defined")

    def state_dict(self: Any, *, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> OrderedDict[str, Any]:
        """All parameters and persistent buffers by path, in the order in which they were made.

        Arguments:
            destination: a dict to put them in.
            prefix: what to put before each path.
            keep_vars: give the parameters themselves, not their detached values.

        Example::

            >>> {name: tuple(t.shape) for name, t in ad.nn.Linear(2, 3).state_dict().items()}
            {'weight': (3, 2), 'bias': (3,)}
        """
        found = OrderedDict() if destination is None else destination
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        for name, t in (*self._parameters.items(), *self._buffers.items()):
            if t is not None and name not in self._non_persistent_buffers_set:
                found[prefix + name] = t if keep_vars else t.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=found, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        if type(self).get_extra_state is not State.get_extra_state:
            found[prefix + "_extra_state"] = self.get_extra_state()
        for hook in self._state_dict_post_hooks.values():
            if hook(self, found, prefix, {}) is not None:
                raise RuntimeError("state_dict post-hook must return None")
        return found

    def load_state_dict(
        self: Any, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copies values, tensors or NumPy arrays, into the parameters and buffers of the same paths.

        Arguments:
            strict: every path must be there on both sides.
            assign: take the tensors themselves instead of copying their values.

        Raises:
            RuntimeError: a shape differs, or (``strict``) a path is missing or unknown.

        Example::

            >>> layer = ad.nn.Linear(1, 1)
            >>> layer.load_state_dict({"weight": ad.ones(1, 1), "bias": ad.zeros(1)})
            <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        state = OrderedDict(state_dict)
        keys, errors = IncompatibleKeys([], []), list[str]()
        parts = [(f"{path}." if path else "", module) for path, module in self.named_modules(remove_duplicate=False)]
        for prefix, module in parts:
            for hook in module._load_state_dict_pre_hooks.values():
                hook(module, state, prefix, {}, strict, *keys, errors)
        own = _own(self)
        keys.missing_keys.extend(k for k in own if k not in state)
        keys.unexpected_keys.extend(k for k in state if k not in own)
        for name, value in own.items():
            if name in state and (error := _load(self, name, value, state[name], assign)):
                errors.append(error)
        for _, module in reversed(parts):
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, keys) is not None:
                    raise RuntimeError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values"
                    )
        if strict:
            problems = {"Missing": keys.missing_keys, "Unexpected": keys.unexpected_keys}
            errors = [f"{what} key(s) in state_dict: {_quoted(names)}. " for what, names in problems.items() if names] + errors
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return keys

    def register_state_dict_pre_hook(self: Any, hook: Callable[..., None]) -> RemovableHandle:
        """Calls ``hook(module, prefix, keep_vars)`` before ``state_dict`` looks at this module."""
        return register(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self: Any, hook: Callable[..., None]) -> RemovableHandle:
        """Calls ``hook(module, state_dict, prefix, {})`` when ``state_dict`` has what this module owns; it may change the dict.

        Example::

            >>> layer = ad.nn.Linear(1, 1)
            >>> handle = layer.register_state_dict_post_hook(lambda module, state, prefix, local: state.pop(prefix + "bias") and None)
            >>> list(layer.state_dict())
            ['weight']
        """
        return register(self._state_dict_post_hooks, hook)

    def register_load_state_dict_pre_hook(self: Any, hook: Callable[..., None]) -> RemovableHandle:
        """Calls ``hook(module, state_dict, prefix, {}, strict, missing_keys, unexpected_keys, errors)`` before anything is loaded.

        It may change the dict, a copy of the one that was given.
        """
        return register(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self: Any, hook: Callable[..., None]) -> RemovableHandle:
        """Calls ``hook(module, incompatible_keys)`` when all is loaded; keys that it removes from the lists are no errors."""
        return register(self._load_state_dict_post_hooks, hook)


def _own(module: Any) -> dict[str, Any]:
    """Everything that may be loaded, by path, without hooks."""
    found: dict[str, Any] = {}
    for path, part in module.named_modules(remove_duplicate=False):
        prefix = f"{path}." if path else ""
        for name, t in (*part._parameters.items(), *part._buffers.items()):
            if t is not None and name not in part._non_persistent_buffers_set:
                found[prefix + name] = t
        if type(part).get_extra_state is not State.get_extra_state:
            found[prefix + "_extra_state"] = None
    return found


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


@no_grad()
def _load(module: Any, path: str, old: Any, new: Any, assign: bool) -> str | None:
    """Puts one value in its place, or says why it does not fit."""
    owner_path, _, name = path.rpartition(".")
    owner = module.get_submodule(owner_path)
    if not isinstance(old, Tensor):
        owner.set_extra_state(new)
        return None
    new = core.as_tensor(new)
    if new.shape != old.shape:
        return (
            f"size mismatch for {path}: copying a param with shape {new.shape} from checkpoint, "
            f"the shape in current model is {old.shape}."
        )
    if not assign:
        old.copy_(new)
    elif isinstance(old, Parameter):
        setattr(owner, name, new if isinstance(new, Parameter) else Parameter(new, old.requires_grad))
    else:
        setattr(owner, name, new)
    return None
