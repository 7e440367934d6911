"""Operators that a program defines."""

from adjoint_functional.library import *  # noqa: F403
from adjoint_functional.library import CustomOpDef as CustomOpDef
