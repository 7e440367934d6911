"""PyTorch's fast path of attention modules, which is not taken here: its switch is remembered."""

_fast = True


def get_fastpath_enabled() -> bool:
    """What `set_fastpath_enabled` was told."""
    return _fast


def set_fastpath_enabled(value: bool) -> None:
    """Remembered."""
    global _fast
    _fast = value
