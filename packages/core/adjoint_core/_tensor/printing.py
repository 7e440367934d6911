"""How tensors print: the layout of PyTorch's `repr`."""

from __future__ import annotations

import contextlib
import math
from types import SimpleNamespace

from .. import _core
from .._core import Tensor
from .compressed import shown_parts
from .layouts import BY_COLUMNS
from .naming import method
from .pickles import CLASSES_ABOVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_DEFAULT = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
_PROFILES = {
    "default": _DEFAULT,
    "short": {**_DEFAULT, "precision": 2, "edgeitems": 2},
    "full": {**_DEFAULT, "threshold": math.inf},
}
PRINT_OPTS = SimpleNamespace(**_DEFAULT)


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Chooses how tensors print.

    Arguments:
        precision: digits after the point.
        threshold: with more elements than this, only the edges are shown.
        edgeitems: how many elements to show at each edge.
        linewidth: characters per line.
        profile: start from "default", "short" or "full".
        sci_mode: always (True), never (False) or where it helps (None) use scientific notation.

    Raises:
        ValueError: a number is no number, or negative; there is no such profile.

    Example::

        >>> ad.set_printoptions(precision=2)
        >>> ad.tensor([0.12345])
        tensor([0.12])
        >>> ad.set_printoptions(profile="default")
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in given.items():
        whole = isinstance(value, int) or (name == "threshold" and isinstance(value, float))
        if value is not None and not (whole and value >= 0):
            raise ValueError(f"set_printoptions: {name} must be a number of at least 0, got {value!r}")
    if profile is not None and profile not in _PROFILES:
        raise ValueError(f"set_printoptions: profile must be one of {', '.join(_PROFILES)}, got {profile!r}")
    if profile:
        PRINT_OPTS.__dict__.update(_PROFILES[profile])
    PRINT_OPTS.__dict__.update({k: v for k, v in given.items() if v is not None}, sci_mode=sci_mode)


@contextlib.contextmanager
def printoptions(**given: Any) -> Iterator[dict[str, Any]]:
    """`set_printoptions` within a ``with``."""
    before = dict(PRINT_OPTS.__dict__)
    set_printoptions(**given)
    try:
        yield dict(PRINT_OPTS.__dict__)
    finally:
        PRINT_OPTS.__dict__.update(before)


class _RealFormat:
    """One width and one notation for all values shown."""

    def __init__(self, values: Iterable[float]) -> None:
        shown = [v for v in values if v != 0 and math.isfinite(v)]
        self.width = 1
        self.integers = all(v == math.ceil(v) for v in shown)
        low, high = (min(map(abs, shown)), max(map(abs, shown))) if shown else (1.0, 1.0)
        wide = high / low > 1000 or high > 1e8 or (not self.integers and low < 1e-4)
        self.scientific = bool(shown) and (wide if PRINT_OPTS.sci_mode is None else PRINT_OPTS.sci_mode)
        if shown:
            self.width = max(len(self._text(v)) for v in shown)

    def _text(self, v: float) -> str:
        if self.scientific:
            return f"{v:.{PRINT_OPTS.precision}e}"
        if self.integers:
            return f"{v:.0f}." if math.isfinite(v) else f"{v:.0f}"
        return f"{v:.{PRINT_OPTS.precision}f}"

    def __call__(self, v: float) -> str:
        return self._text(v).rjust(self.width)


class _PlainFormat:
    """Integers and booleans."""

    def __init__(self, values: Iterable[int | bool]) -> None:
        self.width = max((len(str(v)) for v in values), default=1)

    def __call__(self, v: int | bool) -> str:
        return str(v).rjust(self.width)


class _ComplexFormat:
    def __init__(self, values: Iterable[complex]) -> None:
        values = list(values)
        self.real = _RealFormat(v.real for v in values)
        self.imag = _RealFormat(v.imag for v in values)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, v: complex) -> str:
        imag = self.imag(v.imag).lstrip()
        return self.real(v.real) + ("" if imag[0] in "+-" else "+") + imag + "j"


_GAP = None  # stands for the elements left out


def _visible(t: Tensor, summarize: bool) -> Any:
    """Nested lists of the values to show."""
    if t.ndim == 0:
        return t.item()
    edge, n = PRINT_OPTS.edgeitems, t.size(0)
    if not summarize or n <= 2 * edge:
        return t.tolist() if not summarize else [_visible(t[i], True) for i in range(n)]
    rows = [_visible(t[i], True) for i in range(edge)]
    rows.append(_GAP)
    return rows + [_visible(t[i], True) for i in range(n - edge, n)]


def _flat(values: Any) -> Iterator[Any]:
    if not isinstance(values, list):
        yield values
        return
    for v in values:
        if v is not _GAP:
            yield from _flat(v)


