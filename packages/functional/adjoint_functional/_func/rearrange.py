"""`rearrange`: dimensions by their names."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from .._backend import Tensor, stack

__all__ = ["rearrange"]

_WORD = re.compile(r"\s*(\.\.\.|…|[A-Za-z_]\w*|\d+|[()]|\S)")
Side = list[list[str]]


def _parsed(text: str) -> Side:
    """A group of names for each dimension; one without names has size 1. An ellipsis in parentheses is "…", so that it stays one group."""
    side: Side = []
    inside = False
    for word in _WORD.findall(text):
        if word in "()":
            if inside == (word == "("):
                raise ValueError(f"rearrange: Imbalanced parentheses in expression: {text!r}")
            inside = word == "("
            if inside:
                side.append([])
        elif word in ("...", "…") or word.isidentifier():
            name = word if word.isidentifier() else "…" if inside else "..."
            if _shown(name) in _names(side):
                raise ValueError(f"rearrange: Indexing expression contains duplicate dimension {name!r}")
            if not inside:
                side.append([])
            side[-1].append(name)
        elif word == "1":
            if not inside:
                side.append([])
        else:
            raise ValueError(f"rearrange: expected names, 1, '...' and parentheses, got {word!r} in {text!r}")
    if inside:
        raise ValueError(f"rearrange: Imbalanced parentheses in expression: {text!r}")
    return side


def _shown(name: str) -> str:
    return "..." if name == "…" else name


def _names(side: Side) -> list[str]:
    return [_shown(name) for group in side for name in group]


def _split(n: int, group: Sequence[str], given: dict[str, int]) -> list[int]:
    """The sizes of the names that share a dimension of size `n`, of which one may be unknown."""
    unknown = [name for name in group if name not in given]
    if len(unknown) > 1:
        raise ValueError(f"rearrange: cannot infer the sizes of two dimensions at once, {unknown[0]} and {unknown[1]}")
    known = math.prod(given[name] for name in group if name in given)
    if n % max(known, 1) or (not unknown and known != n):
        raise ValueError(
            f"rearrange: ({' '.join(group)}) does not fit into a dimension of size {n}, with {known} of its known sizes"
        )
    return [given.get(name, n // max(known, 1)) for name in group]


def rearrange(tensor: Tensor | list[Tensor] | tuple[Tensor, ...], pattern: str, **axes_lengths: int) -> Tensor:
    """The tensor with its dimensions permuted, joined and taken apart as the two sides of `pattern` name them.

    Arguments:
        tensor: one, or a list, whose place in it is the first dimension.
        pattern: ``"b (h w) c -> b c h w"``; parentheses join dimensions, ``...`` stands for all others, ``1`` for one of size 1.
        axes_lengths: sizes of names within parentheses on the left; one for each may be left out.

    Raises:
        ValueError: a pattern that is none, names on one side alone, or sizes that do not fit.

    Example::

        >>> ad.func.rearrange(ad.zeros(2, 6, 3), "b (h w) c -> b c h w", h=2).shape
        adjoint.Size([2, 3, 2, 3])
    """
    x = tensor if isinstance(tensor, Tensor) else stack(list(tensor))
    left, arrow, right = pattern.partition("->")
    if not arrow or "->" in right:
        raise ValueError("rearrange: Pattern must contain a single '->' separator")
    source, target = _parsed(left), _parsed(right)
    if alone := set(_names(source)) ^ set(_names(target)):
        raise ValueError(f"rearrange: Identifiers only on one side of rearrange expression (should be on both): {alone}")
    if unknown := set(axes_lengths) - set(_names(source)):
        raise ValueError(f"rearrange: Identifiers not found in rearrange expression: {unknown}")
    if ["..."] not in source and "..." in _names(source):
        raise ValueError("rearrange: '...' may stand in parentheses on the right alone")
    if ["..."] in source:
        hidden = x.ndim - len(source) + 1
        others = [f".{i}" for i in range(hidden)]
        at = source.index(["..."])
        source = [*source[:at], *([name] for name in others), *source[at + 1 :]]
        target = [
            shown
            for group in target
            for shown in ([[name] for name in others] if group == ["..."] else [_spelled_out(group, others)])
        ]
    if len(source) != x.ndim:
        raise ValueError(
            f"rearrange: Number of dimensions in pattern ({len(source)}) must be equal to the number of dimensions in the tensor ({x.ndim})"
        )
    sizes = dict(zip(_names(source), (n for size, group in zip(x.shape, source) for n in _split(size, group, axes_lengths))))
    order = _names(source)
    x = x.reshape([sizes[name] for name in order]).permute([order.index(name) for name in _names(target)])
    return x.reshape([math.prod(sizes[name] for name in group) for group in target])


def _spelled_out(group: list[str], others: list[str]) -> list[str]:
    return [name for word in group for name in (others if word == "…" else [word])]
