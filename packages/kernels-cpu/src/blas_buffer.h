// The buffers that OpenBLAS packs operands into: one for each product under way, the first that is free.
//
// Its kernels prefetch what follows the piece they read, whether it was ever packed or not. A page that was never written has no
// entry that a processor could remember, and each prefetch walks the tables of pages for nothing: on an AMD EPYC of the first
// generation, in a virtual machine, products of 256 x 512 with 512 x 512 reached 9.6 of 34 GFlop/s, for as long as no other shape
// had written those pages. So a buffer is written once, by a product that fills it as far as prefetches reach.
#pragma once
#include <atomic>

namespace adjoint::cpu::blas {

// Is alive while a product is under way.
class InBuffer {
 public:
  InBuffer() {
    const int used = under_way_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (used > written_.load(std::memory_order_relaxed)) [[unlikely]] write(used);
  }
  ~InBuffer() { under_way_.fetch_sub(1, std::memory_order_relaxed); }
  InBuffer(const InBuffer&) = delete;

 private:
  static void write(int used);
  inline static std::atomic<int> under_way_ = 0, written_ = 0;
};

}  // namespace adjoint::cpu::blas
