"""`multiprocessing` for tensors: queues, pipes and pools in shared memory, and `spawn`."""

import sys as _sys

from adjoint_functional.multiprocessing import *  # noqa: F403
from adjoint_functional.multiprocessing import queues as _queues
from adjoint_functional.multiprocessing import reductions as reductions
from adjoint_functional.multiprocessing import spawning as _spawning

for _name, _part in (("queue", _queues), ("reductions", reductions), ("spawn", _spawning)):
    _sys.modules[f"{__name__}.{_name}"] = _part
