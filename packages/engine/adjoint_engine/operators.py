"""Names of operations as PyTorch's dispatcher has them, for what looks at operations as they run: profiles, selective checkpoints."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

__all__ = ["OpOverload", "OpOverloadPacket", "Operators", "event_name", "ops"]

PLACES: list[Any] = [core, Tensor]
"Where a packet that is called finds its function; packages that compose functions add theirs."

CUSTOM: dict[str, Any] = {}
"Operators that programs define, by name, ``mine::scale``; a namespace with such has no others."

refused: list[str] = []
"Libraries of operators that programs have asked for."

_SAME_WORK = {
    "conj": "_conj",
    "erf_derivative": "special_erf_backward",
    "gelu_derivative": "gelu_backward",
    "gelu_tanh": "gelu",
    "gelu_tanh_derivative": "gelu_backward",
    "log_softmax": "_log_softmax",
    "logsigmoid": "log_sigmoid",
    "relu_derivative": "threshold_backward",
    "sigmoid_derivative": "sigmoid_backward",
    "silu_derivative": "silu_backward",
    "softmax": "_softmax",
    "tanh_derivative": "tanh_backward",
    "to_device": "_to_copy",
    "to_dtype": "_to_copy",
    "trunc_divide": "div",
    "unique": "_unique2",
    "vector_norm": "linalg_vector_norm",
}
_BY_RANK = {  # of the first operand: batch and channels, then one to three dimensions
    "avg_pool": "avg_pool{}d",
    "avg_pool_vjp": "avg_pool{}d_backward",
    "conv": "conv{}d",
    "max_pool": "max_pool{}d_with_indices",
}
_CONVOLUTION_BACKWARD = ("conv_input_vjp", "conv_weight_vjp")
_PRODUCTS = {(1, 1): "dot", (2, 1): "mv", (2, 2): "mm", (3, 3): "bmm"}


def event_name(record: str, rank: int, other_rank: int, in_place: bool) -> str:
    """The name of a call: of the record, the ranks of its first two operands (-1: absent).

    Example::

        >>> event_name("mul", 2, 2, in_place=True), event_name("matmul", 3, 3, in_place=False)
        ('mul_', 'bmm')
    """
    if record == "matmul":
        name = _PRODUCTS.get((rank, other_rank), "matmul")
    elif record in _BY_RANK:
        name = _BY_RANK[record].format(min(max(rank - 2, 1), 3))
    elif record in _CONVOLUTION_BACKWARD:
        name = "convolution_backward"
    else:
        name = _SAME_WORK.get(record, record)
    return f"{name}_" if in_place else name


_answering = threading.local()


def answering() -> list[Any]:
    """The calls that `__torch_dispatch__` is being asked about in this thread, the innermost last."""
    if not hasattr(_answering, "calls"):
        _answering.calls = []
    return _answering.calls


class OpOverload:
    """A form of an operation, ``ops.aten.mm.default``. Operations have one form here: all overloads of a name are equal."""

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self.overloadpacket = self._overloadpacket = packet
        self.namespace, self._overloadname, self._opname = packet.namespace, overload, packet.__name__
        self.__name__ = f"{packet.__name__}.{overload}"
        self.__qualname__ = self.__name__
        custom = CUSTOM.get(self.name())
        name = "" if overload == "default" else overload
        self._schema = custom.schema if custom is not None else SimpleNamespace(name=self.name(), overload_name=name)

    def name(self) -> str:
        """PyTorch's name, "aten::mm"."""
        return f"{self.namespace}::{self.overloadpacket.__name__}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for running in reversed(answering()):
            if running.form.func is self and (operands := running.form.operands_of(args, kwargs)) is not None:
                results = running.call.run(operands)
                return results[0] if len(results) == 1 else tuple(results)
        return self.overloadpacket(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpOverload) and self.name() == other.name()

    def __hash__(self) -> int:
        return hash(self.name())

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """All forms of an operation, ``ops.aten.mm``."""

    def __init__(self, namespace: str, name: str) -> None:
        self.namespace, self.__name__ = namespace, name
        self.function: Any = None  # what programs call by this name, where a mode was asked about it

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("__"):
            raise AttributeError(overload)
        found = OpOverload(self, overload)
        setattr(self, overload, found)  # one object, so that programs may compare by `is`
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        custom = CUSTOM.get(f"{self.namespace}::{self.__name__}")
        if custom is not None:
            return custom(*args, **kwargs)
        found = self.function or next(
            (f for f in (getattr(place, self.__name__, None) for place in PLACES) if callable(f)), None
        )
        if found is None:
            raise NotImplementedError(f"ops.{self}: there is no function of this name to call")
        return found(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


class Operators:
    """Operations by name: ``ops.aten.mm.default``. Names that no operation has are allowed; they match nothing.

    Example::

        >>> ad.ops.aten.mm.default
        <OpOverload(op='aten.mm', overload='default')>
        >>> ad.ops.aten.mul.Tensor == ad.ops.aten.mul.Scalar, ad.ops.aten.sin(ad.zeros(()))
        (True, tensor(0.))
    """

    def __init__(self, path: str = "") -> None:
        self._path = path

    def load_library(self, path: str) -> None:
        """Refuses, as a library that does not load: what it would register is written against PyTorch's C++."""
        refused.append(path)
        raise OSError(f"load_library: {path}: extensions against PyTorch's C++ cannot run on adjoint")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if f"{self._path}::{name}" not in CUSTOM and any(known.startswith(f"{self._path}::") for known in CUSTOM):
            raise AttributeError(f"namespace {self._path!r} has no operator {name!r}", name=name, obj=self)
        found = OpOverloadPacket(self._path, name) if self._path else Operators(name)
        setattr(self, name, found)
        return found


ops = Operators()
