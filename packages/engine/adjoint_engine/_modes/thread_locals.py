"""What belongs to a thread and goes along with a backward into its other threads."""

from __future__ import annotations

from typing import Any

from .. import _engine


class Local:
    """As ``threading.local``, whose place in a thread is the interpreter's own matter: that one stays behind."""

    def __getattr__(self, name: str) -> Any:
        try:
            return _engine.locals_of_thread()[self, name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        _engine.locals_of_thread()[self, name] = value
