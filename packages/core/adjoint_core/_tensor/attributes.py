"""Attributes of tensors: where they are, their types, their values without history."""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .naming import TYPE_NAMES, method

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _is_cpu(self: Tensor) -> bool:
    """Whether the memory is the host's."""
    return self.device.type == "cpu"


def _is_cuda(self: Tensor) -> bool:
    """Whether the memory is a GPU's."""
    return self.device.type == "cuda"


def _is_meta(self: Tensor) -> bool:
    """Whether there is no memory: on device meta sizes, types and strides are worked out, and nothing else."""
    return self.device.type == "meta"


Tensor.is_cpu, Tensor.is_cuda, Tensor.is_meta = property(_is_cpu), property(_is_cuda), property(_is_meta)


def _type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of this tensor's type, or this tensor with another element type."""
    if dtype is None:
        place = ("cuda." if self.is_cuda else "") + (
            "sparse." if self.is_sparse else "sparse_csr." if self.is_sparse_csr else ""
        )
        return next(f"{_core._library()}.{place}{n}Tensor" for n, t in TYPE_NAMES.items() if t is self.dtype)
    if isinstance(dtype, str):
        place, _, name = dtype.rpartition(".")
        name = name.removesuffix("Tensor")
        if not name and place in ("torch", _core._library()):  # the name of tensors of the default type
            return self.to(_core.get_default_dtype())
        if name not in TYPE_NAMES:
            raise ValueError(f"type: invalid type: '{dtype}'")
        device = "cpu" if not place.endswith(".cuda") else self.device if self.is_cuda else "cuda"
        return self.to(device, TYPE_NAMES[name], non_blocking=non_blocking)
    if dtype is Tensor:  # PyTorch's name for tensors of the default type
        return self.to(_core.get_default_dtype())
    if getattr(dtype, "space", "") == "cuda":
        return self.to("cuda", dtype.dtype)
    return self.to(getattr(dtype, "dtype", dtype))  # FloatTensor has a dtype


Tensor.type = _type


def _get_data(self: Tensor) -> Tensor:
    return self._alias()


def _set_data(self: Tensor, source: Tensor) -> None:
    self._set_data(source)


Tensor.data = property(_get_data, _set_data, doc="The values without history.")
for _name, _value in {
    "is_quantized": False,
    "is_nested": False,
    "is_mkldnn": False,
}.items():
    setattr(Tensor, _name, _value)


@method
def to_padded_tensor(self: Tensor, padding: float, output_size: Any = None) -> Tensor:
    """Of a nested tensor: its pieces as one tensor, smaller ones followed by `padding`. Others have no pieces."""
    raise NotImplementedError(f"to_padded_tensor: expected a nested tensor, got a dense one of shape {list(self.shape)}")


@method
def to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """The tensor on a device: the array API's name of `to`."""
    if stream is not None:
        raise ValueError(f"to_device: stream must be None, got {stream!r}")
    return self.to(device)


@method
def __reversed__(self: Tensor) -> Tensor:
    return self if self.ndim == 0 else self.flip(0)


def _names(self: Tensor) -> list[str]:
    found = set(dir(self.__class__)) | set(self.__dict__)
    return sorted(found if self.is_cuda else found - {"__cuda_array_interface__"})


Tensor.__dir__ = _names  # a function __dir__ here would be the module's
Tensor.__div__, Tensor.__rdiv__ = Tensor.__truediv__, Tensor.__rtruediv__  # type: ignore[attr-defined]
for _name in ("is_ipu", "is_maia", "is_mps", "is_mtia", "is_vulkan", "is_xla", "is_xpu"):
    setattr(Tensor, _name, False)
