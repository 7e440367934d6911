// Fourier transforms along one dimension: lines are taken several at a time, so that vectors run across them.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "compilers.h"
#include "fft_plan.h"
#include "lines.h"
#include "kernels.h"
#include "pool.h"

namespace adjoint::cpu {

namespace fourier {

// Plans are shared by all threads and never change. All are let go when they get too large.
template <class T> std::shared_ptr<const Plan<T>> plan(int64_t n) {
  constexpr int64_t most = int64_t(1) << 22;   // elements
  static std::mutex lock;
  static std::map<int64_t, std::shared_ptr<const Plan<T>>> plans;
  static int64_t held = 0;
  {
    const std::lock_guard guard(lock);
    if (const auto it = plans.find(n); it != plans.end()) return it->second;
  }
  auto made = std::make_shared<const Plan<T>>(n);
  const std::lock_guard guard(lock);
  if (held + n > most) plans.clear(), held = 0;
  if (plans.emplace(n, made).second) held += n;
  return made;
}

}  // namespace fourier

namespace {

using fourier::Plan;

constexpr int64_t most_lanes = 128, long_line = 512, in_first_cache = 1024;

// What a block works in: the parts of its lanes, and scratch of the plan.
template <class T> struct Space {
  Buffer memory;
  T *re, *im, *pairs, *wr, *wi;
  Space(const Plan<T>& plan, int64_t n, int64_t lanes) : memory((4 * n * lanes + 2 * plan.work(lanes)) * static_cast<int64_t>(sizeof(T))) {
    re = memory.as<T>();
    im = re + n * lanes;
    pairs = im + n * lanes;
    wr = pairs + 2 * n * lanes;
    wi = wr + plan.work(lanes);
  }
};

// The lines of x and y along one dimension, in blocks of `lanes`; the last block may be shorter.
class Blocks {
 public:
  Blocks(const View& x, const View& y, int dim, int64_t n, bool alone) : step_x(x.strides[dim]), step_y(y.strides[dim]), x_(x), y_(y), n_(n) {
    for (int d = 0; d < x.ndim; d++)
      if (d != dim) dims_.push_back(d), lines *= x.sizes[d];
    gap_x = gap(x.strides);
    gap_y = gap(y.strides);
    // Longer lines that lie densely are taken one by one, where vectors run along them; others together with their neighbours.
    const bool dense = step_x == 1, along = alone || (dense && (n > long_line ? n % 8 : n % 64) == 0);
    const int64_t least = dense ? n > 4 * long_line ? 1 : 8 : std::clamp<int64_t>((1 << 15) / n, 4, 16);   // each cache line of others holds several
    lanes = along ? 1 : std::clamp<int64_t>(in_first_cache / n / 8 * 8, least, most_lanes);
  }
  int64_t step_x, step_y, gap_x, gap_y, lines = 1, lanes;   // from each line to the next; 0 where that varies

  // f(space, block number, its lines), several at a time.
  template <class T> void each(const Plan<T>& plan, Borrowed<const Space<T>&, int64_t, int64_t> f) const {
    const int64_t blocks = (lines + lanes - 1) / lanes;
    pool::parallel_for(blocks, std::max<int64_t>(1, (1 << 13) / (n_ * lanes)), [&](int64_t first, int64_t last) {
      const Space<T> space(plan, n_ + 1, lanes);   // a spectrum has one more
      for (int64_t b = first; b < last; b++) f(space, b * lanes, std::min(lanes, lines - b * lanes));
    });
  }
  // Where line i begins in x, and in y.
  int64_t x_at(int64_t i) const { return gap_x ? i * gap_x : at(i, x_.strides); }
  int64_t y_at(int64_t i) const { return gap_y ? i * gap_y : at(i, y_.strides); }

