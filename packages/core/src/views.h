// A tensor's memory as kernels see it, and a view's sizes as tensors have them.
#pragma once
#include <adjoint/core/kernel.h>
#include <adjoint/core/tensor.h>

namespace adjoint {

inline View view_of(const TensorImpl& t) { return {t.data, t.sizes.data(), t.strides.data(), t.ndim(), t.dtype, t.numel}; }
inline Dims dims_of(const View& v) { return Dims(std::span<const int64_t>(v.sizes, static_cast<size_t>(v.ndim))); }

}  // namespace adjoint
