"""The state of a module by name: saved, loaded, or lent for one call."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import adjoint_core as core
from adjoint_core.overrides import is_tensor_like
from adjoint_engine import Parameter, no_grad
from adjoint_engine.graph import RemovableHandle

from .hooks import called, register


class _IncompatibleKeys(NamedTuple):
    """What did not fit when a state was loaded."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class State:
    """state_dict and its inverse."""

    _version: int = 1

    def get_extra_state(self) -> Any:
        """What a subclass wants to save beside tensors; ``set_extra_state`` takes it back."""
        raise RuntimeError(f"{type(self).__name__}: get_extra_state is not defined")

    def set_extra_state(self, state: Any) -> None:
        """Takes back what ``get_extra_state`` gave."""
        raise RuntimeError(f"{type(self).__name__}: set_extra_state is not defined")

    # ---- saving

    def state_dict(self: Any, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and persistent buffers by path, in the order in which they were made.

        Arguments:
            destination: a dict to put them in.
            prefix: what to put before each path.
            keep_vars: give the parameters themselves, not their detached values.

        Example::

            >>> {name: tuple(t.shape) for name, t in ad.nn.Linear(2, 3).state_dict().items()}
            {'weight': (3, 2), 'bias': (3,)}
        """
        if args:
            warnings.warn("Positional args are being deprecated, use kwargs instead.", FutureWarning, stacklevel=2)
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args) :])
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, local)
            if getattr(hook, "_from_public_api", False):
                if changed is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif changed is not None:
                destination = changed
        return destination

    def _save_to_state_dict(self: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Saves what this module owns itself: a subclass that has more overrides it."""
        for name, t in self._parameters.items():
            if t is not None:
                destination[prefix + name] = t if keep_vars else t.detach()
        for name, t in self._buffers.items():
            if t is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = t if keep_vars else t.detach()
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    # ---- loading

    def load_state_dict(
        self: Any, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
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
        metadata = getattr(state_dict, "_metadata", None)
        state = OrderedDict(state_dict)
        if metadata is not None:
            state._metadata = metadata  # type: ignore[attr-defined]
        keys, errors = _IncompatibleKeys([], []), list[str]()

        def load(module: Any, prefix: str, state: Mapping[str, Any]) -> None:
            local = {} if metadata is None else metadata.get(prefix[:-1], {})
            if assign:
                local["assign_to_params_buffers"] = True
            module._load_from_state_dict(state, prefix, local, True, *keys, errors)
            for name, child in module._modules.items():
                if child is not None:
                    below = f"{prefix}{name}."
                    load(child, below, {key: value for key, value in state.items() if key.startswith(below)})
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, keys) is not None:
                    raise RuntimeError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values"
                    )

        load(self, "", state)
        if strict:
            problems = {"Missing": keys.missing_keys, "Unexpected": keys.unexpected_keys}
            errors = [f"{what} key(s) in state_dict: {_quoted(names)}. " for what, names in problems.items() if names] + errors
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return keys

    def _load_from_state_dict(
        self: Any,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Loads what this module owns itself: a subclass that reads older files overrides it."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        buffers = ((name, t) for name, t in self._buffers.items() if name not in self._non_persistent_buffers_set)
        own = {name: t for name, t in (*self._parameters.items(), *buffers) if t is not None}
        for name, old in own.items():
            if (key := prefix + name) in state_dict:
                assign = local_metadata.get("assign_to_params_buffers", False)
                if error := _load(self, key, name, old, state_dict[key], assign):
                    error_msgs.append(error)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA_STATE_KEY_SUFFIX
        takes_extra = type(self).set_extra_state is not State.set_extra_state
        if takes_extra and extra in state_dict:
            self.set_extra_state(state_dict[extra])
        elif strict and takes_extra:
            missing_keys.append(extra)
        if strict:
            known = {*own, *self._modules, *([_EXTRA_STATE_KEY_SUFFIX] if takes_extra else [])}
            unexpected_keys.extend(
                key for key in state_dict if key.startswith(prefix) and not _known(key[len(prefix) :], own, known)
            )

    # ---- hooks

    def register_state_dict_pre_hook(self: Any, hook: Callable[..., None]) -> RemovableHandle:
        """Calls ``hook(module, prefix, keep_vars)`` before ``state_dict`` looks at this module."""
        return register(self._state_dict_pre_hooks, called(hook))

    def register_state_dict_post_hook(self: Any, hook: Callable[..., None]) -> RemovableHandle:
        """Calls ``hook(module, state_dict, prefix, {})`` when ``state_dict`` has what this module owns; it may change the dict.

        Example::

            >>> layer = ad.nn.Linear(1, 1)
            >>> handle = layer.register_state_dict_post_hook(lambda module, state, prefix, local: state.pop(prefix + "bias") and None)
            >>> list(layer.state_dict())
            ['weight']
        """
        hook._from_public_api = True  # type: ignore[attr-defined]
        return register(self._state_dict_hooks, called(hook))

    def _register_state_dict_hook(self: Any, hook: Callable[..., Any]) -> RemovableHandle:
        """As `register_state_dict_post_hook`; what the hook returns, if not None, takes the place of the dict."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via register_state_dict_post_hook"
            )
        return register(self._state_dict_hooks, called(hook))

    def register_load_state_dict_pre_hook(self: Any, hook: Callable[..., None]) -> RemovableHandle:
        """Calls ``hook(module, state_dict, prefix, {}, strict, missing_keys, unexpected_keys, errors)`` before anything is loaded.

        It may change the dict, a copy of the one that was given.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self: Any, hook: Callable[..., None], with_module: bool = False) -> RemovableHandle:
        """As `register_load_state_dict_pre_hook`, whose first argument the hook gets only ``with_module``."""
        return register(self._load_state_dict_pre_hooks, _PreHook(called(hook), self if with_module else None))

    def register_load_state_dict_post_hook(self: Any, hook: Callable[..., None]) -> RemovableHandle:
        """Calls ``hook(module, incompatible_keys)`` when all is loaded; keys that it removes from the lists are no errors."""
        return register(self._load_state_dict_post_hooks, called(hook))


