// Inference mode: memory made in it has no version counter, so nothing can be saved from it for backward.
#pragma once
#include <adjoint/core/error.h>
#include <adjoint/core/tensor.h>

namespace adjoint {

ADJOINT_API extern constinit thread_local bool inference_mode;
constexpr uint32_t unversioned = ~0u;   // the version of such memory
inline bool is_inference(const TensorImpl& x) { return x.storage && x.storage->version == unversioned; }
inline void check_inference(const TensorImpl& written) {
  expect(inference_mode || !is_inference(written), "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before doing inplace update.");
}

}  // namespace adjoint
