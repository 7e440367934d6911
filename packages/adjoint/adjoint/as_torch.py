"""`torch` means adjoint: `import adjoint.as_torch` in front of a program's imports, or `python -m adjoint.as_torch program.py`.

From then on `import torch` and `from torch.nn import Linear` give adjoint's own modules, which say that they are PyTorch 2.13.0: in
`torch.__version__`, in `importlib.metadata`, in what they print, and in the `__module__` of their classes. A name of PyTorch that adjoint
lacks is an `AttributeError`, a module that it lacks a `ModuleNotFoundError`, as programs expect that try.
"""

from __future__ import annotations

import dis
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import runpy
import sys
from multiprocessing import spawn
from types import ModuleType
from typing import Any, ForwardRef

import adjoint
from adjoint_core import _core

from ._absent import reason
from ._homes import HOMES
from ._places import imported, is_place, make_place
from .torch_version import TorchVersion

VERSION = "2.13.0"
PACKAGES = {"torch": "adjoint", "functorch": "adjoint._functorch"}  # what PyTorch installs, and what stands for it
_IMPORT_FROM = dis.opmap["IMPORT_FROM"]


def _says(name: str) -> str:
    """The sentence about a name that is missing."""
    if (why := reason(name)) is not None:
        return f"{name} is deliberately absent from adjoint, which stands for torch here: {why}"
    return f"{name} is not in adjoint, which stands for torch here: if PyTorch {VERSION} has it, it is planned"


def _torch_name(name: str) -> str:
    return "torch" + name.removeprefix("adjoint")


# ---- what classes say


def _home(kind: type, found_in: str) -> str:
    """The module that a class says it is from: where PyTorch has it, as far as the modules here tell."""
    own = kind.__module__
    if own.partition(".")[0] == "adjoint":
        return _torch_name(own)
    if own.startswith("adjoint_core.") and vars(adjoint).get(kind.__name__) is kind:
        return "torch"
    same = "adjoint." + own.partition(".")[2]
    if "._" not in same and "." in own and _exists(same):
        return _torch_name(same)
    return _torch_name(found_in)


def _exists(name: str) -> bool:
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # a package above it
        return False


def _remember_home(kind: type) -> None:
    """Annotations are looked up in the module that a class says it is from: those of this one keep their own."""
    notes = vars(kind).get("__annotations__", {})
    for name, note in notes.items():
        if isinstance(note, str):
            notes[name] = ForwardRef(note, module=kind.__module__, is_class=True)


def _rename(values: dict[str, Any], found_in: str) -> None:
    for name, kind in values.items():
        if isinstance(kind, type) and (kind.__module__ or "").startswith("adjoint") and not name.startswith("__"):
            _remember_home(kind)
            kind.__module__ = _home(kind, found_in)


def _rename_homes() -> None:
    for space, homes in HOMES.items():
        top = importlib.import_module("adjoint." + space)
        for home, contents in homes.items():
            names = (name for name in contents.split() if hasattr(top, name))
            _rename({name: getattr(top, name) for name in names}, f"{top.__name__}.{home}")


# ---- modules under their other name


def _hand_out(module: ModuleType, name: str) -> ModuleType:
    """The module, which is `torch.x` from now on too, whose classes say so and whose missing names are explained."""
    other = _torch_name(name)
    if sys.modules.get(other) is module:
        return module
    sys.modules[other] = module
    _rename(vars(module), name)
    own = vars(module).get("__getattr__")

    def explained(attribute: str) -> Any:
        try:
            if own is None:
                raise AttributeError(f"module {other!r} has no attribute {attribute!r}")
            found = own(attribute)
        except AttributeError as error:
            if attribute.startswith("__") or "has no attribute" not in str(error):
                raise
            if is_place(f"{name}.{attribute}"):
                return importlib.import_module(f"{other}.{attribute}")
            if (around := imported(name, attribute)) is not None:
                return around
            caller = sys._getframe(1)
            if caller.f_code.co_code[caller.f_lasti] == _IMPORT_FROM:  # which would drop what an AttributeError says
                raise ImportError(_says(f"{other}.{attribute}"), name=other) from None
            raise AttributeError(_says(f"{other}.{attribute}"), name=attribute, obj=module) from None
        below = f"{name}.{attribute}"
        return _hand_out(found, below) if sys.modules.get(below) is found and isinstance(found, ModuleType) else found

    module.__name__, module.__getattr__ = other, explained  # type: ignore[method-assign]
    if "__path__" not in vars(module) and is_place(name):
        module.__path__ = []  # modules below it are found here
    return module


