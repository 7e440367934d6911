"""Reverse and forward mode: the counterpart of torch.autograd."""

import importlib as _importlib
import sys as _sys
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING

from adjoint_engine import Function as Function
from adjoint_engine import NestedIOFunction as NestedIOFunction
from adjoint_engine import NonFiniteError as NonFiniteError
from adjoint_engine import SavedTensor as SavedTensor
from adjoint_engine import Variable as Variable
from adjoint_engine import _force_original_view_tracking as _force_original_view_tracking
from adjoint_engine import backward as backward
from adjoint_engine import detect_anomaly as detect_anomaly
from adjoint_engine import detect_nan as detect_nan
from adjoint_engine import enable_grad as enable_grad
from adjoint_engine import enforce_grad_layout_policy as enforce_grad_layout_policy
from adjoint_engine import grad as grad
from adjoint_engine import inference_mode as inference_mode
from adjoint_engine import is_multithreading_enabled as is_multithreading_enabled
from adjoint_engine import is_view_replay_enabled as is_view_replay_enabled
from adjoint_engine import no_grad as no_grad
from adjoint_engine import set_detect_anomaly as set_detect_anomaly
from adjoint_engine import set_grad_enabled as set_grad_enabled
from adjoint_engine import set_multithreading_enabled as set_multithreading_enabled
from adjoint_engine._graph.node import unsafe_preserve_version_counter as _unsafe_preserve_version_counter  # noqa: F401

from . import anomaly_mode as anomaly_mode
from . import forward_ad as forward_ad
from . import function as function
from . import grad_mode as grad_mode
from . import graph as graph
from . import variable as variable

__all__ = [
    "Function",
    "NestedIOFunction",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]

if TYPE_CHECKING:
    from . import functional as functional
    from .gradcheck import gradcheck as gradcheck
    from .gradcheck import gradgradcheck as gradgradcheck
    from .profiler import DeviceType as DeviceType
    from .profiler import ProfilerActivity as ProfilerActivity
    from .profiler import ProfilerConfig as ProfilerConfig
    from .profiler import ProfilerState as ProfilerState
    from .profiler import kineto_available as kineto_available

_LATER = {  # imported when first used
    "functional": None,
    "profiler": None,
    "profiler_legacy": None,
    "profiler_util": None,
    "gradcheck": "gradcheck",
    "gradgradcheck": "gradcheck",
    "DeviceType": "profiler",
    "ProfilerActivity": "profiler",
    "ProfilerConfig": "profiler",
    "ProfilerState": "profiler",
    "kineto_available": "profiler",
    "_profiler_enabled": "profiler",
}


class _Autograd(_ModuleType):
    """Importing the module `gradcheck` leaves the function of that name where it is."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, getattr(value, name) if name == "gradcheck" and isinstance(value, _ModuleType) else value)

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return _importlib.import_module, (__name__,)  # as cloudpickle has it for plain modules


_sys.modules[__name__].__class__ = _Autograd


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _LATER[name]
    found = _importlib.import_module(f".{module or name}", __name__)
    return getattr(found, name) if module else found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
