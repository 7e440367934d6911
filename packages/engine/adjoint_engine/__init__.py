"""The graph engine of adjoint: reverse mode, forward levels, batching, hooks, custom Functions."""

import os as _os

import adjoint_core as _core  # its library must be mapped before the engine's
from adjoint_core._tensor import _rebuild
from adjoint_core._warnings import is_warn_always_enabled as is_warn_always_enabled
from adjoint_core._warnings import set_warn_always as set_warn_always

from . import _engine as _engine
from . import forward_ad as forward_ad
from . import graph as graph
from . import trees as trees
from ._backward import GradientEdge as GradientEdge
from ._backward import backward as backward
from ._backward import grad as grad
from ._diagnosis.anomaly import detect_anomaly as detect_anomaly
from ._diagnosis.anomaly import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from ._diagnosis.anomaly import is_anomaly_enabled as is_anomaly_enabled
from ._diagnosis.anomaly import set_detect_anomaly as set_detect_anomaly
from ._diagnosis.detect_nan import detect_nan as detect_nan
from ._diagnosis.non_finite import NonFiniteError as NonFiniteError
from ._engine import SavedTensor as SavedTensor
from ._function.context import BackwardCFunction as BackwardCFunction
from ._function.context import FunctionCtx as FunctionCtx
from ._function.delayed_errors import DelayedError as DelayedError
from ._function.delayed_errors import UndefinedGrad as UndefinedGrad
from ._function.function import Function as Function
from ._function.function import FunctionMeta as FunctionMeta
from ._function.function import once_differentiable as once_differentiable
from ._function.older_forms import InplaceFunction as InplaceFunction
from ._function.older_forms import NestedIOFunction as NestedIOFunction
from ._function.protocol import VmapInfo as VmapInfo
from ._modes.switches import _force_original_view_tracking as _force_original_view_tracking
from ._modes.switches import enable_grad as enable_grad
from ._modes.switches import enforce_grad_layout_policy as enforce_grad_layout_policy
from ._modes.switches import inference_mode as inference_mode
from ._modes.switches import is_grad_enabled as is_grad_enabled
from ._modes.switches import is_inference_mode_enabled as is_inference_mode_enabled
from ._modes.switches import is_multithreading_enabled as is_multithreading_enabled
from ._modes.switches import is_view_replay_enabled as is_view_replay_enabled
from ._modes.switches import no_grad as no_grad
from ._modes.switches import set_grad_enabled as set_grad_enabled
from ._modes.switches import set_multithreading_enabled as set_multithreading_enabled
from ._parameter import Parameter as Parameter
from ._tensor.attributes import detach as detach
from ._tensor.attributes import detach_ as detach_
from ._tensor.attributes import is_inference as is_inference
from ._tensor.variable import Variable as Variable
from ._tensor.variable import VariableMeta as VariableMeta
from ._transforms.levels import batch_level as batch_level
from ._transforms.levels import is_tracked as is_tracked
from ._transforms.levels import tangent_level as tangent_level
from ._transforms.levels import tape_level as tape_level
from ._transforms.vmap import vmap as vmap

_rebuild.__module__ = __name__  # pickles name it by this module: who loads one has leaves that require grad
_core._core.skip_prefix(_os.path.dirname(__file__) + _os.sep)
__version__ = "0.1.0"
