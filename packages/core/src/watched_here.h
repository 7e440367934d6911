// watched() for core's own hot paths: a name that does not leave the library is read in one instruction.
#pragma once
#include <adjoint/core/observer.h>

namespace adjoint {

[[gnu::visibility("hidden")]] extern constinit std::atomic<uint32_t> observer_count;
inline bool watched_here() noexcept { return __builtin_expect(observer_count.load(std::memory_order_relaxed) != 0, false); }

Storage* storage_of_number(size_t nbytes);   // of a Python number: observers of memory are not told

}  // namespace adjoint
