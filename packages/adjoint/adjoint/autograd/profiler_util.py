"""The events that profiles are made of."""

from adjoint_profiler import MEMORY_EVENT_NAME as MEMORY_EVENT_NAME
from adjoint_profiler import DeviceType as DeviceType
from adjoint_profiler import EventList as EventList
from adjoint_profiler import EventMetadata as EventMetadata
from adjoint_profiler import FormattedTimesMixin as FormattedTimesMixin
from adjoint_profiler import FunctionEvent as FunctionEvent
from adjoint_profiler import FunctionEventAvg as FunctionEventAvg
from adjoint_profiler import Interval as Interval
from adjoint_profiler import Kernel as Kernel
from adjoint_profiler import MemRecordsAcc as MemRecordsAcc
from adjoint_profiler import StringTable as StringTable
from adjoint_profiler import format_memory as _format_memory  # noqa: F401
from adjoint_profiler import format_share as _format_time_share  # noqa: F401
from adjoint_profiler import format_time as _format_time  # noqa: F401
