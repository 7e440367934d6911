"""oneDNN, which adjoint does not use: kernels of the CPU are its own, products of matrices OpenBLAS's."""

enabled = True
"""Whether it may be used where it is available: of no effect."""


def is_available() -> bool:
    """False."""
    return False
