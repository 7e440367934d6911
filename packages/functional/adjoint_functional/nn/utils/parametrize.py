"""Parameters as functions of other parameters: ``module.weight`` is computed where it is read, and gradients flow through."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adjoint_core import Tensor
from adjoint_engine import Parameter, no_grad

from ..modules.containers import ModuleDict, ModuleList
from ..modules.module import Module

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

_open = 0  # blocks of `cached`
_computed: dict[tuple[int, str], Tensor] = {}  # in them, by module and name


@contextmanager
def cached() -> Iterator[None]:
    """Inside the block, a parametrized tensor is computed when it is read first, and kept.

    Example::

        >>> with ad.nn.utils.parametrize.cached():
        ...     y = ad.nn.Linear(2, 2)(ad.ones(2))
    """
    global _open
    _open += 1
    try:
        yield
    finally:
        _open -= 1
        if not _open:
            _computed.clear()


def _keep(module: Module, name: str, value: Tensor) -> None:
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _same_form(what: str, a: Any, b: Tensor) -> None:
    """Raises unless `a` is a tensor of the type and shape of `b`."""
    if not isinstance(a, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(a).__name__}.")
    for name, x, y in (("dtype", a.dtype, b.dtype), ("shape", a.shape, b.shape)):
        if x != y:
            raise ValueError(
                f"Registering a parametrization may not change the {name} of the tensor, unless `unsafe` flag is enabled.\n"
                f"unparametrized {name}: {y}\n{what} {name}: {x}"
            )


class ParametrizationList(ModuleList):
    """The functions that a tensor goes through, and its ``original``, or ``original0``, ``original1``, ... if there are several."""

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        with no_grad():
            new: Any = original
            for module in reversed(list(self)):
                new = module.right_inverse(new) if hasattr(module, "right_inverse") else new
        self.is_tensor = isinstance(new, Tensor)
        if self.is_tensor:
            if new.dtype != original.dtype:
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the dtype: {original.dtype} and {new.dtype}"
                )
            if new is not original:
                original.data = new.detach()
            _keep(self, "original", original)
        elif not isinstance(new, Sequence) or not all(isinstance(t, Tensor) for t in new):
            raise ValueError(
                f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {type(new).__name__}"
            )
        self.ntensors = 1 if self.is_tensor else len(new)
        for i, t in enumerate(() if self.is_tensor else new):
            _keep(self, f"original{i}", Parameter(t.detach(), original.requires_grad) if isinstance(original, Parameter) else t)
        if not unsafe:
            _same_form("parametrized", self(), original if not self.is_tensor or new.shape == original.shape else new)

    def originals(self) -> list[Tensor]:
        """The tensors that the others are computed from."""
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def forward(self) -> Tensor:
        """The tensor."""
        x, *more = self.originals()
        for k, module in enumerate(self):
            x = module(x, *more) if k == 0 else module(x)
        return x

    @no_grad()
    def right_inverse(self, value: Any) -> None:
        """Makes the originals such that the tensor becomes ``value``.

        Raises:
            RuntimeError: a parametrization has no ``right_inverse``.
        """
        for module in reversed(list(self)):
            if not hasattr(module, "right_inverse"):
                raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
            value = module.right_inverse(value)
        values = [value] if self.is_tensor else list(value)
        if len(values) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of length {len(values)}."
            )
        for old, new in zip(self.originals(), values):
            if old.dtype != new.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {new.dtype} while `original` has dtype {old.dtype}"
                )
            old.data = new.detach()


class _Parametrized:
    """What the class of a parametrized module has before its own."""

    def __setattr__(self, name: str, value: Any) -> None:
        if is_parametrized(self, name):
            self.__dict__["_modules"]["parametrizations"][name].right_inverse(value)
        else:
            super().__setattr__(name, value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        twin = memo[id(self)] = object.__new__(type(self))
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return twin

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict().")


def _computed_tensor(name: str) -> property:
    def read(self: Module) -> Tensor:
        functions = self.parametrizations[name]
        if not _open:
            return functions()
        key = id(self), name
        if key not in _computed:
            _computed[key] = functions()
        return _computed[key]

    return property(read)


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a tensor of the module, or any of them, is parametrized.

    Example::

        >>> is_parametrized(ad.nn.Linear(1, 1), "weight")
        False
    """
    found = module.__dict__.get("_modules", {}).get("parametrizations")
    return isinstance(found, ModuleDict) and (len(found) > 0 if tensor_name is None else tensor_name in found)


