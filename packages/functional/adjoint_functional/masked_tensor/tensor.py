"""The class, its derivatives, and the functions that it answers itself."""

from __future__ import annotations

import warnings
from typing import Any, TypeGuard

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_core.overrides import DisableTorchFunctionSubclass
from adjoint_engine import Function

from .. import masked
from . import operations
from .layouts import dense, indices_of, is_sparse, same, values_of, with_values
from .printing import text

__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]

_TYPES = {core.bool, core.int8, core.int16, core.int32, core.int64, core.float16, core.float32, core.float64}
_LAYOUTS = {core.strided, core.sparse_coo, core.sparse_csr}


def is_masked_tensor(obj: Any, /) -> TypeGuard[MaskedTensor]:
    """Whether it is a `MaskedTensor`.

    Example::

        >>> ad.masked.is_masked_tensor(ad.ones(1))
        False
    """
    return isinstance(obj, MaskedTensor)


def _checked(data: Any, mask: Any) -> tuple[Tensor, Tensor]:
    for name, t in (("data", data), ("mask", mask)):
        if is_masked_tensor(t) or not isinstance(t, Tensor):
            raise TypeError(f"{name} must be a Tensor")
    if data.layout is not mask.layout:
        raise TypeError("data and mask must have the same layout.")
    if data.layout not in _LAYOUTS:
        raise TypeError(f"data layout of {data.layout} is not supported.")
    if mask.dtype is not core.bool:
        raise TypeError("mask must have dtype bool.")
    if data.dtype not in _TYPES:
        raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
    if data.dim() != mask.dim():
        raise ValueError("data.dim() must equal mask.dim()")
    if data.shape != mask.shape:
        raise ValueError("data.size() must equal mask.size()")
    if data.layout is core.sparse_coo:
        data, mask = data.coalesce(), mask.coalesce()
    if is_sparse(data):
        if data._nnz() != mask._nnz():
            data = dense(data).sparse_mask(mask)
        if not all(same(i, j) for i, j in zip(indices_of(data), indices_of(mask), strict=True)):
            raise ValueError(f"data and mask are both {data.layout} tensors but do not have the same indices.")
    return data, mask


def _copy(t: Tensor) -> Tensor:
    return with_values(t, values_of(t).clone()) if is_sparse(t) else t.clone()


