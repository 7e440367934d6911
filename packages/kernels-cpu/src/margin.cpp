// Hinges between the targets of a row and its other classes: targets stand at -infinity in a copy of the row, whose hinges are shut.
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
template <class T> struct Row {
  const T *x, *shut;
  int64_t n;   // in `shut`: whole lanes
  const int64_t* targets;
  int64_t count;
  T margin;
  T* found;   // memory for a number of each class and lane
};

// The sum of max(0, margin - x[j] + z) over targets j and other classes z. Some hundred hinges are joined in T, those in double.
template <class T> struct Hinges {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const Row<T>& row, double* sum) {
    double total = 0;
    T lane[lanes] = {};
    int64_t steps = 0;
    for (int64_t t = 0; t < row.count; t++) {
      const T a = row.margin - row.x[row.targets[t]];
      for (int64_t i = 0; i < row.n; i += lanes)
        for (int l = 0; l < lanes; l++) {
          const T gap = a + row.shut[i + l];
          lane[l] += gap < 0 ? T(0) : gap;
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
template <class T> double hinges_of_few(const Row<T>& row, int64_t n) {
  T total = 0;
  for (int64_t t = 0; t < row.count; t++) {
    const T a = row.margin - row.x[row.targets[t]];
    for (int64_t i = 0; i < n; i++) {
      const T gap = a + row.shut[i];
      total += gap < 0 ? T(0) : gap;
    }
  }
  return static_cast<double>(total);
}
// How many of them are open: added to each class, taken from the target.
template <class T> struct Open {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const Row<T>& row) {
    T* const counts = row.found;
    for (int64_t i = 0; i < row.n; i++) counts[i] = 0;
    for (int64_t t = 0; t < row.count; t++) {
      const T a = row.margin - row.x[row.targets[t]];
      math::Bits<T> all = 0;
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < row.n; i++) {
        const math::Bits<T> is_open = a + row.shut[i] > 0;
        counts[i] += static_cast<T>(is_open);
        all += is_open;
      }
      counts[row.targets[t]] -= static_cast<T>(all);
    }
  }
};

// Whether one is not finite; whether a target is no class. Without a branch, which would end such a loop's vectors.
struct AnyOutside {
  static constexpr bool narrow = true;
  template <int W, class T> [[gnu::always_inline]] static inline void run(const T* x, int64_t n, math::Bits<T>* found) {
    math::Bits<T> any = 0;
    for (int64_t i = 0; i < n; i++) any |= math::abs(x[i]) <= std::numeric_limits<T>::max() ? 0 : 1;
    *found = any;
  }
  template <int W> [[gnu::always_inline]] static inline void run(const int64_t* at, int64_t n, int64_t least, int64_t classes, uint64_t* found) {
    uint64_t any = 0;
    for (int64_t i = 0; i < n; i++) any |= (at[i] < least) | (at[i] >= classes) ? 1 : 0;
    *found = any;
  }
};

// Whether all is finite and every target a class.
template <class T> bool is_plain(const Contiguous& x, const View& given, const Contiguous& target, const View& targets, const Hinge& a) {
  const int64_t n = given.sizes[given.ndim - 1];
  math::Bits<T> not_finite;
  uint64_t no_class;
  isa::call<AnyOutside, const T*, int64_t, math::Bits<T>*>(x.as<const T>(), given.numel, &not_finite);
  isa::call<AnyOutside, const int64_t*, int64_t, int64_t, int64_t, uint64_t*>(target.as<const int64_t>(), targets.numel, a.ended ? std::numeric_limits<int64_t>::min() : 0, n, &no_class);
  return !(not_finite || no_class);
}
// f(number of the row, the row) for all rows; or the reference, for what is not plain.
template <class T, class F> void for_rows_of(const Launch& l, const View& given, const View& targets, F&& f) {
  const int64_t n = given.sizes[given.ndim - 1], m = targets.sizes[targets.ndim - 1], rows = n ? given.numel / n : 0;
  const Hinge& a = l.attrs.as<Hinge>();
  const Contiguous x(given), target(targets);
  if (given.numel == 0 || !is_plain<T>(x, given, target, targets, a)) return reference(l);
  pool::parallel_for(rows, std::max<int64_t>(1, grain / n), [&](int64_t first, int64_t last) {
    const size_t width = static_cast<size_t>((n + lanes - 1) / lanes * lanes);
    std::vector<T> shut(width, -math::infinity<T>), found(width);
    for (int64_t r = first; r < last; r++) {
      Row<T> row{x.as<const T>() + r * n, shut.data(), static_cast<int64_t>(width), target.as<const int64_t>() + r * m, 0, static_cast<T>(a.margin), found.data()};
      while (row.count < m && row.targets[row.count] >= 0) row.count++;
      std::copy_n(row.x, n, shut.data());
      for (int64_t i = 0; i < row.count; i++) shut[static_cast<size_t>(row.targets[i])] = -math::infinity<T>;
      f(r, row);
    }
  });
}
// The hinges of one target beside few classes, in the same order, without a copy of the row.
template <class T> void hinges_of_one(const Launch& l) {
  const View &given = l.x[0], &targets = l.x[1];
  const int64_t n = given.sizes[given.ndim - 1];
  const Hinge& h = l.attrs.as<Hinge>();
  const Contiguous x(given), target(targets);
  if (given.numel == 0 || !is_plain<T>(x, given, target, targets, h)) return reference(l);
  pool::parallel_for(given.numel / n, grain / n, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; r++) {
      const T* const row = x.as<const T>() + r * n;
      const int64_t t = target.as<const int64_t>()[r];
      const T a = static_cast<T>(h.margin) - row[t];
      T total = 0;
      for (int64_t i = 0; i < n; i++) {
        const T gap = a + row[i];
        total += (gap < 0) | (i == t) ? T(0) : gap;
      }
      l.y[0].as<T>()[r] = static_cast<T>(static_cast<double>(total) / static_cast<double>(n));
    }
  });
}
template <class T> void margin_typed(const Launch& l) {
  const int64_t n = l.x[0].sizes[l.x[0].ndim - 1];
  if (n <= lanes / 2 && l.x[1].sizes[l.x[1].ndim - 1] == 1 && !l.attrs.as<Hinge>().ended) return hinges_of_one<T>(l);
  for_rows_of<T>(l, l.x[0], l.x[1], [&](int64_t r, const Row<T>& row) {
    double total;
    if (n <= lanes / 2) total = hinges_of_few(row, n);
    else isa::call<Hinges<T>, const Row<T>&, double*>(row, &total);
    l.y[0].as<T>()[r] = static_cast<T>(total / static_cast<double>(n));
  });
}
template <class T> void margin_vjp_typed(const Launch& l) {
  const int64_t n = l.x[1].sizes[l.x[1].ndim - 1];
  const Contiguous v(l.x[0]);
  for_rows_of<T>(l, l.x[1], l.x[2], [&](int64_t r, const Row<T>& row) {
    T* y = l.y[0].as<T>() + r * n;
    isa::call<Open<T>, const Row<T>&>(row);
    const T share = v.as<const T>()[r] / static_cast<T>(n);
    for (int64_t i = 0; i < n; i++) y[i] = row.found[i] * share;
  });
}
DType type_of(const Launch& l, const View& given) { return given.dtype == l.y[0].dtype ? given.dtype : DType::bool_; }

}  // namespace

void margin_kernel(const Launch& l) {
  switch (type_of(l, l.x[0])) {
    case DType::float32: return margin_typed<float>(l);
    case DType::float64: return margin_typed<double>(l);
    default: return reference(l);
  }
}
void margin_vjp_kernel(const Launch& l) {
  switch (type_of(l, l.x[1])) {
    case DType::float32: return margin_vjp_typed<float>(l);
    case DType::float64: return margin_vjp_typed<double>(l);
    default: return reference(l);
  }
}

}  // namespace adjoint::cpu
