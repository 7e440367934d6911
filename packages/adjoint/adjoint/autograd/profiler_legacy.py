"""The profiler's older class."""

from adjoint_profiler.legacy import profile as profile
