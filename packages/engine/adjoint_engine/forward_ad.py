"""Forward mode: dual numbers at nested levels."""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple

from adjoint_core import Tensor

from . import _engine
from ._modes.switches import DecoratorContextManager, _Switch

enter_dual_level = _engine.enter_dual_level


def __getattr__(name: str) -> Any:
    if name == "_current_level":
        return _engine.dual_level()
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def exit_dual_level(*, level: int | None = None) -> None:
    """Leaves a level; all its tangents are gone.

    Raises:
        RuntimeError: the level is not the innermost one.

    Example::

        >>> level = ad.autograd.forward_ad.enter_dual_level()
        >>> ad.autograd.forward_ad.exit_dual_level(level=level)
    """
    _engine.exit_dual_level(-1 if level is None else level)


class UnpackedDualTensor(NamedTuple):
    """What a dual tensor is made of; the tangent is None where it is zero by construction.

    Example::

        >>> with ad.autograd.forward_ad.dual_level():
        ...     dual = ad.autograd.forward_ad.make_dual(ad.tensor(2.0), ad.tensor(1.0))
        ...     ad.autograd.forward_ad.unpack_dual(dual**2).tangent
        tensor(4.)
    """

    primal: Tensor
    tangent: Tensor | None


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor with the value of ``tensor`` and the tangent ``tangent``.

    Arguments:
        tensor: floating point or complex, any shape.
        tangent: of the same shape and dtype.
        level: the number that ``enter_dual_level`` gave; the innermost by default.

    Raises:
        RuntimeError: no level was entered; shapes or dtypes differ.
        ValueError: integers or bools.

    Example::

        >>> with ad.autograd.forward_ad.dual_level():
        ...     y = ad.autograd.forward_ad.make_dual(ad.tensor(3.), ad.tensor(1.)) ** 2
        ...     ad.autograd.forward_ad.unpack_dual(y).tangent
        tensor(6.)
    """
    if not isinstance(tensor, Tensor) or not isinstance(tangent, Tensor):
        raise TypeError(f"make_dual: expected two tensors, got {type(tensor)} and {type(tangent)}")
    for what, x in (("primal", tensor), ("tangent", tangent)):
        if not x.is_floating_point() and not x.is_complex():
            raise ValueError(f"make_dual: Expected {what} to be floating point or complex, but got: {x.dtype}")
    return _engine.make_dual(tensor, tangent, -1 if level is None else level)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal and the tangent of ``tensor`` at a level, the innermost by default; without a level, the tensor and None.

    Example::

        >>> ad.autograd.forward_ad.unpack_dual(ad.tensor(3.))
        UnpackedDualTensor(primal=tensor(3.), tangent=None)
    """
    if level is None and _engine.dual_level() < 0:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_engine.unpack_dual(tensor, -1 if level is None else level))


class dual_level(DecoratorContextManager):
    """A level for the time of a block, or of each call of the function it decorates. Levels nest, in any mix with reverse mode and vmap.

    Example::

        >>> with ad.autograd.forward_ad.dual_level() as level:
        ...     level
        0
    """

    def __enter__(self) -> int:
        self._level = enter_dual_level()
        return self._level

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        _engine.exit_dual_level(self._level)


def _is_fwd_grad_enabled() -> bool:
    """Whether dual tensors carry their tangents along."""
    return _engine.forward_mode()


class _set_fwd_grad_enabled(_Switch):
    """Whether dual tensors carry their tangents along: at once as a function, or for a block."""

    _get = staticmethod(_engine.forward_mode)
    _set = staticmethod(_engine.set_forward_mode)
