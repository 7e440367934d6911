// Hinges between the targets of a row and its other classes, in float: targets stand at -infinity in a copy of the row, whose hinges are shut.
#include "margin.h"

#include <adjoint/core/margin.h>
#include <adjoint/core/math/bits.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compilers.h"
#include "isa.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int lanes = 16;         // the same at every level, so that sums have the same bits
constexpr int64_t grain = 1 << 14;

// The sum of max(0, a + z).
struct Hinges {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const float* z, float a, int64_t n, float* sum) {
    float lane[lanes] = {};
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (int l = 0; l < lanes; l++) {
        const float gap = a + z[i + l];
        lane[l] += gap < 0 ? 0.f : gap;   // NaN stays
      }
    for (int l = 0; i < n; i++, l++) {
      const float gap = a + z[i];
      lane[l] += gap < 0 ? 0.f : gap;
    }
    for (int step = lanes / 2; step >= 1; step /= 2)
      for (int l = 0; l < step; l++) lane[l] += lane[l + step];
    *sum = lane[0];
  }
};
// Counts those that are open: each in `counts`, all in `open`.
struct Open {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const float* z, float a, int64_t n, float* counts, float* open) {
    int32_t all = 0;
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      const int32_t is_open = a + z[i] > 0;
      counts[i] += static_cast<float>(is_open);
      all += is_open;
    }
    *open = static_cast<float>(all);
  }
};

// f(row, copy of it with its targets shut, its targets) for all rows; or the reference, for what is not finite, other types, and errors.
template <class F> void for_rows_of(const Launch& l, const View& given, const View& targets, F&& f) {
  const int64_t n = given.sizes[given.ndim - 1], m = targets.sizes[targets.ndim - 1], rows = n ? given.numel / n : 0;
  const Hinge& a = l.attrs.as<Hinge>();
  if (given.dtype != DType::float32 || given.numel == 0 || l.y[0].dtype != DType::float32) return reference(l);
  const Contiguous x(given), target(targets);
  for (int64_t i = 0; i < given.numel; i++)
    if (!std::isfinite(x.as<const float>()[i])) return reference(l);
  for (int64_t i = 0; i < targets.numel; i++)
    if (const int64_t t = target.as<const int64_t>()[i]; t >= n || (t < 0 && !a.ended)) return reference(l);
  pool::parallel_for(rows, std::max<int64_t>(1, grain / n), [&](int64_t first, int64_t last) {
    std::vector<float> shut(static_cast<size_t>(n));
    for (int64_t r = first; r < last; r++) {
      const float* row = x.as<const float>() + r * n;
      const int64_t* own = target.as<const int64_t>() + r * m;
      int64_t count = 0;
      while (count < m && own[count] >= 0) count++;
      std::copy_n(row, n, shut.data());
      for (int64_t i = 0; i < count; i++) shut[static_cast<size_t>(own[i])] = -math::infinity<float>;
      f(r, row, shut.data(), std::span(own, static_cast<size_t>(count)), n, static_cast<float>(a.margin));
    }
  });
}

}  // namespace

void margin_kernel(const Launch& l) {
  for_rows_of(l, l.x[0], l.x[1], [&](int64_t r, const float* x, const float* shut, std::span<const int64_t> targets, int64_t n, float margin) {
    double total = 0;
    for (const int64_t j : targets) {
      float sum;
      isa::call<Hinges, const float*, float, int64_t, float*>(shut, margin - x[j], n, &sum);
      total += sum;
    }
    l.y[0].as<float>()[r] = static_cast<float>(total / static_cast<double>(n));
  });
}
void margin_vjp_kernel(const Launch& l) {
  const Contiguous v(l.x[0]);
  for_rows_of(l, l.x[1], l.x[2], [&](int64_t r, const float* x, const float* shut, std::span<const int64_t> targets, int64_t n, float margin) {
    float* y = l.y[0].as<float>() + r * n;
    std::fill_n(y, n, 0.f);
    for (const int64_t j : targets) {
      float open;
      isa::call<Open, const float*, float, int64_t, float*, float*>(shut, margin - x[j], n, y, &open);
      y[j] -= open;
    }
    const float share = v.as<const float>()[r] / static_cast<float>(n);
    for (int64_t i = 0; i < n; i++) y[i] *= share;
  });
}

}  // namespace adjoint::cpu
