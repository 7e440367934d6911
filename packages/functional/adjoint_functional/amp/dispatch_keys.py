"""Names of what PyTorch's dispatcher passes on its way to a kernel: libraries put sets of them together when they are imported."""

from __future__ import annotations

import enum
from contextlib import ExitStack
from types import TracebackType

from .autocast_mode import autocast

_PLACES = ("CPU", "CUDA", "XPU", "MPS", "HPU", "Meta", "PrivateUse1")
_KEYS = [
    "Undefined", "Dense", "BackendSelect", "Python", "PythonTLSSnapshot", "PythonDispatcher", "Functionalize", "Named", "Conjugate", "Negative",
    "ZeroTensor", "ADInplaceOrView", "FuncTorchBatched", "FuncTorchVmapMode", "FuncTorchGradWrapper", "FuncTorchDynamicLayerFrontMode",
    "FuncTorchDynamicLayerBackMode", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeImplicitAutogradNestedTensor",
    "NestedTensor", "Quantized", "AutogradOther", "AutogradNestedTensor", "Autograd", "AutocastCPU", "AutocastCUDA", "AutocastXPU", "AutocastMPS",
    "AutocastPrivateUse1", *(kind + place for place in _PLACES for kind in ("", "Sparse", "SparseCsr", "Autograd")),
]  # fmt: skip
DispatchKey = enum.Enum("DispatchKey", _KEYS, module=__name__)
DispatchKey.__doc__ = (
    "A step of PyTorch's dispatcher; here a name alone, but for those of autocast in `_ExcludeDispatchKeyGuard`."
)
_AUTOCAST = {DispatchKey["AutocastCPU"]: "cpu", DispatchKey["AutocastCUDA"]: "cuda"}


class DispatchKeySet:
    """A set of such names."""

    def __init__(self, key: DispatchKey | frozenset[DispatchKey]) -> None:
        self._keys = key if isinstance(key, frozenset) else frozenset((key,))

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys | other._keys)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys & other._keys)

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys - other._keys)

    def has(self, key: DispatchKey) -> bool:
        """Whether the key is among them."""
        return key in self._keys

    def add(self, key: DispatchKey) -> DispatchKeySet:
        """These and one more."""
        return DispatchKeySet(self._keys | {key})

    def remove(self, key: DispatchKey) -> DispatchKeySet:
        """These without one."""
        return DispatchKeySet(self._keys - {key})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self) -> int:
        return hash(self._keys)

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(sorted(key.name for key in self._keys))})"


class _ExcludeDispatchKeyGuard:
    """A context in which autocast is off for the devices whose keys are in the set; other keys stand for nothing that could be left out.

    Raises:
        NotImplementedError: the set names a step other than autocast.
    """

    def __init__(self, keys: DispatchKeySet) -> None:
        other = [key.name for key in keys._keys if not key.name.startswith("Autocast")]
        if other:
            raise NotImplementedError(
                f"_ExcludeDispatchKeyGuard: calls pass no dispatcher here that could leave out {', '.join(sorted(other))}"
            )
        self._devices, self._stack = sorted(_AUTOCAST[key] for key in keys._keys if key in _AUTOCAST), ExitStack()

    def __enter__(self) -> None:
        for device in self._devices:
            self._stack.enter_context(autocast(device, enabled=False))

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        self._stack.close()
