"""What the C++ modules cannot say about themselves: the types that tools/stubs.py writes for them."""

import re

HEADS = {
    "adjoint_core._core": """\
from builtins import bool as _bool, complex as _complex, float as _float, int as _int, object as _object, type as _type
from collections.abc import Callable, Iterator, Sequence
import enum
from typing import Any, NamedTuple, Self, TypeAlias, overload

from adjoint_core._tensor.storage import UntypedStorage
from adjoint_core._tensor.typed_storage import TypedStorage
from adjoint_core._size import Size as Size

_Number: TypeAlias = _float | _int | _bool | _complex
_Dims: TypeAlias = _int | Sequence[_int]
_dtype: TypeAlias = dtype
_device: TypeAlias = device


class _ValuesIndices(NamedTuple):
    values: Tensor
    indices: Tensor


class _MinMax(NamedTuple):
    min: Tensor
    max: Tensor


class ShapeError(RuntimeError, ValueError):
    \"\"\"Shapes that do not fit together.\"\"\"""",
    "adjoint_engine._engine": """\
from builtins import bool as _bool, complex as _complex, float as _float, int as _int, object as _object
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from adjoint_core import Tensor

_Number: TypeAlias = _float | _int | _bool | _complex
_Dims: TypeAlias = _int | Sequence[_int]""",
    "adjoint_kernels_cpu._kernels": """\
from builtins import bool as _bool, int as _int
from typing import Any""",
}

# Annotations, in this order: what nanobind writes, what the stub says.
NAMES = [
    (r"\bcollections\.abc\.", ""),
    (r"\badjoint_core\._core\.", ""),
    (r"\bSequence\[int\]", "Sequence[_int]"),
    (r"\bfloat \| int \| bool \| complex\b", "_Number"),
    (r"\bint \| Sequence\[_int\]", "_Dims"),
    (r"(?<![\w.])(bool|int|float|complex|dtype|device|type)\b", r"_\1"),
    (r"\b_device \| str\b", "_device | str | _int"),
    (r"\bobject \| None\b", "Any"),
    (r"(?<![\w.])object\b", "Any"),
    (r"\b(RemovableHandle|PyCapsule)\b", "Any"),
    (r"(?<![\w.])tuple$", "tuple[Any, ...]"),
    (r"(?<![\w.])list$", "list[Any]"),
    (r"(?<![\w.])dict$", "dict[str, Any]"),
]

VARIADIC = {"tensors": "Tensor | Sequence[Tensor]", "operands": "Tensor | Sequence[Tensor]", "args": "Any"}  # others are sizes

TENSOR, TENSORS, PAIR = "Tensor", "tuple[Tensor, ...]", "tuple[Tensor, Tensor]"
RETURNS = {
    **dict.fromkeys("var std as_subclass rand_like randn_like".split(), TENSOR),
    **dict.fromkeys("unbind chunk split tensor_split split_with_sizes broadcast_tensors meshgrid where".split(), TENSORS),
    **dict.fromkeys("max min median nanmedian cummax cummin sort topk kthvalue".split(), "_ValuesIndices"),
    **dict.fromkeys("var_mean std_mean".split(), PAIR),
    "aminmax": "_MinMax",
    "manual_seed": "Generator",
    "set_state": "Generator",
    "_site_info": "tuple[str, int, str] | None",
    "_site_span": "tuple[int, int, int, int]",
    "_op_names": "list[str]",
    "kernel_names": "list[str]",
    "to_real": "dtype",
    "to_complex": "dtype",
    "__copy__": "Self",
    "__deepcopy__": "Self",
    "__str__": "str",
    "__repr__": "str",
    "__complex__": "complex",
    "__dlpack_device__": "tuple[int, int]",
    "grad_fn": "Node | None",
    "get_grad": "Tensor | None",
}


def returned(name: str, annotation: str, makes_tensor: bool) -> str:
    """The type that the function `name` returns, where its annotation says less."""
    if annotation in ("object", "tuple", "list") or (name in RETURNS and "Tensor" in RETURNS[name] and "None" in RETURNS[name]):
        return TENSOR if makes_tensor else RETURNS.get(name, annotation)
    return "Any" if annotation == "float | int | bool | complex" else annotation


ATTRIBUTES = {
    **dict.fromkeys("T mT H mH real imag data".split(), TENSOR),
    **dict.fromkeys("grad _base".split(), "Tensor | None"),
    **dict.fromkeys("ndim itemsize nbytes _version output_nr".split(), "int"),
    **dict.fromkeys("requires_grad is_leaf retains_grad is_sparse".split(), "bool"),
    "shape": "Size",
    "dtype": "dtype",
    "device": "device",
    "grad_dtype": "dtype | None",
    "next_functions": "tuple[tuple[Node | None, int], ...]",
    "metadata": "dict[Any, Any]",
}

# Methods whose Python source has no annotations, and definitions that stand as they are.
METHODS = {"__getattr__": "(self, name: str) -> Any", "__call__": "(self, *args: Any) -> Any"}
OVERRIDES = {
    "__new__": "def __init__(self, *args: Any, **kwargs: Any) -> None: ...",
    "size": "@overload\ndef size(self) -> Size: ...\n@overload\ndef size(self, dim: int) -> int: ...",
    "stride": "@overload\ndef stride(self) -> tuple[int, ...]: ...\n@overload\ndef stride(self, dim: int) -> int: ...",
    "_make_subclass": "@staticmethod\ndef _make_subclass(cls: Any, data: Tensor, require_grad: bool = False) -> Any: ...",
    "__setattr__": "",
    "__delattr__": "",
}

NUMBER = "Tensor | float | int | bool | complex"
OPERATORS = {
    "__hash__": "(self) -> int",
    "__bool__": "(self) -> bool",
    "__int__": "(self) -> int",
    "__float__": "(self) -> float",
    "__index__": "(self) -> int",
    "__len__": "(self) -> int",
    "__iter__": "(self) -> Iterator[Tensor]",
    "__contains__": "(self, element: object) -> bool",
    "__getitem__": "(self, index: object) -> Tensor",
    "__setitem__": "(self, index: object, value: object) -> None",
    "__delitem__": "(self, index: object) -> None",
}


def operator(name: str) -> str:
    """The signature of a slot."""
    if name in OPERATORS:
        return OPERATORS[name]
    if re.fullmatch("__(neg|pos|abs|invert)__", name):
        return "(self) -> Tensor"
    return f"(self, other: {NUMBER}) -> Tensor"
