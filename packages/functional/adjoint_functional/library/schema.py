"""Signatures of operators as PyTorch writes them: ``a::scale(Tensor x, *, float by=2.0) -> Tensor``."""

from __future__ import annotations

import ast
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

__all__ = ["Argument", "Schema", "infer", "parse"]

NONE = inspect.Parameter.empty
_NAMES = {
    Tensor: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    complex: "Scalar",
    core.dtype: "ScalarType",
    core.device: "Device",
}


@dataclass(frozen=True)
class Argument:
    """One argument; `default` is `NONE` if it must be given."""

    name: str
    type: str
    default: Any = NONE
    keyword_only: bool = False
    written: bool = False

    def __str__(self) -> str:
        text = f"{self.type} {self.name}"
        return text if self.default is NONE else f"{text}={self.default!r}".replace("'", '"')


@dataclass(frozen=True)
class Schema:
    """The signature of an operator."""

    qualname: str
    arguments: tuple[Argument, ...]
    returns: str

    def __str__(self) -> str:
        parts, star = [], False
        for a in self.arguments:
            if a.keyword_only and not star:
                parts.append("*")
                star = True
            parts.append(str(a))
        return f"{self.qualname}({', '.join(parts)}) -> {self.returns}"

    @property
    def name(self) -> str:
        """``a::scale``."""
        return self.qualname

    @property
    def writes(self) -> bool:
        """Whether an argument is written to."""
        return any(a.written for a in self.arguments)

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments in order, and those that are given by name only; RuntimeError for what does not fit."""
        given, positional, named = dict(kwargs), [], {}
        free = [a for a in self.arguments if not a.keyword_only]
        if len(args) > len(free):
            raise RuntimeError(
                f"{self.qualname}() expected at most {len(free)} argument(s) but received {len(args)}. Declaration: {self}"
            )
        for i, a in enumerate(self.arguments):
            value = args[i] if i < len(args) else given.pop(a.name, a.default)
            if value is NONE:
                raise RuntimeError(f"{self.qualname}() is missing value for argument '{a.name}'. Declaration: {self}")
            _check(self, a, value)
            if a.keyword_only:
                named[a.name] = value
            else:
                positional.append(value)
        if given:
            raise RuntimeError(f"{self.qualname}() got unexpected argument(s) {', '.join(given)}. Declaration: {self}")
        return tuple(positional), named


def _check(schema: Schema, a: Argument, value: Any) -> None:
    base = re.sub(r"\(.*?\)", "", a.type)
    if base.endswith("?") and value is None:
        return
    plain = base.removesuffix("?")
    fits = (
        isinstance(value, Tensor)
        if plain == "Tensor"
        else not isinstance(value, Tensor) or plain not in ("str", "bool[]", "int[]")
    )
    if plain == "Tensor[]":
        fits = isinstance(value, (list, tuple)) and all(isinstance(v, Tensor) for v in value)
    if not fits:
        raise RuntimeError(
            f"{schema.qualname}() Expected a value of type '{base}' for argument '{a.name}' but instead found type '{type(value).__name__}'."
        )


# ---- from text


def parse(text: str, namespace: str = "") -> Schema:
    """The signature in a text such as ``scale(Tensor x, float by=2.0) -> Tensor``; ValueError if it is none."""
    match = re.fullmatch(r"\s*([\w:.]+)\s*\((.*)\)\s*->\s*(.+?)\s*", text, re.DOTALL)
    if match is None:
        raise ValueError(f"library: expected a schema, name(Type argument, ...) -> Type, got {text!r}")
    name, inside, returns = match.groups()
    qualname = name if "::" in name or not namespace else f"{namespace}::{name}"
    arguments, keyword_only = [], False
    for part in _parts(inside):
        if part == "*":
            keyword_only = True
        else:
            arguments.append(_argument(part, keyword_only))
    return Schema(qualname, tuple(arguments), returns)


def _parts(inside: str) -> Iterable[str]:
    """What commas separate, but for those in brackets."""
    depth, part = 0, ""
    for c in inside:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            yield part.strip()
            part = ""
        else:
            part += c
    if part.strip():
        yield part.strip()


def _argument(text: str, keyword_only: bool) -> Argument:
    declared, _, default = text.partition("=")
    type_, _, name = declared.strip().rpartition(" ")
    if not type_ or not name.isidentifier():
        raise ValueError(f"library: expected an argument, Type name or Type name=default, got {text!r}")
    value: Any = NONE
    if default:
        try:
            value = ast.literal_eval(default.strip())
        except (ValueError, SyntaxError):
            value = default.strip()
    return Argument(name, type_, value, keyword_only, "!" in type_)


# ---- from a function


def infer(function: Callable[..., Any], mutates_args: str | Iterable[str], qualname: str = "") -> Schema:
    """The signature that the annotations of a function give; ValueError where there are none."""
    signature = inspect.signature(function)
    hints = typing.get_type_hints(function)
    everything = mutates_args == "unknown"
    written = set() if everything else set(mutates_args)
    if unknown := written - set(signature.parameters):
        raise ValueError(
            f"infer_schema(func): mutates_args names {sorted(unknown)}, which are no arguments. Got func with signature {signature}"
        )
    arguments = []
    for name, p in signature.parameters.items():
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            raise ValueError(
                f"infer_schema(func): We do not support positional-only args, varargs, or varkwargs. Got func with signature {signature}"
            )
        if name not in hints:
            raise ValueError(
                f"infer_schema(func): Parameter {name} must have a type annotation. Got func with signature {signature}"
            )
        text = type_name(hints[name], name)
        writes = text.startswith("Tensor") and (everything or name in written)
        if writes:
            text = text.replace("Tensor", f"Tensor(a{len(arguments)}!)")
        arguments.append(Argument(name, text, NONE if p.default is p.empty else p.default, p.kind is p.KEYWORD_ONLY, writes))
    found = hints.get("return", None if "return" in hints else NONE)
    if found is NONE:
        raise ValueError(f"infer_schema(func): the function must have a return annotation. Got func with signature {signature}")
    return Schema(qualname, tuple(arguments), _returns(found))


def _returns(hint: Any) -> str:
    if hint is None or hint is type(None):
        return "()"
    if typing.get_origin(hint) is tuple:
        return f"({', '.join(type_name(t, 'return') for t in typing.get_args(hint))})"
    return type_name(hint, "return")


def type_name(hint: Any, of: str) -> str:
    """PyTorch's name of an annotated type."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if hint in _NAMES:
        return _NAMES[hint]
    if origin in (typing.Union, types.UnionType):
        some = [t for t in inside if t is not type(None)]
        if len(some) < len(inside) and len(some) == 1:
            return f"{type_name(some[0], of)}?"
        if set(some) <= {int, float, bool, complex}:
            return "Scalar"
    if origin in (list, Sequence) and inside:
        return f"{type_name(inside[0], of)}[]"
    raise ValueError(
        f"infer_schema(func): Parameter {of} has unsupported type {hint}. The valid types are: {[t.__name__ for t in _NAMES]}, lists and optionals of them"
    )
