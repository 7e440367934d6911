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

// ---- small planes, side by side: loops run across them

constexpr int64_t side_by_side = 32;

// A window's number, and the number of an element in it.
struct Member { int64_t window, element; };
struct SmallPlanes {
  int64_t in, out;
  std::vector<Member> members;  // of all windows; those of one window in their order
  SmallPlanes(const Planes& p, const Reaches& reaches) : in(p.in_plane()), out(p.out_plane()) {
    p.for_rows([&](int64_t r, int64_t row) {
      for (const Reach& k : reaches.each)
        for (int64_t i = 0; i < k.n; i++) members.push_back({r * p.axis[2].out + k.first + i, row + k.at + i * reaches.stride});
    });
  }
  static bool are(const Planes& p) { return p.count >= side_by_side && p.in_plane() <= 64 && p.out_plane() <= 64; }
};
template <class T> void turn(const T* x, int64_t elements, int64_t planes, T* to) {
  for (int64_t p = 0; p < planes; p++)
    for (int64_t e = 0; e < elements; e++) to[e * side_by_side + p] = x[p * elements + e];
}
template <class T, class U> void turn_back(const T* x, int64_t elements, int64_t planes, U* to) {
  for (int64_t p = 0; p < planes; p++)
    for (int64_t e = 0; e < elements; e++) to[p * elements + e] = x[e * side_by_side + p];
}

template <class T> struct MaxAcross {
  using Index = math::Bits<T>;
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, const Member* members, int64_t n, T* largest, Index* places) {
    for (int64_t m = 0; m < n; m++) {
      const T* v = x + members[m].element * side_by_side;
      T* best = largest + members[m].window * side_by_side;
      Index* at = places + members[m].window * side_by_side;
      const auto here = static_cast<Index>(members[m].element);
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < side_by_side; i++) {
        const T b = best[i];
        const bool enters = (v[i] > b) | (v[i] != v[i]);
        best[i] = enters ? v[i] : b;
        at[i] = enters ? here : at[i];
      }
    }
  }
};
template <class T> struct AddAcross {
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, const Member* members, int64_t n, T* sums) {
    for (int64_t m = 0; m < n; m++) {
      const T* v = x + members[m].element * side_by_side;
      T* sum = sums + members[m].window * side_by_side;
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < side_by_side; i++) sum[i] += v[i];
    }
  }
};

// f(first plane, planes) for groups of planes that fit side by side.
void for_groups(const Planes& planes, const SmallPlanes& small, Borrowed<int64_t, int64_t> f) {
  const int64_t groups = (planes.count + side_by_side - 1) / side_by_side, work = side_by_side * (small.in + static_cast<int64_t>(small.members.size()));
  pool::parallel_for(groups, std::max<int64_t>(1, 2 * grain / work), [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; g++) f(g * side_by_side, std::min(side_by_side, planes.count - g * side_by_side));
  });
}
template <class T> void max_of_small(const Planes& planes, const SmallPlanes& small, const T* x, T* y, int64_t* index) {
  using Index = math::Bits<T>;
  std::vector<Index> first(static_cast<size_t>(small.out), Index(-1));  // what windows of -infinity alone have
  for (auto m = small.members.rbegin(); m != small.members.rend(); ++m) first[static_cast<size_t>(m->window)] = static_cast<Index>(m->element);
  for_groups(planes, small, [&](int64_t plane, int64_t n) {
    T in[64 * side_by_side], best[64 * side_by_side];
    Index at[64 * side_by_side];
    for (int64_t o = 0; o < small.out; o++) {
      std::fill_n(best + o * side_by_side, side_by_side, -math::infinity<T>);
      std::fill_n(at + o * side_by_side, side_by_side, first[static_cast<size_t>(o)]);
    }
    turn(x + plane * small.in, small.in, n, in);
    isa::call<MaxAcross<T>, const T*, const Member*, int64_t, T*, Index*>(in, small.members.data(), static_cast<int64_t>(small.members.size()), best, at);
    turn_back(best, small.out, n, y + plane * small.out);
    if (index) turn_back(at, small.out, n, index + plane * small.out);
  });
}
template <class T> void mean_of_small(const Planes& planes, const SmallPlanes& small, const T* by, const T* x, T* y) {
  for_groups(planes, small, [&](int64_t plane, int64_t n) {
    T in[64 * side_by_side], sums[64 * side_by_side];
    std::fill_n(sums, small.out * side_by_side, T(0));
    turn(x + plane * small.in, small.in, n, in);
    isa::call<AddAcross<T>, const T*, const Member*, int64_t, T*>(in, small.members.data(), static_cast<int64_t>(small.members.size()), sums);
    for (int64_t i = 0; i < small.out * side_by_side; i++) sums[i] /= by[i / side_by_side];
    turn_back(sums, small.out, n, y + plane * small.out);
  });
}

