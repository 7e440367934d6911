"""Reductions and normalisations of the elements that a mask names, and tensors that have a mask."""

from adjoint_core._compose import make_face as _make_face
from adjoint_functional.masked import *  # noqa: F403

_make_face(globals())

from adjoint_functional.masked_tensor import *  # noqa: E402, F403
