"""How elementwise kernels are declared, and what all declarations share: a decorated function is a kernel of the operation it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import triton

from . import _registered
from ._build import COMPLEX, DECLARED, SAMPLES
from ._kinds import ComplexElementwise, Declared, Elementwise, Lists, RandomNumbers, Structured, attributes

BLOCK = 1024
RANDOM_BLOCK = 256
LISTS_BLOCK = 2048


def is_own(function: Callable[..., Any]) -> bool:
    """Whether this package declares it, not a user."""
    return function.__module__.startswith(f"{__package__}.kernels.")


def put(op: str, declared: Sequence[Declared], own: bool, how: list[Any]) -> None:
    """Registers an operation, with the kernels that it is made of."""
    if not _registered.put(op, how, own):
        return
    for stale in [name for name in DECLARED if _registered.operation_of(name) == op]:
        del DECLARED[stale]
    DECLARED.update({one.name: one for one in declared})
    beside = COMPLEX.get(op)
    if beside and (isinstance(beside, Structured) or beside.fields != getattr(declared[0], "fields", None)):
        del COMPLEX[op]  # it stood beside another kernel


def put_complex(declared: Declared, own: bool) -> None:
    if _registered.operation_of(declared.name) in _registered.OWN or not own:
        COMPLEX[declared.name] = declared


def parameters_of(function: Callable[..., Any]) -> tuple[str, ...]:
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def keep_sample(name: str, sample: Callable[..., Any] | None) -> None:
    SAMPLES.pop(name, None)
    if sample:
        SAMPLES[name] = sample


def _put_elementwise(declared: Elementwise, function: Callable[..., Any]) -> None:
    put(declared.name, [declared], is_own(function), ["elementwise", list(declared.fields), declared.block])


def _declaring(
    kind: type[Elementwise],
    names: Sequence[str],
    put: Callable[..., None],
    sample: Callable[..., Any] | None = None,
    block: int = BLOCK,
) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that puts a function down as this kind of kernel of each operation."""

    def declare(function: Callable[..., Any]) -> Any:
        jit = triton.jit(function)
        parameters = parameters_of(function)
        for name in names or (function.__name__,):
            known = attributes(name)
            fields = tuple(p for p in parameters if p in known)
            put(kind(name, jit, (len(parameters) - len(fields)) // kind.each, fields, block), function)
            keep_sample(name, sample)
        return jit

    return declare


def elementwise(
    *names: str, block: int = BLOCK, sample: Callable[..., Any] | None = None
) -> Callable[[Callable[..., Any]], Any]:
    """Declares a scalar function as the GPU kernel of the elementwise operations `names`; without names, of its own name.

    The function is Triton code. Its parameters are the operands, half types as float32, then any attributes of the
    operation that it wants, by name (`registry.record(name).attributes`). Its result is converted to the type of the
    operation's result.

    Arguments:
        names: operations.
        block: how many elements a program takes, of 128 threads. Of long functions 128: what a thread computes stands in the compiled kernel for
            each of its elements, which costs seconds to compile and more registers than there are.
        sample: a call that runs the kernel, for `python -m adjoint_kernels_triton.check`, given a function that makes tensors, as
            `lambda x: x(3, 4).leaky_relu(0.1)`. An operation without attributes needs none.

    Example::

        @elementwise()
        def leaky_relu(x, a):
            return tl.where(x > 0, x, x * a)

    Raises:
        ValueError: no operation has this name.
    """

    return _declaring(Elementwise, names, _put_elementwise, sample, block)


def complex_elementwise(*names: str) -> Callable[[Callable[..., Any]], Any]:
    """Declares a function of complex numbers as the kernel that operations with an `elementwise` one have for them.

    The function takes two parameters for each operand, its real and imaginary part (of a real operand the second is 0.0), then
    any attributes; the result is a tuple of both parts, or of one where the operation's result is real.

    Raises:
        ValueError: no operation has this name.
    """

    def put(declared: Elementwise, function: Callable[..., Any]) -> None:
        if declared.name not in DECLARED:  # it has none for real numbers
            _put_elementwise(declared, function)
        put_complex(declared, is_own(function))

    return _declaring(ComplexElementwise, names, put)


def random_numbers(function: Callable[..., Any]) -> Any:
    """Declares the kernel of its name that makes random numbers: see core's cuda/random.h for the names and the parameters.

    One program makes `BLOCK` blocks of 128 bits.
    """
    jit = triton.jit(function)
    declared = RandomNumbers(function.__name__, jit, parameters_of(function), ("CAPTURED", "PAIRS", "BLOCK"), (), None)
    put(declared.name, [declared], is_own(function), ["random", RANDOM_BLOCK])
    return jit


def over_lists(function: Callable[..., Any]) -> Any:
    """Declares the kernel of its name that updates lists of tensors: see core's cuda/lists.h for the parameters, of which those in
    capitals are constants."""
    jit = triton.jit(function)
    parameters = parameters_of(function)
    declared = Lists(function.__name__, jit, parameters, tuple(p for p in parameters if p.isupper()), (), None)
    put(declared.name, [declared], is_own(function), ["lists", LISTS_BLOCK])
    return jit
