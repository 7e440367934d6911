"""autocast: a thread computes what is expensive in a half type, and what needs it in float32."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import _engine

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

HALF = (core.bfloat16, core.float16)


def is_autocast_available(device_type: str) -> bool:
    """Whether there is mixed precision for a type of device: for ``"cpu"`` and ``"cuda"``.

    Example::

        >>> ad.amp.autocast_mode.is_autocast_available("cpu")
        True
    """
    return device_type in ("cpu", "cuda")


class autocast:  # noqa: N801
    """A context, or a decorator, in which products of matrices and convolutions compute in a half type, and what would lose too much by
    it in float32; all else takes what it gets.

    Weights are cast once while the outermost context lasts. Operations in place, with ``out=``, on float64 and on integers are left
    alone. Backward runs outside: its operations take the types of those they belong to.

    Arguments:
        device_type: ``"cpu"`` or ``"cuda"``: tensors of other devices are left alone.
        dtype: the half type; None: bfloat16 for CPUs, float16 for GPUs, or what ``set_autocast_dtype`` said.
        enabled: False switches an outer context off.
        cache_enabled: whether cast weights are kept.

    Raises:
        RuntimeError: there is no mixed precision for the device.

    Example::

        >>> a, b = ad.ones(2, 2), ad.ones(2, 2)
        >>> with ad.autocast("cpu"):
        ...     (a @ b).dtype, (a + b).dtype
        (adjoint.bfloat16, adjoint.float32)
    """

    def __init__(
        self, device_type: str, dtype: core.dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = _engine.get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = _engine.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        if enabled and device_type == "cuda" and not core.cuda.is_available():
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling", stacklevel=2)
            enabled = False
        if enabled and self.fast_dtype not in HALF:
            warnings.warn(
                f"In {device_type.upper()} autocast, but the target dtype {self.fast_dtype} is not supported. Disabling autocast. "
                f"Supported are {HALF[0]} and {HALF[1]}.",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._before: list[tuple[Any, ...]] = []

    def __enter__(self) -> autocast:
        d = self.device
        self._before.append(
            (_engine.is_autocast_enabled(d), _engine.get_autocast_dtype(d), _engine.is_autocast_cache_enabled())
        )
        _engine.set_autocast_enabled(d, self._enabled)
        _engine.set_autocast_dtype(d, self.fast_dtype)
        _engine.set_autocast_cache_enabled(self._cache_enabled)
        _engine.autocast_increment_nesting()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if _engine.autocast_decrement_nesting() == 0:
            _engine.clear_autocast_cache()
        enabled, dtype, caches = self._before.pop()
        _engine.set_autocast_enabled(self.device, enabled)
        _engine.set_autocast_dtype(self.device, dtype)
        _engine.set_autocast_cache_enabled(caches)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return wrapper


def _cast(value: Any, device_type: str, dtype: core.dtype) -> Any:
    """Floating-point tensors of the device, alone or in containers, in another type; float64 stays."""
    if isinstance(value, Tensor):
        of_device = value.is_floating_point() and value.device.type == device_type and value.dtype is not core.float64
        return value.to(dtype) if of_device else value
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(v, device_type, dtype) for v in value)
    return value


def custom_fwd(fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: core.dtype | None = None) -> Any:
    """For ``forward`` of a custom Function: it runs in the caller's autocast, or, with ``cast_inputs``, without it on inputs of that type.

    Example::

        >>> class Square(ad.autograd.Function):
        ...     @staticmethod
        ...     @ad.amp.custom_fwd(device_type="cpu", cast_inputs=ad.float32)
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x @ x
        ...     @staticmethod
        ...     @ad.amp.custom_bwd(device_type="cpu")
        ...     def backward(ctx, v):
        ...         (x,) = ctx.saved_tensors
        ...         return v @ x.mT + x.mT @ v
        >>> with ad.autocast("cpu"):
        ...     Square.apply(ad.ones(2, 2)).dtype
        adjoint.float32
    """
    _known(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args: Any, **kwargs: Any) -> Any:
        args[0]._dtype = _engine.get_autocast_dtype(device_type)
        active = _engine.is_autocast_enabled(device_type)
        args[0]._fwd_used_autocast = active and cast_inputs is None
        if cast_inputs is None or not active:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return decorate_fwd


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """For ``backward`` of a custom Function whose forward has `custom_fwd`: it runs with the forward's autocast.

    Example: see `custom_fwd`.
    """
    _known(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorate_bwd


def _known(device_type: str) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
