// Fourier transforms along one dimension: lines are taken several at a time, so that vectors run across them.
#include <algorithm>
#include <map>
#include <mutex>

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

// The lines of x and y along one dimension, in blocks of `lanes`; the last block may be shorter.
class Blocks {
 public:
  Blocks(const View& x, const View& y, int dim, int64_t n) : step_x(x.strides[dim]), step_y(y.strides[dim]), x_(x), y_(y), n_(n) {
    for (int d = 0; d < x.ndim; d++)
      if (d != dim) dims_.push_back(d), lines *= x.sizes[d];
    // Lines that lie densely are taken one by one; others together with their neighbours.
    lanes = step_x == 1 ? 1 : std::clamp<int64_t>((1 << 14) / n, 1, 16);
  }
  int64_t step_x, step_y, lines = 1, lanes;

  // f(block number, its lines), several at a time.
  template <class F> void each(F&& f) const {
    const int64_t blocks = (lines + lanes - 1) / lanes;
    pool::parallel_for(blocks, std::max<int64_t>(1, (1 << 13) / (n_ * lanes)), [&](int64_t first, int64_t last) {
      for (int64_t b = first; b < last; b++) f(b * lanes, std::min(lanes, lines - b * lanes));
    });
  }
  // Where line i begins in x, and in y.
  std::pair<int64_t, int64_t> at(int64_t i) const {
    int64_t p = 0, q = 0;
    for (int k = dims_.size(); k-- > 0;) {
      const int d = static_cast<int>(dims_[k]);
      p += i % x_.sizes[d] * x_.strides[d];
      q += i % x_.sizes[d] * y_.strides[d];
      i /= x_.sizes[d];
    }
    return {p, q};
  }

 private:
  const View &x_, &y_;
  Dims dims_;
  int64_t n_;
};

// What a block works in: the parts of its lanes, and scratch of the plan.
template <class T> struct Space {
  Buffer memory;
  T *re, *im, *wr, *wi;
  Space(const Plan<T>& plan, int64_t n, int64_t lanes) : memory((2 * n * lanes + 2 * plan.work(lanes)) * static_cast<int64_t>(sizeof(T))) {
    re = memory.as<T>();
    im = re + n * lanes;
    wr = im + n * lanes;
    wi = wr + plan.work(lanes);
  }
};

// Element (j, q) of a block of `lanes` lines, which begin at x[starts(q)], as f(x, element of the block).
template <class X, class Starts, class F> void for_elements(X* x, int64_t step, int64_t n, int64_t lanes, Starts&& starts, F&& f) {
  if (lanes == 1 && step == 1) {
    X* line = x + starts(0);
    for (int64_t j = 0; j < n; j++) f(line[j], j);
    return;
  }
  int64_t at[16];
  bool adjacent = true;
  for (int64_t q = 0; q < lanes; q++) {
    at[q] = starts(q);
    adjacent = adjacent && at[q] == at[0] + q;
  }
  for (int64_t j = 0; j < n; j++) {
    X* row = x + at[0] + j * step;
    if (adjacent) for (int64_t q = 0; q < lanes; q++) f(row[q], j * lanes + q);
    else for (int64_t q = 0; q < lanes; q++) f(x[at[q] + j * step], j * lanes + q);
  }
}

template <class T> void complex_lines(const Launch& l) {
  const Fourier& a = l.attrs.as<Fourier>();
  const int64_t n = l.x[0].sizes[a.dim];
  const auto plan = fourier::plan<T>(n);
  const Blocks blocks(l.x[0], l.y[0], a.dim, n);
  const T scale = static_cast<T>(a.scale);
  blocks.each([&](int64_t first, int64_t lanes) {
    const Space<T> s(*plan, n, lanes);
    T *re = a.inverse ? s.im : s.re, *im = a.inverse ? s.re : s.im;   // parts exchanged: the inverse transform
    for_elements(l.x[0].as<const Complex<T>>(), blocks.step_x, n, lanes, [&](int64_t q) { return blocks.at(first + q).first; }, [=](const Complex<T>& x, int64_t i) { re[i] = x.re, im[i] = x.im; });
    plan->run(lanes, s.re, s.im, s.wr, s.wi);
    for_elements(l.y[0].as<Complex<T>>(), blocks.step_y, n, lanes, [&](int64_t q) { return blocks.at(first + q).second; }, [=](Complex<T>& y, int64_t i) { y = {re[i] * scale, im[i] * scale}; });
  });
}

