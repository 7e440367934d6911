// The transpose of a square in registers.
#pragma once
#include <cstdint>

#include "compilers.h"

namespace adjoint::cpu {

// Bytes lie between rows of y and between those of x, which become columns. Rows r and r + lanes / 2 are zipped, as often as it takes each to hold one column.
template <class U, int lanes> [[gnu::always_inline]] inline void transpose(char* y, int64_t y_down, const char* x, int64_t x_right) {
  typedef U Vector __attribute__((vector_size(lanes * sizeof(U))));
  Vector low, high, r[lanes], zipped[lanes];
  for (int k = 0; k < lanes; k++) {
    low[k] = static_cast<U>(k / 2 + k % 2 * lanes);
    high[k] = static_cast<U>(k / 2 + k % 2 * lanes + lanes / 2);
  }
#pragma GCC unroll 16
  for (int i = 0; i < lanes; i++) __builtin_memcpy(&r[i], x + i * x_right, sizeof(Vector));
#pragma GCC unroll 4
  for (int times = lanes / 2; times; times /= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < lanes / 2; i++) {
      zipped[2 * i] = shuffle(r[i], r[i + lanes / 2], low);
      zipped[2 * i + 1] = shuffle(r[i], r[i + lanes / 2], high);
    }
#pragma GCC unroll 16
    for (int i = 0; i < lanes; i++) r[i] = zipped[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < lanes; i++) __builtin_memcpy(y + i * y_down, &r[i], sizeof(Vector));
}

}  // namespace adjoint::cpu
