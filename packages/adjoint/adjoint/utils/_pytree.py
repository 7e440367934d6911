"""Nested containers taken apart and put together."""

from adjoint_functional.utils.pytree import *  # noqa: F403
from adjoint_functional.utils.pytree import _broadcast_to_and_flatten as _broadcast_to_and_flatten
from adjoint_functional.utils.pytree import _dict_flatten_with_keys as _dict_flatten_with_keys
from adjoint_functional.utils.pytree import _get_node_type as _get_node_type
from adjoint_functional.utils.pytree import _namedtuple_flatten as _namedtuple_flatten
from adjoint_functional.utils.pytree import _namedtuple_unflatten as _namedtuple_unflatten
from adjoint_functional.utils.pytree import _register_pytree_node as _register_pytree_node
