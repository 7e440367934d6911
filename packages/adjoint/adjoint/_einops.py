"""A backend for einops, which knows the libraries that it was written for only: it is added when einops is imported."""

import importlib.abc as _abc
import importlib.util as _util
import sys as _sys
from types import ModuleType as _ModuleType
from typing import Any as _Any

from adjoint_core import Tensor as _Tensor

_NAME = "einops._backends"


def _add_backend(backends: _ModuleType) -> None:
    class AdjointBackend(backends.AbstractBackend):  # type: ignore[name-defined]
        framework_name = "adjoint"

        def is_appropriate_type(self, tensor: _Any) -> bool:
            return isinstance(tensor, _Tensor)

        def from_numpy(self, x: _Any) -> _Any:
            return _sys.modules["adjoint"].from_numpy(x)

        def to_numpy(self, x: _Any) -> _Any:
            return x.detach().cpu().numpy()

        def arange(self, start: int, stop: int) -> _Any:
            return _sys.modules["adjoint"].arange(start, stop)

        def reduce(self, x: _Any, operation: str, axes: _Any) -> _Any:
            return getattr(x.__array_namespace__(), operation)(x, axis=tuple(axes))

        def transpose(self, x: _Any, axes: _Any) -> _Any:
            return x.permute(axes)

        def stack_on_zeroth_dimension(self, tensors: _Any) -> _Any:
            return _sys.modules["adjoint"].stack(tensors)

        def add_axis(self, x: _Any, new_position: int) -> _Any:
            return x.unsqueeze(new_position)

        def tile(self, x: _Any, repeats: _Any) -> _Any:
            return x.repeat(repeats)

        def concat(self, tensors: _Any, axis: int) -> _Any:
            return _sys.modules["adjoint"].cat(tensors, dim=axis)

        def is_float_type(self, x: _Any) -> bool:
            return x.is_floating_point()

        def einsum(self, pattern: str, *x: _Any) -> _Any:
            return _sys.modules["adjoint"].einsum(pattern, *x)

    backends.adjoint = AdjointBackend  # einops finds subclasses as long as they live


class _WhenImported(_abc.MetaPathFinder):
    """Finds einops's module of backends as others do, and adds one to it behind its code."""

    def find_spec(self, name: str, path: _Any, target: _Any = None) -> _Any:
        if name != _NAME:
            return None
        _sys.meta_path.remove(self)
        spec = _util.find_spec(name)
        if spec is not None and (loader := spec.loader) is not None:
            run = loader.exec_module

            def exec_module(module: _ModuleType) -> None:
                run(module)
                _add_backend(module)

            loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if _NAME in _sys.modules:
    _add_backend(_sys.modules[_NAME])
else:
    _sys.meta_path.insert(0, _WhenImported())
