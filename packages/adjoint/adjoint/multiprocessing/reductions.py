"""How tensors are pickled for another process of this machine."""

from adjoint_functional.multiprocessing.reductions import *  # noqa: F403
