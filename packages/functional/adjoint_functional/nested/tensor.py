"""`NestedTensor`: a batch of tensors of different sizes, on which functions work piece by piece."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import adjoint_core as core
from adjoint_core import Tensor, jagged, strided
from adjoint_core._protocol import DisableTorchFunctionSubclass

from ..nn.functional.padding import pad
from .calls import Call, is_batch, pointwise
from .sizes import RaggedShape, RaggedSize


def _without_memory(kind: Any) -> Tensor:
    """What stands below a batch: whatever does not ask the batch fails on it."""
    return core.empty(0, dtype=kind, device="meta")


class NestedTensor(Tensor):
    """A batch of tensors. Of layout `strided` its pieces have any shapes; of `jagged` they differ in one dimension and lie in a row.

    Functions compute what they compute of each piece; derivatives pass through. `nested_tensor` and its like make them.
    """

    _pieces: tuple[Tensor, ...]  # of strided
    _row: Tensor  # of jagged: the pieces one after another along dimension _at
    _at: int | None
    _offsets: Tensor
    _lengths: Tensor | None  # where the pieces are shorter than their places in the row
    _size: RaggedSize

    # ---- making

    @classmethod
    def of_pieces(cls, pieces: Sequence[Tensor]) -> NestedTensor:
        """Of layout `strided`."""
        first = pieces[0] if pieces else core.empty(0)
        batch: Any = _without_memory(first.dtype).as_subclass(cls)
        batch._pieces, batch._at, batch._lengths = tuple(pieces), None, None
        return batch  # type: ignore[no-any-return]

    @classmethod
    def of_row(
        cls, row: Tensor, at: int, offsets: Tensor, lengths: Tensor | None = None, size: RaggedSize | None = None
    ) -> NestedTensor:
        """Of layout `jagged`."""
        batch: Any = _without_memory(row.dtype).as_subclass(cls)
        batch._row, batch._at, batch._offsets, batch._lengths = row, at, offsets, lengths
        batch._size = size or RaggedSize()
        return batch  # type: ignore[no-any-return]

    def like(self, row: Tensor, at: int) -> NestedTensor:
        """Another row of pieces as long as these."""
        return NestedTensor.of_row(row, at, self._offsets, self._lengths, self._size)

    def group(self, pieces: Sequence[Tensor]) -> NestedTensor:
        """A batch of some of the pieces."""
        if self._at is None:
            return NestedTensor.of_pieces(pieces)
        lengths = [x.shape[self._at] for x in pieces]
        return NestedTensor.of_row(core.cat(list(pieces), self._at), self._at, offsets_of(lengths, self._row.device))

    def same_structure(self, other: NestedTensor) -> bool:
        """Whether both are jagged and their pieces known to have the same lengths."""
        return self._at is not None and other._at is not None and self._size is other._size

    def _piece_lengths(self) -> list[int]:
        """Of jagged: the sizes of the ragged dimension."""
        if self._at is None:
            return []
        return (self._offsets.diff() if self._lengths is None else self._lengths).tolist()  # type: ignore[no-any-return]

    def _leaves(self) -> tuple[Tensor, ...]:
        """The tensors that derivatives are of."""
        return self.unbind() if self._at is None else (self._row,)

    # ---- calls

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Calls the function on the pieces."""
        name = func.__name__
        if name == "__get__":
            if (prop := func.__self__.__name__) in ("T", "mT", "H", "mH", "real", "imag"):
                return cls.__torch_function__(_Getter(prop), types, args[:1])
            with DisableTorchFunctionSubclass():
                return func((args[0]._leaves() or args)[0], *args[1:])
        if name in ("grad", "backward") and func.__module__.startswith("adjoint_engine"):
            return _differentiate(func, args, kwargs or {})
        if name == "__getitem__":
            return _indexed(*args)
        if name in SPECIAL and (found := SPECIAL[name](func, *args, **(kwargs or {}))) is not NotImplemented:
            return found
        call = Call(func, name, args, kwargs or {})
        if name.endswith("_") and not name.startswith("__") and is_batch(args[0]):
            return _in_place(call, args[0])
        if call.over_batch:
            return _over_batch(call)
        if call.of_all:
            return func(
                call.batch._flat() if call.batch._at is None or call.batch._lengths is not None else call.batch._row,
                *args[1:],
                **(kwargs or {}),
            )
        if call.in_a_row():
            same = call.name in pointwise() or call.name in ("linear", "layer_norm", "rms_norm")
            return _jagged(call, call.row(), call.batch._at if same else call.where_to())
        results = [call.piece(i) for i in range(len(call.batch))]
        tensors = call.batch._at is not None and isinstance(results[0], (Tensor, tuple, list))
        return _collected(call, results, call.where_to() if tensors else None)

    # ---- what it is

    is_nested = True
    shape = property(lambda self: self.size())
    ndim = property(lambda self: self.dim())
    layout = property(lambda self: strided if self._at is None else jagged)
    requires_grad = property(
        lambda self: any(x.requires_grad for x in self._leaves()), lambda self, on: self.requires_grad_(on) and None
    )
    is_leaf = property(lambda self: all(x.is_leaf for x in self._leaves()))
    grad_fn = property(lambda self: next((x.grad_fn for x in self._leaves() if x.grad_fn is not None), None))

    @property
    def grad(self) -> NestedTensor | None:
        """The gradients of the pieces, if all have one."""
        grads = [x.grad for x in self._leaves()]
        if any(g is None for g in grads):
            return None
        return NestedTensor.of_pieces(grads) if self._at is None else self.like(grads[0], self._at)  # type: ignore[arg-type]

    @grad.setter
    def grad(self, value: NestedTensor | None) -> None:
        for x, g in zip(self._leaves(), itertools.repeat(None) if value is None else value._leaves()):
            x.grad = g

    def dim(self) -> int:
        """The number of dimensions, that of the batch included."""
        return (self._pieces[0].ndim + 1 if self._pieces else 1) if self._at is None else self._row.ndim + 1

    def size(self, dim: int | None = None) -> Any:
        """The sizes; that of a jagged batch's ragged dimension is the same object for batches of the same structure."""
        if self._at is not None:
            sizes = RaggedShape([len(self), *(self._size if d == self._at else n for d, n in enumerate(self._row.shape))])
            return sizes if dim is None else sizes[dim]
        if dim is None:
            raise RuntimeError("size(): a NestedTensor of layout strided has no shape: its pieces have, see unbind()")
        if (dim := dim % self.ndim) == 0:
            return len(self)
        sizes = {x.shape[dim - 1] for x in self._pieces}
        if len(sizes) > 1:
            raise RuntimeError(f"Given dimension {dim} is irregular and does not have a size.")
        return sizes.pop()

    def numel(self) -> int:
        """The number of elements of all pieces."""
        return sum(x.numel() for x in self.unbind())

    def stride(self, dim: int | None = None) -> NoReturn:
        """Not of a batch: its pieces have strides."""
        raise RuntimeError("stride(): a NestedTensor has no strides: its pieces have, see unbind()")

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the pieces follow one another in memory."""
        if self._at is None:
            return all(x.is_contiguous() for x in self.unbind())
        return self._at == 0 and self._lengths is None and self._row.is_contiguous()

    def __len__(self) -> int:
        return len(self._pieces) if self._at is None else len(self._offsets) - 1

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.unbind())

    # ---- what is in it

    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:
        """The pieces."""
        if dim % self.ndim:
            raise RuntimeError(f"unbind(): a NestedTensor has pieces along dim=0, got dim={dim}")
        if self._at is not None:
            starts, lengths = self._offsets.tolist(), self._piece_lengths()
            if self._lengths is None and starts[0] == 0 and starts[-1] == self._row.shape[self._at]:
                return tuple(self._row.split(lengths, self._at))
            return tuple(self._row.narrow(self._at, s, n) for s, n in zip(starts, lengths, strict=False))
        return self._pieces

    def values(self) -> Tensor:
        """All elements: the row of a jagged batch, else a vector."""
        return self._flat() if self._at is None else self._row

    def _flat(self) -> Tensor:
        """A vector of the elements of all pieces."""
        return core.cat([x.reshape(-1) for x in self.unbind()])

    def offsets(self) -> Tensor:
        """Of a jagged batch: where in the row each piece begins, and the last one ends."""
        return self._offsets

    def lengths(self) -> Tensor | None:
        """Of a jagged batch whose pieces do not fill the row: their lengths; else None."""
        return self._lengths

    def _nested_tensor_size(self) -> Tensor:
        """The shapes of the pieces, (pieces, dimensions)."""
        return core.tensor([list(piece.shape) for piece in self.unbind()], dtype=core.int64)

    def to_padded_tensor(self, padding: float, output_size: Sequence[int] | None = None) -> Tensor:
        """One tensor, in which smaller pieces are followed by ``padding``.

        Arguments:
            output_size: its shape; as small as the pieces allow by default.
        """
        sizes = [max(n) for n in zip(*(x.shape for x in self.unbind()), strict=True)]
        wanted = sizes if output_size is None else list(output_size)[1:]
        if len(wanted) != len(sizes) or any(n < m for n, m in zip(wanted, sizes, strict=True)):
            raise RuntimeError(
                f"to_padded_tensor: output_size must be at least {[len(self), *sizes]}, got {list(output_size or ())}"
            )
        ends = [
            [end for n, m in zip(reversed(wanted), reversed(x.shape), strict=True) for end in (0, n - m)] for x in self.unbind()
        ]
        return core.stack([pad(x, end, value=padding) for x, end in zip(self.unbind(), ends, strict=True)])

    def requires_grad_(self, requires_grad: bool = True) -> NestedTensor:
        """Derivatives are to be of its elements."""
        for x in self._leaves():
            x.requires_grad_(requires_grad)
        return self

    def item(self) -> Any:
        """The element, if there is but one."""
        return self.values().item()

    def tolist(self) -> list[Any]:
        """The numbers of the pieces."""
        return [x.tolist() for x in self.unbind()]

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        if self._at is None:
            state = ""
            pieces = [x.detach().requires_grad_(x.requires_grad) for x in self.unbind()]
            if self.grad_fn is not None:
                state = f", grad_fn=<{type(self.grad_fn).__name__}>"
            elif self.requires_grad:
                state = ", requires_grad=True"
            lines = [f"  {x!r}".replace("\n", "\n  ") for x in pieces]
            return "nested_tensor([\n" + ",\n".join(lines) + "\n]" + state + ")"
        state = (
            f", grad_fn={self.grad_fn}" if self.grad_fn is not None else ", requires_grad=True" if self.requires_grad else ""
        )
        sizes = ", ".join(map(str, self.size()))
        return f"NestedTensor(size=({sizes}), offsets={self._offsets}{state}, contiguous={self.is_contiguous()})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __hash__(self) -> int:
        return id(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self._at is None:
            return NestedTensor.of_pieces, (self.unbind(),)
        return NestedTensor.of_row, (self._row, self._at, self._offsets, self._lengths)

    def __deepcopy__(self, memo: dict[int, Any]) -> NestedTensor:
        copies = [x.detach().clone().requires_grad_(x.requires_grad) for x in self._leaves()]
        return NestedTensor.of_pieces(copies) if self._at is None else self.like(copies[0], self._at)


class _Getter:
    """The getter of a property, as a function of a tensor."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, x: Tensor) -> Any:
        return getattr(x, self.__name__)


