// Running products, and logarithms of running sums of exponentials, of complex numbers: in double, some rows of a strip of columns at a time.
#include "complex_scans.h"

#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <cmath>

#include "complex_forms.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t most = 512, widest = 128;  // elements, and columns, of a tile

// What stands in row r of a tile is behind the row before it, and what came of the tile before is in front.
struct Tile {
  int64_t width, n = 0;  // columns, elements
  alignas(64) double re[most], im[most];
};

// step(tile): from numbers to results; begin(tile) at the first one of a line.
template <class R, class State> void scan_tiles(const Lines& l, bool reverse, const Complex<R>* x, Complex<R>* y) {
  const int64_t wide = std::min(l.inner, widest), strips = (l.inner + wide - 1) / wide;
  pool::parallel_for(l.outer * strips, std::max<int64_t>(1, 4096 / (l.n * wide)), [&](int64_t first, int64_t last) {
    State state;
    Tile t;
    for (int64_t u = first; u < last; u++) {
      const int64_t column = u % strips * wide, start = u / strips * l.n * l.inner + column;
      t.width = std::min(wide, l.inner - column);
      const int64_t rows = most / t.width;
      state.begin(t.width);
      for (int64_t i = 0; i < l.n; i += rows) {
        const int64_t m = std::min(rows, l.n - i);
        const auto place = [&](int64_t r) { return start + (reverse ? l.n - 1 - i - r : i + r) * l.inner; };
        t.n = m * t.width;
        for (int64_t r = 0; r < m; r++)
          for (int64_t c = 0, p = place(r); c < t.width; c++) t.re[r * t.width + c] = x[p + c].re, t.im[r * t.width + c] = x[p + c].im;
        state.step(t);
        for (int64_t r = 0; r < m; r++)
          for (int64_t c = 0, p = place(r); c < t.width; c++) y[p + c] = {static_cast<R>(t.re[r * t.width + c]), static_cast<R>(t.im[r * t.width + c])};
      }
    }
  });
}

// The last row goes in front.
void carry(double* x, const Tile& t) { std::copy_n(x + t.n, t.width, x); }

struct Products {
  double re[most + widest], im[most + widest];
  void begin(int64_t width) {
    std::fill_n(re, width, 1.);
    std::fill_n(im, width, 0.);
  }
  void step(Tile& t) {
    for (int64_t i = 0; i < t.n; i++) {
      const Complex<double> y = Complex<double>(re[i], im[i]) * Complex<double>(t.re[i], t.im[i]);
      t.re[i] = re[i + t.width] = y.re, t.im[i] = im[i + t.width] = y.im;
    }
    carry(re, t), carry(im, t);
  }
};

// e^(v - the larger of v and the largest before), as a direction for v and as a factor for the sum before.
struct Terms {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const double* re, const double* im, const double* before, double* factor, double* cos, double* sin, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
      const double distance = math::abs(re[i] - before[i]), e = forms::exponential(distance < 700 ? -distance : -700);
      const auto [c, s] = forms::circle(im[i]);
      const bool next = re[i] > before[i];
      const double scale = next ? 1 : e;
      factor[i] = next ? e : 1;
      cos[i] = scale * c, sin[i] = scale * s;
    }
  }
};
bool vanishes(double re, double im) { return (re == 0) & (im == 0); }

struct Logarithms {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(double* re, double* im, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
      const auto [l, angle] = forms::logarithm(re[i], im[i]);
      re[i] = l, im[i] = angle;
    }
  }
};
// The real parts decide what is largest, and its imaginary part which turns of 2 pi are kept.
struct LogSums {
  double largest[most + widest], re[most + widest], im[most + widest], angle[most + widest], factor[most], cos[most], sin[most];
  void begin(int64_t width) {
    std::fill_n(largest, width, -math::infinity<double>);
    for (double* x : {re, im, angle}) std::fill_n(x, width, 0.);
  }
  void step(Tile& t) {
    const int64_t w = t.width;
    for (int64_t i = 0; i < t.n; i++) largest[i + w] = std::max(largest[i], t.re[i]);
    isa::call<Terms, const double*, const double*, const double*, double*, double*, double*, int64_t>(t.re, t.im, largest, factor, cos, sin, t.n);
    for (int64_t i = 0; i < t.n; i++) re[i + w] = re[i] * factor[i] + cos[i], im[i + w] = im[i] * factor[i] + sin[i];
    std::copy_n(re + w, t.n, cos);
    std::copy_n(im + w, t.n, sin);
    isa::call<Logarithms, double*, double*, int64_t>(cos, sin, t.n);
    for (int64_t i = 0; i < t.n; i++) {
      constexpr double turn = 6.283185307179586, turns = 1 / turn;
      const bool nothing = vanishes(re[i + w], im[i + w]);
      const double given = t.re[i] > largest[i] ? t.im[i] : angle[i];
      const double found = sin[i] + turn * (((given - sin[i]) * turns + math::round_magic<double>) - math::round_magic<double>);
      angle[i + w] = nothing ? given : found;
      t.re[i] = nothing ? largest[i + w] : largest[i + w] + cos[i], t.im[i] = angle[i + w];
    }
    for (double* x : {largest, re, im, angle}) carry(x, t);
  }
};

