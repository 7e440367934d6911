"""oneDNN, which adjoint does not use: kernels of the CPU are its own, products of matrices OpenBLAS's."""


def is_available() -> bool:
    """False."""
    return False
