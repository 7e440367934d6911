// Results below the least normal number as 0, for a time.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <limits>

namespace adjoint::cpu {

// Beside a larger number all below the normal ones are nothing, nor are they beside its rounding errors.
template <class R> constexpr R least_with_room = std::numeric_limits<R>::min() / (std::numeric_limits<R>::epsilon() * std::numeric_limits<R>::epsilon());

// While one lives, results of this thread that are smaller than every normal number are 0: many x86 processors take a hundred times as long for such
// a number, and matrices of low rank or long products lead to millions of them. Operands are taken as they are. Other processors are as
// fast with them, and keep them.
class Flushed {
 public:
#if defined(__x86_64__)
  explicit Flushed(bool wanted = true) {
    if (wanted) _mm_setcsr(before_ | flush_to_zero);
  }
  ~Flushed() { _mm_setcsr(before_); }
#else
  explicit Flushed(bool = true) {}
  ~Flushed() {}
#endif
  Flushed(const Flushed&) = delete;
  Flushed& operator=(const Flushed&) = delete;

#if defined(__x86_64__)
 private:
  static constexpr unsigned flush_to_zero = 0x8000;
  const unsigned before_ = _mm_getcsr();
#endif
};

}  // namespace adjoint::cpu