class _PreHook:
    """A hook before loading. Of its module it knows the way, not the object: a copy of the module has hooks of its own."""

    def __init__(self, hook: Callable[..., None], module: Any) -> None:
        self.hook, self.module = hook, None if module is None else weakref.ref(module)

    def __call__(self, *args: Any) -> None:
        module = None if self.module is None else self.module()
        self.hook(*args) if module is None else self.hook(module, *args)

    def __getstate__(self) -> dict[str, Any]:
        return {"hook": self.hook, "module": None if self.module is None else self.module()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["hook"], state["module"])  # type: ignore[misc]


def _known(rest: str, own: Mapping[str, Any], known: set[str]) -> bool:
    """Whether what stands behind the prefix is something of this module, or of a module below it."""
    first, dot, _ = rest.partition(".")
    return first in known and (not dot or first not in own)


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


@no_grad()
def _load(module: Any, path: str, name: str, old: Any, new: Any, assign: bool) -> str | None:
    """Puts one value in its place, or says why it does not fit."""
    if not is_tensor_like(new):
        if not hasattr(new, "__array__"):
            kind = f"{core._core._library()}.Tensor"
            return f'While copying the parameter named "{path}", expected {kind} or Tensor-like object from checkpoint but received {type(new)}'
        new = core.as_tensor(new)
    if is_lazy(old) and is_lazy(new):
        return None
    if not is_lazy(old):
        if old.dim() == 0 and new.dim() == 1 and len(new) == 1:  # a number, as files of early versions have it
            new = new[0]
        if new.shape != old.shape:
            return (
                f"size mismatch for {path}: copying a param with shape {new.shape} from checkpoint, "
                f"the shape in current model is {old.shape}."
            )
    if not assign:
        try:
            old.copy_(new)
        except Exception as error:
            return (
                f'While copying the parameter named "{path}", whose dimensions in the model are {old.size()} and whose dimensions in the '
                f"checkpoint are {new.size()}, an exception occurred : {error.args}."
            )
    elif isinstance(old, Parameter) and not isinstance(new, Parameter):
        setattr(module, name, Parameter(new, old.requires_grad))
    else:
        setattr(module, name, new.requires_grad_(old.requires_grad) if isinstance(old, Parameter) else new)
    return None


def is_lazy(t: Any) -> bool:
    """Whether a tensor waits for its shape."""
    return hasattr(t, "cls_to_become")


_EXTRA_STATE_KEY_SUFFIX = "_extra_state"
