"""Levels for functional transforms: a tape, a forward mode, a batch, each entered for one call."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from adjoint_core import Tensor

from .. import _engine


class _Level:
    _kind = ""

    def __init__(self, batch: int = 0, randomness: str = "same", strict: bool = True) -> None:
        self.batch = batch
        self.randomness = randomness
        self.strict = strict  # the rules of functional transforms hold
        self.slot = 0

    def __enter__(self) -> Self:
        self.slot = _engine.enter_level(self._kind, self.batch, self.randomness, self.strict)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.slot = 0
        _engine.leave_level()


class tape_level(_Level):
    """A reverse-mode level: what happens inside is recorded for its leaves only.

    Its graph outlives it: ``grad`` may be called after the level was left.

    Example::

        >>> with tape_level() as level:
        ...     x = level.lift(ad.tensor(3.))
        ...     level.grad([x * x], [x], [ad.tensor(1.)])
        [tensor(6.)]
    """

    _kind = "tape"

    def lift(self, x: Tensor) -> Tensor:
        """A leaf of this level with the value of ``x``."""
        return _engine.lift_tape(x, self.slot)

    def lower(self, y: Tensor) -> Tensor:
        """The value of ``y`` below this level, with the history it has there."""
        return _engine.value_at(y, self.slot) if self.slot else _engine.fresh(y)

    def grad(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], cotangents: Sequence[Tensor]) -> list[Tensor | None]:
        """Cotangents of ``inputs`` below this level; None where no output depends on an input."""
        return _engine.grad_of_level(list(outputs), list(inputs), list(cotangents), self.slot)


class tangent_level(_Level):
    """A forward-mode level of its own.

    Example::

        >>> with tangent_level() as level:
        ...     x = level.make_dual(ad.tensor(3.), ad.tensor(1.))
        ...     level.unpack(x * x)
        (tensor(9.), tensor(6.))
    """

    _kind = "dual"

    def make_dual(self, primal: Tensor, tangent: Tensor) -> Tensor:
        """``primal`` with a tangent at this level."""
        return _engine.lift_dual(primal, tangent, self.slot)

    def unpack(self, y: Tensor) -> tuple[Tensor, Tensor | None]:
        """The value of ``y`` below this level and its tangent, None for zero."""
        return _engine.value_at(y, self.slot), _engine.tangent_at(y, self.slot)


class batch_level(_Level):
    """A level of ``batch`` lanes, whose tensors carry a hidden dimension; ``randomness`` as for ``vmap``. Unless ``strict``, the
    forward of a custom Function without a rule for batches is run on them as it is.

    Example::

        >>> with batch_level(2) as level:
        ...     x = level.lift(ad.tensor([[1., 2.], [3., 4.]]), 0)
        ...     level.lower(x.sum(0), 0)
        tensor([3., 7.])
    """

    _kind = "batch"

    def lift(self, x: Tensor, dim: int) -> Tensor:
        """``x`` without its dimension ``dim``, which becomes the batch."""
        return _engine.lift_batch(x, self.slot, dim)

    def lower(self, y: Tensor, dim: int) -> Tensor:
        """``y`` with the batch as dimension ``dim``; repeated if it does not depend on the batch."""
        return _engine.unbatch(y, self.slot, dim)


def is_tracked(t: Tensor) -> bool:
    """Whether a functional transform around (``grad``, ``vjp``, ``jvp``, not ``vmap``) differentiates through the tensor."""
    while (layer := _engine.layer(t)) is not None:
        level, batch_dim, t, _ = layer
        if level > 0 and batch_dim < 0:
            return True
    return False
