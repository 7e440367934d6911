"""Fast CPU kernels for adjoint: importing this package puts them into the table of `adjoint_core`."""

from __future__ import annotations

from adjoint_core import (
    _core,  # first: it loads the library whose table the kernels go into
    _threads,
)
from adjoint_kernels_cpu import _openblas

with _openblas.settings(_core._instruction_set()):
    from adjoint_kernels_cpu._kernels import get_num_threads as get_num_threads
    from adjoint_kernels_cpu._kernels import set_num_threads as set_num_threads

_threads.register(get_num_threads, set_num_threads)
__version__ = "0.1.0"
