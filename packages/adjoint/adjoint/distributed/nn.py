"""Collectives that derivatives run through."""

import sys as _sys

from adjoint_functional.distributed.nn import *  # noqa: F403
from adjoint_functional.distributed.nn import functional as functional

_sys.modules[f"{__name__}.functional"] = functional
