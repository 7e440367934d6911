"""GPUs, their streams and their memory."""

from adjoint_core.cuda import *  # noqa: F403
from adjoint_core.cuda import load_kernels_from as _load_kernels_from

_load_kernels_from("adjoint_kernels_triton")
