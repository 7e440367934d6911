"""Linear maps, tables of rows, changes of shape."""

from __future__ import annotations

import math
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import Parameter

from .. import functional as F
from .. import init
from ..asserted import AssertedShapeError, AssertedValueError
from .module import Module

__all__ = ["Bilinear", "Embedding", "EmbeddingBag", "Flatten", "Identity", "Linear", "PReLU", "Softmax2d", "Unflatten"]


def parameter(*sizes: int, device: Any = None, dtype: Any = None) -> Parameter:
    """A parameter that is yet to be initialised."""
    return Parameter(core.empty(sizes, device=device, dtype=dtype))


class Identity(Module):
    """Gives back what it gets; takes any arguments.

    Example::

        >>> ad.nn.Identity()(ad.ones(1))
        tensor([1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """The input."""
        return input


class Linear(Module):
    """``x @ weight.T + bias``; ``weight`` is (out, in). Both start uniform in ±1/sqrt(in).

    Example::

        >>> ad.nn.Linear(3, 2)(ad.ones(4, 3)).shape
        adjoint.Size([4, 2])
    """

    __constants__ = ("in_features", "out_features")

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = parameter(out_features, in_features, device=device, dtype=dtype)
        self.register_parameter("bias", parameter(out_features, device=device, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new values."""
        init.uniform_by_fan_in(self)

    def forward(self, input: Tensor) -> Tensor:
        """(..., in) to (..., out)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear`, under the name that PyTorch has for the one in `MultiheadAttention`.

    Example::

        >>> ad.nn.NonDynamicallyQuantizableLinear(3, 2)
        NonDynamicallyQuantizableLinear(in_features=3, out_features=2, bias=True)
    """


class Bilinear(Module):
    """``x1 @ weight[k] @ x2 + bias[k]`` for each k; ``weight`` is (out, in1, in2).

    Example::

        >>> ad.nn.Bilinear(2, 3, 4)(ad.ones(5, 2), ad.ones(5, 3)).shape
        adjoint.Size([5, 4])
    """

    __constants__ = ("in1_features", "in2_features", "out_features")

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = parameter(out_features, in1_features, in2_features, device=device, dtype=dtype)
        self.register_parameter("bias", parameter(out_features, device=device, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new values."""
        init.uniform_within(self, 1 / math.sqrt(self.in1_features))

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """(..., in1) and (..., in2) to (..., out)."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


_ROWS = {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "sparse": False}


def _changed(module: Module, **usual: Any) -> str:
    """What is not as usual."""
    return "".join(f", {name}={getattr(module, name)!r}" for name, value in usual.items() if getattr(module, name) != value)


class Embedding(Module):
    """A table whose rows are looked up; ``weight`` is (rows, size) and starts normal. The row ``padding_idx`` stays as it is (zero).

    Example::

        >>> ad.nn.Embedding(10, 3)(ad.tensor([[1, 2]])).shape
        adjoint.Size([1, 2, 3])
    """

    __constants__ = ("num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse")

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertedValueError(
                f"Embedding: padding_idx must be within num_embeddings ({num_embeddings}), got {padding_idx}"
            )
        self.padding_idx = padding_idx if padding_idx is None else padding_idx % num_embeddings
        self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse = max_norm, norm_type, scale_grad_by_freq, sparse
        if _weight is not None and tuple(_weight.shape) != (num_embeddings, embedding_dim):
            raise AssertedShapeError("Shape of weight does not match num_embeddings and embedding_dim")
        given = core.empty(num_embeddings, embedding_dim, device=device, dtype=dtype) if _weight is None else _weight
        self.weight = Parameter(given, requires_grad=not _freeze)
        if _weight is None:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new values."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None, **kwargs: Any) -> Any:
        """The table ``embeddings`` itself, not trained if ``freeze``."""
        if embeddings.ndim != 2:
            raise AssertedShapeError(f"Embeddings parameter is expected to be 2-dimensional, got {embeddings.ndim} dimensions")
        rows, size = embeddings.shape
        return cls(rows, size, padding_idx=padding_idx, _weight=embeddings, _freeze=freeze, **kwargs)

    def forward(self, input: Tensor) -> Tensor:
        """(...) of indices to (..., size)."""
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.num_embeddings}, {self.embedding_dim}{_changed(self, padding_idx=None)}{_changed(self, **_ROWS)}"


class EmbeddingBag(Module):
    """Sums, means or maxima of looked-up rows; ``weight`` is (rows, size) and starts normal.

    Example::

        >>> ad.nn.EmbeddingBag(10, 3, mode="sum")(ad.tensor([[1, 2], [3, 4]])).shape
        adjoint.Size([2, 3])
    """

    __constants__ = (
        "num_embeddings",
        "embedding_dim",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "mode",
        "sparse",
        "include_last_offset",
        "padding_idx",
    )

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset
        self.weight = Parameter(
            core.empty(num_embeddings, embedding_dim, device=device, dtype=dtype) if _weight is None else _weight
        )
        if _weight is None:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new values."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """(bags, n) of indices, or all of them with the offset of each bag, to (bags, size)."""
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The sizes."""
        rows = _changed(self, max_norm=None, norm_type=2, scale_grad_by_freq=False)
        return f"{self.num_embeddings}, {self.embedding_dim}{rows}, mode={self.mode!r}{_changed(self, padding_idx=None)}"

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **kwargs: Any) -> Any:
        """The table ``embeddings`` itself, not trained if ``freeze``; ``kwargs`` as the constructor's.

        Raises:
            ValueError: it has not two dimensions.
        """
        if embeddings.dim() != 2:
            raise ValueError(f"Embeddings parameter is expected to be 2-dimensional, got {embeddings.dim()}")
        rows, size = embeddings.shape
        table = cls(rows, size, _weight=embeddings, **kwargs)
        table.weight.requires_grad = not freeze
        return table


class PReLU(Module):
    """relu whose slope for negative values is a parameter: one, or one per channel.

    Example::

        >>> ad.nn.PReLU()(ad.tensor([-4.0, 4.0])).tolist()
        [-1.0, 4.0]
    """

    __constants__ = ("num_parameters",)

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = parameter(num_parameters, device=device, dtype=dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Back to the slope at the beginning."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Of the same shape."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The number of slopes."""
        return f"num_parameters={self.num_parameters}"


class Softmax2d(Module):
    """softmax over the channels of (N, C, H, W) or (C, H, W).

    Example::

        >>> ad.nn.Softmax2d()(ad.zeros(2, 1, 1)).flatten().tolist()
        [0.5, 0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Of the same shape."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)


class Flatten(Module):
    """Makes one dimension of several; the first one is kept by default.

    Example::

        >>> ad.nn.Flatten()(ad.ones(2, 3, 4)).shape
        adjoint.Size([2, 12])
    """

    __constants__ = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """The same elements."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """The dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Makes several dimensions of one.

    Example::

        >>> ad.nn.Unflatten(1, (3, 4))(ad.ones(2, 12)).shape
        adjoint.Size([2, 3, 4])
    """

    __constants__ = ("dim", "unflattened_size")

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        whole = isinstance(unflattened_size, (tuple, list)) and all(isinstance(n, int) for n in unflattened_size)
        if not (whole or isinstance(dim, str)):
            raise TypeError(f"unflattened_size must be a tuple of ints, but found {unflattened_size!r}")
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """The same elements."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """The dimensions."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
