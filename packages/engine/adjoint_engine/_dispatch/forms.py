"""A call as PyTorch's dispatcher names it: its operation, and its arguments in that operation's order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from adjoint_core import Tensor

from ..operators import OpOverload, event_name, ops

# For each record the overload and its arguments: x0, x1, ... are operands, [x1:] a list of them; words are attributes, `name=word` goes by
# name; what begins with a colon is said as it is. Records that are not here have their operands and then their attributes.
_FORMS = {
    "all": "dims x0 dims keepdim",
    "any": "dims x0 dims keepdim",
    "cat": "default [x0:] dim",
    "conv": "default x0 x1 :None stride padding dilation :False :zeros groups",
    "conv_input_vjp": "default x0 :None x1 :None stride padding dilation :False :zeros groups :input",
    "conv_weight_vjp": "default x1 x0 :None :None stride padding dilation :False :zeros groups :weight",
    "gather": "default x0 dim x1",
    "index": "Tensor x0 [x1:]",
    "index_add": "default x0 dim x1 x2",
    "index_copy": "default x0 dim x1 x2",
    "index_select": "default x0 dim x1",
    "log_softmax": "default x0 dim :False",
    "max": "dim x0 dim keepdim",
    "mean": "dim x0 dims keepdim",
    "median": "dim x0 dim keepdim",
    "min": "dim x0 dim keepdim",
    "prod": "dim_int x0 dim keepdim",
    "scatter": "src x0 dim x1 x2",
    "scatter_add": "default x0 dim x1 x2",
    "select": "int x0 dim index",
    "slice": "Tensor x0 dim start end step",
    "softmax": "default x0 dim :False",
    "std": "correction x0 dims correction=correction keepdim=keepdim",
    "sum": "dim_IntList x0 dims keepdim",
    "to_dtype": "default x0 dtype=:dtype",
    "transpose": "int x0 a b",
    "var": "correction x0 dims correction=correction keepdim=keepdim",
    "where": "self x0 x1 x2",
}
_TENSOR = {"add", "div", "mul", "sub"}  # whose overload takes numbers too
_EITHER = {
    "bitwise_and", "bitwise_or", "bitwise_xor", "clamp_max", "clamp_min", "eq", "fmod", "ge", "gt", "le", "lerp", "lt", "ne", "pow", "remainder",
    "xlogy",
}  # fmt: skip


class Form(NamedTuple):
    """A call: ``places`` says of each argument which operand it is, None: none."""

    func: OpOverload
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    places: tuple[Any, ...]

    def operands_of(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any] | None:
        """The operands among other arguments of the same call; None if what is no operand differs."""
        if len(args) != len(self.args) or kwargs != self.kwargs:
            return None
        found: dict[int, Any] = {}
        for place, mine, given in zip(self.places, self.args, args):
            if place is None:
                if not (given is mine or given == mine):
                    return None
            elif isinstance(place, int):
                found[place] = given
            elif len(given) != len(mine):
                return None
            else:
                found.update(zip(place, given))
        return [found[i] for i in sorted(found)]


def _overload(record: str, x: list[Any], usual: str) -> str:
    if record in _TENSOR:
        return "Tensor"
    if record == "pow":
        first, second = (isinstance(t, Tensor) for t in x)
        return ("Tensor_Tensor" if second else "Tensor_Scalar") if first else "Scalar"
    if record in _EITHER:
        if isinstance(x[-1], Tensor):
            return "Tensor"
        return "default" if record.startswith("clamp") else "Scalar"
    return usual


def form_of(call: Any, x: list[Any]) -> Form:
    """What a call of the engine is: the operation, its arguments, and where its operands stand among them."""
    record, attributes = call.name, call.attributes
    rank = [t.dim() if isinstance(t, Tensor) else 0 for t in (*x[:2],)] + [-1, -1]
    name = "convolution" if record == "conv" else event_name(record, rank[0], rank[1], call.in_place)
    usual, *words = _FORMS.get(record, "default").split()
    if not words:
        words = [f"x{i}" for i in range(len(x))] + list(attributes)
    if record in ("sum", "mean", "all", "any") and len(attributes["dims"]) in (0, rank[0]) and not attributes["keepdim"]:
        usual, words = "default", ["x0"]
    args, places, kwargs = [], [], {}
    for word in words:
        key, _, value = word.rpartition("=")
        if value.startswith("["):
            start = int(value[2:-2])
            args.append(x[start:])
            places.append(tuple(range(start, len(x))))
        elif value[0] == "x" and value[1:].isdigit():
            args.append(x[int(value[1:])])
            places.append(int(value[1:]))
        elif key:
            kwargs[key] = _said(value, call, attributes)
        else:
            args.append(_said(value, call, attributes))
            places.append(None)
    func = getattr(getattr(ops.aten, name), _overload(record, x, usual))
    return Form(func, tuple(args), kwargs, tuple(places))


def _said(word: str, call: Any, attributes: dict[str, Any]) -> Any:
    known = {
        ":None": None,
        ":False": False,
        ":dtype": call.dtype,
        ":input": [True, False, False],
        ":weight": [False, True, False],
    }
    if word == ":zeros":
        return [0] * len(attributes["stride"])
    value = known[word] if word in known else attributes[word]
    return list(value) if isinstance(value, tuple) else value
