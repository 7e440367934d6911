"""Types of arguments of layers, for annotations."""

from adjoint_core import Tensor as _Tensor

_size_any_t = int | tuple[int, ...]
_size_1_t = int | tuple[int]
_size_2_t = int | tuple[int, int]
_size_3_t = int | tuple[int, int, int]
_size_4_t = int | tuple[int, int, int, int]
_size_5_t = int | tuple[int, int, int, int, int]
_size_6_t = int | tuple[int, int, int, int, int, int]
_ratio_2_t, _ratio_3_t, _ratio_any_t = (
    float | tuple[float, float],
    float | tuple[float, float, float],
    float | tuple[float, ...],
)
_scalar_or_tuple_any_t = _size_any_t
_tensor_list_t = _Tensor | list[_Tensor]
_maybe_indices_t = _Tensor | tuple[_Tensor, _Tensor]
