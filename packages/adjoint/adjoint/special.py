"""Special functions."""

from adjoint_core._compose import make_face as _make_face
from adjoint_functional.special import *  # noqa: F403

_make_face(globals())
