"""What other libraries are told of tensors, where they ask no protocol: as soon as they are imported, before or after adjoint."""

import importlib as _importlib
import importlib.abc as _abc
import importlib.util as _util
import sys as _sys
from types import ModuleType as _ModuleType
from typing import Any as _Any

_PLUGINS = {"einops._backends": "einops", "distributed.protocol": "dask", "joblib.externals.loky.backend.reduction": "joblib"}
"The module that is awaited, and the file of this room whose ``add(module)`` is called behind its code."


def _add(module: _ModuleType) -> None:
    _importlib.import_module(f"{__name__}.{_PLUGINS[module.__name__]}").add(module)


class _WhenImported(_abc.MetaPathFinder):
    """Finds the modules that are awaited as others do, and runs ours behind theirs."""

    def __init__(self, awaited: set[str]) -> None:
        self._awaited = awaited

    def find_spec(self, name: str, path: _Any, target: _Any = None) -> _Any:
        if name not in self._awaited:
            return None
        self._awaited.remove(name)
        spec = _util.find_spec(name)
        if spec is not None and (loader := spec.loader) is not None:
            run = loader.exec_module

            def exec_module(module: _ModuleType) -> None:
                run(module)
                _add(module)

            loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


for _name in _PLUGINS:
    if _name in _sys.modules:
        _add(_sys.modules[_name])
_sys.meta_path.insert(0, _WhenImported({name for name in _PLUGINS if name not in _sys.modules}))
