"""Names of PyTorch's private module that tools reach for, over what adjoint has in public."""

from __future__ import annotations

import importlib
import weakref
from types import SimpleNamespace
from typing import Any

from adjoint_core import Tensor
from adjoint_core._tensor.subclasses import _disabled_torch_function_impl as _disabled_torch_function_impl
from adjoint_engine import DelayedError, UndefinedGrad, _engine, is_multithreading_enabled
from adjoint_engine import is_grad_enabled as is_grad_enabled
from adjoint_engine._tensor.attributes import _disabled_torch_dispatch_impl as _disabled_torch_dispatch_impl
from adjoint_engine.forward_ad import _is_fwd_grad_enabled
from adjoint_functional.absent_devices import is_available as _mps_is_available  # noqa: F401
from adjoint_functional.nn.modules.moving import parse_to

_TensorMeta = type(Tensor)


class _Functions:
    """What PyTorch has in C++ below `nn.functional`: the functions of that name, and what modules that have a ``to`` of their own call."""

    _parse_to = staticmethod(parse_to)

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("adjoint.nn.functional"), name)


_nn = _Functions()


def _current_graph_task_id() -> int:
    """The number of the backward that runs in this thread; -1 outside."""
    return _engine.current_task()


def _current_autograd_node() -> Any:
    """The node that the backward of this thread is in; None outside."""
    return _engine.current_node()


def _will_engine_execute_node(node: Any) -> bool:
    """Whether the backward that runs in this thread runs ``node`` too."""
    if not isinstance(node, _engine.Node):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    return _engine.will_execute(node)


def _current_graph_task_execution_order() -> list[Any]:
    """The nodes of the backward that runs in this thread, in the order in which they run."""
    if _engine.current_task() >= 0 and is_multithreading_enabled():
        raise RuntimeError(
            "_current_graph_task_execution_order expects the current backward to be executed with multithreading disabled, e.g. by "
            "running:\n\n>>> with adjoint.autograd.set_multithreading_enabled(False):\n...     adjoint.autograd.grad(...)\n"
        )
    return _engine.execution_order()


def _unsafe_set_version_counter(tensors: tuple[Tensor, ...], versions: tuple[int, ...]) -> None:
    """Sets how often the tensors count as written to."""
    for t, version in zip(tensors, versions, strict=True):
        _engine.set_version(t, version)


def _set_fwd_grad_enabled(enabled: bool) -> None:
    """Sets it, in this thread."""
    _engine.set_forward_mode(enabled)


def _saved_tensors_hooks_is_enabled() -> bool:
    before = _engine.set_saved_hooks_disabled(None)
    if before is not None:
        _engine.set_saved_hooks_disabled(before)
    return before is None


def _are_functorch_transforms_active() -> bool:
    """Whether a transform of `func` runs in this thread, or forward mode."""
    return _engine.level_depth() > 0


def _get_tracing_state() -> None:
    """None: nothing is traced."""


def _log_api_usage_once(name: str) -> None:
    """Nothing: no use is logged."""


def _get_default_device() -> str:
    """The name of the device that `set_default_device` has set."""
    return str(importlib.import_module("adjoint").get_default_device())


class _WeakTensorRef:
    """A reference that does not keep its tensor alive."""

    def __init__(self, tensor: Tensor) -> None:
        self._ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self._ref()

    def expired(self) -> bool:
        """Whether the tensor is gone."""
        return self._ref() is None


class Value:
    """A value of a graph of PyTorch's script language, of which there are none: for annotations, and to ask whether something is one."""

    def __init__(self) -> None:
        raise TypeError(f"{type(self).__name__}: there is no script language whose graphs could be made")


class Graph(Value):
    """Such a graph."""


_functions = SimpleNamespace(AccumulateGrad=_engine.AccumulateGrad, DelayedError=DelayedError, UndefinedGrad=UndefinedGrad)
_autograd = SimpleNamespace(
    SavedTensor=_engine.SavedTensor,
    _get_current_graph_task_keep_graph=_engine.keeps_graph,
    _unsafe_set_version_counter=_unsafe_set_version_counter,
    _saved_tensors_hooks_is_enabled=_saved_tensors_hooks_is_enabled,
)


_GLIBCXX_USE_CXX11_ABI = True
# Names of the modules in public that hold the same: of functions of a subject, and single ones.
_SUBJECTS = {
    "_VariableFunctions": "",
    "_fft": "fft",
    "_linalg": "linalg",
    "_nested": "nested",
    "_sparse": "sparse",
    "_special": "special",
}
_ELSEWHERE = {
    **dict.fromkeys(("Generator", "Size", "default_generator", "device", "dtype", "layout", "memory_format"), ""),
    "_LinAlgError": "linalg.LinAlgError",
    "_TensorBase": "Tensor",
    "_FunctionBase": "autograd.Function",
    "_set_grad_enabled": "autograd.grad_mode.set_grad_enabled",
    "_infer_size": "broadcast_shapes",
}


def _jit_set_profiling_mode(on: bool) -> bool:
    """Nothing, and False: no script is compiled whose executor could be chosen. So do those that follow."""
    return False


_jit_set_profiling_executor = _jit_override_can_fuse_on_cpu = _jit_override_can_fuse_on_gpu = _jit_set_profiling_mode
_jit_set_texpr_fuser_enabled = _jit_set_nvfuser_enabled = _debug_only_display_vmap_fallback_warnings = _jit_set_profiling_mode


def _add_docstr(function: Any, text: str) -> Any:
    """The function, as it is."""
    return function


def __getattr__(name: str) -> Any:
    if name in _SUBJECTS:
        return importlib.import_module(f"adjoint.{_SUBJECTS[name]}".rstrip("."))
    if name in _ELSEWHERE:
        home, _, last = f"adjoint.{_ELSEWHERE[name] or name}".rpartition(".")
        return getattr(importlib.import_module(home), last)
    if name in ("DisableTorchFunction", "DisableTorchFunctionSubclass"):
        from adjoint_core import overrides

        return getattr(overrides, name)
    if name == "_DisableTorchDispatch":
        return importlib.import_module("adjoint_engine.dispatch")._DisableTorchDispatch
    if name in ("DispatchKey", "DispatchKeySet", "_ExcludeDispatchKeyGuard"):
        return getattr(importlib.import_module("adjoint_functional.amp.dispatch_keys"), name)
    if name == "_profiler":  # imported when it is first used
        from adjoint_profiler import ExperimentalConfig

        return SimpleNamespace(_ExperimentalConfig=ExperimentalConfig)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
