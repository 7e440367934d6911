"""What programs set for PyTorch's compiler of kernels, which is not here."""

from adjoint_functional.compiler import cudagraph_mark_step_begin as cudagraph_mark_step_begin

from . import config as config
