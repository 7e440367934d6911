"""The functions of `ad.` that are composed of others; some are methods of `Tensor` too, from this import on."""

from .nn.functional.top_level import *  # noqa: F403
from .signal.spectral import *  # noqa: F403
from .statistics import *  # noqa: F403
