"""What registering a hook returns."""

from __future__ import annotations

import itertools
from collections.abc import MutableMapping
from types import TracebackType
from typing import Any

_ids = itertools.count()


class RemovableHandle:
    """What registering a hook returns: ``remove()`` takes the hook away; also a context manager.

    Arguments:
        hooks_dict: where the hook stands, under the key ``id`` of this handle.
        extra_dict: one or several more dicts that hold something under that key.

    Example::

        >>> x = ad.ones(2, requires_grad=True)
        >>> with x.register_hook(lambda grad: 10 * grad):
        ...     x.sum().backward()
        >>> x.grad
        tensor([10., 10.])
    """

    def __init__(self, hooks_dict: MutableMapping[int, Any], *, extra_dict: Any = None) -> None:
        self.id = next(_ids)
        extra = extra_dict if isinstance(extra_dict, list) else [] if extra_dict is None else [extra_dict]
        self._dicts = (hooks_dict, *extra)

    def remove(self) -> None:
        """Removes the hook; a second call does nothing."""
        for hooks in self._dicts:
            hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.remove()


class EngineHandle(RemovableHandle):
    """Of a hook that the engine keeps."""

    def __init__(self, entry: Any) -> None:
        super().__init__({})
        self._entry = entry

    def remove(self) -> None:
        """Removes the hook; a second call does nothing."""
        if self._entry is not None:
            self._entry.remove()
            self._entry = None