// Lines that lie dense.
template <class R> void multiply_rows(const Lines& l, bool reverse, const Complex<R>* x, Complex<R>* y) {
  const int64_t step = reverse ? -1 : 1, start = reverse ? l.n - 1 : 0;
  pool::parallel_for(l.outer, std::max<int64_t>(1, 32768 / l.n), [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; r++) {
      const Complex<R>* from = x + r * l.n + start;
      Complex<R>* to = y + r * l.n + start;
      Complex<double> product(1);
      for (int64_t i = 0; i < l.n; i++, from += step, to += step) *to = Complex<R>(product *= Complex<double>(*from));
    }
  });
}

// The logarithms of sums of exponentials of lines: what is largest in each column of a strip first.
template <class R> void log_sums(const Lines& l, const Complex<R>* x, Complex<R>* y) {
  const int64_t wide = std::min(l.inner, widest), strips = (l.inner + wide - 1) / wide;
  pool::parallel_for(l.outer * strips, std::max<int64_t>(1, 4096 / (l.n * wide)), [&](int64_t first, int64_t last) {
    double re[most], im[most], before[most], factor[most], cos[most], sin[most], largest[widest], sum[2][widest];
    for (int64_t u = first; u < last; u++) {
      const int64_t column = u % strips * wide, width = std::min(wide, l.inner - column), rows = most / width, start = u / strips * l.n * l.inner + column;
      std::fill_n(largest, width, -math::infinity<double>);
      for (int k = 0; k < 2; k++) std::fill_n(sum[k], width, 0.);
      for (int64_t i = 0, p = start; i < l.n; i++, p += l.inner)
        for (int64_t c = 0; c < width; c++) largest[c] = std::max(largest[c], static_cast<double>(x[p + c].re));
      for (int64_t i = 0; i < rows * width; i++) before[i] = largest[i % width];
      for (int64_t i = 0; i < l.n; i += rows) {
        const int64_t m = std::min(rows, l.n - i);
        for (int64_t r = 0, k = 0; r < m; r++)
          for (int64_t c = 0, p = start + (i + r) * l.inner; c < width; c++, k++) re[k] = x[p + c].re, im[k] = x[p + c].im;
        isa::call<Terms, const double*, const double*, const double*, double*, double*, double*, int64_t>(re, im, before, factor, cos, sin, m * width);
        for (int64_t r = 0, k = 0; r < m; r++)
          for (int64_t c = 0; c < width; c++, k++) sum[0][c] += cos[k], sum[1][c] += sin[k];
      }
      std::copy_n(sum[0], width, re);
      std::copy_n(sum[1], width, im);
      isa::call<Logarithms, double*, double*, int64_t>(re, im, width);
      for (int64_t c = 0; c < width; c++) {
        const bool nothing = largest[c] == -math::infinity<double> || vanishes(sum[0][c], sum[1][c]);
        y[u / strips * l.inner + column + c] = {static_cast<R>(nothing ? -math::infinity<double> : re[c] + largest[c]), nothing ? R(0) : static_cast<R>(im[c])};
      }
    }
  });
}
// Real parts above `lowest` and below infinity, imaginary ones that are angles.
template <class R> bool are_moderate(const Complex<R>* x, int64_t n, R lowest) {
  bool good = true;
  for (int64_t i = 0; i < n; i++) good &= (x[i].re >= lowest) & (x[i].re < math::infinity<R>) & (math::abs(x[i].im) < static_cast<R>(math::trig_limit<double>));
  return good;
}

template <class R> bool scan(const Launch& l, bool of_exponentials) {
  const Scan& a = l.attrs.as<Scan>();
  const Contiguous in(l.x[0]);
  const Complex<R>* x = in.as<const Complex<R>>();
  const Lines lines(l.x[0], a.dim);
  if (of_exponentials && !are_moderate(x, l.x[0].numel, std::numeric_limits<R>::lowest())) return false;
  if (of_exponentials) scan_tiles<R, LogSums>(lines, a.reverse, x, l.y[0].as<Complex<R>>());
  else if (lines.inner == 1) multiply_rows(lines, a.reverse, x, l.y[0].as<Complex<R>>());
  else scan_tiles<R, Products>(lines, a.reverse, x, l.y[0].as<Complex<R>>());
  return true;
}

template <class R> bool reduce(const Launch& l) {
  const Dims& dims = l.attrs.as<Reduce>().dims;
  const View& x = l.x[0];
  if (dims.empty()) return false;
  const int first = static_cast<int>(dims[0]), last = first + dims.size();
  for (int d = first; d < last; d++)
    if (dims[d - first] != d) return false;
  if (x.numel == 0 || !l.y[0].contiguous()) return false;
  const Contiguous in(x);
  if (!are_moderate(in.as<const Complex<R>>(), x.numel, -math::infinity<R>)) return false;
  log_sums(Lines(x, first, last), in.as<const Complex<R>>(), l.y[0].as<Complex<R>>());
  return true;
}

}  // namespace

bool log_sums_of_complex(const Launch& l) { return l.x[0].dtype == DType::complex64 ? reduce<float>(l) : l.x[0].dtype == DType::complex128 && reduce<double>(l); }
bool scan_complex(const Launch& l, bool of_exponentials) {
  if (l.x[0].numel == 0 || !is_complex(l.x[0].dtype) || l.y[0].dtype != l.x[0].dtype || !l.y[0].contiguous()) return false;
  return l.x[0].dtype == DType::complex64 ? scan<float>(l, of_exponentials) : scan<double>(l, of_exponentials);
}

}  // namespace adjoint::cpu
