// Pooling: each position of the window is one pass over rows of outputs.
#include <adjoint/core/borrowed.h>
#include <adjoint/core/math/bits.h>
#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "adaptive_pooling.h"
#include "compilers.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "pool.h"
#include "resample.h"
#include "side_by_side.h"
#include "whole.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t grain = 16384;  // elements that windows visit

// One dimension of an operand and its windows.
struct Axis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;
  // Where position k of window 0 lies.
  int64_t shift(int64_t k) const { return k * dilation - padding; }
  // Windows whose position k is inside: [first, last).
  int64_t first(int64_t k) const { return std::min(out, shift(k) < 0 ? (-shift(k) + stride - 1) / stride : 0); }
  int64_t last(int64_t k) const { return std::max(first(k), std::min(out, in - 1 - shift(k) < 0 ? 0 : (in - 1 - shift(k)) / stride + 1)); }
  // Elements of window i, with or without the padding around the operand.
  int64_t count(int64_t i, bool padded) const {
    int64_t n = 0;
    for (int64_t k = 0; k < kernel; k++) {
      const int64_t at = i * stride + shift(k);
      n += padded ? at < in + padding : at >= 0 && at < in;
    }
    return n;
  }
};

// Planes of three spatial dimensions; the missing ones lead.
struct Planes {
  int64_t count = 1;
  Axis axis[3];
  Planes(const View& x, const View& y, const Window& w) {
    const int n = w.kernel.size(), lead = x.ndim - n;
    for (int i = 0; i < lead; i++) count *= x.sizes[i];
    for (int i = 0; i < n; i++) axis[3 - n + i] = {x.sizes[lead + i], y.sizes[lead + i], w.kernel[i], w.stride[i], w.padding[i], w.dilation[i]};
  }
  int64_t in_plane() const { return axis[0].in * axis[1].in * axis[2].in; }
  int64_t out_plane() const { return axis[0].out * axis[1].out * axis[2].out; }
  int64_t taps() const { return axis[0].kernel * axis[1].kernel * axis[2].kernel; }
  bool go_side_by_side(int64_t along, size_t size) const { return SideBySide::serves(along, count, in_plane(), out_plane(), out_plane() * taps(), size); }

  // f(output row number, start of the input row) for each row of outputs and each row under its windows.
  template <class F> [[gnu::always_inline]] void for_rows(F f) const {
    for (int64_t r = 0; r < axis[0].out * axis[1].out; r++) {
      const int64_t top = r / axis[1].out * axis[0].stride, left = r % axis[1].out * axis[1].stride;
      for (int64_t a = 0; a < axis[0].kernel; a++)
        for (int64_t b = 0; b < axis[1].kernel; b++) {
          const int64_t i = top + axis[0].shift(a), j = left + axis[1].shift(b);
          if (i >= 0 && i < axis[0].in && j >= 0 && j < axis[1].in) f(r, (i * axis[1].in + j) * axis[2].in);
        }
    }
  }
  template <class F> void parallel(F&& f) const {
    pool::parallel_for(count, std::max<int64_t>(1, grain / (out_plane() * taps())), [&](int64_t first, int64_t last) {
      for (int64_t p = first; p < last; p++) f(p);
    });
  }
};

// f(step) with the common strides as constants: loops over them vectorise.
template <class F> [[gnu::always_inline]] inline void strided(int64_t stride, F f) {
  if (stride == 1) f(std::integral_constant<int64_t, 1>{});
  else if (stride == 2) f(std::integral_constant<int64_t, 2>{});
  else f(stride);
}

// A position of the windows of a row: the windows [first, first + n) have it inside, that of the first one at `at` of the row.
struct Reach { int64_t first, n, at; };
struct Reaches {
  int64_t stride;
  std::vector<Reach> each;
  [[gnu::noinline]] explicit Reaches(const Axis& c) : stride(c.stride) {
    for (int64_t k = 0; k < c.kernel; k++) each.push_back({c.first(k), c.last(k) - c.first(k), c.first(k) * c.stride + c.shift(k)});
  }
};
// f(first window, element of the row under it, windows, step) for all positions, one after the other.
template <class F> [[gnu::always_inline]] inline void for_reaches(const Reaches& r, F f) {
  strided(r.stride, [&](auto step) __attribute__((always_inline)) {
    for (const Reach& p : r.each) f(p.first, p.at, p.n, step);
  });
}

