"""The records of all operations: what documentation, tests and coverage tables are made from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from . import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


@dataclass(frozen=True)
class Record:
    """What is known about one operation."""

    name: str
    doc: str
    kind: str
    outputs: int
    variadic: bool
    view: bool
    differentiable: tuple[int, ...]
    batched: bool
    kernels: tuple[str, ...]
    attributes: tuple[str, ...]


def names() -> list[str]:
    """The names of all records, sorted.

    Example::

        >>> names()[:3]
        ['abs', 'acos', 'acosh']
    """
    return _core._op_names()


def record(name: str) -> Record:
    """The record of one operation.

    Raises:
        KeyError: no operation has this name.

    Example:
        >>> record("sin").kind
        'elementwise'
    """
    return Record(**_core._op_record(name))


def element_types() -> list[tuple[str, int]]:
    """The element types and their bytes, at the positions that stand for them in the arguments of `compile`.

    Example:
        >>> element_types()[:2]
        [('bool', 1), ('uint8', 1)]
    """
    return _core._element_types()


def register_elementwise(
    op: str, fields: Sequence[str], block: int, compile: Callable[[int, bytes, list[int]], tuple[Any, ...]]
) -> None:
    """Makes an elementwise function the GPU kernel of the operation `op`.

    Arguments:
        op: the name of a record.
        fields: attributes that the function takes after its operands.
        block: how many elements one program works on.
        compile: called once for each variant with the device's index, the arguments' types and hints (a byte each, see
            core's cuda/kernel.h) and the constants; returns the image, its entry point, bytes of shared memory, threads,
            blocks in a cluster, whether it is cooperative, whether it may start early, bytes of scratch memory for each
            block, and (argument, bytes) for each parameter.

    Raises:
        ValueError: no operation has this name, or it has no such attribute.
    """
    _core._cuda.register_elementwise(op, list(fields), block, compile)


def register_structured(
    op: str,
    steps: Sequence[tuple[str, list[Any], list[list[int]], list[list[int]], list[int]]],
    workspaces: Sequence[tuple[int, int, list[int]]],
    rounds: list[int],
    info: Sequence[tuple[int, int, list[int]]],
    along: str,
    options: Sequence[str],
    dims: int,
    longest: int,
    suits: list[int],
    names: Sequence[list[int]],
    compile: Callable[..., tuple[Any, ...]],
) -> None:
    """Makes kernels with arguments of their own, launched in order, what the operation `op` runs on GPUs.

    Arguments:
        op: the name of a record.
        steps: for each launch its name, or "" if it is the only one; its arguments: the kind (0: an operand, 1: an integer, 2: an
            attribute, 3: a workspace), the position of the operand (-1, -2, ...: results), attribute or workspace, and the integer's
            formula, in the code of core's cuda/kernel.h; the formulas of the compile-time constants, in the order in which
            `compile` gets their values; three formulas of the grid; and a formula that is 0 where it is left out, or none.
        workspaces: memory for the time of the call: how its element type is given (0: itself, 1: an operand's, 2: the same, float32 for half types), the
            type or operand, and the formula of the number of elements.
        rounds: a formula for how often all steps are run, or none.
        info: at most one argument, a result or workspace of int32, which the host reads where the attribute `check` is set: it raises where
            one is not 0, as for LAPACK's. Of operations without this attribute it is read unless a graph is captured.
        along: the attribute that names dimensions of operand 0, or "".
        options: any of "strided" (operands come as they are; else they are made contiguous), "split" (a reduction that may
            go in two passes, the first one over chunks), "copied" (result 0 starts as operand 0), "matching" (operands get
            operand 0's sizes but along the dimension), "apart" (the dimensions it works along stay where they are), "linear"
            (complex numbers come as pairs of real ones, behind the last dimension) and "wide"
            (result 0 is float32 instead of a half type, and rounded at the end).
        dims: how many dimensions operands may have.
        longest: how many elements there may be along the dimensions it works along.
        suits: a formula that is 0 where the CPU computes the call, as `register_on_host` says, or none.
        names: formulas that others name by their positions, each after those that it names itself: evaluated once for a call.
        compile: as in `register_elementwise`; gets the name of a step, if it has one, as `step`.

    Raises:
        ValueError: no operation has this name, it has no such attribute, or a formula cannot be evaluated.
    """
    made = [(*rest, partial(compile, step=name) if name else compile) for name, *rest in steps]
    _core._cuda.register_structured(
        op, made, list(workspaces), list(rounds), list(info), along, list(options), dims, longest, list(suits), list(names)
    )


def register_on_host(op: str, why: str) -> None:
    """Lets the CPU compute the operation `op` for GPUs, between copies, as long as it has no kernel there.

    The first call warns; a call within a graph's capture is an error.

    Arguments:
        op: the name of a record.
        why: the reason, for the warning.

    Raises:
        ValueError: no operation that the CPU computes has this name.
    """
    _core._cuda.register_on_host(op, why)


def register_random(name: str, block: int, compile: Callable[[int, bytes, list[int]], tuple[Any, ...]]) -> None:
    """Makes a kernel the one that fills GPU memory with random numbers of a kind.

    Arguments:
        name: "random_uniform", "random_normal", "random_integers" or "random_mask"; core's cuda/random.h describes them.
        block: how many blocks of 128 random bits one program makes.
        compile: as in `register_elementwise`.

    Raises:
        ValueError: there are no random numbers of this name.
    """
    _core._cuda.register_random(name, block, compile)


def register_lists(name: str, block: int, compile: Callable[[int, bytes, list[int]], tuple[Any, ...]]) -> None:
    """Makes a kernel the one that updates lists of tensors on a GPU in one launch, under a name that callers know.

    Arguments:
        name: of the kernel; core's cuda/lists.h describes its arguments.
        block: how many elements one program works on.
        compile: as in `register_elementwise`.

    Raises:
        ValueError: the block is not positive.
    """
    _core._cuda.register_lists(name, block, compile)
