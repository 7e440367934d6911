"""Memory shared with other libraries."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Holder:
    """Keeps a tensor alive while NumPy looks at its memory."""

    __slots__ = ("__array_interface__", "tensor")

    def __init__(self, tensor: Any, interface: dict[str, Any]) -> None:
        self.tensor = tensor
        self.__array_interface__ = interface
