"""What ran, for how long, with how much memory: the counterpart of torch.autograd.profiler."""

from typing import Any

from adjoint_profiler import MEMORY_EVENT_NAME as MEMORY_EVENT_NAME
from adjoint_profiler import DeviceType as DeviceType
from adjoint_profiler import EnforceUnique as EnforceUnique
from adjoint_profiler import EventList as EventList
from adjoint_profiler import FunctionEvent as FunctionEvent
from adjoint_profiler import FunctionEventAvg as FunctionEventAvg
from adjoint_profiler import Interval as Interval
from adjoint_profiler import Kernel as Kernel
from adjoint_profiler import KinetoStepTracker as KinetoStepTracker
from adjoint_profiler import MemRecordsAcc as MemRecordsAcc
from adjoint_profiler import ProfilerActivity as ProfilerActivity
from adjoint_profiler import ProfilerConfig as ProfilerConfig
from adjoint_profiler import ProfilerState as ProfilerState
from adjoint_profiler import StringTable as StringTable
from adjoint_profiler import emit_itt as emit_itt
from adjoint_profiler import emit_nvtx as emit_nvtx
from adjoint_profiler import kineto_available as kineto_available
from adjoint_profiler import load_nvprof as load_nvprof
from adjoint_profiler import parse_nvprof_trace as parse_nvprof_trace
from adjoint_profiler import profile as profile
from adjoint_profiler import profiler_enabled as _profiler_enabled  # noqa: F401
from adjoint_profiler import record_function as record_function


def __getattr__(name: str) -> Any:
    if name == "_is_profiler_enabled":  # a variable that tools look at before they name a range
        return _profiler_enabled()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
