// Parts of backward on other threads than the caller's. Each GPU has a thread on which its part of every backward runs, as in PyTorch; what is on the CPU runs on the calling thread. The
// caller waits meanwhile, so that one node runs at a time, in the one fixed order: work on GPUs overlaps all the same, and sums keep
// their bits.
#pragma once

namespace adjoint::engine {

bool on_thread_of(int device) noexcept;                                // is this that thread?
void run_on_thread_of(int device, void (*f)(void*), void* context);    // waits for it; errors come back

void run_on_new_thread(void (*f)(void*), void* context);               // likewise: on a stack of its own

}  // namespace adjoint::engine