// One plane: all rows of windows, and all rows of the plane under them.
// Places are counted in integers of the size of an element, so that lanes hold as many of them.
template <class T> struct MaxPlane {
  using Index = math::Bits<T>;
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, const Planes* planes, const Reaches* reaches, T* largest, Index* places) {
    planes->for_rows([=](int64_t r, int64_t row) __attribute__((always_inline)) {
      for_reaches(*reaches, [=](int64_t first, int64_t from, int64_t n, auto step) __attribute__((always_inline)) {
        const T* const v = x + row + from;
        T* const best = largest + r * planes->axis[2].out + first;
        Index* const at = places + r * planes->axis[2].out + first;
        const auto place = static_cast<Index>(row + from), by = static_cast<Index>(step), count = static_cast<Index>(n);
        ADJOINT_INDEPENDENT
        for (Index i = 0; i < count; i++) {
          const T a = v[i * by], b = best[i];
          const bool enters = (a > b) | (a != a);  // of equal elements the first one stays; NaN always enters
          best[i] = enters ? a : b;
          at[i] = enters ? place + i * by : at[i];
        }
      });
    });
  }
};
// W bytes of elements `step` apart, 1 or 2: of every second one by two vectors, of which the second ends with the last that is wanted.
template <class T, int W, int step> struct Spaced {
  typedef T V __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
  typedef math::Bits<T> Places __attribute__((vector_size(W)));
  static constexpr int lanes = W / static_cast<int>(sizeof(T));
  [[gnu::always_inline]] static inline V at(const T* x) {
    const V low = *reinterpret_cast<const V*>(x);
    if constexpr (step == 1) return low;
    else return shuffle(low, *reinterpret_cast<const V*>(x + lanes - 1), places(std::make_integer_sequence<int, lanes>{}));
  }

 private:
  template <int... i> [[gnu::always_inline]] static inline Places places(std::integer_sequence<int, i...>) { return Places{(2 * i < lanes ? 2 * i : 2 * i + 1)...}; }
};

template <class T> struct MaxValues {
  static constexpr bool narrow = true;   // choices by comparisons of 64 bytes become choices of single elements with GCC 12
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, const Planes* planes, const Reaches* reaches, T* largest) {
    planes->for_rows([=](int64_t r, int64_t row) __attribute__((always_inline)) {
      for_reaches(*reaches, [=](int64_t first, int64_t from, int64_t n, auto step) __attribute__((always_inline)) {
        const T* const v = x + row + from;
        T* const best = largest + r * planes->axis[2].out + first;
        if constexpr (std::is_same_v<decltype(step), int64_t>) one_by_one(v, best, n, step);
        else vectors<W, step>(v, best, n);
      });
    });
  }

 private:
  // The last vector may begin among elements that another has: the largest of them stays the largest.
  template <int W, int step> [[gnu::always_inline]] static inline void vectors(const T* v, T* best, int64_t n) {
    using From = Spaced<T, W, step>;
    using V = typename From::V;
    if constexpr (From::lanes < 4) return one_by_one(v, best, n, step);
    else {
      if (n < From::lanes) return vectors<W / 2, step>(v, best, n);
      for (int64_t i = 0; i < n; i += From::lanes) {
        const int64_t at = i + From::lanes <= n ? i : n - From::lanes;
        const V a = From::at(v + at * step), b = *reinterpret_cast<const V*>(best + at);
        *reinterpret_cast<V*>(best + at) = (a > b) | (a != a) ? a : b;
      }
    }
  }
  [[gnu::always_inline]] static inline void one_by_one(const T* v, T* best, int64_t n, int64_t step) {
    for (int64_t i = 0; i < n; i++) {
      const T a = v[i * step], b = best[i];
      best[i] = (a > b) | (a != a) ? a : b;
    }
  }
};
template <class T> struct AddPlane {
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, const Planes* planes, const Reaches* reaches, T* sums) {
    planes->for_rows([=](int64_t r, int64_t row) __attribute__((always_inline)) {
      for_reaches(*reaches, [=](int64_t first, int64_t from, int64_t n, auto step) __attribute__((always_inline)) {
        const T* const v = x + row + from;
        T* const sum = sums + r * planes->axis[2].out + first;
        ADJOINT_INDEPENDENT
        for (int64_t i = 0; i < n; i++) sum[i] += v[i * step];
      });
    });
  }
};
template <class T> struct SpreadPlane {
  template <int W> [[gnu::always_inline]] static inline void run(const T* shares, const Planes* planes, const Reaches* reaches, T* x) {
    planes->for_rows([=](int64_t r, int64_t row) __attribute__((always_inline)) {
      for_reaches(*reaches, [=](int64_t first, int64_t from, int64_t n, auto step) __attribute__((always_inline)) {
        const T* const v = shares + r * planes->axis[2].out + first;
        T* const to = x + row + from;
        ADJOINT_INDEPENDENT
        for (int64_t i = 0; i < n; i++) to[i * step] += v[i];
      });
    });
  }
};