def _hand_out_loaded() -> None:
    loaded = [(name, m) for name, m in sys.modules.items() if name.partition(".")[0] == "adjoint" and isinstance(m, ModuleType)]
    for name, module in sorted(loaded, key=lambda pair: -pair[0].count(".")):  # deeper ones name their classes first
        if name != __name__:
            _hand_out(module, name)


class _Loader(importlib.abc.Loader):
    """Gives the module that is there, and leaves it as it is."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec

    def get_code(self, name: str) -> Any:
        """For ``python -m adjoint.as_torch -m torch.distributed.run``."""
        return self._spec.loader.get_code(self._spec.name)  # type: ignore[union-attr]


class _Finder(importlib.metadata.DistributionFinder):
    """Finds `torch.x` as `adjoint.x`, and the distribution `torch`."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        root, _, rest = fullname.partition(".")
        if root not in PACKAGES:
            return None
        name = f"{PACKAGES[root]}.{rest}".rstrip(".")
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not (name + ".").startswith(error.name + "."):
                raise
            place = make_place(name)
            if place is None:
                raise ModuleNotFoundError(_says(fullname), name=fullname) from None
            module = place
        _hand_out_loaded()
        sys.modules.pop(fullname, None)  # the import that asks would take what stands here for another module's specification
        return importlib.machinery.ModuleSpec(fullname, _Loader(module), is_package=hasattr(module, "__path__"))

    def find_distributions(self, context: Any = importlib.metadata.DistributionFinder.Context()) -> Any:  # noqa: B008
        return [_Distribution()] if context.name in (None, "torch") else []


class _Distribution(importlib.metadata.Distribution):
    def read_text(self, filename: str) -> str | None:
        return f"Metadata-Version: 2.1\nName: torch\nVersion: {VERSION}\n" if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        raise FileNotFoundError(path)


class _InChildren:
    """What a spawned process unpickles first of all: it imports this module there."""

    def __reduce__(self) -> Any:
        return importlib.import_module, (__name__,)


def _tell_children() -> None:
    """Processes of `multiprocessing` that import the program anew, "spawn" and "forkserver", get the alias before they do."""
    prepared = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        return {"as_torch": _InChildren()} | prepared(name)

    spawn.get_preparation_data = get_preparation_data  # type: ignore[assignment]


def install() -> None:
    """Lets `torch` mean adjoint in this process. Importing this module calls it.

    Raises:
        RuntimeError: PyTorch is imported already.
    """
    there = sys.modules.get("torch")
    if there is adjoint:
        return
    if there is not None:
        where = getattr(there, "__file__", None)
        raise RuntimeError(f"adjoint.as_torch: PyTorch is imported already ({where}); import adjoint.as_torch before it")
    sys.meta_path.insert(0, _Finder())
    adjoint.__version__ = TorchVersion(VERSION)
    adjoint.torch = adjoint  # type: ignore[attr-defined]  # which PyTorch has by accident, and libraries have come to use
    _core._set_library("torch")
    _core._draw_as_pytorch()
    _tell_children()
    _rename_homes()
    _hand_out_loaded()


def main(arguments: list[str]) -> None:
    """Runs `program.py argument ...`, or `-m module argument ...`, with `torch` meaning adjoint."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print("usage: python -m adjoint.as_torch (program.py | -m module) [argument ...]")
        return
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    from adjoint.as_torch import main as run  # the module of this name, which has installed itself

    run(sys.argv[1:])
else:
    install()
