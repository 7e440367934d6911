// Inference mode: memory made in it has no version counter, so nothing can be saved from it for backward.
#pragma once
#include <adjoint/core/tensor.h>

namespace adjoint {

ADJOINT_API extern constinit thread_local bool inference_mode;
constexpr uint32_t unversioned = ~0u;   // the version of such memory
inline bool is_inference(const TensorImpl& x) { return x.storage && x.storage->version == unversioned; }

}  // namespace adjoint
