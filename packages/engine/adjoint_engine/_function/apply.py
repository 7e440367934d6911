"""One call of a custom Function: its forward, and the history of what came out."""

from __future__ import annotations

from typing import Any

from .. import _engine


def bound(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments in the order of ``forward``, defaults filled in: gradients belong to positions."""
    import inspect

    context = () if cls._has_setup else (None,)
    found = inspect.signature(cls.forward).bind(*context, *args, **kwargs)
    found.apply_defaults()
    return found.args[len(context) :], found.kwargs


def apply_plain(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The call where no argument stands on a level: the output and the context."""
    ctx = cls._backward_cls()
    paused = _engine.pause_recording()
    try:
        records = _engine.open_context(ctx, args, paused[0])
        if cls._has_setup:
            result = cls.forward(*args, **kwargs)
            cls.setup_context(ctx, args, result)
        else:
            result = cls.forward(ctx, *args, **kwargs)
        return _engine.close_context(ctx, args, result, records), ctx
    finally:
        _engine.resume_recording(paused)
