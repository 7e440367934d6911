"""How kernels are declared: a decorated function is a kernel of the operation it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import triton

from . import _registered
from ._build import COMPLEX, DECLARED, SAMPLES
from ._formula import Formulas
from ._kinds import ComplexElementwise, ComplexStructured, Declared, Elementwise, RandomNumbers, Structured, attributes

BLOCK = 1024
RANDOM_BLOCK = 256


def _own(function: Callable[..., Any]) -> bool:
    """Whether this package declares it, not a user."""
    return function.__module__.startswith(f"{__package__}.kernels.")


def _put(declared: Declared, function: Callable[..., Any], how: list[Any]) -> None:
    if not _registered.put(declared.name, how, _own(function)):
        return
    DECLARED[declared.name] = declared
    beside = COMPLEX.get(declared.name)
    if beside and (isinstance(beside, Structured) or beside.fields != declared.fields):
        del COMPLEX[declared.name]  # it stood beside another kernel


def _put_complex(declared: Declared, function: Callable[..., Any]) -> None:
    if declared.name in _registered.OWN or not _own(function):
        COMPLEX[declared.name] = declared


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def _keep_sample(name: str, sample: Callable[..., Any] | None) -> None:
    SAMPLES.pop(name, None)
    if sample:
        SAMPLES[name] = sample


def _put_elementwise(declared: Elementwise, function: Callable[..., Any]) -> None:
    _put(declared, function, ["elementwise", list(declared.fields), BLOCK])


def _declaring(
    kind: type[Elementwise], names: Sequence[str], put: Callable[..., None], sample: Callable[..., Any] | None = None
) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that puts a function down as this kind of kernel of each operation."""

    def declare(function: Callable[..., Any]) -> Any:
        jit = triton.jit(function)
        parameters = _parameters(function)
        for name in names or (function.__name__,):
            known = attributes(name)
            fields = tuple(p for p in parameters if p in known)
            put(kind(name, jit, (len(parameters) - len(fields)) // kind.each, fields), function)
            _keep_sample(name, sample)
        return jit

    return declare


def elementwise(*names: str, sample: Callable[..., Any] | None = None) -> Callable[[Callable[..., Any]], Any]:
    """Declares a scalar function as the GPU kernel of the elementwise operations `names`; without names, of its own name.

    The function is Triton code. Its parameters are the operands, half types as float32, then any attributes of the
    operation that it wants, by name (`registry.record(name).attributes`). Its result is converted to the type of the
    operation's result.

    Arguments:
        names: operations.
        sample: a call that runs the kernel, for `python -m adjoint_kernels_triton.check`, given a function that makes tensors, as
            `lambda x: x(3, 4).leaky_relu(0.1)`. An operation without attributes needs none.

    Example::

        @elementwise()
        def leaky_relu(x, a):
            return tl.where(x > 0, x, x * a)

    Raises:
        ValueError: no operation has this name.
    """

    return _declaring(Elementwise, names, _put_elementwise, sample)


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
        _put_complex(declared, function)

    return _declaring(ComplexElementwise, names, put)


def kernel(
    *names: str,
    grid: str | Sequence[str],
    values: Mapping[str, str] | None = None,
    constants: Mapping[str, str | int] | None = None,
    along: str = "",
    strided: bool = False,
    split: bool = False,
    copied: bool = False,
    matching: bool = False,
    apart: bool = False,
    linear: bool = False,
    wide: bool = False,
    dims: int = 64,
    dtypes: Sequence[str] = (),
    warps: Callable[..., int] | None = None,
    sample: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Any]:
    """Declares a Triton kernel as the GPU kernel of the operations `names`; without names, of its own name.

    The kernel's parameters are, by their names: `x0`, `x1`, ... the operands and `y0`, `y1`, ... the results, as pointers
    (to row-major memory, unless `strided`); those in `constants`, compile-time constants; those in `values`, integers;
    `n`, `outer` and `inner`, the elements in, before and after the dimensions it works along; and attributes of the
    operation, as floating-point numbers.

    Formulas may use numbers, attributes, constants, `n`, `outer`, `inner`, `inputs` (how many operands there are), `tf32`
    (whether products may round float32 so), `size(x0, -1)`, `stride(x0, 0)`, `numel(y0)`, `dims(x0)`, `itemsize(x0)`, `cdiv`,
    `min`, `max`, `next_pow2`, `+ - * // %`, `<`, `==` and `a if c else b`. They are translated once: no launch enters Python.

    Arguments:
        names: operations.
        grid: a formula for the number of programs, or up to three.
        values: formulas of integer parameters.
        constants: formulas of compile-time constants; each set of their values is a variant of the kernel.
        along: the attribute that names the dimensions of `x0` to work along, "dim" or "dims".
        strided: operands come as they are, for a kernel that takes their strides.
        split: it is a reduction that may go in two passes. Program p of the second axis reduces elements p * chunk to
            (p + 1) * chunk of each row and writes to row p of `y0`; `last` says whether this is the last pass, and `total`
            how many elements there are in all.
        copied: `y0` starts as `x0`.
        matching: all operands get the sizes of `x0`, but along `along`. Where positions, `x1`, are smaller, `x0` is cut down to them,
            or, if `y0` starts as `x0`, they are filled up with positions outside of it.
        apart: the dimensions to work along stay where they are. Elements of `x0` are (outer / kept, n / behind, kept, behind),
            of which the second and the last are worked along.
        linear: complex numbers come as pairs of real ones, which are `inner`'s last dimension.
        wide: `y0` is float32 where it would be a half type, and is rounded at the end.
        dims: how many dimensions operands may have.
        dtypes: element types of the first pointer; all if empty.
        warps: from the constants, in order, to how many warps a program has; 4 by default.
        sample: a call that runs the kernel, for `python -m adjoint_kernels_triton.check`, given a function that makes tensors, as
            `lambda x: x(3, 100).softmax(-1)`.

    Raises:
        ValueError: no operation has this name, or a formula cannot be translated.
    """
    values, constants = dict(values or {}), dict(constants or {})
    options = {
        "strided": strided,
        "split": split,
        "copied": copied,
        "matching": matching,
        "apart": apart,
        "linear": linear,
        "wide": wide,
    }
    sides = [grid] if isinstance(grid, str) else list(grid)

    def declare(function: Callable[..., Any]) -> Any:
        jit = triton.jit(function)
        parameters = _parameters(function)
        for name in names or (function.__name__,):
            fields = attributes(name)
            operands = {f"x{i}": i for i in range(8)} | {f"y{i}": ~i for i in range(3)}
            declared = Structured(name, jit, parameters, tuple(constants), tuple(dtypes), warps)
            formulas = Formulas(operands, fields, declared.constants)
            for kind, given in (("constants", constants), ("values", values)):
                if extra := set(given) - set(parameters):
                    raise ValueError(f"kernel: {name} has {kind} that are no parameters: {', '.join(sorted(extra))}")
            how = [
                "structured",
                [_argument(p, values, operands, fields, formulas) for p in parameters if p not in constants],
                [formulas.translate(constants[p]) for p in declared.constants],
                [formulas.translate(side) for side in [*sides, "1", "1"][:3]],
                along,
                [option for option, wanted in options.items() if wanted],
                dims,
            ]
            _put(declared, function, how)
            _keep_sample(name, sample)
        return jit

    return declare


def complex_kernel(*names: str) -> Callable[[Callable[..., Any]], Any]:
    """Declares what takes the place of a `kernel` where its operands are complex.

    Parameters, constants and grid are those of that kernel, which is declared before; pointers are to real numbers, of which
    each element has two, side by side.

    Raises:
        ValueError: no kernel has this name, or its parameters are others.
    """

    def declare(function: Callable[..., Any]) -> Any:
        jit = triton.jit(function)
        for name in names or (function.__name__,):
            real = DECLARED.get(name)
            if _own(function) and name not in _registered.OWN:
                continue  # a user's kernel stands there
            if not isinstance(real, Structured) or real.parameters != _parameters(function):
                raise ValueError(f"complex_kernel: {name} needs a kernel of the same parameters, got {_parameters(function)}")
            _put_complex(ComplexStructured(name, jit, real.parameters, real.constants, (), real.warps), function)
        return jit

    return declare


def random_numbers(function: Callable[..., Any]) -> Any:
    """Declares the kernel of its name that makes random numbers: see core's cuda/random.h for the names and the parameters.

    One program makes `BLOCK` blocks of 128 bits.
    """
    jit = triton.jit(function)
    declared = RandomNumbers(function.__name__, jit, _parameters(function), ("CAPTURED", "PAIRS", "BLOCK"), (), None)
    _put(declared, function, ["random", RANDOM_BLOCK])
    return jit


def _argument(
    parameter: str, values: Mapping[str, str], operands: Mapping[str, int], fields: Sequence[str], formulas: Formulas
) -> tuple[int, int, list[int]]:
    if parameter in values:
        return 1, 0, formulas.translate(values[parameter])
    if parameter in operands:
        return 0, operands[parameter], []
    if parameter in fields:
        return 2, fields.index(parameter), []
    try:
        return 1, 0, formulas.translate(parameter)
    except ValueError:
        raise ValueError(
            f"kernel: parameter {parameter} is no operand (x0, ...; y0, ...), attribute ({', '.join(fields) or 'there are none'}), "
            "key of values or constants, nor n, outer or inner"
        ) from None
