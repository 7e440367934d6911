"""Names of `adjoint` that are made while it is imported."""

# Written by tools/stubs.py: ./run stubs
from collections.abc import Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

class BFloat16Storage(core.TypedStorage): ...
class BFloat16Tensor(Tensor): ...
class BoolStorage(core.TypedStorage): ...
class BoolTensor(Tensor): ...
class ByteStorage(core.TypedStorage): ...
class ByteTensor(Tensor): ...
class CharStorage(core.TypedStorage): ...
class CharTensor(Tensor): ...
class ComplexDoubleStorage(core.TypedStorage): ...
class ComplexFloatStorage(core.TypedStorage): ...
class DoubleStorage(core.TypedStorage): ...
class DoubleTensor(Tensor): ...
class FloatStorage(core.TypedStorage): ...
class FloatTensor(Tensor): ...
class HalfStorage(core.TypedStorage): ...
class HalfTensor(Tensor): ...
class IntStorage(core.TypedStorage): ...
class IntTensor(Tensor): ...
class LinAlgError(RuntimeError): ...
class LongStorage(core.TypedStorage): ...
class LongTensor(Tensor): ...
class OutOfMemoryError(RuntimeError): ...
class OutOfRangeError(RuntimeError): ...
class ShapeError(RuntimeError): ...
class ShortStorage(core.TypedStorage): ...
class ShortTensor(Tensor): ...
class UInt16Tensor(Tensor): ...
class UInt32Tensor(Tensor): ...
class UInt64Tensor(Tensor): ...
abs_ = Tensor.abs_
acos_ = Tensor.acos_
acosh_ = Tensor.acosh_
addmv_ = Tensor.addmv_
def alias_copy(input: Tensor) -> Tensor: ...
arccos_ = Tensor.arccos_
arccosh_ = Tensor.arccosh_
arcsin_ = Tensor.arcsin_
arcsinh_ = Tensor.arcsinh_
arctan_ = Tensor.arctan_
arctanh_ = Tensor.arctanh_
as_strided_copy = core.as_strided
asin_ = Tensor.asin_
asinh_ = Tensor.asinh_
atan_ = Tensor.atan_
atanh_ = Tensor.atanh_
ceil_ = Tensor.ceil_
clamp_ = Tensor.clamp_
clamp_max_ = Tensor.clamp_max_
clamp_min_ = Tensor.clamp_min_
clip_ = Tensor.clip_
cos_ = Tensor.cos_
cosh_ = Tensor.cosh_
deg2rad_ = Tensor.deg2rad_
detach_ = Tensor.detach_
def detach_copy(input: Tensor) -> Tensor: ...
diagonal_copy = core.diagonal
erf_ = Tensor.erf_
erfc_ = Tensor.erfc_
exp2_ = Tensor.exp2_
exp_ = Tensor.exp_
def expand_copy(input: Tensor, size: Sequence[int]) -> Tensor: ...
expm1_ = Tensor.expm1_
fill_ = Tensor.fill_
fix_ = Tensor.fix_
floor_ = Tensor.floor_
frac_ = Tensor.frac_
index_put_ = Tensor.index_put_
log10_ = Tensor.log10_
log1p_ = Tensor.log1p_
log2_ = Tensor.log2_
log_ = Tensor.log_
logit_ = Tensor.logit_
nan_to_num_ = Tensor.nan_to_num_
narrow_copy = core.narrow
neg_ = Tensor.neg_
negative_ = Tensor.negative_
permute_copy = core.permute
rad2deg_ = Tensor.rad2deg_
reciprocal_ = Tensor.reciprocal_
relu_ = Tensor.relu_
resize_as_ = Tensor.resize_as_
round_ = Tensor.round_
rsqrt_ = Tensor.rsqrt_
select_copy = core.select
sigmoid_ = Tensor.sigmoid_
sin_ = Tensor.sin_
sinc_ = Tensor.sinc_
sinh_ = Tensor.sinh_
def slice_copy(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor: ...
split_copy = core.split
split_with_sizes_copy = core.split_with_sizes
sqrt_ = Tensor.sqrt_
square_ = Tensor.square_
squeeze_copy = core.squeeze
t_copy = core.t
tan_ = Tensor.tan_
tanh_ = Tensor.tanh_
transpose_copy = core.transpose
trunc_ = Tensor.trunc_
unbind_copy = core.unbind
unfold_copy = core.unfold
unsqueeze_copy = core.unsqueeze
view_as_complex_copy = core.view_as_complex
view_as_real_copy = core.view_as_real
def view_copy(input: Tensor, size: Any = None, *, dtype: Any = None) -> Tensor: ...
xlogy_ = Tensor.xlogy_
zero_ = Tensor.zero_
