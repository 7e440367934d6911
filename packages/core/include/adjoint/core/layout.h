// Where a tensor's elements lie in memory, in elements; of a tensor inside vmap those of its first lane.
#pragma once
#include <adjoint/core/tensor.h>

namespace adjoint {

struct Layout { Dims strides; int64_t offset; };

ADJOINT_API extern Layout (*lifted_layout)(const TensorImpl&);   // installed by the engine
inline Layout layout(const Tensor& x) { return x->keys & key_lifted ? lifted_layout(*x) : Layout{x->strides, x->offset()}; }

// From the first element to behind the last one.
inline int64_t reach(const Dims& sizes, const Dims& strides) {
  int64_t last = 0;
  for (int i = 0; i < sizes.size(); i++) last += (sizes[i] - 1) * strides[i];
  return sizes.product() ? last + 1 : 0;
}

// Do both reach the same elements? What lies along a dimension of one element does not matter.
inline bool same_strides(const Dims& sizes, const Dims& a, const Dims& b) {
  for (int i = 0; i < sizes.size(); i++)
    if (sizes[i] > 1 && a[i] != b[i]) return false;
  return true;
}

}  // namespace adjoint