 private:
  int64_t gap(const int64_t* strides) const {
    int64_t count = 1, g = 0;
    for (int k = dims_.size(); k-- > 0;) {
      const int d = static_cast<int>(dims_[k]);
      if (x_.sizes[d] == 1) continue;
      if (count == 1) g = strides[d];
      else if (strides[d] != g * count) return 0;
      count *= x_.sizes[d];
    }
    return g;
  }
  int64_t at(int64_t i, const int64_t* strides) const {
    int64_t p = 0;
    for (int k = dims_.size(); k-- > 0;) {
      const int d = static_cast<int>(dims_[k]);
      p += i % x_.sizes[d] * strides[d];
      i /= x_.sizes[d];
    }
    return p;
  }

  const View &x_, &y_;
  Dims dims_;
  int64_t n_;
};

// A block of lines in memory, in real numbers: element j of line q has its first part at starts[q] + j * step, its second one
// `second` behind that. gap: how far neighbours are apart, if all are as far.
struct Places {
  int64_t lanes, step, second, gap, starts[most_lanes];   // gap: only the first start is set
  template <class Start> Places(int64_t lanes, int64_t step, int64_t second, int64_t gap, Start&& start) : lanes(lanes), step(step), second(second), gap(gap) {
    for (int64_t q = 0; q < (gap ? 1 : lanes); q++) starts[q] = start(q);
  }
  int64_t start(int64_t q) const { return gap ? starts[0] + q * gap : starts[q]; }
  // Whether each line lies densely, while there are several: their pairs are moved whole, and taken apart where lanes are neighbours.
  bool dense() const { return lanes > 1 && (step == 2 || step == -2) && second == 1; }
  template <class T> [[gnu::always_inline]] inline void gather(const T* x, int64_t n, T* pairs) const {
    turn(n, [=, this](int64_t q, int64_t j) { return x + start(q) + step * j; }, [=, this](int64_t q, int64_t j) { return pairs + 2 * (j * lanes + q); }, false);
  }
  template <class T> [[gnu::always_inline]] inline void scatter(const T* pairs, int64_t n, T* y) const {
    turn(n, [=, this](int64_t q, int64_t j) { return pairs + 2 * (j * lanes + q); }, [=, this](int64_t q, int64_t j) { return y + start(q) + step * j; }, true);
  }
  // f(place of the first part, of the second one, number in the block) of n elements of each line.
  template <class F> [[gnu::always_inline]] inline void each(int64_t n, F&& f) const {
    if (lanes == 1 && step == 2 && second == 1) return pairs(starts[0], n, 0, f);
    if (lanes == 1 && step == -2 && second == 1) return backwards(starts[0], n, f);
    for (int64_t j = 0; j < n; j++) {
      const int64_t at = starts[0] + j * step;
      if (gap == 2 && second == 1) pairs(at, lanes, j * lanes, f);
      else if (gap) even(at, lanes, j * lanes, f);
      else for (int64_t q = 0; q < lanes; q++) f(starts[q] + j * step, starts[q] + j * step + second, j * lanes + q);
    }
  }

