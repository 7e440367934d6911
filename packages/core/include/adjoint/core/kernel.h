// What a kernel sees: memory, never tensors or graphs.
#pragma once
#include <adjoint/core/attrs.h>
#include <adjoint/core/device.h>
#include <adjoint/core/dtype.h>

#include <span>

namespace adjoint {

struct View {
  char* data;
  const int64_t* sizes;
  const int64_t* strides;  // in elements; 0 where broadcast
  int32_t ndim;
  DType dtype;
  int64_t numel;
  template <class T> T* as() const noexcept { return reinterpret_cast<T*>(data); }
  bool contiguous() const noexcept {
    int64_t expected = 1;
    for (int i = ndim; i-- > 0; expected *= sizes[i])
      if (sizes[i] != 1 && strides[i] != expected) return false;
    return true;
  }
};

// Outputs are allocated; elementwise operands are already expanded to the shape of the output.
struct Launch {
  std::span<const View> x;  // inputs
  std::span<const View> y;  // outputs
  const Attrs& attrs;
  const char* op;
  bool flat = false;        // all are row-major and of one size, or (strides other than the output's) one value
  Device device = {};       // where the operands lie
  uint32_t numbers = 0;     // inputs that are one value on the host, whatever the device
};
using Kernel = void (*)(const Launch&);

}  // namespace adjoint
