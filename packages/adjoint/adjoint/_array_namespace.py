"""How libraries written by the array API standard find its functions from a tensor; the namespace is imported when one asks."""

from types import ModuleType as _ModuleType

from adjoint_core import Tensor as _Tensor


def __array_namespace__(self: _Tensor, *, api_version: str | None = None) -> _ModuleType:
    """The functions of the array API standard; ValueError for a version that is not supported."""
    from adjoint_functional.array_api import VERSIONS

    from . import array_api

    if api_version not in (None, *VERSIONS):
        raise ValueError(f"__array_namespace__: api_version must be one of {VERSIONS}, got {api_version!r}")
    return array_api


_Tensor.__array_namespace__ = __array_namespace__
