"""Functions of neural networks."""

from adjoint_core._compose import make_face as _make_face
from adjoint_functional.nn.functional import *  # noqa: F403
from adjoint_functional.nn.modules.asking import let_layers_ask as _let_layers_ask

_make_face(globals())
_let_layers_ask()
