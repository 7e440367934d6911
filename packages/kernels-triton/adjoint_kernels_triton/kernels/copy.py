"""Conversions; copies that the driver cannot do share the kernel."""

from .._declare import elementwise


@elementwise("to_dtype")
def identity(x):
    return x


@elementwise()
def detach_where(x, mask):
    """Only derivatives look at the mask."""
    return x
