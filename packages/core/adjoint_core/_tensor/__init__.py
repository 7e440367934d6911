"""The parts of `Tensor` that are written in Python: each file puts its methods on it."""

from . import (  # noqa: F401
    attributes,
    dimension_order,
    element_functions,
    memory,
    numpy_arrays,
    printing,
    shared_memory,
    sparse,
    sparse_sizes,
    storage,
    subclasses,
    typed_storage,
)
from .pickles import _dtype_named, _rebuild, _rebuild_meta, _rebuild_sparse  # noqa: F401
