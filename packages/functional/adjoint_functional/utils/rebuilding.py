"""What plain pickles of PyTorch's tensors call to rebuild them, and the small tools that libraries take from beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adjoint_core import Tensor, cat, device, dtype
from adjoint_core._tensor.storage import Storage
from adjoint_core._tensor.torch_files import MEANINGS


def _of(name: str) -> Callable[..., Tensor]:
    rebuild = MEANINGS["torch._utils", name]

    def rebuilt(first: Any, *rest: Any) -> Tensor:
        return rebuild(first._flat() if isinstance(first, Storage) else first, *rest)

    rebuilt.__name__ = rebuilt.__qualname__ = name
    rebuilt.__doc__ = "The tensor that a pickle of PyTorch describes by this call."
    return rebuilt


_rebuild_tensor = _of("_rebuild_tensor")
_rebuild_tensor_v2 = _of("_rebuild_tensor_v2")
_rebuild_tensor_v3 = _of("_rebuild_tensor_v3")
_rebuild_parameter = _of("_rebuild_parameter")
_rebuild_parameter_with_state = _of("_rebuild_parameter_with_state")
_rebuild_sparse_tensor = _of("_rebuild_sparse_tensor")
_rebuild_meta_tensor_no_storage = _of("_rebuild_meta_tensor_no_storage")


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """The elements of all, one after another, in a tensor of one dimension."""
    return cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of `flat` with the shapes of `tensors`: what `_flatten_dense_tensors` undoes."""
    parts = flat.split([t.numel() for t in tensors])
    return tuple(part.view(t.shape) for part, t in zip(parts, tensors, strict=True))


def _element_size(kind: dtype) -> int:
    """Bytes of an element of a type."""
    return kind.itemsize


def _get_device_index(place: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The number of a device.

    Arguments:
        place: a device, its name or its number; None for the current GPU, if `optional`.
        allow_cpu: -1 for a CPU; otherwise it is an error.
    """
    if isinstance(place, (str, device)):
        named = device(place)
        if not allow_cpu and named.type == "cpu":
            raise ValueError(f"Expected a non cpu device, but got: {named}")
        place = -1 if named.type == "cpu" else named.index
    if isinstance(place, int):
        return place
    if place is None and optional:
        from adjoint_core import cuda

        return cuda.current_device()
    raise ValueError(f"Expected a torch.device with a specified index or an integer, but got: {place}")
