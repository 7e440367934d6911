"""All transforms, as PyTorch has them in one module."""

from . import matrix_transforms, more_transforms, transforms
from .matrix_transforms import *  # noqa: F403
from .more_transforms import *  # noqa: F403
from .transforms import *  # noqa: F403
from .transforms import _InverseTransform as _InverseTransform

__all__ = sorted({*matrix_transforms.__all__, *more_transforms.__all__, *transforms.__all__})
