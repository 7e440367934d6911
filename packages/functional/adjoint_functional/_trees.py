"""The trees of `adjoint_engine.trees`, under the name this package's `__init__` imports."""

from ._backend import TreeSpec as TreeSpec
from ._backend import tree_flatten as tree_flatten
from ._backend import tree_map as tree_map
from ._backend import tree_unflatten as tree_unflatten
