"""`distributed.elastic.multiprocessing.errors`: what a rank that raises leaves behind for who started it."""

from __future__ import annotations

import functools
import json
import os
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

__all__ = ["ErrorHandler", "get_error_handler", "record"]

F = TypeVar("F", bound=Callable[..., Any])


class ErrorHandler:
    """Writes an exception into the file that the environment variable `TORCHELASTIC_ERROR_FILE` names, if it names one."""

    def initialize(self) -> None:
        """Nothing: the program runs already."""

    def record_exception(self, e: BaseException) -> None:
        """Writes the exception as JSON: what it says, its traceback, when."""
        file = os.environ.get("TORCHELASTIC_ERROR_FILE")
        if not file:
            return
        extra = {"py_callstack": "".join(traceback.format_exception(e)), "timestamp": str(int(time.time()))}
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(json.dumps({"message": {"message": f"{type(e).__name__}: {e}", "extraInfo": extra}}))


def get_error_handler() -> ErrorHandler:
    """The handler that `record` uses unless it is given one."""
    return ErrorHandler()


def record(fn: F, error_handler: ErrorHandler | None = None) -> F:
    """A decorator of a program's main function: what it raises is written down for who started the rank, and raised.

    Example::

        >>> from adjoint_functional.distributed.elastic_errors import record
        >>> @record
        ... def main():
        ...     return 3
        >>> main()
        3
    """
    handler = error_handler or get_error_handler()

    @functools.wraps(fn)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except SystemExit as e:
            if e.code != 0:  # a program that leaves with 0 has ended well
                raise
        except Exception as e:
            handler.record_exception(e)
            raise
        return None

    return recorded  # type: ignore[return-value]
