// Variables of a thread that only their own file uses otherwise.
#pragma once
#include <adjoint/engine/autograd.h>

#include <vector>

namespace adjoint::engine {

std::vector<Slot*>& levels_of_thread() noexcept;
uint32_t backward_site() noexcept;         // where the backward that runs here was called; 0 without one
uint64_t& sequence_of_thread() noexcept;   // of the next node

}  // namespace adjoint::engine
