"""Functions of neural networks."""

import importlib as _importlib

from adjoint_core._compose import make_face as _make_face
from adjoint_functional.nn.functional import *  # noqa: F403
from adjoint_functional.nn.functional.helpers import _canonical_mask as _canonical_mask
from adjoint_functional.nn.functional.helpers import _get_softmax_dim as _get_softmax_dim
from adjoint_functional.nn.functional.helpers import _in_projection as _in_projection
from adjoint_functional.nn.functional.helpers import _in_projection_packed as _in_projection_packed
from adjoint_functional.nn.functional.helpers import _mha_shape_check as _mha_shape_check
from adjoint_functional.nn.functional.helpers import _none_or_dtype as _none_or_dtype
from adjoint_functional.nn.functional.helpers import _verify_batch_size as _verify_batch_size
from adjoint_functional.nn.modules.asking import let_layers_ask as _let_layers_ask

_make_face(globals())
_let_layers_ask()


def __getattr__(name: str) -> object:
    """What copies of these functions in libraries take from here, which is none of them."""
    if name == "_Reduction":
        return _importlib.import_module("adjoint.nn._reduction")
    if name in ("_single", "_pair", "_triple", "_list_with_default"):
        return getattr(_importlib.import_module("adjoint.nn.modules.utils"), name)
    if name.startswith(("has_torch_function", "handle_torch_function")):
        return getattr(_importlib.import_module("adjoint.overrides"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
