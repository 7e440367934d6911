// Kernels in double, in one piece of code for all types.
#pragma once
#include <adjoint/core/op.h>

#include <vector>

#include "positions.h"

namespace adjoint {

// A dense copy of an operand; zeros for a result, which holds nothing yet.
class Wide {
 public:
  explicit Wide(const View& v, bool is_result = false) : memory_(static_cast<size_t>(v.numel)), sizes_(positions::dims_of(v.sizes, v.ndim)), strides_(contiguous_strides(sizes_)) {
    if (!is_result) positions::copy(v, view());
  }
  double* data() { return memory_.data(); }
  void give(const View& y) { positions::copy(view(), y); }

 private:
  View view() { return {reinterpret_cast<char*>(memory_.data()), sizes_.data(), strides_.data(), sizes_.size(), DType::float64, static_cast<int64_t>(memory_.size())}; }
  std::vector<double> memory_;
  Dims sizes_, strides_;
};

}  // namespace adjoint
