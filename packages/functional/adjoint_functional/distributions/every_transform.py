"""All transforms, as PyTorch has them in one module."""

from . import elementwise_transforms, matrix_transforms, more_transforms, transforms
from .elementwise_transforms import *  # noqa: F403
from .elementwise_transforms import _clipped_sigmoid as _clipped_sigmoid
from .matrix_transforms import *  # noqa: F403
from .more_transforms import *  # noqa: F403
from .transforms import *  # noqa: F403
from .transforms import _InverseTransform as _InverseTransform

_FILES = (elementwise_transforms, matrix_transforms, more_transforms, transforms)
__all__ = sorted(name for file in _FILES for name in file.__all__)
