"""The profiler of adjoint: what ran, for how long, with how much memory; tables, traces and reports."""

from ._average import FunctionEventAvg as FunctionEventAvg
from ._config import ExperimentalConfig as ExperimentalConfig
from ._config import ProfilerActivity as ProfilerActivity
from ._config import ProfilerConfig as ProfilerConfig
from ._config import ProfilerState as ProfilerState
from ._config import kineto_available as kineto_available
from ._config import supported_activities as supported_activities
from ._emit import emit_itt as emit_itt
from ._emit import emit_nvtx as emit_nvtx
from ._event import FormattedTimesMixin as FormattedTimesMixin
from ._event import FunctionEvent as FunctionEvent
from ._event_list import EventList as EventList
from ._metadata import EventMetadata as EventMetadata
from ._nvprof import load_nvprof as load_nvprof
from ._nvprof import parse_nvprof_trace as parse_nvprof_trace
from ._profile import profile as profile
from ._profile import profiler_enabled as profiler_enabled
from ._quantities import DeviceType as DeviceType
from ._quantities import Interval as Interval
from ._quantities import Kernel as Kernel
from ._quantities import format_memory as format_memory
from ._quantities import format_share as format_share
from ._quantities import format_time as format_time
from ._ranges import record_function as record_function
from ._records import MemRecordsAcc as MemRecordsAcc
from ._records import StringTable as StringTable
from ._steps import EnforceUnique as EnforceUnique
from ._steps import KinetoStepTracker as KinetoStepTracker
from ._tree import MEMORY as MEMORY_EVENT_NAME  # noqa: F401

__version__ = "0.1.0"
