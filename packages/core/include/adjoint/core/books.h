// The allocators' books: memory_stats() counts large blocks, those of GPUs pieces of 512 bytes, and this says how.
#pragma once
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/storage.h>

namespace adjoint {

ADJOINT_API size_t booked_bytes(size_t bytes) noexcept;       // of a block of that size; 0: small blocks are not counted
inline size_t booked_bytes(const Storage& s) noexcept {       // memory of others is not either
  if (s.device.type == DeviceType::cuda) return cuda::booked_bytes(s);
  return s.deleter ? 0 : booked_bytes(s.nbytes);
}

}  // namespace adjoint
