"""From lists of samples to batches."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]

FnMap = dict[Any, Callable[..., Any]]


def _numpy() -> Any:
    """NumPy, if anything can be an array at all."""
    return sys.modules.get("numpy")


def _is_number_array(x: Any) -> bool:
    return x.dtype.kind not in "SUO"


def default_convert(data: Any) -> Any:
    """NumPy's arrays and scalars, alone or in mappings and sequences, become tensors; all else stays. What `DataLoader` does to a
    sample where it makes no batches.

    Example::

        >>> ad.utils.data.default_convert({"x": [1, "a"]})
        {'x': [1, 'a']}
    """
    numpy = _numpy()
    if isinstance(data, Tensor):
        return data
    if numpy is not None and isinstance(data, (numpy.ndarray, numpy.generic)):
        return core.as_tensor(data) if _is_number_array(data) else data
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(d) for d in data))
    if isinstance(data, tuple):
        return [default_convert(d) for d in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(d) for d in data])
    return data


def _like_mapping(sample: Any, values: dict[Any, Any]) -> Any:
    """A mapping of the sample's type: a copy of it with other values, where that works, as its constructor may take anything."""
    try:
        if isinstance(sample, MutableMapping):
            clone = sample.copy() if hasattr(sample, "copy") else type(sample)()
            clone.update(values)
            return clone
        return type(sample)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def _like_sequence(sample: Any, values: list[Any]) -> Any:
    try:
        if isinstance(sample, range):
            return values
        if isinstance(sample, MutableSequence) and type(sample) is not list:
            clone = sample.copy() if hasattr(sample, "copy") else type(sample)()  # type: ignore[attr-defined]
            clone[:] = values
            return clone
        return type(sample)(values)
    except TypeError:
        return values


def collate(batch: Any, *, collate_fn_map: FnMap | None = None) -> Any:
    """A batch from a list of samples, with a function of one's own for each type of what they hold.

    Arguments:
        collate_fn_map: from a type, or a tuple of types, to a function ``(values, *, collate_fn_map) -> value``.

    Raises:
        TypeError: values of a type that is not in the map.
        RuntimeError: sequences of different lengths.

    Example::

        >>> first = lambda values, *, collate_fn_map: values[0]
        >>> ad.utils.data._utils.collate.collate([{"a": 1}, {"a": 2}], collate_fn_map={int: first})
        {'a': 1}
    """
    sample, known = batch[0], collate_fn_map or {}
    kind = type(sample)
    function = known.get(kind) or next((f for types, f in known.items() if isinstance(sample, types)), None)
    if function is not None:
        return function(batch, collate_fn_map=known)
    if isinstance(sample, Mapping):
        return _like_mapping(sample, {key: collate([d[key] for d in batch], collate_fn_map=known) for key in sample})
    if isinstance(sample, tuple) and hasattr(sample, "_fields"):
        return kind(*(collate(values, collate_fn_map=known) for values in zip(*batch)))
    if isinstance(sample, Sequence):
        if any(len(other) != len(sample) for other in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [collate(values, collate_fn_map=known) for values in zip(*batch)]
        return columns if isinstance(sample, tuple) else _like_sequence(sample, columns)
    raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}")


def _tensors(batch: Any, *, collate_fn_map: FnMap | None = None) -> Tensor:
    return core.stack(list(batch), 0)


def _arrays(batch: Any, *, collate_fn_map: FnMap | None = None) -> Tensor:
    if not _is_number_array(batch[0]):
        raise TypeError(
            f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {batch[0].dtype}"
        )
    return collate([core.as_tensor(b) for b in batch], collate_fn_map=collate_fn_map)


def _scalars(batch: Any, *, collate_fn_map: FnMap | None = None) -> Tensor:
    return core.as_tensor(_numpy().asarray(batch))


def _floats(batch: Any, *, collate_fn_map: FnMap | None = None) -> Tensor:
    return core.tensor(batch, dtype=core.float64)


def _integers(batch: Any, *, collate_fn_map: FnMap | None = None) -> Tensor:
    return core.tensor(batch)


def _texts(batch: Any, *, collate_fn_map: FnMap | None = None) -> Any:
    return batch


class _OfNumPy(type):
    """Stands for types of NumPy, which is not imported for its name."""

    named: tuple[str, ...]

    def __instancecheck__(cls, instance: Any) -> bool:
        numpy = _numpy()
        return numpy is not None and isinstance(instance, tuple(getattr(numpy, name) for name in cls.named))


class _Array(metaclass=_OfNumPy):
    named = ("ndarray",)


class _Scalar(metaclass=_OfNumPy):
    named = ("bool_", "number", "object_")


# np.float64 is a float, too: NumPy's types come first
default_collate_fn_map: FnMap = {
    _Array: _arrays,
    _Scalar: _scalars,
    Tensor: _tensors,
    float: _floats,
    int: _integers,
    str: _texts,
    bytes: _texts,
}
"Which function makes a batch of which type; entries of one's own count in `default_collate`."
# PyTorch's names, which libraries that write a `collate` of their own take.
collate_tensor_fn, collate_numpy_array_fn, collate_numpy_scalar_fn = _tensors, _arrays, _scalars
collate_float_fn, collate_int_fn, collate_str_fn = _floats, _integers, _texts
default_collate_err_msg_format = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
np_str_obj_array_pattern = re.compile(r"[SaUO]")


def default_collate(batch: Any) -> Any:
    """A batch from a list of samples: tensors, arrays and numbers are stacked along a new first dimension, mappings and sequences are
    kept, with their values batched; strings become a list.

    Raises:
        TypeError: there is no batch of that type.
        RuntimeError: sequences of different lengths, or tensors of different shapes.

    Example::

        >>> ad.utils.data.default_collate([(ad.ones(2), 0, "a"), (ad.zeros(2), 1, "b")])
        [tensor([[1., 1.],
                [0., 0.]]), tensor([0, 1]), ('a', 'b')]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
