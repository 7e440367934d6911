// Convolutions of complex numbers as real ones with twice the channels: the real parts of all, then the imaginary parts.
#pragma once
#include <adjoint/core/complex.h>
#include <adjoint/core/convolution.h>

#include "copy.h"
#include "pool.h"

namespace adjoint::cpu {

// The images of a group, or filters and their products with both parts.
template <class R> class Parts {
 public:
  explicit Parts(int64_t count) : memory_(count * static_cast<int64_t>(sizeof(R))) {}
  R* data() const { return memory_.as<R>(); }

  // `units` of `size` numbers.
  void split(const Complex<R>* x, int64_t units, int64_t size) const {
    pool::parallel_for(units * size, grain, [&](int64_t begin, int64_t end) {
      for_pieces(begin, end, size, [&](int64_t at, int64_t from, int64_t n) {
        for (int64_t i = 0; i < n; i++) data()[at + i] = x[from + i].re, data()[at + size + i] = x[from + i].im;
      });
    });
  }
  void join(Complex<R>* y, int64_t units, int64_t size) const {
    pool::parallel_for(units * size, grain, [&](int64_t begin, int64_t end) {
      for_pieces(begin, end, size, [&](int64_t at, int64_t from, int64_t n) {
        for (int64_t i = 0; i < n; i++) y[from + i] = {data()[at + i], data()[at + size + i]};
      });
    });
  }
  // Of w = u + iv rows [u, -v] and [v, u]; or [u, v] and [-v, u], whose transposed matrix multiplies by w.
  void spread(const Complex<R>* w, int64_t groups, int64_t channels, int64_t depth, bool transposed) const {
    for_filters(groups, channels, depth, [&](int64_t from, R* first, R* second) {
      for (int64_t i = 0; i < depth; i++) {
        const R u = w[from + i].re, v = transposed ? -w[from + i].im : w[from + i].im;
        first[i] = second[depth + i] = u, first[depth + i] = -v, second[i] = v;
      }
    });
  }
  // What such rows are, added up.
  void gather(Complex<R>* w, int64_t groups, int64_t channels, int64_t depth) const {
    for_filters(groups, channels, depth, [&](int64_t from, const R* first, const R* second) {
      for (int64_t i = 0; i < depth; i++) w[from + i] = {first[i] - second[depth + i], second[i] + first[depth + i]};
    });
  }

 private:
  static constexpr int64_t grain = 16384;
  // f(place of real parts, first element, count) within a unit each.
  template <class F> static void for_pieces(int64_t begin, int64_t end, int64_t size, F&& f) {
    while (begin < end) {
      const int64_t n = std::min(end - begin, size - begin % size);
      f(begin + begin / size * size, begin, n);
      begin += n;
    }
  }
  template <class F> void for_filters(int64_t groups, int64_t channels, int64_t depth, F&& f) const {
    pool::parallel_for(groups * channels, std::max<int64_t>(1, grain / depth), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; o++) {
        R* const first = data() + (o + o / channels * channels) * 2 * depth;
        f(o * depth, first, first + channels * 2 * depth);
      }
    });
  }
  Buffer memory_;
};

// Whether there are enough products for each number that is laid out anew, filters several times.
inline bool parts_pay(const ConvolutionSizes& g) {
  const int64_t images = g.batch * g.groups, filters = g.groups * g.out_channels * g.depth();
  return !g.is_pointwise() && filters * g.batch * g.out_plane() >= 8 * images * (g.in_channels * g.in_plane() + g.out_channels * g.out_plane()) + 128 * filters;
}

// run(sizes, x, weight, y) of real numbers.
template <bool writes_x, bool writes_weight, class R, class F> void convolve_parts(const ConvolutionSizes& g, Complex<R>* x, Complex<R>* weight, Complex<R>* y, F&& run) {
  const int64_t images = g.batch * g.groups, in = g.in_channels * g.in_plane(), out = g.out_channels * g.out_plane(), depth = g.depth();
  ConvolutionSizes wide = g;
  wide.in_channels *= 2, wide.out_channels *= 2;
  const Parts<R> left(2 * images * in), right(4 * g.groups * g.out_channels * depth), result(2 * images * out);
  if (!writes_x) left.split(x, images, in);
  if (!writes_weight) right.spread(weight, g.groups, g.out_channels, depth, writes_x);
  if (writes_x || writes_weight) result.split(y, images, out);
  run(wide, left.data(), right.data(), result.data());
  if (writes_x) left.join(x, images, in);
  else if (writes_weight) right.gather(weight, g.groups, g.out_channels, depth);
  else result.join(y, images, out);
}

}  // namespace adjoint::cpu
