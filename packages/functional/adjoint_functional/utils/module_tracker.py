"""`utils.module_tracker`: which modules are running now, forward or backward."""

from __future__ import annotations

import weakref
from typing import Any

from adjoint_core import Tensor
from adjoint_engine import _engine
from adjoint_engine._backward import queue_callback
from adjoint_engine.graph import register_multi_grad_hook
from adjoint_engine.trees import tree_flatten

from ..nn.modules import Module
from ..nn.modules.global_hooks import register_module_forward_hook, register_module_forward_pre_hook

__all__ = ["ModuleTracker"]


def _recorded(tree: Any) -> list[Tensor]:
    return [t for t in tree_flatten(tree)[0] if isinstance(t, Tensor) and t.requires_grad]


class ModuleTracker:
    """Inside of ``with tracker:``, ``tracker.parents`` are the names of the modules that run, "Global" among them always.

    A module is named by its class and then as in its parent, ``MLP.layers.0``. Backward counts too: a module is entered when the gradients of
    its results are there, and left when those of its inputs are; a module whose inputs need no gradient is left when backward ends.
    ``tracker.is_bw`` says whether a backward runs.

    Example::

        >>> class Double(ad.nn.Module):
        ...     def forward(self, x):
        ...         print(sorted(tracker.parents))
        ...         return x + x
        >>> with ad.utils.module_tracker.ModuleTracker() as tracker:
        ...     y = ad.nn.Sequential(Double())(ad.ones(1))
        ['Global', 'Sequential', 'Sequential.0']
    """

    parents: set[str]

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: weakref.WeakKeyDictionary[Module, str] = weakref.WeakKeyDictionary()
        self._handles: list[Any] = []
        self._waits_for_end = False

    @property
    def is_bw(self) -> bool:
        """Whether a backward runs in this thread."""
        return _engine.current_task() != -1

    def _name(self, module: Module) -> str:
        """Named with all below it when it is met; what was met first on its own goes by its class."""
        if module not in self._names:
            self._names[module] = type(module).__name__
            waiting = [module]
            while waiting:
                parent = waiting.pop()
                for name, child in parent.named_children():
                    self._names[child] = f"{self._names[parent]}.{name}"
                    waiting.append(child)
        return self._names[module]

    def _end_of_backward(self) -> None:
        self.parents, self._waits_for_end = {"Global"}, False

    def _enter_backward(self, name: str) -> None:
        if not self._waits_for_end:
            queue_callback(self._end_of_backward)
            self._waits_for_end = True
        self.parents.add(name)

    def _before(self, module: Module, args: Any) -> None:
        name = self._name(module)
        self.parents.add(name)
        if tensors := _recorded(args):
            self._handles.append(register_multi_grad_hook(tensors, lambda grads: self.parents.discard(name)))

    def _after(self, module: Module, args: Any, output: Any) -> None:
        name = self._name(module)
        self.parents.discard(name)
        if tensors := _recorded(output):
            self._handles.append(register_multi_grad_hook(tensors, lambda grads: self._enter_backward(name)))

    def __enter__(self) -> ModuleTracker:
        self._handles = [register_module_forward_pre_hook(self._before), register_module_forward_hook(self._after)]
        return self

    def __exit__(self, *error: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []
