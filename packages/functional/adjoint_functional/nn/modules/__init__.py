"""Modules: layers, losses and containers over `nn.functional`, with PyTorch's names of parameters."""

from .attention import *  # noqa: F403
from .containers import *  # noqa: F403
from .convolution import *  # noqa: F403
from .convolution import _ConvNd as _ConvNd
from .convolution import _ConvTransposeNd as _ConvTransposeNd
from .generated import *  # noqa: F403
from .lazy import *  # noqa: F403
from .linear import *  # noqa: F403
from .module import Buffer as Buffer
from .module import Module as Module
from .norm import *  # noqa: F403
from .norm import _BatchNorm as _BatchNorm
from .norm import _InstanceNorm as _InstanceNorm
from .norm import _NormBase as _NormBase
from .older import *  # noqa: F403
from .recurrent import *  # noqa: F403
from .transformer import *  # noqa: F403
