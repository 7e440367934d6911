"""From a collective of the user to a call of the backend: checks, memory without gaps, the debug mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import _engine

from ._backend import Work
from ._group import ProcessGroup, agree
from ._modes import DebugLevel, get_debug_level


def check(group: ProcessGroup, name: str, tensors: Sequence[Any]) -> None:
    """Raises unless all are tensors whose memory the group's backend can send.

    Raises:
        TypeError: no tensor.
        ValueError: sparse, on another device, or lifted by a transform.
    """
    backend = group.backend
    if backend.device_type == "cpu" and not _engine.any_not_plain(tuple(tensors)):
        return
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(f"{name}: a tensor is needed, got {type(t).__name__}")
        if t.device.type != backend.device_type or t.layout is not core.strided:
            raise ValueError(
                f"{name}: {backend.name} carries dense tensors of {backend.device_type}, got {t.layout} on {t.device}"
            )
    if _engine.any_lifted(tuple(tensors)):
        raise ValueError(
            f"{name}: it writes memory; distributed.nn.functional has the collectives that transforms and derivatives run through"
        )


def check_same(name: str, tensors: Sequence[Tensor], like: Tensor) -> None:
    """Raises unless all have the size and the type of ``like``.

    Raises:
        ValueError: one has not.
    """
    for t in tensors:
        if t.dtype != like.dtype or t.numel() != like.numel():
            raise ValueError(
                f"{name}: tensors of {like.dtype} with {like.numel()} elements are needed, got {t.dtype} of shape {tuple(t.shape)}"
            )


def dense(t: Tensor) -> Tensor:
    """``t`` without history, and copied if it has gaps."""
    return t if t.is_contiguous() and not t.requires_grad else t.detach().contiguous()


def describe(name: str, t: Tensor, **how: Any) -> str:
    """How a call is shown in errors of the debug mode."""
    what = f"{str(t.dtype).rpartition('.')[2]} {list(t.shape)}"
    named = [f"{k}={getattr(v, 'name', v)}" for k, v in how.items()]
    return f"{name}({', '.join([what, *named])})"


def launch(
    group: ProcessGroup,
    name: str,
    said: Callable[[], str],
    written: Sequence[Tensor],
    call: Callable[[], None],
    async_op: bool,
) -> Work | None:
    """Submits ``call``, which writes the tensors ``written``; waits for it unless ``async_op``.

    Arguments:
        said: tells what ranks must agree on.
    """
    for t in written:
        _engine.bump_version(t)
    detail = get_debug_level() is DebugLevel.DETAIL
    if not (async_op or detail):
        group.backend.run(name, call)
        return None

    def run() -> list[Tensor]:
        if detail:
            agree(group.backend, said())
        call()
        return list(written)

    if async_op:
        return group.backend.submit(name, run)
    group.backend.run(name, run)
    return None


def fill(t: Tensor, buffer: Tensor) -> None:
    """Writes a buffer back where it was a copy."""
    if buffer is not t and (buffer.data_ptr() != t.data_ptr() or not t.is_contiguous()):
        t.detach().copy_(buffer.view(t.shape))
