// Pooling over nearly equal parts of a plane: each part is read in runs of neighbours.
#include "adaptive_pooling.h"

#include <algorithm>

#include "compilers.h"
#include "isa.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t grain = 16384;  // elements
constexpr int lanes = 16;         // the same at every level, so that sums have the same bits
constexpr int few = 4;            // a vector that every level has

// Part after part of a line of `in` elements in `out` parts, without a division for each: part i begins at i * in / out, and ends
// before (i + 1) * in / out, rounded up.
struct Cut {
  int64_t out, base, rest, first = 0, over = 0;
  [[gnu::always_inline]] Cut(int64_t in, int64_t parts) : out(parts), base(parts == 1 ? in : in / parts), rest(in - base * parts) {}
  [[gnu::always_inline]] int64_t last() const { return first + base + (over + rest > 0) + (over + rest > out); }
  [[gnu::always_inline]] void next() {
    first += base, over += rest;
    if (over >= out) over -= out, first++;
  }
};
struct Part { int64_t first, last; };
[[gnu::always_inline]] inline Part part(int64_t in, int64_t out, int64_t i) { return out == 1 ? Part{0, in} : Part{i * in / out, ((i + 1) * in + out - 1) / out}; }

// f(number, from, n, rows...) of a slab: the parts of a plane with one position along its first dimension. A part is `slices` times
// `rows` runs of n elements, `down` and `along` apart; whole rows behind each other are one run.
struct Runs { int64_t from, n, slices, rows, down, along; };
template <class F> [[gnu::always_inline]] inline void for_parts(const Grid& g, int64_t a, F&& f) {
  const Part i = part(g.in[0], g.out[0], a);
  int64_t number = a * g.out[1] * g.out[2];
  Cut j(g.in[1], g.out[1]);
  for (int64_t b = 0; b < g.out[1]; b++, j.next()) {
    Cut k(g.in[2], g.out[2]);
    for (int64_t c = 0; c < g.out[2]; c++, k.next()) {
      Runs r{(i.first * g.in[1] + j.first) * g.in[2] + k.first, k.last() - k.first, i.last - i.first, j.last() - j.first, g.in[1] * g.in[2], g.in[2]};
      if (r.n == r.along) r.n *= r.rows, r.rows = 1;
      f(number++, r);
    }
  }
}

template <class T> struct MaxSlab {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, const Grid* g, int64_t a, T* y, int64_t* at) {
    for_parts(*g, a, [&](int64_t number, const Runs& r) __attribute__((always_inline)) {
      T best = x[r.from];
      int64_t index = r.from;
      for (int64_t i = 0; i < r.slices; i++)
        for (int64_t j = 0; j < r.rows; j++) {
          const int64_t start = r.from + i * r.down + j * r.along;
          if (r.n >= 2 * lanes && !holds_greater(x + start, r.n, best)) continue;
          for (int64_t k = start; k < start + r.n; k++) {
            const T v = x[k];
            if (!(v > best) && v == v) continue;  // of equal elements the first one stays; NaN always enters
            best = v;
            index = k;
          }
        }
      y[number] = best;
      at[number] = index;
    });
  }

 private:
  // Or NaN.
  [[gnu::always_inline]] static inline bool holds_greater(const T* x, int64_t n, T best) {
    int found[lanes] = {};
    int64_t k = 0;
    for (; k + lanes <= n; k += lanes)
      for (int j = 0; j < lanes; j++) found[j] |= !(x[k + j] <= best);
    for (int j = 0; k + j < n; j++) found[j] |= !(x[k + j] <= best);
    int any = 0;
    for (int j = 0; j < lanes; j++) any |= found[j];
    return any;
  }
};

