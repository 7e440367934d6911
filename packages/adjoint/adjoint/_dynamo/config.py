"""What programs set for PyTorch's compiler: kept, and without effect."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

cache_size_limit = recompile_limit = 8
suppress_errors = verbose = False


@contextmanager
def patch(changes: dict[str, Any] | None = None, **more: Any) -> Iterator[None]:
    """Sets these within a `with` or a function."""
    before = dict(globals())
    globals().update(changes or {}, **more)
    try:
        yield
    finally:
        globals().update({name: before[name] for name in (*(changes or {}), *more) if name in before})
