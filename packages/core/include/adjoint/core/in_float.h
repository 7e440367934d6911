// Compositions of half types, which compute in float and are rounded once.
#pragma once
#include <adjoint/core/device.h>
#include <adjoint/core/op.h>
#include <adjoint/core/tensor.h>

#include <utility>

namespace adjoint {

// While it stands, ops see half types as float, and give float: as if their operands had been cast before, but that the CPU's elementwise loops read
// halves where they lie. Only where it `serves`: a cast that is recorded collects its operand's gradients in float.
class InFloat {
 public:
  InFloat() noexcept : outer_(std::exchange(here, true)) {}
  InFloat(const InFloat&) = delete;
  ~InFloat() { here = outer_; }

  // Operands of the CPU without levels or a history to be kept, and nobody watches.
  ADJOINT_API static bool serves(Tensors x) noexcept;
  ADJOINT_API static constinit thread_local bool here;

 private:
  const bool outer_;
};

// As ops see it.
inline DType seen_type(const Tensor& x) { return InFloat::here && is_half(x.dtype()) ? DType::float32 : x.dtype(); }

}  // namespace adjoint