// In vectors of `few`, which stay in registers at every level; four sums of each take turns.
template <class T> struct MeanSlab {
  static constexpr bool narrow = true;
  typedef T Few __attribute__((vector_size(few * sizeof(T))));
  [[gnu::always_inline]] static inline Few load(const T* p) {
    Few v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, const Grid* g, int64_t a, T* y) {
    for_parts(*g, a, [&](int64_t number, const Runs& r) __attribute__((always_inline)) {
      T sum = 0;
      Few s0{}, s1{}, s2{}, s3{};
      for (int64_t i = 0; i < r.slices; i++)
        for (int64_t j = 0; j < r.rows; j++) {
          const T* const p = x + r.from + i * r.down + j * r.along;
          int64_t k = 0;
          for (; k + 4 * few <= r.n; k += 4 * few) s0 += load(p + k), s1 += load(p + k + few), s2 += load(p + k + 2 * few), s3 += load(p + k + 3 * few);
          for (; k + few <= r.n; k += few) s0 += load(p + k);
          for (; k < r.n; k++) sum += p[k];
        }
      const Few s = (s0 + s2) + (s1 + s3);
      y[number] = (sum + ((s[0] + s[1]) + (s[2] + s[3]))) / static_cast<T>(r.slices * r.rows * r.n);
    });
  }
};

template <class T> struct ShareOutSlab {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const T* v, const Grid* g, int64_t a, T* x) {
    for_parts(*g, a, [&](int64_t number, const Runs& r) __attribute__((always_inline)) {
      const T share = v[number] / static_cast<T>(r.slices * r.rows * r.n);
      for (int64_t i = 0; i < r.slices; i++)
        for (int64_t j = 0; j < r.rows; j++) {
          T* const p = x + r.from + i * r.down + j * r.along;
          for (int64_t k = 0; k < r.n; k++) p[k] += share;
        }
    });
  }
};

// f(plane, a) for each slab of each plane; windows of neighbouring slabs may share elements.
template <class F> void for_slabs(const Grid& g, F&& f) {
  const int64_t slab = std::max<int64_t>(1, std::max(g.in_plane(), g.out_plane()) / g.out[0]);
  pool::parallel_for(g.count * g.out[0], std::max<int64_t>(1, grain / slab), [&](int64_t first, int64_t last) {
    for (int64_t s = first; s < last; s++) f(s / g.out[0], s % g.out[0]);
  });
}

}  // namespace

Members Grid::members() const {
  Members r{in_plane(), out_plane(), {}};
  for (int64_t a = 0; a < out[0]; a++)
    for_parts(*this, a, [&](int64_t number, const Runs& p) {
      for (int64_t i = 0; i < p.slices * p.rows; i++)
        for (int64_t k = 0; k < p.n; k++) r.each.push_back({static_cast<int32_t>(number), static_cast<int32_t>(p.from + i / p.rows * p.down + i % p.rows * p.along + k)});
    });
  return r;
}

template <class T> void adaptive_max(const T* x, const Grid& g, T* y, int64_t* at) {
  for_slabs(g, [&](int64_t p, int64_t a) { isa::call<MaxSlab<T>>(x + p * g.in_plane(), &g, a, y + p * g.out_plane(), at + p * g.out_plane()); });
}
template <class T> void adaptive_mean(const T* x, const Grid& g, T* y) {
  for_slabs(g, [&](int64_t p, int64_t a) { isa::call<MeanSlab<T>>(x + p * g.in_plane(), &g, a, y + p * g.out_plane()); });
}
template <class T> void adaptive_mean_vjp(const T* v, const Grid& g, T* x) {
  pool::parallel_for(g.count, std::max<int64_t>(1, grain / g.in_plane()), [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; p++) {
      std::fill_n(x + p * g.in_plane(), g.in_plane(), T(0));
      for (int64_t a = 0; a < g.out[0]; a++) isa::call<ShareOutSlab<T>>(v + p * g.out_plane(), &g, a, x + p * g.in_plane());
    }
  });
}

template void adaptive_max(const float*, const Grid&, float*, int64_t*);
template void adaptive_max(const double*, const Grid&, double*, int64_t*);
template void adaptive_mean(const float*, const Grid&, float*);
template void adaptive_mean(const double*, const Grid&, double*);
template void adaptive_mean_vjp(const float*, const Grid&, float*);
template void adaptive_mean_vjp(const double*, const Grid&, double*);

}  // namespace adjoint::cpu
