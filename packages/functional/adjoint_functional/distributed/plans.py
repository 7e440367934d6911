"""How PyTorch is told to spread tensors and modules over processes: values that say so. Nothing here acts on them: see sharding.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adjoint_core import Tensor


class Placement:
    """How a tensor lies on a dimension of a mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether it is split, along ``dim`` if that is given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether it is whole on each process."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether each process has a summand."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Split along a dimension."""

    dim: int


@dataclass(frozen=True)
class _StridedShard(Shard):
    split_factor: int = 1


@dataclass(frozen=True)
class Replicate(Placement):
    """Whole on each process."""


@dataclass(frozen=True)
class Partial(Placement):
    """Summands on each process, or what else is to be combined."""

    reduce_op: str = "sum"


class ParallelStyle:
    """How a module is split; the arguments are kept as attributes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.arguments = args
        vars(self).update(kwargs)


class ColwiseParallel(ParallelStyle):
    """By the columns of a weight."""


class RowwiseParallel(ParallelStyle):
    """By the rows of a weight."""


class SequenceParallel(ParallelStyle):
    """By the dimension of a sequence."""


class PrepareModuleInput(ParallelStyle):
    """What happens to the arguments of a module."""


class PrepareModuleOutput(ParallelStyle):
    """What happens to the result of a module."""


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """In which types a sharded module computes."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    output_dtype: Any = None
    cast_forward_inputs: bool = True


@dataclass
class MixedPrecision:
    """In which types a sharded module computes."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    buffer_dtype: Any = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True


@dataclass
class CPUOffload:
    """Whether parameters wait in the memory of the CPU."""

    offload_params: bool = False


@dataclass(frozen=True)
class OffloadPolicy:
    """Where parameters wait; here, where they are used."""


@dataclass(frozen=True)
class CPUOffloadPolicy(OffloadPolicy):
    """In the memory of the CPU."""

    pin_memory: bool = True


def wait_tensor(tensor: Tensor) -> Tensor:
    """The tensor: the results of collectives are there when they return."""
    return tensor
