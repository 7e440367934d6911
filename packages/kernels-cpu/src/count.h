// Loops over bytes that count where they are not 0, which those of views of other types need not be 1 for.
#pragma once
#include <cstdint>

namespace adjoint::cpu {

// How many bytes are not 0, of a row or of each column: up to 255 of them are counted in a byte.
struct CountRows {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const void* elements, int64_t down, int64_t n, int64_t rows, const void*, void* results) {
    constexpr int64_t lanes = 64;
    const uint8_t* x = static_cast<const uint8_t*>(elements);
    for (int64_t r = 0; r < rows; r++, x += down) {
      int64_t total = 0, i = 0;
      for (int64_t end; i + lanes <= n;) {
        end = n - i < 255 * lanes ? n - lanes : i + 254 * lanes;
        uint8_t sums[lanes] = {};
        for (; i <= end; i += lanes)
          for (int64_t j = 0; j < lanes; j++) sums[j] = static_cast<uint8_t>(sums[j] + (x[i + j] != 0));
        for (int64_t j = 0; j < lanes; j++) total += sums[j];
      }
      for (; i < n; i++) total += x[i] != 0;
      static_cast<int64_t*>(results)[r] = total;
    }
  }
};
constexpr int64_t most_columns = 1024;   // in one call of CountColumns
struct CountColumns {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const void* elements, int64_t down, int64_t rows, int64_t columns, const void*, void* results) {
    const uint8_t* x = static_cast<const uint8_t*>(elements);
    int64_t* y = static_cast<int64_t*>(results);
    for (int64_t j = 0; j < columns; j++) y[j] = 0;
    for (int64_t i = 0; i < rows; i += 255) {
      uint8_t sums[most_columns] = {};
      const int64_t end = rows - i < 255 ? rows : i + 255;
      for (int64_t r = i; r < end; r++)
        for (int64_t j = 0; j < columns; j++) sums[j] = static_cast<uint8_t>(sums[j] + (x[r * down + j] != 0));
      for (int64_t j = 0; j < columns; j++) y[j] += sums[j];
    }
  }
};
}  // namespace adjoint::cpu
