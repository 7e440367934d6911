"""Settings of a module that hold for a block."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any


def patch_of(settings: dict[str, Any]) -> Callable[..., AbstractContextManager[None]]:
    """The `patch` of a module whose names are `settings`: sets some within a `with` or a function."""

    @contextmanager
    def patch(changes: dict[str, Any] | None = None, **more: Any) -> Iterator[None]:
        before = dict(settings)
        settings.update(changes or {}, **more)
        try:
            yield
        finally:
            settings.update({name: before[name] for name in (*(changes or {}), *more) if name in before})

    return patch