Members members_of(const Planes& p, const Reaches& reaches) {
  Members r{p.in_plane(), p.out_plane(), {}};
  p.for_rows([&](int64_t row, int64_t from) {
    for (const Reach& k : reaches.each)
      for (int64_t i = 0; i < k.n; i++) r.each.push_back({static_cast<int32_t>(row * p.axis[2].out + k.first + i), static_cast<int32_t>(from + k.at + i * reaches.stride)});
  });
  return r;
}

// f(operand, result) of a floating type. Half types are widened, and whole numbers taken as such where sums of `terms` are exact; the result is rounded once.
template <class F> void with_floating(const Launch& l, double terms, F&& f) {
  const View &x = l.x[0], &y = l.y[0];
  if (x.numel == 0 || y.numel == 0) return reference(l);
  auto typed = [&]<class T>(const View& x, T) {
    if (dtype_of<T>() == y.dtype) return f(x, y.as<T>());
    const Buffer memory(y.numel * static_cast<int64_t>(sizeof(T)));
    f(x, memory.as<T>());
    cast(y, {memory.as<char>(), y.sizes, y.strides, y.ndim, dtype_of<T>(), y.numel});
  };
  auto widen = [&](DType type) {
    if (x.dtype == type) return with_real(type, [&](auto zero) { typed(x, zero); });
    const Contiguous wide(x, type);
    with_real(type, [&](auto zero) { typed(wide.view(), zero); });
  };
  if (is_floating(y.dtype)) return widen(widened(y.dtype));
  if (!is_integral(y.dtype) || y.dtype == DType::bool_) return reference(l);
  const Whole whole(x);
  const std::optional<DType> type = holds_whole(std::max(whole.largest, 1.) * terms);
  if (type == DType::float32) typed(whole.floats.view(), 0.f);
  else if (type && itemsize(y.dtype) == 8) widen(*type);
  else reference(l);
}

template <class T> void max_of_plane(const Planes& planes, const Reaches& reaches, const T* x, T* best, int64_t* index) {
  using Index = math::Bits<T>;
  const int64_t size = planes.out_plane(), stride = reaches.stride, out = planes.axis[2].out;
  const Buffer memory(size * static_cast<int64_t>(sizeof(Index)));
  Index* const at = memory.as<Index>();
  std::fill_n(best, size, -math::infinity<T>);
  std::fill_n(at, size, Index(-1));
  isa::call<MaxPlane<T>, const T*, const Planes*, const Reaches*, T*, Index*>(x, &planes, &reaches, best, at);
  for (int64_t i = 0; i < size; i++) index[i] = at[i];
  // Windows of -infinity alone: their first element.
  if (std::find(at, at + size, Index(-1)) == at + size) return;
  planes.for_rows([&](int64_t r, int64_t row) {
    for (const Reach& p : reaches.each)
      for (int64_t i = 0; i < p.n; i++)
        if (int64_t& to = index[r * out + p.first + i]; to < 0) to = row + p.at + i * stride;
  });
}

void max_pool_kernel(const Launch& l) {
  const Window& w = l.attrs.as<Window>();
  const int spatial = w.kernel.size();
  int64_t* const positions = w.values_only ? nullptr : l.y[1].as<int64_t>();
  if (w.adaptive) {
    const Grid grid(l.x[0], w);
    return with_floating(l, 1, [&]<class T>(const View& x, T* y) {
      if (const int64_t along = step_across(x, spatial); grid.go_side_by_side(along, sizeof(T))) {
        const Members members = grid.members();
        return max_across(SideBySide(x, spatial, along, members), members, y, positions);
      }
      const Contiguous rows(x);
      adaptive_max(rows.as<const T>(), grid, y, positions);
    });
  }
  const Planes planes(l.x[0], l.y[0], w);
  if (planes.in_plane() > std::numeric_limits<int32_t>::max()) return reference(l);
  const Reaches reaches(planes.axis[2]);
  with_floating(l, 1, [&]<class T>(const View& given, T* y) {
    if (const int64_t along = step_across(given, spatial); planes.go_side_by_side(along, sizeof(T))) {
      const Members members = members_of(planes, reaches);
      return max_across(SideBySide(given, spatial, along, members), members, y, positions);
    }
    const Contiguous rows(given);
    const T* const x = rows.as<const T>();
    if (!positions)
      return planes.parallel([&](int64_t plane) {
        T* const best = y + plane * planes.out_plane();
        std::fill_n(best, planes.out_plane(), -math::infinity<T>);
        isa::call<MaxValues<T>, const T*, const Planes*, const Reaches*, T*>(x + plane * planes.in_plane(), &planes, &reaches, best);
      });
    planes.parallel([&](int64_t plane) { max_of_plane(planes, reaches, x + plane * planes.in_plane(), y + plane * planes.out_plane(), positions + plane * planes.out_plane()); });
  });
}

