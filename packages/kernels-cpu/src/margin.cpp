// Hinges between the targets of a row and its other classes, in float: targets stand at -infinity in a copy of the row, whose hinges are shut.
#include "margin.h"

#include <adjoint/core/margin.h>
#include <adjoint/core/math/bits.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compilers.h"
#include "isa.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int lanes = 16;         // the same at every level, so that sums have the same bits
constexpr int64_t grain = 1 << 14;

// A row: what its classes are, with its targets shut and as many more as fill the lanes, and its targets.
struct Row {
  const float *x, *shut;
  int64_t n;   // in `shut`: whole lanes
  const int64_t* targets;
  int64_t count;
  float margin;
  float* found;   // memory for a number of each class and lane
};

// The sum of max(0, margin - x[j] + z) over targets j and other classes z. Some hundred hinges are joined in float, those in double.
struct Hinges {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const Row& row, double* sum) {
    double total = 0;
    float lane[lanes] = {};
    int64_t steps = 0;
    for (int64_t t = 0; t < row.count; t++) {
      const float a = row.margin - row.x[row.targets[t]];
      for (int64_t i = 0; i < row.n; i += lanes)
        for (int l = 0; l < lanes; l++) {
          const float gap = a + row.shut[i + l];
          lane[l] += gap < 0 ? 0.f : gap;
        }
      steps += row.n / lanes;
      if (steps < 32 && t + 1 < row.count) continue;
      for (int step = lanes / 2; step >= 1; step /= 2)
        for (int l = 0; l < step; l++) lane[l] += lane[l + step];
      total += static_cast<double>(lane[0]);
      for (int l = 0; l < lanes; l++) lane[l] = 0;
      steps = 0;
    }
    *sum = total;
  }
};
// The same of a few classes, without lanes.
double hinges_of_few(const Row& row, int64_t n) {
  float total = 0;
  for (int64_t t = 0; t < row.count; t++) {
    const float a = row.margin - row.x[row.targets[t]];
    for (int64_t i = 0; i < n; i++) {
      const float gap = a + row.shut[i];
      total += gap < 0 ? 0.f : gap;
    }
  }
  return static_cast<double>(total);
}
// How many of them are open: added to each class, taken from the target.
struct Open {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const Row& row) {
    float* const counts = row.found;
    for (int64_t i = 0; i < row.n; i++) counts[i] = 0;
    for (int64_t t = 0; t < row.count; t++) {
      const float a = row.margin - row.x[row.targets[t]];
      int32_t all = 0;
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < row.n; i++) {
        const int32_t is_open = a + row.shut[i] > 0;
        counts[i] += static_cast<float>(is_open);
        all += is_open;
      }
      counts[row.targets[t]] -= static_cast<float>(all);
    }
  }
};

// Whether one is not finite; whether a target is no class. Without a branch, which would end such a loop's vectors.
struct AnyOutside {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const float* x, int64_t n, uint32_t* found) {
    uint32_t any = 0;
    for (int64_t i = 0; i < n; i++) any |= math::abs(x[i]) <= std::numeric_limits<float>::max() ? 0 : 1;
    *found = any;
  }
  template <int W> [[gnu::always_inline]] static inline void run(const int64_t* at, int64_t n, int64_t least, int64_t classes, uint64_t* found) {
    uint64_t any = 0;
    for (int64_t i = 0; i < n; i++) any |= (at[i] < least) | (at[i] >= classes) ? 1 : 0;
    *found = any;
  }
};

// f(number of the row, the row) for all rows; or the reference, for what is not finite, other types, and errors.
template <class F> void for_rows_of(const Launch& l, const View& given, const View& targets, F&& f) {
  const int64_t n = given.sizes[given.ndim - 1], m = targets.sizes[targets.ndim - 1], rows = n ? given.numel / n : 0;
  const Hinge& a = l.attrs.as<Hinge>();
  if (given.dtype != DType::float32 || given.numel == 0 || l.y[0].dtype != DType::float32) return reference(l);
  const Contiguous x(given), target(targets);
  uint32_t not_finite;
  uint64_t no_class;
  isa::call<AnyOutside, const float*, int64_t, uint32_t*>(x.as<const float>(), given.numel, &not_finite);
  isa::call<AnyOutside, const int64_t*, int64_t, int64_t, int64_t, uint64_t*>(target.as<const int64_t>(), targets.numel, a.ended ? std::numeric_limits<int64_t>::min() : 0, n, &no_class);
  if (not_finite || no_class) return reference(l);
  pool::parallel_for(rows, std::max<int64_t>(1, grain / n), [&](int64_t first, int64_t last) {
    const size_t width = static_cast<size_t>((n + lanes - 1) / lanes * lanes);
    std::vector<float> shut(width, -math::infinity<float>), found(width);
    for (int64_t r = first; r < last; r++) {
      Row row{x.as<const float>() + r * n, shut.data(), static_cast<int64_t>(width), target.as<const int64_t>() + r * m, 0, static_cast<float>(a.margin), found.data()};
      while (row.count < m && row.targets[row.count] >= 0) row.count++;
      std::copy_n(row.x, n, shut.data());
      for (int64_t i = 0; i < row.count; i++) shut[static_cast<size_t>(row.targets[i])] = -math::infinity<float>;
      f(r, row);
    }
  });
}

}  // namespace

void margin_kernel(const Launch& l) {
  const int64_t n = l.x[0].sizes[l.x[0].ndim - 1];
  for_rows_of(l, l.x[0], l.x[1], [&](int64_t r, const Row& row) {
    double total;
    if (n <= lanes / 2) total = hinges_of_few(row, n);
    else isa::call<Hinges, const Row&, double*>(row, &total);
    l.y[0].as<float>()[r] = static_cast<float>(total / static_cast<double>(n));
  });
}
void margin_vjp_kernel(const Launch& l) {
  const int64_t n = l.x[1].sizes[l.x[1].ndim - 1];
  const Contiguous v(l.x[0]);
  for_rows_of(l, l.x[1], l.x[2], [&](int64_t r, const Row& row) {
    float* y = l.y[0].as<float>() + r * n;
    isa::call<Open, const Row&>(row);
    const float share = v.as<const float>()[r] / static_cast<float>(n);
    for (int64_t i = 0; i < n; i++) y[i] = row.found[i] * share;
  });
}

}  // namespace adjoint::cpu
