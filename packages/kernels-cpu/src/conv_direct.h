// Convolutions without a matrix. Of an image laid out for them (conv_image.h), row q of the matrix begins at an offset that depends on q
// alone, for one row of outputs, or, where they fill most of it, for the whole plane as it lies in the padded image: what stands between the
// rows is computed too, and left.
#pragma once
#include "conv_image.h"
#include "copy.h"
#include "isa.h"
#include "pool.h"
#include "small_matmul.h"

namespace adjoint::cpu {

// Some outputs (i, j, k) of a convolution: where they read, and where they are written.
struct Outputs {
  static constexpr int64_t span = 256;   // columns of a plane at a time
  static int64_t rounded(int64_t n) { return (n + 15) / 16 * 16; }

  int64_t count[3];
  int64_t to[3], first;         // elements from one to the next in a channel of the result, and the first one
  std::vector<int64_t> taps;    // where the first one reads
  int64_t row, plane;           // of the image
  int64_t columns = 0;          // to compute at a time
  bool by_plane = false;
  std::vector<int64_t> reads = {}, writes = {};   // where each row of outputs begins in the image and in the result

  void prepare() {
    const int64_t all = (count[0] - 1) * plane + (count[1] - 1) * row + count[2];
    by_plane = 4 * rounded(all) <= 5 * rows() * rounded(count[2]);
    columns = by_plane ? all : count[2];
    for (int64_t i = 0; i < count[0]; i++)
      for (int64_t j = 0; j < count[1]; j++) reads.push_back(i * plane + j * row), writes.push_back(first + i * to[0] + j * to[1]);
  }
  int64_t rows() const { return count[0] * count[1]; }
  int64_t units() const { return by_plane ? (columns + span - 1) / span : rows(); }
  int64_t width() const { return by_plane ? span : rounded(count[2]); }
};

template <class T> void write_spaced(const T* from, int64_t n, T* to, int64_t step) {
  if (step == 1) PaddedImage::copy_row(from, n, to);
  else for (int64_t k = 0; k < n; k++) to[k * step] = from[k];
}

template <class T> struct Direct {
  const Outputs& outputs;
  Matrix<const T> filters;
  const T* in;
  T *strip, *y;                  // of (channels, width), and the result
  int64_t channels, channel;     // elements of one in the result

  void unit(int64_t u) const { outputs.by_plane ? columns(u * Outputs::span) : row(u); }

 private:
  void compute(int64_t begin, int64_t width, Matrix<T> to) const {
    SmallMatmul<T, ScatteredRows<T>>::run(filters, {in + begin, outputs.taps.data()}, to, channels, width, static_cast<int64_t>(outputs.taps.size()), false);
  }
  void row(int64_t r) const {
    const int64_t width = outputs.width();
    if (width == outputs.count[2] && outputs.to[2] == 1) return compute(outputs.reads[r], width, {y + outputs.writes[r], channel, 1});
    compute(outputs.reads[r], width, {strip, width, 1});
    for (int64_t c = 0; c < channels; c++) write_spaced(strip + c * width, outputs.count[2], y + c * channel + outputs.writes[r], outputs.to[2]);
  }
  // The outputs that lie in columns [begin, begin + span) of the plane.
  void columns(int64_t begin) const {
    const int64_t last = std::min(outputs.columns, begin + Outputs::span), width = Outputs::rounded(last - begin);
    compute(begin, width, {strip, width, 1});
    const auto after = std::upper_bound(outputs.reads.begin(), outputs.reads.end(), begin - outputs.count[2]);
    for (int64_t r = after - outputs.reads.begin(); r < outputs.rows() && outputs.reads[r] < last; r++) {
      const int64_t at = outputs.reads[r], from = std::max(at, begin), n = std::min(at + outputs.count[2], last) - from;
      for (int64_t c = 0; c < channels; c++) write_spaced(strip + c * width + (from - begin), n, y + c * channel + outputs.writes[r] + (from - at) * outputs.to[2], outputs.to[2]);
    }
  }
};

// Where it is worth it: few columns waste the vectors, and an image that is visited row by row must stay in the second-level cache.
template <class T> bool is_direct(const Outputs& o, const PaddedImage& image, int64_t channels) {
  constexpr int64_t row_bytes = 1 << 19, plane_bytes = 1 << 22;
  return o.columns >= 8 && channels * image.size * static_cast<int64_t>(sizeof(T)) <= (o.by_plane ? plane_bytes : row_bytes);
}

// One convolution of every image and group: `from` holds in_channels channels of each, y out_channels of `channel` elements. The filters of a
// group, for the several sets of outputs one after the other, are matrices (out_channels, taps).
template <class T>
void convolve_direct(const PaddedImage& image, const std::vector<Outputs>& sets, int64_t batch, int64_t groups, const T* from, int64_t in_channels, const T* filters, T* y, int64_t out_channels, int64_t channel) {
  int64_t most = 0, width = 0, depth = 0;
  for (const Outputs& o : sets) most = std::max(most, o.units()), width = std::max(width, o.width()), depth += static_cast<int64_t>(o.taps.size());
  const int64_t panels = batch * groups < 8 ? std::min<int64_t>(4, most) : 1, plane = image.in[0] * image.in[1] * image.in[2];
  pool::parallel(batch * groups * panels, [&](int64_t unit) {
    const int64_t n = unit / panels, panel = unit % panels;
    const Buffer memory((in_channels * image.size + PaddedImage::overrun) * static_cast<int64_t>(sizeof(T))), strip(out_channels * width * static_cast<int64_t>(sizeof(T)));
    image.fill(from + n * in_channels * plane, in_channels, memory.as<T>());
    const T* matrix = filters + n % groups * out_channels * depth;
    for (const Outputs& o : sets) {
      const auto taps = static_cast<int64_t>(o.taps.size());
      const Direct<T> direct{o, {matrix, taps, 1}, memory.as<T>(), strip.as<T>(), y + n * out_channels * channel, out_channels, channel};
      for (int64_t u = o.units() * panel / panels; u < o.units() * (panel + 1) / panels; u++) direct.unit(u);
      matrix += out_channels * taps;
    }
  });
}

// The gradient of a few filters: sums (channels, n) += what they are, over rows of outputs, of y times the image behind each tap. What is at the
// end of a row is a vector that begins earlier, without the elements that were there: nothing is multiplied that does not belong.
template <class T> struct TapProducts {
  static constexpr int64_t shortest = 16 / sizeof(T);   // row
  template <int W> [[gnu::always_inline]] static inline void run(const T* in, const int64_t* taps, int64_t n, const int64_t* reads, int64_t rows, int64_t width, const T* y, int64_t channels, T* sums) {
    for (int64_t c = 0; c < channels; c++, y += rows * width, sums += n) {
      if (width * static_cast<int64_t>(sizeof(T)) >= W) all<W>(in, taps, n, reads, rows, width, y, sums);
      else all<16>(in, taps, n, reads, rows, width, y, sums);
    }
  }

 private:
  template <int W> [[gnu::always_inline]] static inline void all(const T* in, const int64_t* taps, int64_t n, const int64_t* reads, int64_t rows, int64_t width, const T* y, T* sums) {
    int64_t t = 0;
    for (; t + 9 <= n; t += 9) tile<W, 9>(in, taps + t, reads, rows, width, y, sums + t);
    for (; t + 4 <= n; t += 4) tile<W, 4>(in, taps + t, reads, rows, width, y, sums + t);
    for (; t < n; t++) tile<W, 1>(in, taps + t, reads, rows, width, y, sums + t);
  }
  template <int W, int count> [[gnu::always_inline]] static inline void tile(const T* in, const int64_t* taps, const int64_t* reads, int64_t rows, int64_t width, const T* y, T* sums) {
    typedef T Vector __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
    typedef std::conditional_t<sizeof(T) == 4, int32_t, int64_t> Bits __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
    constexpr int64_t lanes = W / sizeof(T);
    Vector sum[count];
#pragma GCC unroll 9
    for (int i = 0; i < count; i++) sum[i] = Vector{};
    Bits whole, end;
    for (int64_t l = 0; l < lanes; l++) whole[l] = -1, end[l] = l < lanes - width % lanes ? 0 : -1;
    for (int64_t r = 0; r < rows; r++, y += width)
      for (int64_t k = 0; k < width; k += lanes) {
        const bool fits = k + lanes <= width;
        const int64_t at = fits ? k : width - lanes;
        const Bits mask = fits ? whole : end;
        const Vector v = reinterpret_cast<Vector>(*reinterpret_cast<const Bits*>(y + at) & mask);
        const T* const row = in + reads[r] + at;
#pragma GCC unroll 9
        for (int i = 0; i < count; i++) sum[i] += v * reinterpret_cast<Vector>(*reinterpret_cast<const Bits*>(row + taps[i]) & mask);
      }
#pragma GCC unroll 9
    for (int i = 0; i < count; i++)
      for (int64_t l = 0; l < lanes; l++) sums[i] += sum[i][l];
  }
};

}  // namespace adjoint::cpu
