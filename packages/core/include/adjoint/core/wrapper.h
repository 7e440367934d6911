// Tensors whose class answers calls below all levels (engine/dispatch.h): what core knows of them.
#pragma once
#include <adjoint/core/tensor.h>

namespace adjoint {

constexpr uint32_t key_dispatch = 32;   // one more of the keys of tensor.h: the class answers

// Installed by the engine: a tensor that is nothing but its class.
ADJOINT_API extern Tensor (*make_wrapper)(const Dims& sizes, const Dims& strides, DType dtype, Device device);

// A mode wants all calls of its thread to go to the engine, as if there were one observer more.
ADJOINT_API void watch_modes(int change) noexcept;

}  // namespace adjoint
