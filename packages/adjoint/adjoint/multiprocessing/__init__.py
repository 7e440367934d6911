"""`multiprocessing` for tensors: queues, pipes and pools in shared memory, and `spawn`."""

from adjoint_functional.multiprocessing import *  # noqa: F403

from . import queue as queue
from . import reductions as reductions
from .spawn import spawn as spawn  # the function, where importing its module has put that
