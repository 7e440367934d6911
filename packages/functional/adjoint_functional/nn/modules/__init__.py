"""Modules: layers, losses and containers over `nn.functional`, with PyTorch's names of parameters."""

from .adaptive import *  # noqa: F403
from .attention import *  # noqa: F403
from .containers import *  # noqa: F403
from .convolution import *  # noqa: F403
from .convolution import _ConvNd as _ConvNd
from .convolution import _ConvTransposeNd as _ConvTransposeNd
from .generated import *  # noqa: F403
from .generated import _DropoutNd as _DropoutNd
from .global_hooks import *  # noqa: F403
from .lazy import *  # noqa: F403
from .linear import *  # noqa: F403
from .linear import NonDynamicallyQuantizableLinear as NonDynamicallyQuantizableLinear
from .loss import *  # noqa: F403
from .loss import _Loss as _Loss
from .loss import _WeightedLoss as _WeightedLoss
from .module import Buffer as Buffer
from .module import Module as Module
from .module import _addindent as _addindent
from .norm import *  # noqa: F403
from .norm import _BatchNorm as _BatchNorm
from .norm import _InstanceNorm as _InstanceNorm
from .norm import _NormBase as _NormBase
from .older import *  # noqa: F403
from .padding import *  # noqa: F403
from .padding import _CircularPadNd as _CircularPadNd
from .padding import _ConstantPadNd as _ConstantPadNd
from .padding import _ReflectionPadNd as _ReflectionPadNd
from .padding import _ReplicationPadNd as _ReplicationPadNd
from .parameter_containers import *  # noqa: F403
from .pooling import *  # noqa: F403
from .pooling import _AdaptiveAvgPoolNd as _AdaptiveAvgPoolNd
from .pooling import _AdaptiveMaxPoolNd as _AdaptiveMaxPoolNd
from .pooling import _AvgPoolNd as _AvgPoolNd
from .pooling import _LPPoolNd as _LPPoolNd
from .pooling import _MaxPoolNd as _MaxPoolNd
from .pooling import _MaxUnpoolNd as _MaxUnpoolNd
from .recurrent import *  # noqa: F403
from .state import _EXTRA_STATE_KEY_SUFFIX as _EXTRA_STATE_KEY_SUFFIX
from .state import _IncompatibleKeys as _IncompatibleKeys
from .sync_norm import *  # noqa: F403
from .transformer import *  # noqa: F403
from .transformer import _get_activation_fn as _get_activation_fn
from .transformer import _get_clones as _get_clones
