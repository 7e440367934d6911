// What copies tell the allocator of pinned memory.
#pragma once
#include <adjoint/core/cuda/memory.h>

namespace adjoint::cuda {

void note_copy(const Storage& pinned, const Stream& stream);   // work on `stream` reads or writes it

void empty_pinned_cache();                                     // gives blocks that nobody uses back to the driver

}  // namespace adjoint::cuda
