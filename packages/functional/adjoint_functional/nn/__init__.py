"""Modules: layers, losses and containers over `nn.functional`, with PyTorch's names of parameters."""

from . import init as init
from ._attention import *  # noqa: F403
from ._containers import *  # noqa: F403
from ._conv import *  # noqa: F403
from ._generated import *  # noqa: F403
from ._linear import *  # noqa: F403
from ._module import Buffer as Buffer
from ._module import Module as Module
from ._norm import *  # noqa: F403
from ._recurrent import *  # noqa: F403
