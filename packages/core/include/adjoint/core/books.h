// The allocator's books: memory_stats() counts large blocks, and this says how.
#pragma once
#include <adjoint/core/storage.h>

namespace adjoint {

ADJOINT_API size_t booked_bytes(size_t bytes) noexcept;       // of a block of that size; 0: small blocks are not counted
inline size_t booked_bytes(const Storage& s) noexcept { return s.deleter ? 0 : booked_bytes(s.nbytes); }   // memory of others is not either

}  // namespace adjoint
