"""What nodes keep, by PyTorch's names: `_saved_self`, `_raw_saved_self`, `_saved_dim`, `_saved_self_sym_sizes`, `variable`."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any, NamedTuple

from .. import _engine

_NUMBERS = {"exponent", "max", "min", "weight"}  # of PyTorch's nodes for numbers: a number, no tensor


class _Names(NamedTuple):
    """Of inputs, outputs and attributes, in the record's order; attributes without names of their own have the record's."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[str, ...] | None


@functools.cache
def _names(torch: str) -> _Names:
    _, inputs, outputs, attributes = (*torch.split("|"), "", "", "", "")[:4]
    listed = (inputs or "self other").split(), (outputs or "result indices").split()
    return _Names(tuple(listed[0]), tuple(listed[1]), tuple(attributes.split()) or None)


def _attributes(node: Any, names: _Names) -> dict[str, Any]:
    fields = _engine.node_fields(node)
    if names.attributes is None:
        return {"dim" if name == "dims" else name: value for name, value in fields.items()}
    found: dict[str, Any] = {}
    for word, value in itertools.zip_longest(names.attributes, fields.values()):
        name, constant, text = (word or "").partition("=")
        if constant:
            found[name] = int(text) if text.isdigit() else text
        elif name.endswith("?"):
            found[name[:-1]] = None if value < 0 else value
        elif name:
            found[name] = value
    return found


def _tensor(node: Any, key: str, names: _Names, raw: bool) -> Any:
    output = key not in names.inputs
    found = _engine.saved_tensor(node, output, (names.outputs if output else names.inputs).index(key), raw)
    if key == "indices" and "at" in (
        fields := _engine.node_fields(node)
    ):  # indices of several dimensions are kept as one position
        none = _engine.saved_tensor(node, False, len(names.inputs), raw)
        return (*(none for _ in range(fields["dims"][0])), found)
    if raw or found is None:
        return found
    return found.item() if key in _NUMBERS and not found.dim() and not found.requires_grad else found


def _size(node: Any, key: str, names: _Names) -> Any:
    """``self_sym_sizes``, ``self_sym_numel``, ``self_sym_argsize_0``, ``self_sym_argsize_minus_1``: of an input."""
    name, _, what = key.partition("_sym_")
    sizes = _engine.node_input_sizes(node)
    if name not in names.inputs or names.inputs.index(name) >= len(sizes):
        return None
    found = sizes[names.inputs.index(name)]
    if what.startswith("argsize_"):
        return found[int(what.removeprefix("argsize_").replace("minus_", "-"))]
    return {"sizes": found, "numel": math.prod(found)}.get(what)


def attribute(self: Any, name: str) -> Any:
    """``_saved_self``, ``_raw_saved_self``, ``_saved_dim``, ``variable``: what a node keeps, by PyTorch's names."""
    raw = name.startswith("_raw_saved_")
    if (raw or name.startswith("_saved_")) and _engine.node_op(self) is not None:
        key, names = name.removeprefix("_raw_saved_").removeprefix("_saved_"), _names(_engine.node_torch(self))
        if key in names.inputs or key in names.outputs:
            return _tensor(self, key, names, raw)
        if not raw and key in (found := _attributes(self, names)):
            return found[key]
        if not raw and (size := _size(self, key, names)) is not None:
            return size
    if name.startswith("_saved_") and (value := (_engine.node_cut(self) or {}).get(name.removeprefix("_saved_"))) is not None:
        return value
    if name == "variable" and (leaf := _engine.node_variable(self)) is not None:
        return leaf
    raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


def attribute_names(self: Any) -> list[str]:
    """Also those of what it keeps."""
    found = {*object.__dir__(self)} | {f"_saved_{name}" for name in _engine.node_cut(self) or ()}
    if _engine.node_op(self) is not None:
        names = _names(_engine.node_torch(self))
        tensors = [*names.inputs[: len(_engine.node_input_sizes(self))], *names.outputs]
        found |= {f"{start}{name}" for name in tensors for start in ("_saved_", "_raw_saved_")}
        found |= {f"_saved_{name}" for name in _attributes(self, names)}
    return sorted(found)
