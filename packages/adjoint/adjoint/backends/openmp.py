"""OpenMP, which adjoint does not use: it has a pool of threads of its own."""


def is_available() -> bool:
    """False."""
    return False
