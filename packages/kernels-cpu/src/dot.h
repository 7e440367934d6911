// The sum of the products of two dense rows.
#pragma once
#include <cstdint>

namespace adjoint::cpu {

// Partial sums of 1024 products are joined in double.
template <class T> [[gnu::always_inline]] inline T dot_row(const T* a, const T* b, int64_t n) {
  constexpr int64_t lanes = 64;
  double total = 0;
  for (int64_t i = 0; i < n;) {
    const int64_t end = n - i > 1024 ? i + 1024 : n;
    T sums[lanes] = {};
    for (; i + lanes <= end; i += lanes)
      for (int64_t j = 0; j < lanes; j++) sums[j] += a[i + j] * b[i + j];
    for (int64_t j = 0; i < end; i++, j++) sums[j] += a[i] * b[i];
    for (int64_t half = lanes / 2; half; half /= 2)
      for (int64_t j = 0; j < half; j++) sums[j] += sums[j + half];
    total += static_cast<double>(sums[0]);
  }
  return static_cast<T>(total);
}

}  // namespace adjoint::cpu
