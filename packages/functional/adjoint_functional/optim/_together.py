"""Steps of many parameters on a GPU in one launch: what kernels over lists of tensors take, and in which groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

from adjoint_core import Tensor, _core

Lists = list[list[Tensor]]


def wanted(params: Sequence[Tensor], group: dict[str, Any]) -> bool:
    """Whether parameters of a group step together: as in PyTorch that is the default on GPUs."""
    one_by_one = group.get("foreach") is False and not group.get("fused")
    return not (one_by_one or group.get("differentiable") or isinstance(group.get("lr"), Tensor)) and any(
        p.is_cuda for p in params
    )


def alike(tensors: Sequence[Tensor]) -> bool:
    """Whether a gradient, its parameter and what is kept of it are of one type, on one GPU, and laid out alike."""
    return bool(_core._cuda.lie_alike([[t] for t in tensors]))


def by_kind(rows: Sequence[tuple[Hashable, list[Tensor]]]) -> list[tuple[Any, Lists]]:
    """Rows (what else their step depends on, tensors of one parameter) as lists for a launch each: by that, the device and the type."""
    found: defaultdict[Any, list[list[Tensor]]] = defaultdict(list)
    for key, tensors in rows:
        found[key, tensors[0].device, tensors[0].dtype].append(tensors)
    return [(key[0], [list(column) for column in zip(*of_one, strict=True)]) for key, of_one in found.items()]


def update(
    kernel: str, lists: Lists, numbers: Sequence[float], constants: Sequence[int], counts: Sequence[Tensor] = ()
) -> None:
    """One launch: all lists but the first, of gradients, are written. The kernels: `optimizers` in adjoint_kernels_triton."""
    _core._cuda.update_lists(kernel, lists, list(counts), list(numbers), list(constants))
