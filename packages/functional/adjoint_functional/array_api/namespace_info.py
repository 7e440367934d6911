"""What the namespace says of itself: its devices, types and abilities."""

from __future__ import annotations

from typing import Any

import adjoint_core as core
from adjoint_core import dtype

from .data_types import KINDS, isdtype

STANDARD = {
    str(kind).rpartition(".")[2]: kind
    for kind in (core.bool, *KINDS["integral"], core.float32, core.float64, *KINDS["complex floating"])
}


class __array_namespace_info__:  # noqa: N801  the standard's name
    """Devices, types and abilities of the namespace.

    Example::

        >>> ad.array_api.__array_namespace_info__().capabilities()["boolean indexing"]
        True
    """

    def capabilities(self) -> dict[str, Any]:
        """What depends on the library by the standard."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """Where tensors are made unless told otherwise."""
        return core.tensor(0).device

    def devices(self) -> list[Any]:
        """The CPU, and the GPUs there are."""
        return [core.device("cpu"), *(core.device("cuda", i) for i in range(core.cuda.device_count()))]

    def default_dtypes(self, *, device: Any = None) -> dict[str, dtype]:
        """The types of numbers of each kind."""
        real = core.get_default_dtype()
        wide = core.complex128 if real is core.float64 else core.complex64
        return {"real floating": real, "complex floating": wide, "integral": core.int64, "indexing": core.int64}

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, dtype]:
        """The standard's types by their names, or those of some kinds."""
        return {name: t for name, t in STANDARD.items() if kind is None or isdtype(t, kind)}
