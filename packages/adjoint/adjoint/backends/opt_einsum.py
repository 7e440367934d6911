"""The order of contractions in `einsum`: adjoint finds it by itself. Programs may set the switches; nobody reads them."""

enabled, strategy = True, "auto"


def is_available() -> bool:
    """False: the library of this name is not used."""
    return False
