"""Fast CPU kernels."""

# Written by tools/stubs.py: ./run stubs
from builtins import bool as _bool, int as _int
from typing import Any



def get_num_threads() -> _int:
    """The number of threads that work on one operation."""

def set_num_threads(threads: _int) -> None:
    """Sets the number of threads that work on one operation."""

def kernel_names() -> list[str]:
    """The operations that have a kernel here."""

def use_reference(name: str, wanted: _bool) -> None:
    """
    Whether the operation `name` runs core's reference kernel instead of the one here.
    """