// What the sum of each window of a plane is divided by.
template <class T> std::vector<T> divisors(const Planes& p, const Averaging& a) {
  std::vector<T> r;
  std::vector<int64_t> along[3];
  for (int d = 0; d < 3; d++)
    for (int64_t i = 0; i < p.axis[d].out; i++) along[d].push_back(p.axis[d].count(i, a.window.count_include_pad));
  for (int64_t i : along[0])
    for (int64_t j : along[1])
      for (int64_t k : along[2]) r.push_back(static_cast<T>(a.divisor ? a.divisor : i * j * k));
  return r;
}

void avg_pool_kernel(const Launch& l) {
  const Averaging& a = l.attrs.as<Averaging>();
  const int spatial = a.window.kernel.size();
  if (a.window.adaptive) {
    const Grid grid(l.x[0], a.window);
    return with_floating(l, static_cast<double>(grid.in_plane()), [&]<class T>(const View& x, T* y) {
      if (const int64_t along = step_across(x, spatial); grid.go_side_by_side(along, sizeof(T))) {
        const Members members = grid.members();
        std::vector<T> by(static_cast<size_t>(members.out));
        for (const Member m : members.each) by[static_cast<size_t>(m.window)]++;
        return mean_across(SideBySide(x, spatial, along, members), members, by.data(), y);
      }
      const Contiguous rows(x);
      adaptive_mean(rows.as<const T>(), grid, y);
    });
  }
  const Planes planes(l.x[0], l.y[0], a.window);
  const Reaches reaches(planes.axis[2]);
  with_floating(l, static_cast<double>(std::max(planes.taps(), std::abs(a.divisor))), [&]<class T>(const View& given, T* y) {
    const std::vector<T> by = divisors<T>(planes, a);
    if (const int64_t along = step_across(given, spatial); planes.go_side_by_side(along, sizeof(T))) {
      const Members members = members_of(planes, reaches);
      return mean_across(SideBySide(given, spatial, along, members), members, by.data(), y);
    }
    const Contiguous rows(given);
    planes.parallel([&](int64_t plane) {
      T* const sum = y + plane * planes.out_plane();
      std::fill_n(sum, planes.out_plane(), T(0));
      isa::call<AddPlane<T>, const T*, const Planes*, const Reaches*, T*>(rows.as<const T>() + plane * planes.in_plane(), &planes, &reaches, sum);
      for (int64_t i = 0; i < planes.out_plane(); i++) sum[i] /= by[static_cast<size_t>(i)];
    });
  });
}

void avg_pool_vjp_kernel(const Launch& l) {
  const Averaging& a = l.attrs.as<Averaging>();
  if (!is_floating(l.y[0].dtype)) return reference(l);
  with_floating(l, 1, [&]<class T>(const View& given, T* y) {
    const Contiguous rows(given);
    const T* const v = rows.as<const T>();
    if (a.window.adaptive) return adaptive_mean_vjp(v, Grid(l.y[0], a.window), y);
    const Planes planes(l.y[0], l.x[0], a.window);
    const Reaches reaches(planes.axis[2]);
    const std::vector<T> by = divisors<T>(planes, a);
    planes.parallel([&](int64_t plane) {
      const int64_t size = planes.out_plane();
      const Buffer memory(size * static_cast<int64_t>(sizeof(T)));
      T* const share = memory.as<T>();
      for (int64_t i = 0; i < size; i++) share[i] = v[plane * size + i] / by[static_cast<size_t>(i)];
      T* const x = y + plane * planes.in_plane();
      std::fill_n(x, planes.in_plane(), T(0));
      isa::call<SpreadPlane<T>, const T*, const Planes*, const Reaches*, T*>(share, &planes, &reaches, x);
    });
  });
}

constexpr Entry entries[] = {
    {"avg_pool", avg_pool_kernel},
    {"avg_pool_vjp", avg_pool_vjp_kernel},
    {"grid_sample", grid_sample_kernel},
    {"grid_sample_grid_vjp", grid_sample_grid_vjp_kernel},
    {"grid_sample_image_vjp", grid_sample_image_vjp_kernel},
    {"max_pool", max_pool_kernel},
    {"resize", resize_kernel},
    {"resize_vjp", resize_vjp_kernel},
};

}  // namespace

Entries pooling_kernels() { return entries; }

}  // namespace adjoint::cpu