class MaskedTensor(Tensor):
    """A tensor with a mask that says which elements are there: `masked_tensor` makes one of copies, `as_masked_tensor` one with history.

    Operations on elements work where the masks are the same, or with tensors that have none; reductions are those of the elements that are
    there, which is nothing where there are none; what moves elements moves the mask. Its gradients are masked tensors too: what is not there
    gets none, so that a NaN under the mask reaches nobody.

    Raises:
        TypeError: `data` or `mask` is no tensor, the mask not of truths, the data complex or bfloat16, of different layouts.
        ValueError: of different shapes; of operations: masks that differ.

    Example::

        >>> import warnings
        >>> warnings.simplefilter("ignore")
        >>> x = ad.masked.masked_tensor(ad.tensor([1.0, 2.0, 0.0]), ad.tensor([True, True, False]), requires_grad=True)
        >>> (1 / x).sum().backward()
        >>> x.grad
        MaskedTensor(
          [ -1.0000,  -0.2500,       --]
        )
    """

    _masked_data: Tensor
    _masked_mask: Tensor

    @staticmethod
    def __new__(cls: type[MaskedTensor], data: Any, mask: Any, requires_grad: bool = False) -> Any:
        whole, there = _checked(data, mask)
        warnings.warn("MaskedTensor is a prototype in PyTorch, whose interface may change", UserWarning, stacklevel=2)
        if data.requires_grad:
            warnings.warn(
                "It is not recommended to create a MaskedTensor with a tensor that requires_grad. "
                "To avoid this, you can use data.detach().clone()",
                UserWarning,
                stacklevel=2,
            )
        return _made(_copy(whole.detach()), _copy(there), requires_grad)

    def __init__(self, data: Any, mask: Any, requires_grad: bool = False) -> None:
        super().__init__()

    def get_data(self) -> Tensor:
        """The data, also what the mask hides; its gradients come back with the mask."""
        data: Tensor = _GetData.apply(self)
        return data

    def get_mask(self) -> Tensor:
        """What is there."""
        return self._masked_mask

    def to_tensor(self, value: float) -> Tensor:
        """The data with `value` where nothing is.

        Example::

            >>> import warnings
            >>> warnings.simplefilter("ignore")
            >>> ad.masked.masked_tensor(ad.tensor([1.0, 2.0]), ad.tensor([True, False])).to_tensor(0)
            tensor([1., 0.])
        """
        return self.get_data().masked_fill(~self._masked_mask, value)

    @property
    def grad(self) -> Any:
        """The gradient, with this mask unless it has its own."""
        with DisableTorchFunctionSubclass():
            found = Tensor.grad.__get__(self)
        return found if found is None or is_masked_tensor(found) else _made(found, self._masked_mask)

    @grad.setter
    def grad(self, value: Any) -> None:
        with DisableTorchFunctionSubclass():
            Tensor.grad.__set__(self, value)

    @property
    def layout(self) -> Any:
        return self._masked_data.layout

    def is_sparse_coo(self) -> bool:
        """Whether data and mask are sparse, by indices of each element."""
        return self._masked_data.layout is core.sparse_coo

    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        """Whether data and mask are sparse, by rows."""
        return self._masked_data.layout is core.sparse_csr

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        return is_sparse(self._masked_data)

    def __repr__(self, **kwargs: Any) -> str:
        return text(dense(self._masked_data), dense(self._masked_mask))

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with DisableTorchFunctionSubclass():
            name = getattr(func, "__name__", "")
            if name in _ANSWERED and "linalg" not in getattr(func, "__module__", ""):
                return _ANSWERED[name](name, func, *args, **(kwargs or {}))
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = operations.run(func, args, kwargs or {}, _pair)
        return args[0] if made is None else NotImplemented if made[0] is NotImplemented else _made(*made)


def _pair(a: Any) -> tuple[Tensor, Tensor] | None:
    return (a._masked_data, a._masked_mask) if is_masked_tensor(a) else None


def _made(data: Any, mask: Any, requires_grad: bool = False) -> Any:
    """Of data and mask as they are."""
    if isinstance(data, (tuple, list)):
        return type(data)(_made(d, m) for d, m in zip(data, mask, strict=True))
    made = Tensor._make_wrapper_subclass(
        MaskedTensor, data.shape, dtype=data.dtype, device=data.device, requires_grad=requires_grad
    )
    made._masked_data, made._masked_mask = data, mask
    return made