def type_before_parametrizations(module: Module) -> type:
    """The class of the module as it was made.

    Example::

        >>> type_before_parametrizations(ad.nn.Linear(1, 1)).__name__
        'Linear'
    """
    return type(module).__bases__[1] if is_parametrized(module) else type(module)


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Module:
    """From now on ``module.<tensor_name>`` is ``parametrization(original)``; further ones are applied to what the first ones give.

    Arguments:
        tensor_name: of a parameter or a buffer, whose values become ``module.parametrizations.<tensor_name>.original``.
        parametrization: a module of one tensor. With ``right_inverse`` the tensor can be assigned, and keeps its value now; this may
            return several tensors, which the first parametrization takes then.
        unsafe: allows another shape or element type.

    Returns:
        The module, whose class is now one of its own.

    Raises:
        ValueError: no such tensor, or one of another shape or type comes out.

    Example::

        >>> class Symmetric(ad.nn.Module):
        ...     def forward(self, x):
        ...         return x.triu() + x.triu(1).mT
        >>> layer = ad.nn.utils.parametrize.register_parametrization(ad.nn.Linear(3, 3), "weight", Symmetric())
        >>> ad.equal(layer.weight, layer.weight.mT), sorted(layer.state_dict())
        (True, ['bias', 'parametrizations.weight.original'])
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        functions = module.parametrizations[tensor_name]
        if not unsafe:
            now = getattr(module, tensor_name)
            _same_form("parametrized", parametrization(now), now)
        functions.append(parametrization)
        functions.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        functions = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            kind = type(module)
            module.__class__ = type(f"Parametrized{kind.__name__}", (_Parametrized, kind), {})
            module.parametrizations = ModuleDict()
        setattr(type(module), tensor_name, _computed_tensor(tensor_name))
        module.parametrizations[tensor_name] = functions
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    return module


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Makes a parametrized tensor a parameter again: with its value now, or with that of the original.

    Raises:
        ValueError: the tensor is not parametrized, or has several originals of which none is its value.

    Example::

        >>> class Double(ad.nn.Module):
        ...     def forward(self, x):
        ...         return 2 * x
        >>> layer = ad.nn.Linear(1, 1)
        >>> _ = ad.nn.utils.parametrize.register_parametrization(layer, 'weight', Double())
        >>> _ = ad.nn.utils.parametrize.remove_parametrizations(layer, 'weight')
        >>> ad.nn.utils.parametrize.is_parametrized(layer)
        False
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    functions = module.parametrizations[tensor_name]
    if functions.is_tensor:
        original = functions.original
        if leave_parametrized:
            with no_grad():
                original.data = getattr(module, tensor_name).detach()
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _keep(module, tensor_name, original)
    if not len(module.parametrizations):
        before = type(module).__bases__[1]
        del module.parametrizations
        module.__class__ = before
    return module


def transfer_parametrizations_and_params(from_module: Module, to_module: Any, tensor_name: str | None = None) -> Any:
    """Gives a module the parametrizations of another one, and the values under them; one tensor's, or all.

    A tensor that ``to_module`` lacks is made. Returns ``to_module``.

    Raises:
        RuntimeError: there is no such tensor to take from.
    """
    if not is_parametrized(from_module):
        return to_module
    lists: Any = from_module.parametrizations
    if tensor_name is not None and tensor_name not in lists:
        raise RuntimeError(f"{type(from_module).__name__} has no parametrized tensor '{tensor_name}'")
    for name in [tensor_name] if tensor_name is not None else list(lists):
        given = lists[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(given().detach().clone()))
        for parametrization in given:
            register_parametrization(to_module, name, parametrization, unsafe=True)
        taken = to_module.parametrizations[name]
        with no_grad():
            for i, t in enumerate(given.originals()):
                _keep(taken, "original" if given.is_tensor else f"original{i}", t)
    return to_module
