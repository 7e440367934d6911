"""What this library was built with, and how many threads it uses, for people who read it."""

from adjoint_core import get_num_threads as _get_num_threads


def show() -> str:
    """The parts in words."""
    from . import __version__, backends

    return f"adjoint {__version__} with:\n  - CPU capability usage: {backends.cpu.get_cpu_capability()}\n  - threads of its own, no OpenMP\n"


def parallel_info() -> str:
    """The number of threads in words."""
    return f"adjoint.get_num_threads() : {_get_num_threads()}\nparallel backend: threads of its own\n"