def _layout(values: Any, depth: int, indent: int, form: Any) -> str:
    if depth == 0:
        return form(values)
    if depth == 1:
        per_line = max(1, (PRINT_OPTS.linewidth - indent) // (form.width + 2))
        texts = [" ..." if v is _GAP else form(v) for v in values]
        lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    rows = ["..." if v is _GAP else _layout(v, depth - 1, indent + 1, form) for v in values]
    return "[" + ("," + "\n" * (depth - 1) + " " * (indent + 1)).join(rows) + "]"


def _format_for(t: Tensor, values: Any) -> Any:
    kind = _RealFormat if t.is_floating_point() else _ComplexFormat if t.is_complex() else _PlainFormat
    return kind(_flat(values))


def _tensor_str(t: Tensor, indent: int) -> str:
    if t.numel() == 0:
        return "[]"
    values = _visible(t, t.numel() > PRINT_OPTS.threshold)
    return _layout(values, t.ndim, indent, _format_for(t, values))


def _suffixes(t: Tensor) -> list[str]:
    found = []
    default = _core.get_default_dtype()
    if str(t.device) != "cpu":
        found.append(f"device='{t.device}'")
    if t.numel() == 0 or t.is_meta:
        if t.ndim != 1 or t.is_meta:
            found.append(f"size={tuple(t.shape)}")
        usual = {default}
    else:
        usual = {default, default.to_complex(), _core.int64, _core.bool}
    if t.dtype not in usual:
        found.append(f"dtype={t.dtype!r}")
    try:
        grad_fn = getattr(t, "grad_fn", None)
    except RuntimeError:  # a view whose base was written to since, and that could not follow
        return [*found, "grad_fn=<Invalid>"]
    if grad_fn is not None:
        name = grad_fn.name() if hasattr(grad_fn, "name") else type(grad_fn).__name__
        found.append(f"grad_fn=<{name.rpartition('::')[2]}>")
    elif getattr(t, "requires_grad", False):
        found.append("requires_grad=True")
    return found


def _add_suffixes(text: str, suffixes: list[str], indent: int, force_newline: bool = False) -> str:
    length = len(text) - text.rfind("\n") + 1
    for i, s in enumerate(suffixes):
        if (force_newline and i == 0) or length + len(s) + 2 > PRINT_OPTS.linewidth:
            text += ",\n" + " " * indent + s
            length = indent + len(s)
        else:
            text += ", " + s
            length += len(s) + 2
    return text + ")"


def _part(name: str, t: Tensor, indent: int) -> str:
    prefix = f"{name}=tensor("
    if t.numel() == 0:
        return f"{prefix}[], size={tuple(t.shape)})"
    return prefix + _tensor_str(t, indent + len(prefix)) + ")"


_ROWS, _COLUMNS = ("crow_indices", "col_indices", "values"), ("ccol_indices", "row_indices", "values")


def _sparse_repr(t: Tensor, prefix: str) -> str:
    indent = len(prefix)
    names = ("indices", "values") if t.is_sparse else _COLUMNS if t.layout in BY_COLUMNS else _ROWS
    parts = [_part(name, part, indent) for name, part in zip(names, shown_parts(t), strict=True)]
    found = [f"size={tuple(t.shape)}", f"nnz={t._nnz()}"]
    found += [s for s in _suffixes(t) if s.startswith("dtype")]
    found += [f"layout={t.layout!r}"] + [s for s in _suffixes(t) if not s.startswith(("dtype", "size"))]
    return _add_suffixes(prefix + (",\n" + " " * indent).join(parts), found, indent, force_newline=t.is_sparse)


def _owned(t: Tensor) -> bool:
    """Whether it is a parameter of a class of a program's own."""
    kind = CLASSES_ABOVE.get("Parameter")
    return kind is not None and type(t) is not kind and isinstance(t, kind)


def tensor_repr(t: Tensor, tensor_contents: str | None = None) -> str:
    """The text of `repr(t)`, with these values in place of its own if they are given."""
    owned = _owned(t)
    prefix = "tensor(" if type(t) is Tensor or type(t).__name__ == "Parameter" else type(t).__name__ + "("
    prefix = "Parameter(" + prefix if owned else prefix
    if tensor_contents is None and not t._storage_ptr():
        return f"{prefix}..., size={tuple(t.shape)}, dtype={t.dtype!r})"  # inside a transform: no values
    if tensor_contents is None and _core._is_sparse(t):
        return _sparse_repr(t, prefix)
    if tensor_contents is None:
        tensor_contents = "..." if t.is_meta else _tensor_str(t._alias(), len(prefix))
    text = _add_suffixes(prefix + tensor_contents, _suffixes(t), len(prefix)) + (")" if owned else "")
    named = type(t).__name__ == "Parameter" or (owned and not getattr(t, "_is_param", False))
    return "Parameter containing:\n" + text if named else text


_str_intern = tensor_repr


def dual_repr(t: Tensor, value: Tensor, tangent: Tensor | None) -> str:
    """The text of a dual tensor: its value, which may be dual too, its history and its tangent."""
    text, indent = repr(value), len("tensor(")
    found = [s for s in _suffixes(t) if s.startswith(("grad_fn", "requires_grad"))]
    if tangent is not None:
        plain = tangent.ndim == 0 and tangent._storage_ptr() != 0
        shown = str(tangent.item()) if plain else repr(tangent).replace("\n", "\n" + " " * (indent + len("tangent=")))
        found.append(f"tangent={shown}")
    return _add_suffixes(text[:-1], found, indent)


@method
def __repr__(self: Tensor, *, tensor_contents: str | None = None) -> str:
    return tensor_repr(self, tensor_contents)


@method
def __format__(self: Tensor, spec: str) -> str:
    if self.ndim == 0 and type(self) is Tensor and (spec or self._storage_ptr()):
        return format((self._alias() if self._storage_ptr() else self).item(), spec)
    return format(repr(self), spec) if spec == "" else object.__format__(self, spec)