class _Hidden(Function):
    """Data with a mask as a masked tensor: the gradient passes as it is, masked."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, mask: Tensor) -> Any:
        return _made(_copy(data.detach()), _copy(mask))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad, None


class _GetData(Function):
    @staticmethod
    def forward(ctx: Any, t: Any) -> Tensor:
        ctx.mask = t._masked_mask
        return t._masked_data.detach()  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        data, there = _pair(grad) or (grad, ctx.mask)
        return _made(data, ctx.mask if there is ctx.mask or is_sparse(there) else there & ctx.mask)


class _Changed(Function):
    """Another layout of data and mask; the gradient comes back dense."""

    @staticmethod
    def forward(ctx: Any, t: Any, change: Any) -> Any:
        mask = change(t._masked_mask)
        data = t._masked_data
        return _made(dense(data) if not is_sparse(mask) else dense(data).sparse_mask(mask), mask)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return (_made(dense(grad._masked_data), dense(grad._masked_mask)) if is_masked_tensor(grad) else dense(grad)), None


class _Where(Function):
    """Of masked tensors: each gets the gradient of what was taken from it, and nothing elsewhere."""

    @staticmethod
    def forward(ctx: Any, condition: Tensor, a: Any, b: Any) -> Any:
        ctx.save_for_backward(condition)
        return core.where(condition, a, b)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (condition,) = ctx.saved_tensors
        data, mask = _pair(grad) or (grad, core.ones_like(grad, dtype=core.bool))
        return None, _made(data, mask & condition), _made(data, mask & ~condition)


def _any_of(mask: Tensor, dim: Any, keepdim: bool) -> Tensor:
    for d in sorted((dim,) if isinstance(dim, int) else dim or range(mask.dim()), key=lambda d: -(d % mask.dim())):
        mask = mask.any(d, keepdim)
    return mask


def _reduced(name: str, func: Any, t: Any, *args: Any, **kwargs: Any) -> Any:
    """A reduction of what is there."""
    given = dict(zip(("ord", "dim", "keepdim") if name == "norm" else ("dim", "keepdim", "dtype"), args)) | kwargs
    if "p" in given:
        given["ord"] = given.pop("p")
    data, mask = t.get_data(), t.get_mask()
    if is_sparse(data):
        data, mask = dense(data), dense(mask)
    dim, keepdim = given.get("dim"), given.get("keepdim", False)
    if name == "all":
        whole = data.masked_fill(~mask, True)
        found = whole.all() if dim is None else whole.all(dim, keepdim)
    else:
        found = getattr(masked, name)(data, **given, mask=mask)
    return _Hidden.apply(found, mask.any() if dim is None and not keepdim else _any_of(mask, dim, keepdim))


def _selected(name: str, func: Any, condition: Tensor, a: Any, b: Any) -> Any:
    both = (t if isinstance(t, Tensor) else core.tensor(t) for t in (a, b))
    return _Where.apply(
        condition, *(t if is_masked_tensor(t) else _Hidden.apply(t, core.ones_like(t, dtype=core.bool)) for t in both)
    )


def _relaid(name: str, func: Any, t: Any, *args: Any, **kwargs: Any) -> Any:
    change = {
        "to_dense": dense,
        "to_sparse": lambda mask: mask if is_sparse(mask) else mask.to_sparse().coalesce(),
        "to_sparse_coo": lambda mask: mask if mask.layout is core.sparse_coo else dense(mask).to_sparse().coalesce(),
        "to_sparse_csr": lambda mask: mask if mask.layout is core.sparse_csr else dense(mask).to_sparse_csr(),
    }[name]
    return _Changed.apply(t, change)


def _like(name: str, func: Any, t: Any, *args: Any, **kwargs: Any) -> Any:
    requires_grad = kwargs.pop("requires_grad", False)
    return _made(func(t._masked_data, *args, **kwargs), t._masked_mask, requires_grad)


def _number(name: str, func: Any, t: Any) -> Any:
    if not bool(t.get_mask()):
        raise ValueError(f"{name}: expected an element that is there, got one that the mask hides")
    return func(t._masked_data)


_ANSWERED = {
    **dict.fromkeys(("sum", "mean", "amin", "amax", "argmin", "argmax", "prod", "all", "norm", "var", "std"), _reduced),
    **dict.fromkeys(("to_dense", "to_sparse", "to_sparse_coo", "to_sparse_csr"), _relaid),
    **dict.fromkeys(("ones_like", "zeros_like", "full_like", "empty_like", "rand_like", "randn_like"), _like),
    **dict.fromkeys(("item", "__float__", "__int__", "__bool__"), _number),
    "where": _selected,
}


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
    """A masked tensor of copies of data and mask, a leaf of the graph.

    Example::

        >>> import warnings
        >>> warnings.simplefilter("ignore")
        >>> ad.masked.masked_tensor(ad.tensor([[1.0, 2.0], [3.0, 4.0]]), ad.tensor([[True, False], [False, False]])).sum(1)
        MaskedTensor(
          [  1.0000,       --]
        )
    """
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Any, mask: Any) -> MaskedTensor:
    """A masked tensor that keeps the history of its data.

    Example::

        >>> x = ad.tensor([1.0, 1.0], requires_grad=True)
        >>> (ad.masked.as_masked_tensor(x / ad.tensor([0.0, 1.0]), ad.tensor([False, True]))).sum().backward()
        >>> x.grad
        MaskedTensor(
          [      --,   1.0000]
        )
    """
    made: MaskedTensor = _Hidden.apply(*_checked(data, mask))
    return made
