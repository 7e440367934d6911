"""Statistics of tensors."""

from .covariance import *  # noqa: F403
from .order import *  # noqa: F403
