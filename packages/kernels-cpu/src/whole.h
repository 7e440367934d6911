// Whole numbers as floating ones: exact where no sum leaves the mantissa, and many times as fast in vectors.
#pragma once
#include <adjoint/core/kernel.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "isa.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

// By the bits of floats, whose order is that of their sizes.
struct LargestSize {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const float* x, int64_t n, int32_t* largest) {
    typedef int32_t Bits __attribute__((may_alias));
    const Bits* const bits = reinterpret_cast<const Bits*>(x);
    int32_t most = 0;
    for (int64_t i = 0; i < n; i++) {
      const int32_t size = bits[i] & 0x7fffffff;
      most = size > most ? size : most;
    }
    *largest = most;
  }
};

// An operand of whole numbers as floats, which are rounded where they are large.
struct Whole {
  Contiguous floats;
  double largest;  // no element's size is above
  explicit Whole(const View& v) : floats(v, DType::float32) {
    constexpr int64_t block = 1 << 16;
    std::vector<int32_t> most(static_cast<size_t>((v.numel + block - 1) / block));
    pool::parallel_for(v.numel, block, [&](int64_t begin, int64_t end) { isa::call<LargestSize>(floats.as<const float>() + begin, end - begin, &most[static_cast<size_t>(begin / block)]); });
    largest = std::bit_cast<float>(*std::max_element(most.begin(), most.end())) * (1 + 0x1p-23);
  }
};

// The type that holds whole numbers up to `bound`.
inline std::optional<DType> holds_whole(double bound) {
  if (bound <= 0x1p24) return DType::float32;
  if (bound <= 0x1p53) return DType::float64;
  return std::nullopt;
}

}  // namespace adjoint::cpu