// f(zero of the compute type) for floating types; y is written as that type, and rounded once.
template <class F> void with_floating(const Launch& l, F&& f) {
  const View& y = l.y[0];
  const DType type = widened(y.dtype);
  if (!is_floating(type) || l.x[0].numel == 0 || y.numel == 0) return reference(l);
  auto typed = [&](auto zero) {
    using T = decltype(zero);
    const Contiguous x(l.x[0], type);
    if (type == y.dtype) return f(x.as<const T>(), y.as<T>());
    const Buffer memory(y.numel * static_cast<int64_t>(sizeof(T)));
    f(x.as<const T>(), memory.as<T>());
    cast(y, {memory.as<char>(), y.sizes, y.strides, y.ndim, type, y.numel});
  };
  if (type == DType::float32) typed(0.f);
  else typed(0.);
}

void max_pool_kernel(const Launch& l) {
  const Window& w = l.attrs.as<Window>();
  if (w.adaptive) return with_floating(l, [&]<class T>(const T* x, T* y) { adaptive_max(x, Grid(l.x[0], w), y, l.y[1].as<int64_t>()); });
  const Planes planes(l.x[0], l.y[0], w);
  if (planes.in_plane() > std::numeric_limits<int32_t>::max()) return reference(l);
  const Reaches reaches(planes.axis[2]);
  int64_t* const positions = w.values_only ? nullptr : l.y[1].as<int64_t>();
  with_floating(l, [&]<class T>(const T* x, T* y) {
    if (SmallPlanes::are(planes)) return max_of_small(planes, SmallPlanes(planes, reaches), x, y, positions);
    if (!positions)
      return planes.parallel([&](int64_t plane) {
        T* const best = y + plane * planes.out_plane();
        std::fill_n(best, planes.out_plane(), -math::infinity<T>);
        isa::call<MaxValues<T>, const T*, const Planes*, const Reaches*, T*>(x + plane * planes.in_plane(), &planes, &reaches, best);
      });
    using Index = math::Bits<T>;
    const Axis& c = planes.axis[2];
    planes.parallel([&](int64_t plane) {
      const int64_t size = planes.out_plane();
      const Buffer memory(size * static_cast<int64_t>(sizeof(Index)));
      T* const best = y + plane * size;
      Index* const at = memory.as<Index>();
      std::fill_n(best, size, -math::infinity<T>);
      std::fill_n(at, size, Index(-1));
      isa::call<MaxPlane<T>, const T*, const Planes*, const Reaches*, T*, Index*>(x + plane * planes.in_plane(), &planes, &reaches, best, at);
      int64_t* index = positions + plane * size;
      for (int64_t i = 0; i < size; i++) index[i] = at[i];
      // Windows of -infinity alone: their first element.
      if (std::find(at, at + size, Index(-1)) == at + size) return;
      planes.for_rows([&](int64_t r, int64_t row) {
        for (const Reach& p : reaches.each)
          for (int64_t i = 0; i < p.n; i++)
            if (int64_t& to = index[r * c.out + p.first + i]; to < 0) to = row + p.at + i * c.stride;
      });
    });
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
  if (a.window.adaptive) return with_floating(l, [&]<class T>(const T* x, T* y) { adaptive_mean(x, Grid(l.x[0], a.window), y); });
  const Planes planes(l.x[0], l.y[0], a.window);
  const Reaches reaches(planes.axis[2]);
  with_floating(l, [&]<class T>(const T* x, T* y) {
    const std::vector<T> by = divisors<T>(planes, a);
    if (SmallPlanes::are(planes)) return mean_of_small(planes, SmallPlanes(planes, reaches), by.data(), x, y);
    planes.parallel([&](int64_t plane) {
      T* const sum = y + plane * planes.out_plane();
      std::fill_n(sum, planes.out_plane(), T(0));
      isa::call<AddPlane<T>, const T*, const Planes*, const Reaches*, T*>(x + plane * planes.in_plane(), &planes, &reaches, sum);
      for (int64_t i = 0; i < planes.out_plane(); i++) sum[i] /= by[static_cast<size_t>(i)];
    });
  });
}

void avg_pool_vjp_kernel(const Launch& l) {
  const Averaging& a = l.attrs.as<Averaging>();
  if (a.window.adaptive) return with_floating(l, [&]<class T>(const T* v, T* y) { adaptive_mean_vjp(v, Grid(l.y[0], a.window), y); });
  const Planes planes(l.y[0], l.x[0], a.window);
  const Reaches reaches(planes.axis[2]);
  with_floating(l, [&]<class T>(const T* v, T* y) {
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
