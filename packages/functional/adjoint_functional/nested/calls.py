"""What a function does to ragged batches: it is called on each of their pieces or, where these do not meet in it, once on all in a row.

A piece has one dimension less than the batch, so dimensions and shapes among the arguments lose their first entry. Where the ragged
dimension goes is asked of tensors without memory.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor, registry

from ..special import __all__ as _special
from .sizes import RaggedSize

# The position of the argument that names dimensions, counted with the tensor; it may come by keyword too.
_DIM_AT = {
    1: "all amax amin any argmax argmin argsort cat concat concatenate count_nonzero cummax cummin cumprod cumsum flip gather glu index_select "
    "log_softmax logcumsumexp logsumexp max mean median min nanmean nansum narrow prod select softmax softmin sort squeeze stack std std_mean sum "
    "unflatten unsqueeze var var_mean",
    2: "chunk kthvalue norm normalize split split_with_sizes tensor_split topk",
}
DIM_AT = {name: at for at, names in _DIM_AT.items() for name in names.split()}
DIM_WORDS = ("dim", "dims", "axis")
DEFAULT_DIM = {
    "chunk": 0,
    "split": 0,
    "split_with_sizes": 0,
    "cat": 0,
    "stack": 0,
    "normalize": 1,
    "topk": -1,
    "sort": -1,
    "glu": -1,
}
DIM_PAIRS = {
    "transpose": (),
    "swapaxes": (),
    "swapdims": (),
    "movedim": (),
    "flatten": (0, -1),
}  # and what they are where none is given
SHAPES = {"view", "reshape", "expand", "broadcast_to"}
# These take dimensions at the end of the batch, so many, and look at their other operands as a whole.
TAKES_LAST = {"embedding": 0, "one_hot": 0, "linear": 1, "layer_norm": 1, "rms_norm": 1, "multi_head_attention_forward": 2}
_NOT_POINTWISE = {
    "all",
    "any",
    "argmax",
    "argmin",
    "lu_permutation",
    "nonzero",
    "rank_order",
    "ravel_index",
    "searchsorted",
    "sparse_matmul",
}
_MORE_POINTWISE = (
    "__radd__ __rsub__ __rmul__ __rtruediv__ __rdiv__ __rfloordiv__ __rpow__ __rmod__ __add__ __sub__ __mul__ __truediv__ __floordiv__ __pow__ __mod__ "
    "__neg__ __pos__ __abs__ __invert__ __and__ __or__ __xor__ __rand__ __ror__ __rxor__ __lshift__ __rshift__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ "
    "abs absolute alpha_dropout angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh bernoulli bfloat16 bool byte cdouble celu cfloat char clip "
    "clone complex conj conj_physical contiguous cpu cuda detach divide double dropout empty_like feature_alpha_dropout fill fix float float_power frexp "
    "full_like gammainc gammaincc greater greater_equal half hardshrink heaviside imag int isclose isneginf isposinf isreal ldexp less less_equal "
    "logaddexp2 long mul multiply mvlgamma negative nextafter not_equal ones_like polar positive prelu rand_like randint_like randn_like real relu6 rrelu "
    "rsub selu sgn short signbit softshrink subtract tanhshrink threshold to true_divide type type_as zero zeros_like"
)
_NOT_POINTWISE_OF_SPECIAL = {"log_softmax", "logsumexp", "softmax"}  # these have dimensions
# More that are what they are of each piece.
_BY_PIECES = {
    "permute", "matmul", "__matmul__", "bmm", "scaled_dot_product_attention", "T", "mT", "H", "mH", "item", "equal", "allclose", "is_same_size",
    "is_floating_point", "is_complex", "is_signed", "result_type", "pad", "broadcast_tensors",
}  # fmt: skip
_SPLITS = {"chunk", "split", "split_with_sizes", "tensor_split"}
UNIQUE = 1_000_003  # a size that no other dimension has


@functools.cache
def pointwise() -> frozenset[str]:
    """Names of functions whose results have an element for each element of the batch."""
    records = {name for name in registry.names() if registry.record(name).kind == "elementwise"}
    special = set(_special) - _NOT_POINTWISE_OF_SPECIAL
    return frozenset(records - _NOT_POINTWISE | special | set(_MORE_POINTWISE.split()))


@functools.cache
def _known() -> frozenset[str]:
    return pointwise() | DIM_AT.keys() | DIM_PAIRS.keys() | SHAPES | TAKES_LAST.keys() | _BY_PIECES


def is_batch(x: Any) -> bool:
    """Whether it is a NestedTensor."""
    return isinstance(x, Tensor) and x.is_nested


def flat(xs: Iterable[Any]) -> Iterator[Any]:
    """The elements, and those of the lists and tuples among them."""
    for x in xs:
        yield from x if type(x) in (list, tuple) else (x,)


class Call:
    """One call with ragged batches among its arguments, of which ``batch`` is the first."""

    def __init__(self, func: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.func = core.matmul if name == "bmm" else func  # pieces have no batch
        self.args, self.kwargs = list(args), dict(kwargs)
        self.name = name if name.startswith("__") else name.removesuffix("_")
        if self.name not in _known():
            raise NotImplementedError(f"{name}: not supported for NestedTensor; its pieces are tensors, see unbind()")
        self.batches = [x for x in flat((*args, *kwargs.values())) if is_batch(x)]
        self.batch: Any = self.batches[0]
        self.ndim = self.batch.ndim
        self._split: dict[int, tuple[Tensor, ...]] = {}
        self.dims: list[int] | None = None  # those that the call names, counted in the pieces; None: it names none
        self.over_batch = False  # a reduction over the batch too
        if self.name in DIM_AT:
            self._shift_dims(DIM_AT[self.name])
            if self.name in _SPLITS and self.batch._at is not None and self.batch._at in (self.dims or ()):
                raise RuntimeError(
                    f"{self.name}(): not supported for NestedTensor on ragged dim, of which each piece gives as many parts as it has"
                )
        elif self.name in DIM_PAIRS:
            self._shift_pair()
        elif self.name == "permute":
            self._permute()
        elif self.name in SHAPES:
            self._take_shape()

    # ---- arguments

    def _shift(self, dim: Any, ndim: int) -> Any:
        if not isinstance(dim, int):
            rest = tuple(d for d in dim if d % ndim != 0)
            self.over_batch = len(rest) < len(dim)
            return tuple(self._shift(d, ndim) for d in rest)
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"{self.name}: Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})"
            )
        if dim % ndim == 0:
            raise RuntimeError(
                f"{self.name}(): not supported for NestedTensor on dim=0, whose pieces are no parts of one tensor"
            )
        self.dims = [*(self.dims or ()), dim % ndim - 1]
        return self.dims[-1]

    def _shift_dims(self, at: int) -> None:
        ndim = self.ndim + (self.name in ("unsqueeze", "stack"))
        word = next((word for word in DIM_WORDS if word in self.kwargs), None)
        given = self.kwargs[word] if word else self.args[at] if len(self.args) > at else DEFAULT_DIM.get(self.name)
        if self.name == "flip" and isinstance(given, int):
            given = self.args[1:]
        if isinstance(given, Tensor) or given is None or isinstance(given, bool):
            return
        shifted = self._shift(given, ndim)
        if word or len(self.args) <= at:
            self.kwargs[word or "dim"] = shifted
        else:
            self.args[at : None if self.name == "flip" else at + 1] = [shifted]

    def _shift_pair(self) -> None:
        given = [*self.args[1:], *self.kwargs.values()]
        pair = [*given, *DIM_PAIRS[self.name][len(given) :]] if "end_dim" not in self.kwargs or len(given) == 2 else [0, *given]
        shifted = [self._shift(d, self.ndim) for d in pair]
        self.args, self.kwargs = [self.args[0], *shifted], {}
        if self.name == "flatten":
            self.dims = list(range(shifted[0], shifted[1] + 1))

    def _listed(self, *words: str) -> list[Any]:
        """Numbers that come one by one, as a list or by keyword."""
        given = next((self.kwargs.pop(word) for word in words if word in self.kwargs), None)
        return list(
            given
            if given is not None
            else self.args[1]
            if len(self.args) == 2 and not isinstance(self.args[1], int)
            else self.args[1:]
        )

    def _permute(self) -> None:
        dims = [d % self.ndim for d in self._listed("dims")]
        if dims[0] != 0:
            raise ValueError("permute(): not supported on the batch dimension of a NestedTensor")
        self.args = [self.args[0], [d - 1 for d in dims[1:]]]

    def _take_shape(self) -> None:
        sizes = self._listed("size", "shape")
        if sizes[0] not in (-1, len(self.batch)):
            raise RuntimeError(
                f"{self.name}(): the batch dimension of a NestedTensor, of size {len(self.batch)}, stays first, got {sizes[0]}"
            )
        self.args = [self.args[0], sizes[1:]]

    # ---- calls

    @property
    def of_all(self) -> bool:
        """Whether it is a reduction of all elements."""
        second = self.args[1] if len(self.args) > 1 else self.kwargs.get("other")
        return self.name in DIM_AT and self.dims is None and not self.over_batch and not isinstance(second, Tensor)

    @functools.cached_property
    def _lengths(self) -> list[int]:
        return self.batch._piece_lengths()

    def _pieces(self, x: Any) -> tuple[Tensor, ...]:
        if id(x) not in self._split:
            self._split[id(x)] = x.unbind()
            if len(x) != len(self.batch):
                raise RuntimeError(f"{self.name}(): NestedTensors of {len(self.batch)} and {len(x)} pieces")
        return self._split[id(x)]

    def _run(self, give: Callable[[Any], Any], ragged: int) -> Any:
        """The call with what ``give`` makes of each tensor; ``ragged`` stands for the ragged size in a shape."""

        def made(x: Any) -> Any:
            if isinstance(x, Tensor):
                return give(x)
            if isinstance(x, RaggedSize):
                return ragged
            return type(x)(map(made, x)) if type(x) in (list, tuple) else x

        return self.func(*map(made, self.args), **{key: made(x) for key, x in self.kwargs.items()})

    def _dense(self, x: Tensor, i: int) -> Tensor:
        """What a tensor that is no batch is to piece i; what all share where i is negative."""
        if self.name in TAKES_LAST or x.ndim < self.ndim or x.ndim == 0:
            return x
        if x.ndim > self.ndim or x.shape[0] not in (1, len(self.batch)):
            raise RuntimeError(
                f"{self.name}(): a tensor of shape {list(x.shape)} does not broadcast to a NestedTensor of {self.ndim} dimensions and "
                f"{len(self.batch)} pieces"
            )
        return x[0 if x.shape[0] == 1 else max(i, 0)]

    def piece(self, i: int) -> Any:
        """The result for piece i."""
        return self._run(
            lambda x: self._pieces(x)[i] if is_batch(x) else self._dense(x, i), self._lengths[i] if self._lengths else -1
        )

    def row(self) -> Any:
        """The result for all pieces in a row."""
        return self._run(lambda x: x._row if is_batch(x) else self._dense(x, -1), self.batch._row.shape[self.batch._at])

    def where_to(self) -> Any:
        """Which dimension of each result of a piece is the ragged one; None: it is gone."""

        def empty(x: Tensor) -> Tensor:
            if not is_batch(x):
                return self._dense(x, -1).to("meta")
            alike = x.same_structure(self.batch) or x._piece_lengths() == self._lengths
            shape = [UNIQUE if d == x._at and alike else n for d, n in enumerate(x._row.shape)]
            return core.empty(shape, dtype=x.dtype, device="meta")

        def place(y: Any) -> Any:
            if isinstance(y, Tensor):
                found = [d for d, n in enumerate(y.shape) if n == UNIQUE]
                if len(found) > 1:
                    raise RuntimeError(
                        f"{self.name}(): the result has two ragged dimensions, which only the layout strided can hold"
                    )
                return found[0] if found else None
            return [place(z) for z in y] if isinstance(y, (tuple, list)) else None

        return place(self._run(empty, UNIQUE))

    def in_a_row(self) -> bool:
        """Whether the pieces do not meet where the function runs over all of them in a row."""
        at = self.batch._at
        if at is None or not all(x._lengths is None and x.same_structure(self.batch) for x in self.batches):
            return False
        others = [
            x
            for x in flat((*self.args, *self.kwargs.values()))
            if isinstance(x, Tensor) and not is_batch(x) and x.ndim == self.ndim
        ]
        if self.name not in TAKES_LAST and any(x.shape[0] != 1 or x.shape[at + 1] != 1 for x in others):
            return False
        if self.name in TAKES_LAST:
            taken = TAKES_LAST[self.name]
            if self.name.endswith("_norm"):
                taken = len(self.kwargs["normalized_shape"] if "normalized_shape" in self.kwargs else self.args[1])
            return at < self.ndim - 1 - taken and self.name != "multi_head_attention_forward"
        if self.name == "matmul":
            return [is_batch(x) or x.ndim for x in (*self.args, *self.kwargs.values())] == [True, 2] and at < self.ndim - 2
        if self.name in SHAPES:
            ragged = [d for d, n in enumerate(self.args[1]) if isinstance(n, RaggedSize) or n == -1]
            as_long = math.prod(self.args[1][1:]) == math.prod(self.batch._row.shape[1:])
            return self.name in ("view", "reshape") and ragged == [0] and at == 0 and as_long
        if self.name in ("transpose", "swapaxes", "swapdims", "movedim", "permute", "unsqueeze", "stack"):
            return True
        if self.dims is not None:
            return at not in self.dims
        return self.name in pointwise() or self.name in DIM_AT  # as max of two
