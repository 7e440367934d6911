"""Apple's GPUs, which are none of adjoint's devices."""


def is_available() -> bool:
    """False."""
    return False


is_built = is_available
