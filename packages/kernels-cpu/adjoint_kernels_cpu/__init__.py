"""Fast CPU kernels for adjoint: importing this package puts them into the table of `adjoint_core`."""

import adjoint_core as _core  # first: it loads the library whose table the kernels go into

from adjoint_kernels_cpu._kernels import get_num_threads, kernel_names, set_num_threads

__all__ = ["get_num_threads", "kernel_names", "set_num_threads"]
