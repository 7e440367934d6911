"""Names of PyTorch's private module that tools reach for, over what adjoint has in public."""

from __future__ import annotations

import weakref
from types import SimpleNamespace
from typing import Any

from adjoint_core import Tensor
from adjoint_engine import _engine


def _current_graph_task_id() -> int:
    """The number of the backward that runs in this thread; -1 outside."""
    return _engine.current_task()


def _will_engine_execute_node(node: Any) -> bool:
    """Whether the backward that runs in this thread runs ``node`` too."""
    return _engine.will_execute(node)


def _saved_tensors_hooks_is_enabled() -> bool:
    before = _engine.set_saved_hooks_disabled(None)
    if before is not None:
        _engine.set_saved_hooks_disabled(before)
    return before is None


class _WeakTensorRef:
    """A reference that does not keep its tensor alive."""

    def __init__(self, tensor: Tensor) -> None:
        self._ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self._ref()

    def expired(self) -> bool:
        """Whether the tensor is gone."""
        return self._ref() is None


_autograd = SimpleNamespace(
    SavedTensor=_engine.SavedTensor,
    _get_current_graph_task_keep_graph=_engine.keeps_graph,
    _saved_tensors_hooks_is_enabled=_saved_tensors_hooks_is_enabled,
)
