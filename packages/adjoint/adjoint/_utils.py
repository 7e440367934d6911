"""What plain pickles of PyTorch's tensors call, and the small tools that libraries take from beside them."""

from adjoint_functional.utils.rebuilding import _element_size as _element_size
from adjoint_functional.utils.rebuilding import _flatten_dense_tensors as _flatten_dense_tensors
from adjoint_functional.utils.rebuilding import _get_device_index as _get_device_index
from adjoint_functional.utils.rebuilding import _rebuild_meta_tensor_no_storage as _rebuild_meta_tensor_no_storage
from adjoint_functional.utils.rebuilding import _rebuild_parameter as _rebuild_parameter
from adjoint_functional.utils.rebuilding import _rebuild_parameter_with_state as _rebuild_parameter_with_state
from adjoint_functional.utils.rebuilding import _rebuild_sparse_tensor as _rebuild_sparse_tensor
from adjoint_functional.utils.rebuilding import _rebuild_tensor as _rebuild_tensor
from adjoint_functional.utils.rebuilding import _rebuild_tensor_v2 as _rebuild_tensor_v2
from adjoint_functional.utils.rebuilding import _rebuild_tensor_v3 as _rebuild_tensor_v3
from adjoint_functional.utils.rebuilding import _unflatten_dense_tensors as _unflatten_dense_tensors


def is_compiling() -> bool:
    """Whether a program is being compiled: none ever is."""
    return False