// An even real signal is a complex one of half its size, z_j = x_2j + i x_2j+1, whose transform holds those of both.
template <class T> void real_lines(const Launch& l) {
  const Fourier& a = l.attrs.as<Fourier>();
  const int64_t n = l.x[0].sizes[a.dim], m = n % 2 ? n : n / 2;
  const auto plan = fourier::plan<T>(m), whole = fourier::plan<T>(n);
  const Blocks blocks(l.x[0], l.y[0], a.dim, m);
  const T scale = static_cast<T>(a.scale);
  blocks.each([&](int64_t first, int64_t lanes) {
    const Space<T> s(*plan, m, lanes);
    const auto starts = [&](int64_t q) { return blocks.at(first + q).first; };
    const T* x = l.x[0].as<const T>();
    if (n % 2) {
      for_elements(x, blocks.step_x, m, lanes, starts, [re = s.re, im = s.im](T v, int64_t i) { re[i] = v, im[i] = T(0); });
    } else if (lanes == 1 && blocks.step_x == 1) {
      const T* line = x + starts(0);
      for (int64_t j = 0; j < m; j++) s.re[j] = line[2 * j], s.im[j] = line[2 * j + 1];
    } else {
      for_elements(x, 2 * blocks.step_x, m, lanes, starts, [re = s.re](T v, int64_t i) { re[i] = v; });
      for_elements(x + blocks.step_x, 2 * blocks.step_x, m, lanes, starts, [im = s.im](T v, int64_t i) { im[i] = v; });
    }
    plan->run(lanes, s.re, s.im, s.wr, s.wi);
    for (int64_t q = 0; q < lanes; q++) {
      auto* y = l.y[0].as<Complex<T>>() + blocks.at(first + q).second;
      const T *re = s.re + q, *im = s.im + q, *wr = whole->roots().re.data(), *wi = whole->roots().im.data();
      if (n % 2) {
        for (int64_t k = 0; k <= n / 2; k++) y[k * blocks.step_y] = {re[k * lanes] * scale, im[k * lanes] * scale};
        continue;
      }
      y[0] = (re[0] + im[0]) * scale;
      y[m * blocks.step_y] = (re[0] - im[0]) * scale;
      for (int64_t k = 1; k < m; k++) {   // halves of the even and of i times the odd elements' transform
        const T er = re[k * lanes] + re[(m - k) * lanes], ei = im[k * lanes] - im[(m - k) * lanes], fr = im[k * lanes] + im[(m - k) * lanes], fi = re[(m - k) * lanes] - re[k * lanes];
        y[k * blocks.step_y] = {(er + wr[k] * fr - wi[k] * fi) * (scale / 2), (ei + wr[k] * fi + wi[k] * fr) * (scale / 2)};
      }
    }
  });
}

// The same backwards.
template <class T> void signal_lines(const Launch& l) {
  const Fourier& a = l.attrs.as<Fourier>();
  const int64_t n = a.size, m = n % 2 ? n : n / 2;
  const auto plan = fourier::plan<T>(m), whole = fourier::plan<T>(n);
  const Blocks blocks(l.x[0], l.y[0], a.dim, m);
  const T scale = static_cast<T>(a.scale);
  blocks.each([&](int64_t first, int64_t lanes) {
    const Space<T> s(*plan, m, lanes);
    T *re = s.im, *im = s.re;
    for (int64_t q = 0; q < lanes; q++) {
      const auto* x = l.x[0].as<Complex<T>>() + blocks.at(first + q).first;
      const auto element = [&](int64_t k) {   // what is its own conjugate is real
        const Complex<T> v = x[k * blocks.step_x];
        return k == 0 || 2 * k == n ? Complex<T>(v.re) : v;
      };
      for (int64_t k = 0; k < m; k++) {
        Complex<T> z;
        if (n % 2) z = 2 * k > n ? conj(element(n - k)) : element(k);
        else {
          const Complex<T> v = element(k), other = conj(element(m - k)), w(whole->roots().re[k], -whole->roots().im[k]), odd = w * (v - other);
          z = v + other + Complex<T>(-odd.im, odd.re);
        }
        re[k * lanes + q] = z.re, im[k * lanes + q] = z.im;
      }
    }
    plan->run(lanes, s.re, s.im, s.wr, s.wi);
    for (int64_t q = 0; q < lanes; q++) {
      T* y = l.y[0].as<T>() + blocks.at(first + q).second;
      for (int64_t j = 0; j < m; j++) {
        if (n % 2) y[j * blocks.step_y] = re[j * lanes + q] * scale;
        else y[2 * j * blocks.step_y] = re[j * lanes + q] * scale, y[(2 * j + 1) * blocks.step_y] = im[j * lanes + q] * scale;
      }
    }
  });
}

void fft_kernel(const Launch& l) { real_of(l.x[0].dtype) == DType::float32 ? complex_lines<float>(l) : complex_lines<double>(l); }
void rfft_kernel(const Launch& l) { l.x[0].dtype == DType::float32 ? real_lines<float>(l) : real_lines<double>(l); }
void irfft_kernel(const Launch& l) { l.y[0].dtype == DType::float32 ? signal_lines<float>(l) : signal_lines<double>(l); }

constexpr Entry entries[] = {{"fft", fft_kernel}, {"irfft", irfft_kernel}, {"rfft", rfft_kernel}};

}  // namespace

Entries fft_kernels() { return entries; }

}  // namespace adjoint::cpu
