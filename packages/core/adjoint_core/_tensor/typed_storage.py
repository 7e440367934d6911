"""The memory behind tensors, counted in elements of their type: `TypedStorage`, and `FloatStorage` and its kin, which make it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._compose import check_all, method
from .._core import Tensor
from .naming import TYPE_NAMES
from .storage import Storage, UntypedStorage

__all__ = ["TypedStorage"]

_NAMES = {dtype: name + "Storage" for name, dtype in TYPE_NAMES.items()}


class TypedStorage(Storage):
    """The memory that tensors share, counted in elements.

    Arguments:
        size: how many elements to make, or all of them as a sequence; none by default.
        wrap_storage: the bytes that it counts in elements of `dtype`.

    Example::

        >>> ad.ones(2).storage().dtype
        adjoint.float32
    """

    def __init__(
        self, size: Any = 0, *, wrap_storage: UntypedStorage | None = None, dtype: Any = None, device: Any = None, **_: Any
    ) -> None:
        dtype = dtype or _core.get_default_dtype()
        if wrap_storage is not None:
            made = _core.empty(0, dtype=dtype, device=wrap_storage.device)
            made.set_(wrap_storage)
        elif isinstance(size, int):
            made = _core.empty(size, dtype=dtype, device=device)
        else:
            made = _core.tensor(size, dtype=dtype, device=device)
        super().__init__(made, dtype.itemsize)
        self._own = wrap_storage is None

    @property
    def dtype(self) -> Any:
        """The type of an element."""
        return self._tensor.dtype

    @property
    def _untyped_storage(self) -> UntypedStorage:
        return self.untyped()

    def type(self) -> str:
        """The name of the class that makes its like."""
        return f"{type(self).__module__.partition('.')[0]}.{_NAMES[self.dtype]}"

    def pickle_storage_type(self) -> str:
        """The same, without the namespace."""
        return _NAMES[self.dtype]

    def to(self, dtype: Any) -> TypedStorage:
        """A copy with elements of another type."""
        return self._made(self._flat().to(dtype, copy=True))

    def _made(self, tensor: Tensor) -> TypedStorage:
        made = _storage_of(tensor)
        made._own = True
        return made

    def _shown(self) -> str:
        return f"dtype={self.dtype}, "


def _storage_of(tensor: Tensor) -> TypedStorage:
    made = object.__new__(TypedStorage)
    Storage.__init__(made, tensor, tensor.element_size())
    return made


@method
def storage(self: Tensor) -> TypedStorage:
    """The memory behind this tensor, counted in its elements."""
    return _storage_of(self)


@method
def _typed_storage(self: Tensor) -> TypedStorage:
    return _storage_of(self)


@method
def storage_type(self: Tensor) -> type:
    """The class that makes memory like that of this tensor."""
    return globals()[_NAMES[self.dtype]]  # type: ignore[no-any-return]


class _StorageOf(type):
    """Makes `FloatStorage` a type of memory and a constructor of it."""

    dtype: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype

    def __call__(cls, size: Any = 0, **options: Any) -> TypedStorage:
        return TypedStorage(size, **{**options, "dtype": cls.dtype})

    def from_buffer(cls, buffer: Any, *args: Any, **kwargs: Any) -> TypedStorage:
        """A copy of the elements in a buffer."""
        return TypedStorage(wrap_storage=UntypedStorage.from_buffer(buffer), dtype=cls.dtype)


def _conversion(dtype: Any) -> Callable[[TypedStorage], TypedStorage]:
    def converted(self: TypedStorage) -> TypedStorage:
        return self if self.dtype is dtype else self.to(dtype)

    converted.__doc__ = f"Itself, or a copy with elements of {dtype!r}."
    return converted


for _dtype, _name in _NAMES.items():
    _facts = {"dtype": _dtype, "__module__": __name__, "__doc__": f"Memory that is counted in elements of {_dtype!r}."}
    globals()[_name] = _StorageOf(_name, (), _facts)
    if not _name.startswith("UInt"):
        __all__.append(_name)
        setattr(TypedStorage, _name.removesuffix("Storage").replace("Complex", "complex_").lower(), _conversion(_dtype))

check_all(globals())
