"""Small formulas over the sizes and attributes of a call, translated once into core's postfix code: launches never enter Python."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

_NAMES = (
    "number", "field", "constant", "size", "stride", "numel", "dims", "itemsize", "parts", "floating", "named", "element",
    "outer", "n", "inner", "inputs", "chunk", "last", "total", "kept", "behind", "tf32", "round", "rounds",
    "add", "subtract", "multiply", "divide", "modulo", "cdiv", "min", "max", "shift_left", "shift_right", "less", "equal",
    "factor", "span", "next_pow2", "log2", "factors", "choose",
)  # fmt: skip
CODE = {name: i for i, name in enumerate(_NAMES)}
_FACTS = _NAMES[_NAMES.index("outer") : _NAMES.index("add")]
_OPERATORS = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.FloorDiv: "divide",
    ast.Mod: "modulo",
    ast.LShift: "shift_left",
    ast.RShift: "shift_right",
    ast.Lt: "less",
    ast.Eq: "equal",
}


class Formulas:
    """Translates the formulas of one kernel.

    Arguments:
        operands: positions of the names that stand for operands.
        fields: positions of attributes.
        constants: positions of the kernel's constants.
        names: further names of operands and formulas.
        written: gets the code of each formula that is translated.
    """

    def __init__(
        self,
        operands: Mapping[str, int],
        fields: Sequence[str],
        constants: Sequence[str],
        names: Mapping[str, str],
        written: list[list[int]],
    ) -> None:
        self.operands = {**operands, **{name: operands[text] for name, text in names.items() if text in operands}}
        self.fields, self.constants, self.names, self.written = list(fields), list(constants), names, written

    def translate(self, text: str | int) -> list[int]:
        """The code of a formula.

        Raises:
            ValueError: something else than numbers, known names, `+ - * // % << >>`, `<`, `==`, `a if c else b`,
                `attribute[0]` and the functions size, stride, numel, dims, itemsize, parts, floating, cdiv, min, max, next_pow2, log2, factors, factor
                and span.
        """
        try:
            code = self._code(ast.parse(str(text), mode="eval").body)
        except (KeyError, SyntaxError) as error:
            unknown = error.args[0] if isinstance(error, KeyError) else error
            raise ValueError(f"kernel: cannot translate {text!r}: no formula knows {unknown}") from None
        self.written.append(code)
        return code

    def _code(self, node: ast.expr) -> list[int]:
        match node:
            case ast.Constant(value=int(value)):
                return [CODE["number"], value]
            case ast.Name(id=name):
                return self._name(name)
            case ast.BinOp(left=left, op=operator, right=right):
                return [*self._code(left), *self._code(right), CODE[_OPERATORS[type(operator)]]]
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                return [*self._code(left), *self._code(right), CODE[_OPERATORS[type(operator)]]]
            case ast.IfExp(test=test, body=body, orelse=other):
                return [*self._code(test), *self._code(body), *self._code(other), CODE["choose"]]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
                return [CODE["number"], -value]
            case ast.Subscript(value=ast.Name(id=name), slice=position) if name in self.fields:
                return [*self._code(position), CODE["element"], self.fields.index(name)]
            case ast.Call(func=ast.Name(id=function), args=[ast.Name(id=operand), *rest]) if operand in self.operands:
                dimension = [c for argument in rest for c in self._code(argument)]
                return [*dimension, CODE[function], self.operands[operand]]
            case ast.Call(func=ast.Name(id=function), args=arguments):
                return [*(c for argument in arguments for c in self._code(argument)), CODE[function]]
        raise KeyError(ast.unparse(node))

    def _name(self, name: str) -> list[int]:
        if name in self.fields:
            return [CODE["field"], self.fields.index(name)]
        if name in self.constants:
            return [CODE["constant"], self.constants.index(name)]
        if name in self.names:
            return self._code(ast.parse(self.names[name], mode="eval").body)
        if name not in _FACTS:
            raise KeyError(name)
        return [CODE[name]]