 private:
  // The pair of element j of lane q moves from(q, j) to to(q, j). Four by four, of floats: elements are neighbours at one end, lanes at the other.
  template <class From, class To> [[gnu::always_inline]] inline void turn(int64_t n, From&& from, To&& to, bool by_lane) const {
    using T = std::remove_pointer_t<decltype(to(0, 0))>;
    const int64_t tiled = sizeof(T) == 4 && step == 2 ? lanes / 4 * 4 : 0, full = n / 4 * 4;
    for (int64_t q = 0; q < tiled; q += 4)
      for (int64_t j = 0; j < full; j += 4) {
        const int64_t dq = by_lane ? 0 : 1, dj = by_lane ? 1 : 0;
        Four a[4], b[4];
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) std::memcpy(&a[k], from(q + k * dq, j + k * dj), sizeof(Four));
        turn_four(a, b);
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) std::memcpy(to(q + k * dj, j + k * dq), &b[k], sizeof(Four));
      }
    for (int64_t q = 0; q < lanes; q++)
      for (int64_t j = q < tiled ? full : 0; j < n; j++) std::memcpy(to(q, j), from(q, j), 2 * sizeof(T));
  }
  using Four = uint64_t __attribute__((vector_size(32)));
  [[gnu::always_inline]] static inline void turn_four(const Four (&a)[4], Four (&b)[4]) {
    const Four even{0, 4, 2, 6}, odd{1, 5, 3, 7}, low{0, 1, 4, 5}, high{2, 3, 6, 7};
    const Four p = shuffle(a[0], a[1], even), q = shuffle(a[0], a[1], odd), r = shuffle(a[2], a[3], even), s = shuffle(a[2], a[3], odd);
    b[0] = shuffle(p, r, low), b[1] = shuffle(q, s, low), b[2] = shuffle(p, r, high), b[3] = shuffle(q, s, high);
  }
  template <class F> [[gnu::always_inline]] inline void even(int64_t at, int64_t n, int64_t i, F&& f) const {
    ADJOINT_INDEPENDENT
    for (int64_t q = 0; q < n; q++) f(at + q * gap, at + q * gap + second, i + q);
  }
  template <class F> [[gnu::always_inline]] static inline void backwards(int64_t at, int64_t n, F&& f) {
    ADJOINT_INDEPENDENT
    for (int64_t q = 0; q < n; q++) f(at - 2 * q, at - 2 * q + 1, q);
  }
  template <class F> [[gnu::always_inline]] static inline void pairs(int64_t at, int64_t n, int64_t i, F&& f) {
    ADJOINT_INDEPENDENT
    for (int64_t q = 0; q < n; q++) f(at + 2 * q, at + 2 * q + 1, i + q);
  }
};
struct Load {
  template <int W, class T> [[gnu::always_inline]] static inline void run(const T* x, const Places* p, int64_t n, T* re, T* im, T* pairs) {
    if (p->dense()) {
      p->gather(x, n, pairs);
      const int64_t all = n * p->lanes;
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < all; i++) re[i] = pairs[2 * i], im[i] = pairs[2 * i + 1];
      return;
    }
    p->each(n, [=](int64_t first, int64_t second, int64_t i) __attribute__((always_inline)) { re[i] = x[first], im[i] = x[second]; });
  }
};
struct Store {   // where both parts have one place, the first one stays
  template <int W, class T> [[gnu::always_inline]] static inline void run(T* y, const Places* p, int64_t n, const T* re, const T* im, T scale, T scale_im, T* pairs) {
    if (p->dense()) {
      const int64_t all = n * p->lanes;
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < all; i++) pairs[2 * i] = re[i] * scale, pairs[2 * i + 1] = im[i] * scale_im;
      return p->scatter(pairs, n, y);
    }
    p->each(n, [=](int64_t first, int64_t second, int64_t i) __attribute__((always_inline)) { y[second] = im[i] * scale_im, y[first] = re[i] * scale; });
  }
};

template <class T> void complex_lines(const Launch& l) {
  const Fourier& a = l.attrs.as<Fourier>();
  const int64_t n = l.x[0].sizes[a.dim];
  const auto plan = fourier::plan<T>(n);
  const Blocks blocks(l.x[0], l.y[0], a.dim, n, plan->is_chirp());
  const T scale = static_cast<T>(a.scale);
  blocks.each<T>(*plan, [&](const Space<T>& s, int64_t first, int64_t lanes) {
    T *re = a.inverse ? s.im : s.re, *im = a.inverse ? s.re : s.im;   // parts exchanged: the inverse transform
    const Places x(lanes, 2 * blocks.step_x, 1, 2 * blocks.gap_x, [&](int64_t q) { return 2 * blocks.x_at(first + q); });
    const Places y(lanes, 2 * blocks.step_y, 1, 2 * blocks.gap_y, [&](int64_t q) { return 2 * blocks.y_at(first + q); });
    isa::call<Load>(l.x[0].as<const T>(), &x, n, re, im, s.pairs);
    plan->run(lanes, s.re, s.im, s.wr, s.wi);
    isa::call<Store>(l.y[0].as<T>(), &y, n, static_cast<const T*>(re), static_cast<const T*>(im), scale, scale, s.pairs);
  });
}

