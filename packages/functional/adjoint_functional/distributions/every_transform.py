"""All transforms, as PyTorch has them in one module."""

from .matrix_transforms import *  # noqa: F403
from .more_transforms import *  # noqa: F403
from .transforms import *  # noqa: F403
from .transforms import _InverseTransform as _InverseTransform
