"""MKL, which adjoint does not use: products of matrices are OpenBLAS's."""


def is_available() -> bool:
    """False."""
    return False