class _Item:
    """What an index takes, as a function of a tensor."""

    __name__ = "item"

    def __init__(self, index: tuple[Any, ...]) -> None:
        self._index = index

    def __call__(self, x: Tensor) -> Tensor:
        return x[self._index]


def _differentiate(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`autograd.grad` and `backward` of batches: of their pieces."""
    outputs, inputs, cotangents = (
        (*args, None, None)[:3] if func.__name__ == "grad" else (args[0], kwargs.get("inputs"), (*args, None)[1])
    )
    cotangents = kwargs.get("grad_outputs", kwargs.get("gradient", cotangents))

    def spread(xs: Any) -> list[Any]:
        listed = [] if xs is None else [xs] if isinstance(xs, Tensor) else list(xs)
        return [y for x in listed for y in (x._leaves() if is_batch(x) else (x,))]

    given = spread(cotangents) or None
    rest = {k: v for k, v in kwargs.items() if k not in ("grad_outputs", "gradient", "inputs")}
    if func.__name__ == "backward":
        for y, g in zip(spread(outputs), given or [None] * len(spread(outputs)), strict=True):
            func(y, g, **rest)
        return None
    found = iter(func(spread(outputs), spread(inputs), given, **rest))
    listed = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    return tuple(_gradient(x, [next(found) for _ in x._leaves()]) if is_batch(x) else next(found) for x in listed)


def _gradient(x: Any, grads: list[Any]) -> NestedTensor | None:
    if any(g is None for g in grads):
        return None
    return NestedTensor.of_pieces(grads) if x._at is None else x.like(grads[0], x._at)


def _in_place(call: Call, batch: NestedTensor) -> NestedTensor:
    if batch._at is not None and call.in_a_row():
        call.row()
    else:
        for i in range(len(batch)):
            call.piece(i)
    return batch


def _over_batch(call: Call) -> Any:
    """A reduction over the batch, which is one over the row if it is over the ragged dimension too."""
    if call.batch._at is None or call.batch._at not in (call.dims or ()) or call.batch._lengths is not None:
        text = "reducing along the batch dimension but not the ragged dimension is not supported for nested tensors"
        raise RuntimeError(f"{call.name}(): {text}")
    result = call.row()
    return result.unsqueeze(0) if call.kwargs.get("keepdim") or call.args[2:3] == [True] else result


def _jagged(call: Call, result: Any, place: Any) -> Any:
    """A batch for each result of a call on all pieces in a row."""
    if isinstance(result, (tuple, list)):
        places = place if isinstance(place, list) else [place] * len(result)
        parts = [_jagged(call, y, p) for y, p in zip(result, places, strict=True)]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return call.batch.like(result, place) if isinstance(result, Tensor) else result


def _collected(call: Call, results: list[Any], place: Any) -> Any:
    """A batch of the results for the pieces, or what else they make."""
    first = results[0]
    if isinstance(first, (tuple, list)):
        places = place if isinstance(place, list) else [None] * len(first)
        parts = [_collected(call, list(ys), p) for ys, p in zip(zip(*results, strict=True), places, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if not isinstance(first, Tensor):
        if isinstance(first, bool):
            return all(results)
        if isinstance(first, core.dtype):
            return first
        raise RuntimeError(f"{call.name}(): not supported for NestedTensor, but for its pieces, see unbind()")
    if call.batch._at is None:
        return NestedTensor.of_pieces(results)
    if place is None:
        ragged = [d for d in range(first.ndim) if len({y.shape[d] for y in results}) > 1]
        if not ragged:
            return core.stack(results)
        place = ragged[0]
    lengths = [y.shape[place] for y in results]
    row = core.cat(results, place)
    if lengths == call.batch._piece_lengths() and call.batch._lengths is None:
        return call.batch.like(row, place)
    return NestedTensor.of_row(row, place, offsets_of(lengths, row.device))


def _select(func: Any, batch: NestedTensor, dim: int, index: int) -> Any:
    return _indexed(batch, index) if dim % batch.ndim == 0 else NotImplemented


def _chunk(func: Any, batch: NestedTensor, chunks: int, dim: int = 0) -> Any:
    if dim % batch.ndim:
        return NotImplemented
    pieces, n = batch.unbind(), -(-len(batch) // chunks)
    return tuple(batch.group(pieces[i : i + n]) for i in range(0, len(pieces), n))


def _embedding_bag(func: Any, batch: Tensor, weight: Tensor, offsets: Any = None, *args: Any, **kwargs: Any) -> Tensor:
    """Each piece is a bag."""
    if not is_batch(batch) or batch.ndim != 2 or offsets is not None:
        raise RuntimeError("embedding_bag: a NestedTensor of bags has two dimensions, and is given without offsets")
    starts = offsets_of([len(x) for x in batch.unbind()], batch.device)[:-1]
    return func(batch._flat(), weight, starts, *args, **{key: x._flat() if is_batch(x) else x for key, x in kwargs.items()})  # type: ignore[attr-defined, no-any-return]


SPECIAL = {"select": _select, "chunk": _chunk, "embedding_bag": _embedding_bag}  # what is more than the calls of pieces


def offsets_of(lengths: Sequence[int], device: Any) -> Tensor:
    """Where pieces of these lengths begin, and the last one ends."""
    return core.tensor([0, *itertools.accumulate(lengths)], dtype=core.int64, device=device)


def _indexed(batch: NestedTensor, index: Any) -> Any:
    """A piece, or the batch of what the rest of the index takes of each."""
    keys = list(index) if isinstance(index, tuple) else [index]
    if any(k is Ellipsis for k in keys):
        at = next(i for i, k in enumerate(keys) if k is Ellipsis)
        keys[at : at + 1] = [slice(None)] * (batch.ndim - sum(k is not None for k in keys) + 1)
    head, rest = keys[0], tuple(keys[1:])
    if isinstance(head, int):
        if not -len(batch) <= head < len(batch):
            raise IndexError(f"index {head} is out of bounds for dimension 0 with size {len(batch)}")
        piece = batch.unbind()[head]
        return piece[rest] if rest else piece
    if head != slice(None) or isinstance(head, Tensor):
        raise RuntimeError(f"a NestedTensor is indexed by a number or : in its first dimension, got {head!r}")
    if batch._at is not None and isinstance(part := dict(enumerate(rest)).get(batch._at), slice) and part != slice(None):
        raise RuntimeError("slice(): not supported for NestedTensor on the ragged dimension; nested.narrow makes such pieces")
    return NestedTensor.__torch_function__(_Item(rest), (), (batch,)) if rest else batch
