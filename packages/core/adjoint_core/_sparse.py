"""Sparse tensors: not there yet; asking for one says so."""

from __future__ import annotations

from typing import Any, NoReturn

from ._core import Tensor


def sparse_coo_tensor(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: adjoint has no sparse layout yet."""
    raise NotImplementedError("sparse_coo_tensor: adjoint has no sparse tensors yet; use a dense tensor")


Tensor.is_sparse = property(lambda self: False)
