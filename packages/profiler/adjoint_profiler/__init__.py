"""Profiler for adjoint.

The package reserves the names of ``torch.profiler`` (``profile``, ``record_function``, tables and traces); none of them
is written yet, and the engine offers no timing hooks. Importing it is free of effects.
"""

__all__ = ["__version__"]
__version__ = "0.1.0"