// f(k, places of elements k and m - k) for each lane.
template <class F> [[gnu::always_inline]] inline void pairs(int64_t m, int64_t lanes, F&& f) {
  if (lanes == 1) {
    ADJOINT_INDEPENDENT
    for (int64_t k = 1; k < (m + 1) / 2; k++) f(k, k, m - k);
    if (m % 2 == 0) f(m / 2, m / 2, m / 2);
    return;
  }
  for (int64_t k = 1; 2 * k <= m; k++)
    ADJOINT_INDEPENDENT
    for (int64_t q = 0; q < lanes; q++) f(k, k * lanes + q, (m - k) * lanes + q);
}

// Twice the spectrum of a real signal, from the transform of its even and odd elements as one complex signal of m elements, in place: one more
// comes behind. Elements k and m - k are made of the same two.
struct Spectrum {
  template <int W, class T> [[gnu::always_inline]] static inline void run(T* re, T* im, int64_t m, int64_t lanes, const T* wr, const T* wi) {
    for (int64_t q = 0; q < lanes; q++) {
      const T even = re[q], odd = im[q];
      re[q] = 2 * (even + odd), re[m * lanes + q] = 2 * (even - odd);
      im[q] = im[m * lanes + q] = 0;
    }
    const auto both = [=](int64_t k, int64_t i, int64_t j) __attribute__((always_inline)) {   // of i times the odd elements' transform
      const T er = re[i] + re[j], ei = im[i] - im[j], fr = im[i] + im[j], fi = re[j] - re[i];
      const T tr = wr[k] * fr - wi[k] * fi, ti = wr[k] * fi + wi[k] * fr;
      re[i] = er + tr, im[i] = ei + ti;
      re[j] = er - tr, im[j] = ti - ei;
    };
    pairs(m, lanes, both);
  }
};
// The complex signal, twice, from the spectrum of the real one, whose ends are real.
struct Signal {
  template <int W, class T> [[gnu::always_inline]] static inline void run(T* re, T* im, int64_t m, int64_t lanes, const T* wr, const T* wi) {
    for (int64_t q = 0; q < lanes; q++) {
      const T first = re[q], last = re[m * lanes + q];
      re[q] = first + last, im[q] = first - last;
    }
    pairs(m, lanes, [=](int64_t k, int64_t i, int64_t j) __attribute__((always_inline)) {
      const T er = re[i] + re[j], ei = im[i] - im[j], dr = re[i] - re[j], di = im[i] + im[j];
      const T tr = wr[k] * dr + wi[k] * di, ti = wr[k] * di - wi[k] * dr;
      re[i] = er - ti, im[i] = ei + tr;
      re[j] = er + ti, im[j] = tr - ei;
    });
  }
};

