// What holds while OpenBLAS is called.
#pragma once
#include <atomic>

namespace adjoint::cpu::blas {

// Is alive during a call of BLAS or LAPACK.
//
// OpenBLAS has a lock around its buffers, which it takes at the beginning and at the end of a call. In the child of a fork that came
// meanwhile nobody would ever open it. So fork waits until no call is under way and lets none begin; of calls that take longer than
// a second it waits no more, since they have the lock for some 100 ns each.
class UnderWay {
 public:
  UnderWay() : number(begin()) {}
  ~UnderWay() { under_way_.fetch_sub(1); }
  UnderWay(const UnderWay&) = delete;

 protected:
  const int number;  // of calls under way, this one included

 private:
  static int begin() {
    const int calls = under_way_.fetch_add(1) + 1;
    return closed_.load() ? wait() : calls;
  }
  static int wait();
  inline static std::atomic<int> under_way_ = 0;
  inline static std::atomic<bool> closed_ = false;
  friend struct AtFork;
};

// The buffers that OpenBLAS packs operands into: one for each product under way, the first that is free.
//
// Its kernels prefetch what follows the piece they read, whether it was ever packed or not. A page that was never written has no
// entry that a processor could remember, and each prefetch walks the tables of pages for nothing: on an AMD EPYC of the first
// generation, in a virtual machine, products of 256 x 512 with 512 x 512 reached 9.6 of 34 GFlop/s, for as long as no other shape
// had written those pages. So a buffer is written once, by a product that fills it as far as prefetches reach.
class InBuffer : UnderWay {
 public:
  InBuffer() {
    if (number > written_.load(std::memory_order_relaxed)) [[unlikely]] write(number);
  }

 private:
  static void write(int used);
  inline static std::atomic<int> written_ = 0;
};

}  // namespace adjoint::cpu::blas
