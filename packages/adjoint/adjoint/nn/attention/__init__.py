"""Which kernel computes attention, and attention with masks and scores of a program's own."""

import importlib as _importlib
from typing import TYPE_CHECKING

from adjoint_functional.nn.attention import *  # noqa: F403

if TYPE_CHECKING:
    from . import bias as bias
    from . import flex_attention as flex_attention


def __getattr__(name: str) -> object:
    if name in ("bias", "flex_attention"):  # imported when first used
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
