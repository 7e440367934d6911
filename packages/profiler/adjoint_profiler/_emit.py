"""emit_nvtx, emit_itt: each call becomes a range in the timeline of a vendor's tool."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from types import ModuleType, TracebackType
from typing import Any

from adjoint_engine import _engine

from . import _names


class _Emit:
    """Ranges around all that this thread runs, until the end of the block. It is entered once."""

    _tool = ""
    _package = ""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes
        self.entered = False
        self._callbacks: Any = None

    def __enter__(self) -> _Emit | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError(f"{self._tool} annotation context manager is not reentrant")
        push, pop = self._functions(_imported(self._package))
        self.entered = True
        self._callbacks = _engine.Callbacks(self._pushing(push), pop)
        self._callbacks.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if not self.enabled:
            return None
        self._callbacks.stop()
        return False

    def _functions(self, package: ModuleType) -> tuple[Callable[[str], object], Callable[[], object]]:
        """What begins a range with a text, and what ends the last one."""
        raise NotImplementedError

    def _pushing(self, push: Callable[[str], object]) -> Callable[..., None]:
        shapes_too = self.record_shapes

        def begin(kind: str, name: str, ranks: Sequence[int], sequence: int | None, shapes: list[Any]) -> None:
            push(_text(kind, name, ranks, sequence, shapes if shapes_too else None))

        return begin


class emit_nvtx(_Emit):
    """Shows each call, node of backward and labelled range to NVIDIA's tools. Needs the package `nvtx`.

    The text of a forward call ends with `seq = N`: the number of the node that it makes for backward, if it makes one. The
    node's own range has the same number, in backward and in double backward. Numbers belong to a thread.

    Arguments:
        enabled: False makes it do nothing.
        record_shapes: ranges tell the sizes of the operands: `sizes = [[2, 3], []]`, [] for what is no tensor.

    Raises:
        RuntimeError: `nvtx` is not installed, or the object was entered before.

    Example::

        >>> with ad.autograd.profiler.emit_nvtx(enabled=False):
        ...     y = ad.ones(2) * 2
    """

    _tool = "NVTX"
    _package = "nvtx"

    def _functions(self, package: ModuleType) -> tuple[Callable[[str], object], Callable[[], object]]:
        return package.push_range, package.pop_range


class emit_itt(_Emit):
    """Shows each call, node of backward and labelled range to Intel's tools (VTune). Needs the package `ittapi`.

    Arguments:
        enabled: False makes it do nothing.
        record_shapes: ranges tell the sizes of the operands.

    Raises:
        RuntimeError: `ittapi` is not installed, or the object was entered before.

    Example::

        >>> with ad.autograd.profiler.emit_itt(enabled=False):
        ...     y = ad.ones(2) * 2
    """

    _tool = "ITT"
    _package = "ittapi"

    def _functions(self, package: ModuleType) -> tuple[Callable[[str], object], Callable[[], object]]:
        domain = package.Domain("adjoint")
        return lambda text: package.task_begin(domain, package.StringHandle(text)), lambda: package.task_end(domain)


def _imported(package: str) -> ModuleType:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise RuntimeError(
            f"emit_{package.removesuffix('api')}: the package {package} is not installed: pip install {package}"
        ) from error


def _text(kind: str, name: str, ranks: Sequence[int], sequence: int | None, shapes: list[Any] | None) -> str:
    text = _names.of_event(kind, name, *ranks)
    if sequence is not None and kind != "evaluation":
        text += f", seq = {sequence}"
    if shapes:
        text += f", sizes = {[[] if s is None else list(s) for s in shapes]}"
    return text
