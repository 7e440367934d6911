"""What PyTorch checks by `assert`: programs catch an AssertionError there, and know here what kind of mistake it is."""

from __future__ import annotations

from adjoint_core import ShapeError


class AssertedShapeError(ShapeError, AssertionError):
    """Shapes that do not fit."""


class AssertedTypeError(TypeError, AssertionError):
    """A type that is not taken."""


class AssertedValueError(ValueError, AssertionError):
    """A value that is not taken."""
