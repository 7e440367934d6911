"""GPU kernels for adjoint, written in Triton.

The package reserves its name and its dependency on Triton; it registers no kernels yet, so tensors live on the CPU.
Importing it is free of effects and does not import Triton.
"""

__all__ = ["__version__"]
__version__ = "0.1.0"
