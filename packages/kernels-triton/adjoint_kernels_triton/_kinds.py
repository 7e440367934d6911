"""The kinds of kernels: what each makes of the arguments of a variant."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from adjoint_core import registry

from . import _compile, _complex_templates, _templates
from ._variant import ALIGNED_POINTER, POINTER, Argument, Signature, arguments


@dataclass(frozen=True)
class Elementwise:
    """A scalar function, run over all elements by a template."""

    name: str
    function: Any
    operands: int
    fields: tuple[str, ...]
    block: int  # elements of a program
    each: ClassVar[int] = 1  # parameters of the function for each operand

    def signature(self, specs: bytes, constants: list[int]) -> Signature:
        """The parameters of a variant: see core's elementwise.cpp for the order of the slots."""
        known = arguments(specs)
        _expect_real(known)
        return self._signature(known, constants, [None] * self.operands)

    def _signature(
        self, known: list[Argument], constants: list[int], inputs: list[object], kinds: int | None = None
    ) -> Signature:
        dims, block = constants
        slots: Iterator[tuple[int, Argument]] = iter(enumerate(known))
        signature = Signature()
        try:
            signature.add("inputs", inputs, slots)
            if dims:
                signature.add("sizes", [None] * dims, slots)
                signature.add("strides", [[None] * dims] * (self.operands + 1), slots)
            signature.add("fields", [None] * len(self.fields), slots)
            signature.add("out", None, slots)
            signature.add("n", None, slots)
            fits = next(slots, None) is None
        except RuntimeError:  # there are no more slots
            fits = False
        if not fits:
            raise ValueError(
                f"{self.name}: the function takes {self.operands} operands and the attributes {self.fields}; the operation has "
                f"another number of operands (its attributes are {attributes(self.name)})"
            )
        signature.constant("FUNCTION", self.function)
        signature.constant("OPERANDS", self.operands)
        if kinds is not None:
            signature.constant("KINDS", kinds)
        if dims:
            signature.constant("DIMS", dims)
        signature.constant("BLOCK", block)
        return signature

    def template(self, constants: list[int]) -> Any:
        return _templates.strided if constants[0] else _templates.flat

    def options(self, constants: list[int]) -> _compile.Options:
        return _compile.Options(warps=4)


class ComplexElementwise(Elementwise):
    """A function of the parts of complex numbers."""

    each = 2

    def signature(self, specs: bytes, constants: list[int]) -> Signature:
        known = arguments(specs)
        inputs: list[object] = []
        kinds, at = 0, 0
        for operand in range(self.operands):
            kind = 0 if not known[at].complex else 1 if known[at].form in (POINTER, ALIGNED_POINTER) else 2
            inputs.append([None, None] if kind == 2 else None)
            kinds |= kind << 2 * operand
            at += 2 if kind == 2 else 1
        return self._signature(known, constants, inputs, kinds | known[-2].complex << 2 * self.operands)

    def template(self, constants: list[int]) -> Any:
        return _complex_templates.complex_strided if constants[0] else _complex_templates.complex_flat


def _expect_real(known: list[Argument]) -> None:
    for argument in known:
        if argument.complex:
            raise NotImplementedError(f"no kernel for {argument.dtype} on cuda")


@dataclass(frozen=True)
class Structured:
    """A kernel with arguments of its own."""

    name: str
    function: Any
    parameters: tuple[str, ...]
    constants: tuple[str, ...]
    dtypes: tuple[str, ...]
    warps: Callable[..., int] | None

    def signature(self, specs: bytes, constants: list[int]) -> Signature:
        """The parameters of a variant: those that are not constants, in order."""
        known = arguments(specs)
        self.check(known)
        slots: Iterator[tuple[int, Argument]] = iter(enumerate(known))
        values = dict(zip(self.constants, constants, strict=True))
        signature = Signature()
        for name in self.parameters:
            if name in values:
                signature.constant(name, values[name])
            else:
                signature.add(name, None, slots)
        return signature

    def check(self, known: list[Argument]) -> None:
        """An error for element types that this is no kernel for."""
        _expect_real(known)
        first = next((a.dtype for a in known if a.type.startswith("*")), "")
        if self.dtypes and first not in self.dtypes:
            raise NotImplementedError(f"no kernel for {first} on cuda")

    def template(self, constants: list[int]) -> Any:
        return self.function

    def options(self, constants: list[int]) -> _compile.Options:
        return _compile.Options(warps=self.warps(*constants) if self.warps else 4)


class ComplexStructured(Structured):
    """A kernel of complex numbers: its pointers are to the first of two parts that lie side by side."""

    def check(self, known: list[Argument]) -> None:
        pass


class RandomNumbers(Structured):
    """A kernel that makes random numbers."""


class Lists(Structured):
    """A kernel that updates lists of tensors."""


Declared = Elementwise | Structured


def attributes(name: str) -> tuple[str, ...]:
    try:
        return registry.record(name).attributes
    except KeyError:
        near = difflib.get_close_matches(name, registry.names(), 3)
        hint = f"do you mean {' or '.join(near)}?" if near else "a new one starts as a record: docs/add_an_operation.md"
        raise ValueError(f"no operation is named '{name}'; {hint}") from None
