"""What is to be said of a result that is not finite."""

from __future__ import annotations

import linecache
import math
from collections.abc import Sequence
from typing import Any

from adjoint_core import Tensor, _core

from .. import _engine

_Line = tuple[str, int, str]  # file, line, function


class NonFiniteError(RuntimeError):
    """The first nan or inf, found by ``detect_nan``.

    ``kind``: "nan" or "inf". ``op``: the operation, such as "div", or the node of a custom Function. ``index``: where in the
    result the first one is; ``count``: how many there are. ``operands``: their values at that index; None where they do not
    correspond element by element. ``made``: no operand had one. ``line``: (file, line, function) of the user's call. In backward
    ``node`` is the name of the node that ran, and ``forward_line`` where its forward operation was called.
    """

    kind: str
    op: str
    index: tuple[int, ...]
    count: int
    operands: tuple[Any, ...] | None
    made: bool
    line: _Line | None
    node: str | None
    forward_line: _Line | None


def describe(
    name: str,
    elementwise: bool,
    in_place: bool,
    operands: Sequence[Tensor | None],
    plain: Tensor,
    kind: str,
    node: Any,
    tangent_of: str | None,
) -> NonFiniteError | None:
    """The error for one result; None for an infinity that only came along."""
    index, count = _first(plain, kind)
    gone = _overwritten(operands) if in_place else [False] * len(operands)
    values = _values(operands, plain, index, gone) if elementwise else None
    culprit = next((i for i, t in enumerate(operands) if _had(t, kind, values and values[i], gone[i])), None)
    if culprit is not None and kind == "inf":
        return None
    error = NonFiniteError()
    error.kind, error.op, error.index, error.count, error.made = kind, name, index, count, culprit is None
    error.operands = tuple(values) if values else None
    error.line, error.node, error.forward_line = _core._site_info(_core._site()), None, None
    if node:
        error.node, error.forward_line = node.name(), _core._site_info(_engine.node_site(node))
    where = f"{name} in {error.node}" if error.node not in (None, name) else name
    if tangent_of:
        where += f" in the tangent of {tangent_of}"
    total = f"{count} of {plain.numel()} elements of {str(plain.dtype).rpartition('.')[2]}{list(plain.shape)}"
    text = [f"detect_nan: {where} {'made' if error.made else 'received'} {kind} at index {index}, in {total}"]
    if values:
        text.append(f"{name}({', '.join(map(_number, values))}) = {_number(plain[index].item())}")
    else:
        text += [f"operand {i}: {_summary(t, gone[i])}" for i, t in enumerate(operands) if t is not None]
    if culprit is not None:
        text.append(f"operand {culprit} had it already: {_origin(operands[culprit])}")
    if node:
        text.append(f"forward operation called at {_place(error.forward_line)}")
    text.append(f"{'running' if node else 'called'} at {_place(error.line)}")
    error.args = ("\n  ".join(text),)
    return error


def _bad(x: Tensor, kind: str) -> Tensor:
    return _core.isnan(x) if kind == "nan" else _core.isinf(x)


def _first(x: Tensor, kind: str) -> tuple[tuple[int, ...], int]:
    """The index of the first bad element, and how many there are."""
    bad = _bad(x, kind).reshape(-1)
    flat, index = int(bad.long().argmax().item()), []
    for n in reversed(x.shape):
        index.append(flat % n)
        flat //= n
    return tuple(reversed(index)), int(bad.sum().item())


def _overwritten(operands: Sequence[Tensor | None]) -> list[bool]:
    """By an operation in place: the first operand, and those that look at its memory."""
    memory = [None if t is None else _engine.plain(t).untyped_storage().data_ptr() for t in operands]
    return [m is not None and m == memory[0] for m in memory]


def _values(
    operands: Sequence[Tensor | None], result: Tensor, index: tuple[int, ...], gone: Sequence[bool]
) -> list[Any] | None:
    """The operands' elements that made result[index]; None: overwritten. Batches of vmap do not line up: nothing is said of them."""
    try:
        values = [None if t is None else _engine.plain(t).expand(result.shape)[index].item() for t in operands]
    except RuntimeError:
        return None
    return [None if was else v for was, v in zip(gone, values, strict=True)]


def _had(t: Tensor | None, kind: str, value: Any, overwritten: bool) -> bool:
    """Was it in this operand already?"""
    if t is None or overwritten:
        return False
    if value is not None:
        parts = (value.real, value.imag) if isinstance(value, complex) else (value,)
        return any(map(math.isnan if kind == "nan" else math.isinf, parts))
    return bool(_bad(_engine.plain(t), kind).any().item())


def _number(value: Any) -> str:
    return "(overwritten)" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _summary(t: Tensor, overwritten: bool) -> str:
    x = _engine.plain(t)
    text = f"{str(x.dtype).rpartition('.')[2]}{list(x.shape)}"
    if overwritten:
        return text + ", overwritten"
    if not x.numel() or x.dtype.is_complex or not x.dtype.is_floating_point:
        return text
    finite = _core.isfinite(x)
    counts = {kind: int(_bad(x, kind).sum().item()) for kind in ("nan", "inf")}
    if finite.any().item():
        kept = _core.masked_select(x, finite)
        text += f", values from {kept.min().item():g} to {kept.max().item():g}"
    return text + "".join(f", {count} {kind}" for kind, count in counts.items() if count)


def _origin(t: Any) -> str:
    node = t.grad_fn
    if node is not None:
        return f"{node.name()}, called at {_place(_core._site_info(_engine.node_site(node)))}, was not watched"
    return "a leaf" if t.requires_grad else "a number" if _engine.is_number(t) else "a tensor without history"


def _place(line: _Line | None) -> str:
    if line is None:
        return "an unknown line"
    code = linecache.getline(line[0], line[1]).strip()
    function = line[2].rpartition("<locals>.")[2]
    return f"{line[0]}:{line[1]} in {function}" + (f": {code}" if code else "")
