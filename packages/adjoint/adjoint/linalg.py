"""Linear algebra."""

from adjoint_core._compose import make_face as _make_face
from adjoint_functional.linalg import *  # noqa: F403

_make_face(globals())
