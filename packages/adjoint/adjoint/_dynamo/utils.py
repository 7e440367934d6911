"""What libraries ask of PyTorch's compiler: whether it is there, and what it has counted."""

from __future__ import annotations

from collections import Counter, defaultdict

counters: defaultdict[str, Counter[str]] = defaultdict(Counter)
"Of each stage, how often something happened; nothing does."


def is_compile_supported(device_type: str) -> bool:
    """False: nothing is compiled."""
    return False
