"""How kernels with arguments of their own are declared: an operation is one of them, or a sequence of steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import triton

from adjoint_core import registry

from . import _registered
from ._build import DECLARED
from ._common import share
from ._declare import is_own, keep_sample, parameters_of, put, put_complex
from ._formula import Formulas
from ._kinds import ComplexStructured, Structured, attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Unpack

OPERANDS = {f"x{i}": i for i in range(8)} | {f"y{i}": ~i for i in range(3)}


class Layout(TypedDict, total=False):
    """How operands come, of `kernel` and `sequence`.

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
    complex: complex numbers come as pairs of real ones, side by side, of which `parts(x0)` tells; of sizes they are one element.
    wide: `y0` is float32 where it would be a half type, and is rounded at the end.
    dims: how many dimensions operands may have.
    longest: how many elements there may be along the dimensions to work along.
    info: an operand or a workspace of int32, of factorisations: which matrices could not be factored, and where, as LAPACK counts. The
        host reads it and raises where the attribute `check` is set; of operations without this attribute unless a graph is captured.
    suits: a formula that is 0 of operands that the kernel is not for: the CPU computes those, as what has no kernel.
    """

    along: str
    strided: bool
    split: bool
    copied: bool
    matching: bool
    apart: bool
    linear: bool
    complex: bool
    wide: bool
    dims: int
    longest: int
    info: str
    suits: str


FLAGS = ("strided", "split", "copied", "matching", "apart", "linear", "wide")


@dataclass(frozen=True)
class Step:
    """A kernel, and formulas of what one launch of it takes."""

    function: Callable[..., Any]
    jit: Any
    grid: Sequence[str]
    values: Mapping[str, str]
    constants: Mapping[str, str | int]
    when: str
    dtypes: Sequence[str]
    warps: Callable[..., int] | None


def step(
    *,
    grid: str | Sequence[str],
    values: Mapping[str, str] | None = None,
    constants: Mapping[str, str | int] | None = None,
    when: str = "",
    dtypes: Sequence[str] = (),
    warps: Callable[..., int] | None = None,
) -> Callable[[Callable[..., Any]], Step]:
    """Declares a Triton kernel as a step of operations, which `sequence` names. Its parameters are as those of a `kernel`.

    Arguments:
        grid, values, constants, dtypes, warps: as for `kernel`.
        when: a formula, without constants; where it is 0 the step is left out.
    """
    sides = (grid,) if isinstance(grid, str) else tuple(grid)

    def declare(function: Callable[..., Any]) -> Step:
        return Step(
            function, triton.jit(function), sides, dict(values or {}), dict(constants or {}), when, tuple(dtypes), warps
        )

    return declare


def kernel(
    *names: str,
    grid: str | Sequence[str],
    values: Mapping[str, str] | None = None,
    constants: Mapping[str, str | int] | None = None,
    dtypes: Sequence[str] = (),
    warps: Callable[..., int] | None = None,
    sample: Callable[..., Any] | None = None,
    **layout: Unpack[Layout],
) -> Callable[[Callable[..., Any]], Any]:
    """Declares a Triton kernel as the GPU kernel of the operations `names`; without names, of its own name.

    The kernel's parameters are, by their names: `x0`, `x1`, ... the operands and `y0`, `y1`, ... the results, as pointers
    (to row-major memory, unless `strided`); those in `constants`, compile-time constants; those in `values`, integers;
    `n`, `outer` and `inner`, the elements in, before and after the dimensions it works along; and attributes of the
    operation, as floating-point numbers.

    Formulas may use numbers, attributes (`padding[-1]` of those with several values, 0 where there are fewer), constants, `n`, `outer`, `inner`,
    `inputs` (how many operands there are), `tf32` (whether products may round float32 so), `size(x0, -1)`, `stride(x0, 0)`, `numel(y0)`, `dims(x0)`,
    `itemsize(x0)`, `parts(x0)` (2 for complex numbers), `floating(x0)` (1 for real ones, not whole), `cdiv`, `min`, `max`, `next_pow2`, `log2`, `factors(n)` (of the length of a
    Fourier transform, how many; 0 where a prime factor is too large), `factor(n, i)`, `span(n, i)` (those before it), `+ - * // % << >>`, `<`, `==` and
    `a if c else b`. They are translated once: no launch enters Python.

    Arguments:
        names: operations.
        grid: a formula for the number of programs, or up to three.
        values: formulas of integer parameters. A kernel has variants for 1, multiples of 16, others, and those beyond int32; `long(...)` around a
            formula makes one for all, of int64.
        constants: formulas of compile-time constants; each set of their values is a variant of the kernel.
        dtypes: element types of the first pointer; all if empty.
        warps: from the constants, in order, to how many warps a program has; 4 by default.
        sample: a call that runs the kernel, for `python -m adjoint_kernels_triton.check`, given a function that makes tensors, as
            `lambda x: x(3, 100).softmax(-1)`.
        layout: see `Layout`.

    Raises:
        ValueError: no operation has this name, or a formula cannot be translated.
    """

    def declare(function: Callable[..., Any]) -> Any:
        only = step(grid=grid, values=values, constants=constants, dtypes=dtypes, warps=warps)(function)
        for name in names or (function.__name__,):
            _declare(name, {name: only}, {}, "", layout, [], {})
            keep_sample(name, sample)
        return only.jit

    return declare


def sequence(
    *names: str,
    steps: Sequence[Step],
    workspace: Mapping[str, tuple[str, str | int]] | None = None,
    rounds: str = "",
    where: Mapping[str, str] | None = None,
    sample: Callable[..., Any] | None = None,
    **layout: Unpack[Layout],
) -> None:
    """Declares steps, launched in order, as what the operations `names` run on GPUs.

    Formulas may also use `round`, which counts from 0, and `rounds`.

    Arguments:
        names: operations.
        steps: see `step`.
        workspace: memory for the time of the call, as parameters of the steps: to an element type ("int32", an operand's as "x0", or
            "widened(x0)", float32 for half types) and a formula for the number of elements. Nothing is in it at first.
        rounds: a formula for how often all steps are run; once if empty.
        where: what names in the steps, of parameters or in formulas, stand for here: an operand or a formula.
        sample: as for `kernel`.
        layout: see `Layout`.

    Example::

        sequence("sort", steps=[count, scan, place], workspace={"counts": ("int32", "256 * cdiv(n, 1024)")}, rounds="itemsize(x0)", along="dim")

    Raises:
        ValueError: no operation has this name, or a formula cannot be translated.
    """
    by_name = {one.function.__name__: one for one in steps}
    if len(by_name) < len({id(one) for one in steps}):
        raise ValueError(f"sequence: {', '.join(names)}: steps must have different names, got {', '.join(by_name)}")
    for name in names:
        _declare(
            name,
            {f"{name}.{own}": one for own, one in by_name.items()},
            dict(workspace or {}),
            rounds,
            layout,
            steps,
            dict(where or {}),
        )
        keep_sample(name, sample)


def _declare(
    op: str,
    kernels: Mapping[str, Step],
    workspace: Mapping[str, tuple[str, str | int]],
    rounds: str,
    layout: Layout,
    order: Sequence[Step],
    where: Mapping[str, str],
) -> None:
    """`order`: of launches, where it is not just that of the kernels."""
    if extra := set(layout) - set(Layout.__annotations__):
        raise TypeError(f"kernel: {op}: unknown options: {', '.join(sorted(extra))}")
    kind = ComplexStructured if layout.get("complex") else Structured
    fields, rooms = attributes(op), list(workspace)
    declared = [
        kind(name, one.jit, parameters_of(one.function), tuple(one.constants), tuple(one.dtypes), one.warps)
        for name, one in kernels.items()
    ]
    names = {id(one): name.partition(".")[2] for name, one in kernels.items()}
    written: list[list[int]] = []
    formulas = Formulas(OPERANDS, fields, (), where, written)
    how = [
        "structured",
        [[names[id(one)], *_step(op, one, fields, rooms, where, written)] for one in order or kernels.values()],
        [[*_element_type(op, type), formulas.translate(count)] for type, count in workspace.values()],
        formulas.translate(rounds) if rounds else [],
        [_argument(layout["info"], {}, fields, rooms, formulas)] if "info" in layout else [],
        layout.get("along", ""),
        [flag for flag in FLAGS if layout.get(flag)],
        layout.get("dims", 64),
        layout.get("longest", 2**63 - 1),
        formulas.translate(layout["suits"]) if "suits" in layout else [],
    ]
    how.append(share(written))
    put(op, declared, all(is_own(one.function) for one in kernels.values()), how)


def _step(
    op: str, one: Step, fields: Sequence[str], workspace: Sequence[str], where: Mapping[str, str], written: list[list[int]]
) -> list[Any]:
    parameters = parameters_of(one.function)
    for kind, given in (("constants", one.constants), ("values", one.values)):
        if extra := set(given) - set(parameters):
            raise ValueError(f"kernel: {op} has {kind} that are no parameters: {', '.join(sorted(extra))}")
    formulas = Formulas(OPERANDS, fields, tuple(one.constants), where, written)
    return [
        [_argument(p, one.values, fields, workspace, formulas) for p in parameters if p not in one.constants],
        [formulas.translate(formula) for formula in one.constants.values()],
        [formulas.translate(side) for side in [*one.grid, "1", "1"][:3]],
        formulas.translate(one.when) if one.when else [],
    ]


def _argument(
    parameter: str, values: Mapping[str, str], fields: Sequence[str], workspace: Sequence[str], formulas: Formulas
) -> tuple[int, int, list[int]]:
    if parameter in values:
        formula = values[parameter]
        return 1, int(formula.startswith("long(")), formulas.translate(formula.removeprefix("long"))
    if parameter in formulas.operands:
        return 0, formulas.operands[parameter], []
    if parameter in workspace:
        return 3, workspace.index(parameter), []
    if parameter in fields:
        return 2, fields.index(parameter), []
    try:
        return 1, 0, formulas.translate(parameter)
    except ValueError:
        raise ValueError(
            f"kernel: parameter {parameter} is no operand (x0, ...; y0, ...), attribute ({', '.join(fields) or 'there are none'}), "
            "key of values, constants or workspace, nor n, outer or inner"
        ) from None


def _element_type(op: str, text: str) -> tuple[int, int]:
    known = [name for name, _ in registry.element_types()]
    operand = text.removeprefix("widened(").removesuffix(")")
    if text in known:
        return 0, known.index(text)
    if operand in OPERANDS:
        return 1 + (operand != text), OPERANDS[operand]
    raise ValueError(f"sequence: {op}: the type of a workspace is an element type, x0 or widened(x0), got {text!r}")


def complex_kernel(*names: str) -> Callable[[Callable[..., Any]], Any]:
    """Declares what takes the place of a `kernel` where its operands are complex; of a step called "operation.step".

    Parameters, constants and grid are those of that kernel, which is declared before; pointers are to real numbers, of which
    each element has two, side by side.

    Raises:
        ValueError: no kernel has this name, or its parameters are others.
    """

    def declare(function: Callable[..., Any]) -> Any:
        jit = triton.jit(function)
        for name in names or (function.__name__,):
            real = DECLARED.get(name)
            if is_own(function) and _registered.operation_of(name) not in _registered.OWN:
                continue  # a user's kernel stands there
            if not isinstance(real, Structured) or real.parameters != parameters_of(function):
                raise ValueError(f"complex_kernel: {name} needs a kernel of the same parameters, got {parameters_of(function)}")
            put_complex(ComplexStructured(name, jit, real.parameters, real.constants, (), real.warps), is_own(function))
        return jit

    return declare
