// Factors of the length of a Fourier transform: one pass over memory for each.
#pragma once
#include <cstdint>

namespace adjoint::cuda {

// Factors stay small, so that a pass costs less than its memory; a prime may be larger, as nothing else is left. The sum of products that a
// pass computes grows with it.
constexpr int64_t whole_length = 32, largest_factor = 16, largest_prime = 64;

// The next factor of what is left of a length; 0 where that has a prime factor above the largest.
inline int64_t next_factor(int64_t left) {
  if (left <= whole_length) return left > 0 ? left : 0;
  for (int64_t f = largest_factor; f > 1; f--) if (left % f == 0) return f;
  for (int64_t f = largest_factor + 1; f <= largest_prime; f++) if (left % f == 0) return f;
  return 0;
}

struct Factor { int64_t count, at, before; };   // how many there are, or 0; the one at position i, and the product of those before it
inline Factor factor_of(int64_t n, int64_t i) {
  Factor r{0, 1, 1};
  int64_t left = n;
  do {
    const int64_t f = next_factor(left);
    if (!f) return {0, 1, 1};
    if (r.count == i) r.at = f;
    if (r.count < i) r.before *= f;
    left /= f;
    r.count++;
  } while (left > 1);
  return r;
}

}  // namespace adjoint::cuda
