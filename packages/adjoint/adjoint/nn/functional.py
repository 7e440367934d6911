"""Functions of neural networks."""

from adjoint_core._compose import make_face as _make_face
from adjoint_functional.nn.functional import *  # noqa: F403

_make_face(globals())
