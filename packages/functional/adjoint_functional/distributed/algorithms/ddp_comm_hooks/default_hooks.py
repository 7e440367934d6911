"""Communication hooks: averages as they are, and in half precision, which halves the messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

from ....futures import Future
from ..._collectives import all_reduce
from ..._group import ProcessGroup, default_group


def _average(group: Any, t: Tensor) -> Future[Tensor]:
    given = group if isinstance(group, ProcessGroup) else default_group()
    t.div_(given.size())
    work = all_reduce(t, group=given, async_op=True)
    assert work is not None
    return work.get_future().then(lambda f: f.value()[0])


def allreduce_hook(process_group: Any, bucket: Any) -> Future[Tensor]:
    """The average, in the type of the gradients."""
    return _average(process_group, bucket.buffer())


def _compressed(process_group: Any, bucket: Any, kind: core.dtype) -> Future[Tensor]:
    return _average(process_group, bucket.buffer().to(kind)).then(lambda f: bucket.buffer().copy_(f.value()))


def fp16_compress_hook(process_group: Any, bucket: Any) -> Future[Tensor]:
    """The average of gradients rounded to float16."""
    return _compressed(process_group, bucket, core.float16)


def bf16_compress_hook(process_group: Any, bucket: Any) -> Future[Tensor]:
    """The average of gradients rounded to bfloat16."""
    return _compressed(process_group, bucket, core.bfloat16)


class _Rounded:
    """A bucket whose row is rounded, for another hook."""

    def __init__(self, bucket: Any, kind: core.dtype) -> None:
        self._bucket, self._row = bucket, bucket.buffer().to(kind)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bucket, name)

    def buffer(self) -> Tensor:
        return self._row


def _wrapper(hook: Callable[[Any, Any], Future[Tensor]], kind: core.dtype) -> Callable[[Any, Any], Future[Tensor]]:
    def compressed(state: Any, bucket: Any) -> Future[Tensor]:
        return hook(state, _Rounded(bucket, kind)).then(lambda f: bucket.buffer().copy_(f.value()))

    return compressed


def fp16_compress_wrapper(hook: Callable[[Any, Any], Future[Tensor]]) -> Callable[[Any, Any], Future[Tensor]]:
    """``hook`` on gradients rounded to float16."""
    return _wrapper(hook, core.float16)


def bf16_compress_wrapper(hook: Callable[[Any, Any], Future[Tensor]]) -> Callable[[Any, Any], Future[Tensor]]:
    """``hook`` on gradients rounded to bfloat16."""
    return _wrapper(hook, core.bfloat16)
