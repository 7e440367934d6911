"""Layers that learn how many inputs they have from the first one, and parameters that wait for a shape."""

from __future__ import annotations

from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_core._tensor.subclasses import _disabled_torch_function_impl
from adjoint_engine import Parameter, no_grad

from . import convolution, norm
from .linear import Linear

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d",
    "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear",
    "LazyModuleMixin", "UninitializedBuffer", "UninitializedParameter", "is_lazy",
]  # fmt: skip


class UninitializedTensorMixin:
    """A tensor that has a type and a device, and no shape yet."""

    cls_to_become: Any

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Gives it a shape, and memory that is not initialised: from now on it is an ordinary one."""
        data = core.empty(shape, device=self.device if device is None else device, dtype=self.dtype if dtype is None else dtype)
        self.__class__ = self.cls_to_become
        self.data = data

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when "
            "trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before "
            "accessing their attributes."
        )

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        made, arguments = self.__reduce_ex__(2)
        return memo.setdefault(id(self), made(*arguments))

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter that waits for a shape.

    Example::

        >>> p = ad.nn.UninitializedParameter()
        >>> p.materialize((2, 3))
        >>> type(p).__name__, p.shape
        ('Parameter', adjoint.Size([2, 3]))
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return super().__new__(cls, core.empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer that waits for a shape.

    Example::

        >>> ad.nn.UninitializedBuffer().materialize((2, 3))
    """

    cls_to_become = Tensor
    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True) -> Any:
        made = core.empty(0, device=device, dtype=dtype).as_subclass(cls).requires_grad_(requires_grad)
        made.persistent = persistent
        return made


def is_lazy(param: Any) -> bool:
    """Whether it waits for a shape.

    Example::

        >>> ad.nn.modules.lazy.is_lazy(ad.nn.LazyLinear(3).weight)
        True
    """
    return isinstance(param, UninitializedTensorMixin)


class LazyModuleMixin:
    """Put in front of a module class: its parameters wait until the first call, which is looked at by ``initialize_parameters``; then
    the module becomes one of ``cls_to_become``."""

    cls_to_become: Any = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self.register_load_state_dict_pre_hook(type(self)._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(type(self)._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)  # type: ignore[misc]
        for name, value in (*self._parameters.items(), *self._buffers.items()):
            if is_lazy(value) and prefix + name in destination:
                destination[prefix + name] = value  # what waits for a shape has no values to be cut off

    @staticmethod
    def _lazy_load_hook(module: Any, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name, value in (*module._parameters.items(), *module._buffers.items()):
            given = state_dict.get(prefix + name)
            if is_lazy(value) and given is not None and not is_lazy(given):
                with no_grad():
                    value.materialize(given.shape)

    def initialize_parameters(self: Any, *args: Any, **kwargs: Any) -> None:
        """Gives every parameter its shape, from the arguments of the first call."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self: Any) -> bool:
        """Whether a parameter or a buffer waits."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    @staticmethod
    def _infer_parameters(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become


class _Lazy(LazyModuleMixin):
    """A layer whose first argument is found at the first call.

    It begins as a small layer of the same kind whose tensors are taken out; the first call makes a whole one and takes its values.
    """

    _first: str  # the name of the argument
    _dims: tuple[int, ...] = ()  # of the input; none: any

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        groups = kwargs.get("groups", 1)
        state = core.get_rng_state()
        super().__init__(groups, *args, **kwargs)
        core.set_rng_state(state)  # the numbers are those of the layer to come
        self._made_of = args, kwargs
        for table, kind in ((self._parameters, UninitializedParameter), (self._buffers, UninitializedBuffer)):
            for name, value in table.items():
                if value is not None and value.dim() > 0:
                    table[name] = kind(device=value.device, dtype=value.dtype)
        setattr(self, self._first, 0)

    def _size(self, input: Tensor) -> int:
        if self._dims and input.dim() not in self._dims:
            expected = " or ".join(f"{d}D" for d in self._dims)
            raise RuntimeError(f"Expected {expected} input to {type(self).__name__}, but got input of size: {input.shape}")
        return input.shape[self._at(input)]

    def _at(self, input: Tensor) -> int:
        return 1

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Makes the layer for the size of the input."""
        if not self.has_uninitialized_params():
            setattr(self, self._first, getattr(self, self._first) or self._size(input))
            return
        given, named = self._made_of
        whole = self.cls_to_become(self._size(input), *given, **named)
        with no_grad():
            for mine, its in ((self._parameters, whole._parameters), (self._buffers, whole._buffers)):
                for name, value in mine.items():
                    if is_lazy(value):
                        value.materialize(its[name].shape)
                        value.copy_(its[name])
        setattr(self, self._first, getattr(whole, self._first))
        del self._made_of


class LazyLinear(_Lazy, Linear):
    """`Linear` of whatever the first input has.

    Example::

        >>> layer = ad.nn.LazyLinear(2)
        >>> layer(ad.ones(4, 3)).shape, layer
        (adjoint.Size([4, 2]), Linear(in_features=3, out_features=2, bias=True))
    """

    cls_to_become = Linear
    _first = "in_features"

    def _at(self, input: Tensor) -> int:
        return -1


class _LazyConv(_Lazy):
    _first = "in_channels"

    def _at(self, input: Tensor) -> int:
        return 0 if input.dim() == min(self._dims) else 1


def _lazily(base: Any, mixin: type, **more: Any) -> Any:
    """A layer of ``base`` that waits."""
    name = f"Lazy{base.__name__}"
    doc = f"`{base.__name__}` of whatever channels the first input has: the arguments are the others."
    return type(name, (mixin, base), {"__doc__": doc, "__module__": __name__, "cls_to_become": base, **more})


class _LazyNorm(_Lazy):
    _first = "num_features"


class _LazyInstanceNorm(_LazyNorm):
    """With parameters and statistics, unless told otherwise: without them it would have nothing to wait for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        for position, name in ((2, "affine"), (3, "track_running_stats")):
            if len(args) <= position:
                kwargs.setdefault(name, True)
        super().__init__(*args, **kwargs)


LazyConv1d = _lazily(convolution.Conv1d, _LazyConv, _dims=(2, 3))
LazyConv2d = _lazily(convolution.Conv2d, _LazyConv, _dims=(3, 4))
LazyConv3d = _lazily(convolution.Conv3d, _LazyConv, _dims=(4, 5))
LazyConvTranspose1d = _lazily(convolution.ConvTranspose1d, _LazyConv, _dims=(2, 3))
LazyConvTranspose2d = _lazily(convolution.ConvTranspose2d, _LazyConv, _dims=(3, 4))
LazyConvTranspose3d = _lazily(convolution.ConvTranspose3d, _LazyConv, _dims=(4, 5))
LazyBatchNorm1d = _lazily(norm.BatchNorm1d, _LazyNorm)
LazyBatchNorm2d = _lazily(norm.BatchNorm2d, _LazyNorm)
LazyBatchNorm3d = _lazily(norm.BatchNorm3d, _LazyNorm)
LazyInstanceNorm1d = _lazily(norm.InstanceNorm1d, _LazyInstanceNorm)
LazyInstanceNorm2d = _lazily(norm.InstanceNorm2d, _LazyInstanceNorm)
LazyInstanceNorm3d = _lazily(norm.InstanceNorm3d, _LazyInstanceNorm)
