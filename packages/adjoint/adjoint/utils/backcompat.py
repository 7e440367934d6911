"""Warnings of PyTorch's about programs older than its broadcasting: kept, and without effect, there as here."""

from typing import Any

__all__ = ["broadcast_warning", "keepdim_warning"]


class _Warning:
    enabled = False

    def set_enabled(self, value: bool) -> None:
        """Sets it."""
        self.enabled = value

    def get_enabled(self) -> bool:
        """Whether it is set."""
        return self.enabled


broadcast_warning: Any = _Warning()
keepdim_warning: Any = _Warning()