// An even real signal is a complex one of half its size, z_j = x_2j + i x_2j+1, whose transform holds those of both. Where all of it is asked for,
// the other half is conjugate.
template <class T> void real_lines(const Launch& l) {
  const Fourier& a = l.attrs.as<Fourier>();
  const int64_t n = l.x[0].sizes[a.dim], parts = n % 2 ? 1 : 2, m = n / parts, wanted = l.y[0].sizes[a.dim], found = parts == 1 ? wanted : n / 2 + 1;
  const T scale = static_cast<T>(a.scale / parts), scale_im = a.inverse ? -scale : scale;
  const auto plan = fourier::plan<T>(m), whole = fourier::plan<T>(n);
  const Blocks blocks(l.x[0], l.y[0], a.dim, m, plan->is_chirp());
  blocks.each<T>(*plan, [&](const Space<T>& s, int64_t first, int64_t lanes) {
    const Places x(lanes, parts * blocks.step_x, (parts - 1) * blocks.step_x, blocks.gap_x, [&](int64_t q) { return blocks.x_at(first + q); });
    isa::call<Load>(l.x[0].as<const T>(), &x, m, s.re, s.im, s.pairs);
    if (parts == 1) std::fill_n(s.im, m * lanes, T(0));
    plan->run(lanes, s.re, s.im, s.wr, s.wi);
    if (parts == 2) isa::call<Spectrum>(s.re, s.im, m, lanes, whole->roots().re.data(), whole->roots().im.data());
    const Places y(lanes, 2 * blocks.step_y, 1, 2 * blocks.gap_y, [&](int64_t q) { return 2 * blocks.y_at(first + q); });
    isa::call<Store>(l.y[0].as<T>(), &y, found, static_cast<const T*>(s.re), static_cast<const T*>(s.im), scale, scale_im, s.pairs);
    if (found == wanted) return;
    const Places mirrored(lanes, -2 * blocks.step_y, 1, 2 * blocks.gap_y, [&](int64_t q) { return 2 * (blocks.y_at(first + q) + (n - 1) * blocks.step_y); });
    isa::call<Store>(l.y[0].as<T>(), &mirrored, wanted - found, static_cast<const T*>(s.re + lanes), static_cast<const T*>(s.im + lanes), scale, -scale_im, s.pairs);
  });
}

template <class T> void signal_lines(const Launch& l) {
  const Fourier& a = l.attrs.as<Fourier>();
  const int64_t n = a.size, parts = n % 2 ? 1 : 2, m = n / parts;
  const auto plan = fourier::plan<T>(m), whole = fourier::plan<T>(n);
  const Blocks blocks(l.x[0], l.y[0], a.dim, m, plan->is_chirp());
  blocks.each<T>(*plan, [&](const Space<T>& s, int64_t first, int64_t lanes) {
    T *re = s.im, *im = s.re;   // parts exchanged: the inverse transform
    const Places x(lanes, 2 * blocks.step_x, 1, 2 * blocks.gap_x, [&](int64_t q) { return 2 * blocks.x_at(first + q); });
    isa::call<Load>(l.x[0].as<const T>(), &x, n / 2 + 1, re, im, s.pairs);
    if (parts == 2) isa::call<Signal>(re, im, m, lanes, whole->roots().re.data(), whole->roots().im.data());
    else {
      std::fill_n(im, lanes, T(0));
      for (int64_t k = 1; 2 * k < n; k++)
        for (int64_t i = k * lanes, j = (n - k) * lanes; i < (k + 1) * lanes; i++, j++) re[j] = re[i], im[j] = -im[i];
    }
    plan->run(lanes, s.re, s.im, s.wr, s.wi);
    const Places y(lanes, parts * blocks.step_y, (parts - 1) * blocks.step_y, blocks.gap_y, [&](int64_t q) { return blocks.y_at(first + q); });
    isa::call<Store>(l.y[0].as<T>(), &y, m, static_cast<const T*>(s.im), static_cast<const T*>(s.re), static_cast<T>(a.scale), static_cast<T>(a.scale), s.pairs);
  });
}

void rfft_kernel(const Launch& l) { l.x[0].dtype == DType::float32 ? real_lines<float>(l) : real_lines<double>(l); }
void fft_kernel(const Launch& l) {
  if (!is_complex(l.x[0].dtype)) return rfft_kernel(l);
  l.x[0].dtype == DType::complex64 ? complex_lines<float>(l) : complex_lines<double>(l);
}
void irfft_kernel(const Launch& l) { l.y[0].dtype == DType::float32 ? signal_lines<float>(l) : signal_lines<double>(l); }

constexpr Entry entries[] = {{"fft", fft_kernel}, {"irfft", irfft_kernel}, {"rfft", rfft_kernel}};

}  // namespace

Entries fft_kernels() { return entries; }

}  // namespace adjoint::cpu
