"""Collectives as functions of tensors: results are new, and have derivatives of all orders and modes.

The derivative is that of the whole program: if every rank calls backward of its own loss, a leaf gets the gradient of the sum of the
losses of all ranks, as one process would compute it. So all ranks must go backward (or forward) through the same collectives: an
input that requires grad on one rank requires it on all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

from .. import _collectives as plain
from .._backend import ReduceOp
from .._collectives import check_count, check_op
from .._group import ProcessGroup, get_group_rank, resolve
from ._linear import Map


def _member(name: str, group: Any) -> ProcessGroup:
    given = resolve(group)
    if given is None:
        raise ValueError(f"{name}: this rank is no member of the group")
    return given


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The reduction of ``tensor`` over all ranks, on all of them.

    Derivative: of SUM the sum over ranks of the cotangents; of PRODUCT, MIN and MAX that of `prod`, `amin` and `amax` over ranks.

    Example::

        >>> import adjoint.distributed as dist
        >>> import adjoint.distributed.nn
        >>> dist.init_process_group("mpi")
        >>> x = ad.tensor([1., 2.], requires_grad=True)
        >>> (dist.nn.all_reduce(x) ** 2).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        >>> dist.destroy_process_group()
    """
    given = _member("all_reduce", group)
    check_op("all_reduce", op, tensor)
    if op in (ReduceOp.SUM, ReduceOp.AVG):
        y = Map("all_reduce", given)(tensor)
        return y / given.size() if op is ReduceOp.AVG else y
    if op in (ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX):
        y = Map("all_gather", given)(tensor)
        return y.prod(0) if op is ReduceOp.PRODUCT else y.amin(0) if op is ReduceOp.MIN else y.amax(0)
    bits = tensor.clone()
    plain.all_reduce(bits, op, given)
    return bits


def reduce(tensor: Tensor, dst: int, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The reduction of ``tensor`` over all ranks on rank ``dst``; zeros on the others."""
    given = _member("reduce", group)
    check_op("reduce", op, tensor)
    root = get_group_rank(given, dst)
    if op in (ReduceOp.SUM, ReduceOp.AVG):
        y = Map("reduce", given, root)(tensor)
        return y / given.size() if op is ReduceOp.AVG else y
    y = all_reduce(tensor, op, given)
    return core.where(core.tensor(given.rank() == root), y, core.zeros_like(y))


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """The ``tensor`` of rank ``src`` on all ranks; the others give one of the same shape, whose gradient is 0."""
    given = _member("broadcast", group)
    return Map("broadcast", given, get_group_rank(given, src))(tensor)


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks, on all of them."""
    return Map("all_gather", _member("all_gather", group))(tensor).unbind()


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks on rank ``dst``; zeros on the others."""
    given = _member("gather", group)
    return Map("gather", given, get_group_rank(given, dst))(tensor).unbind()


def scatter(tensors: Sequence[Tensor], src: int = 0, group: Any = None) -> Tensor:
    """The tensor of the list of rank ``src`` that stands at this rank's place; the others give lists of the same shapes."""
    given = _member("scatter", group)
    check_count("scatter", "tensors", tensors, given.size())
    return Map("scatter", given, get_group_rank(given, src))(core.stack(list(tensors)))


def reduce_scatter(output: Tensor, input_list: Sequence[Tensor], op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The reduction over ranks of the tensor of ``input_list`` that stands at this rank's place; ``output`` gives its shape only."""
    given = _member("reduce_scatter", group)
    check_count("reduce_scatter", "input_list", input_list, given.size())
    check_op("reduce_scatter", op, output)
    if op not in (ReduceOp.SUM, ReduceOp.AVG):
        return all_reduce(core.stack(list(input_list)), op, given)[given.rank()].reshape(output.shape)
    y = Map("reduce_scatter", given)(core.stack(list(input_list))).reshape(output.shape)
    return y / given.size() if op is ReduceOp.AVG else y


def all_to_all(
    output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor], group: Any = None
) -> tuple[Tensor, ...]:
    """Tensor j of ``input_tensor_list`` goes to rank j; the results come from them, in the shapes of ``output_tensor_list``."""
    given = _member("all_to_all", group)
    for what, tensors in (("output_tensor_list", output_tensor_list), ("input_tensor_list", input_tensor_list)):
        check_count("all_to_all", what, tensors, given.size())
    sent, received = [t.numel() for t in input_tensor_list], [t.numel() for t in output_tensor_list]
    row = Map("all_to_all", given, (sent, received))(core.cat([t.reshape(-1) for t in input_tensor_list]))
    return tuple(piece.reshape(t.shape) for piece, t in zip(row.split(received), output_tensor_list))


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Any = None,
) -> Tensor:
    """Piece j of ``input`` along its first dimension goes to rank j; the result, in the shape of ``output``, is what comes from them."""
    given = _member("all_to_all_single", group)
    sent, received = (
        sizes or [t.shape[0] // given.size()] * given.size()
        for sizes, t in ((input_split_sizes, input), (output_split_sizes, output))
    )
    return Map("all_to_all", given, (sent, received))(input).reshape(output.shape)
