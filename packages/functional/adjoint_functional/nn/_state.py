"""The state of a module by name: saved, loaded, or lent for one call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import Parameter, no_grad

if TYPE_CHECKING:
    from ._module import Module


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
        for name, t in (*self._parameters.items(), *self._buffers.items()):
            if t is not None and name not in self._non_persistent_buffers_set:
                found[prefix + name] = t if keep_vars else t.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=found, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        if type(self).get_extra_state is not State.get_extra_state:
            found[prefix + "_extra_state"] = self.get_extra_state()
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
        own = self.state_dict(keep_vars=True)
        missing, unexpected = [k for k in own if k not in state_dict], [k for k in state_dict if k not in own]
        errors = []
        if strict and unexpected:
            errors.append(f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
        if strict and missing:
            errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        for name, value in own.items():
            if name in state_dict and (error := _load(self, name, value, state_dict[name], assign)):
                errors.append(error)
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return IncompatibleKeys(missing, unexpected)


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


@no_grad()
def _load(module: Module, path: str, old: Any, new: Any, assign: bool) -> str | None:
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
