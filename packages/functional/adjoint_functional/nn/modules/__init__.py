"""Modules: layers, losses and containers over `nn.functional`, with PyTorch's names of parameters."""

from .attention import *  # noqa: F403
from .containers import *  # noqa: F403
from .convolution import *  # noqa: F403
from .generated import *  # noqa: F403
from .lazy import *  # noqa: F403
from .linear import *  # noqa: F403
from .module import Buffer as Buffer
from .module import Module as Module
from .norm import *  # noqa: F403
from .older import *  # noqa: F403
from .recurrent import *  # noqa: F403
from .transformer import *  # noqa: F403
