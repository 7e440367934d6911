"""What makes tensors or draws numbers has no record: modes are asked about it where a program calls it by name."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core.overrides import TorchFunctionMode

from ..operators import OpOverload, ops
from .asking import ask, modes

_SIZED = ("empty", "ones", "rand", "randn", "zeros")
_OF_NOTHING = (
    *_SIZED, "arange", "bartlett_window", "blackman_window", "eye", "full", "hamming_window", "hann_window", "kaiser_window", "linspace", "logspace",
    "normal", "randint", "randperm", "scalar_tensor", "tril_indices", "triu_indices",
)  # fmt: skip
_OF_A_TENSOR = (
    *(f"{name}_like" for name in (*_SIZED, "full", "randint")), "bernoulli", "multinomial", "new_empty", "new_full", "new_ones", "new_zeros", "poisson",
    *("bernoulli_", "cauchy_", "exponential_", "fill_", "geometric_", "log_normal_", "normal_", "random_", "uniform_", "zero_"),
)  # fmt: skip
_MAKERS = {*_OF_NOTHING, *_OF_A_TENSOR}
_SIZED_AS = ("new_empty", "new_ones", "new_zeros")
_OVERLOADS = {"empty": "memory_format", "fill_": "Scalar"}


def _operation(func: Any) -> OpOverload | None:
    """What makes tensors, among the functions of adjoint."""
    name = getattr(func, "__name__", "")
    if name not in _MAKERS or not str(getattr(func, "__module__", "adjoint")).startswith(("adjoint", "torch")):
        return None
    return getattr(getattr(ops.aten, name), _OVERLOADS.get(name, "default"))  # type: ignore[no-any-return]


def _with_sizes(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sizes are one list, however they were given."""
    before = 1 if name in _SIZED_AS else 0
    sizes = args[before:]
    return (*args[:before], list(sizes[0] if isinstance(sizes[0], (tuple, list)) else sizes)) if sizes else args


class Makers(TorchFunctionMode):
    """Stands for one mode of `__torch_dispatch__` among those of `__torch_function__`."""

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Hands what makes tensors on to the innermost mode; runs everything else."""
        operation = _operation(func)
        kwargs = {name: value for name, value in (kwargs or {}).items() if operation is None or value is not None}
        if operation is None or not modes() or "out" in kwargs:
            return func(*args, **kwargs)
        operation.overloadpacket.function = func
        needs_grad = kwargs.pop("requires_grad", False)
        if operation._opname in _OF_NOTHING:
            kwargs.setdefault("device", _core._default_device())
        if operation._opname in (*_SIZED, *_SIZED_AS):
            args = _with_sizes(operation._opname, args)
        made = ask(operation, args, args, kwargs)
        return made.requires_grad_() if needs_grad and isinstance(made, Tensor) else made
