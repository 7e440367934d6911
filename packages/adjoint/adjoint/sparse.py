"""Operations on sparse tensors."""

from adjoint_core._tensor.typed import type_of as _type_of
from adjoint_core.sparse import *  # noqa: F403
from adjoint_functional.sparse import *  # noqa: F403


def __getattr__(name: str) -> object:
    if name.endswith("Tensor"):
        return _type_of(name, "sparse")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
