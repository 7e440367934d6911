"""`distributed.rpc` and `distributed.autograd`: programs ask there whether processes can call functions in each other."""

from __future__ import annotations

from typing import Never

__all__ = ["context", "is_available"]


def is_available() -> bool:
    """Whether processes call functions in each other, and differentiate through it: never.

    Examples:
        >>> from adjoint_functional.distributed import remote_calls
        >>> remote_calls.is_available()
        False
    """
    return False


class context:  # noqa: N801 (PyTorch's name)
    """What the parts of a backward pass over several processes would belong to.

    Raises:
        NotImplementedError: when it is entered.
    """

    def __enter__(self) -> Never:
        raise NotImplementedError("distributed.autograd.context: processes speak by MPI, and call no functions in each other")

    def __exit__(self, *error: object) -> None:
        pass
