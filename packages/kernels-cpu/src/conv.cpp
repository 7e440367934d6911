// Convolutions as products of matrices: the elements under each kernel position become the rows of a matrix, a panel of
// outputs or a few channels at a time, so that it stays in the second-level cache.
#include "kernels.h"
#include "lines.h"
#include "matmul.h"
#include "pool.h"

#include <adjoint/core/convolution.h>

#include <cstring>
#include <vector>

namespace adjoint::cpu {

namespace {

constexpr int64_t panel_bytes = 1 << 18;

// Output rows a panel, so that its matrix has about panel_bytes.
template <class T> int64_t rows_per_panel(const ConvolutionSizes& g) {
  return std::clamp<int64_t>(panel_bytes / (g.depth() * g.out[2] * static_cast<int64_t>(sizeof(T)) + 1), 1, g.out_rows());
}

// Where columns are visited one by one, no matrix is needed: of an image with its padding in memory, row q of the matrix begins at an
// offset that depends on q alone. That holds for one row of outputs, and, where rows follow each other without a step, for the whole plane
// as it lies in the padded image: what stands between the rows is computed too, and left.
constexpr int64_t padded_bytes = 1 << 19;  // in the second-level cache
constexpr int64_t plane_bytes = 1 << 22;   // where a whole plane is done span by span, which stays there
constexpr int64_t overrun = 64;            // elements behind it, which the last tile may read
constexpr int64_t span = 256;              // columns of a plane at a time

struct Padded {
  int64_t high, wide, size;   // of a channel's plane
  int64_t columns, row_step;  // to compute at a time, as far as outputs go; from one row of outputs to the next, 0 if that varies
  explicit Padded(const ConvolutionSizes& g) : high(g.in[1] + 2 * g.padding[1]), wide(g.in[2] + 2 * g.padding[2]), size((g.in[0] + 2 * g.padding[0]) * high * wide) {
    const int64_t plane = ((g.out[0] - 1) * high + g.out[1] - 1) * wide + g.out[2];
    const bool even = g.stride[0] == 1 && g.stride[1] == 1 && 4 * rounded(plane) <= 5 * g.out_rows() * rounded(g.out[2]);
    columns = even ? plane : g.out[2];
    row_step = even ? wide : 0;
  }
  static int64_t rounded(int64_t n) { return (n + 15) / 16 * 16; }
  int64_t row(const ConvolutionSizes& g, int64_t r) const { return (r / g.out[1] * g.stride[0] * high + r % g.out[1] * g.stride[1]) * wide; }
};

template <class T> bool is_direct(const ConvolutionSizes& g) {
  const Padded p(g);
  return g.stride[2] == 1 && g.out_channels >= 4 && p.columns >= 8 && g.in_channels * p.size * static_cast<int64_t>(sizeof(T)) <= (p.row_step ? plane_bytes : padded_bytes);
}

// Where the rows of the matrix begin.
std::vector<int64_t> tap_offsets(const ConvolutionSizes& g, const Padded& p) {
  std::vector<int64_t> offsets;
  for (int64_t c = 0; c < g.in_channels; c++)
    for (int64_t i = 0; i < g.kernel[0]; i++)
      for (int64_t j = 0; j < g.kernel[1]; j++)
        for (int64_t k = 0; k < g.kernel[2]; k++) offsets.push_back(c * p.size + (i * g.dilation[0] * p.high + j * g.dilation[1]) * p.wide + k * g.dilation[2]);
  return offsets;
}

template <class T> void fill_padded(const ConvolutionSizes& g, const Padded& p, const T* from, T* in) {
  std::fill_n(in, g.in_channels * p.size + overrun, T(0));
  for (int64_t c = 0; c < g.in_channels; c++)
    for (int64_t i = 0; i < g.in[0]; i++)
      for (int64_t j = 0; j < g.in[1]; j++, from += g.in[2]) std::copy_n(from, g.in[2], in + c * p.size + ((i + g.padding[0]) * p.high + j + g.padding[1]) * p.wide + g.padding[2]);
}

template <class T> Buffer matrix_of(const ConvolutionSizes& g, int64_t rows) { return Buffer((g.depth() * rows * g.out[2] + overrun) * static_cast<int64_t>(sizeof(T))); }
template <class T> Buffer padded_of(const ConvolutionSizes& g, const Padded& p) { return Buffer((g.in_channels * p.size + overrun) * static_cast<int64_t>(sizeof(T))); }

template <class T> struct Direct {
  const ConvolutionSizes& g;
  const Padded& p;
  const std::vector<int64_t>& offsets;
  Matrix<const T> filters;
  const T* in;
  T *strip, *y;   // of (out_channels, span) and (out_channels, plane)

  void compute(int64_t first, int64_t width, Matrix<T> to) const {
    isa::call<SmallMatmul<T, ScatteredRows<T>>>(filters, ScatteredRows<T>{in + first, offsets.data()}, to, g.out_channels, width, g.depth());
  }
  // One row of outputs.
  void row(int64_t r) const {
    const int64_t width = Padded::rounded(g.out[2]);
    T* const to = y + r * g.out[2];
    if (width == g.out[2]) return compute(p.row(g, r), width, {to, g.out_plane(), 1});
    compute(p.row(g, r), width, {strip, width, 1});
    for (int64_t c = 0; c < g.out_channels; c++) std::copy_n(strip + c * width, g.out[2], to + c * g.out_plane());
  }
  // The outputs of rows [begin, end) that lie in columns [first, first + span) of the plane.
  void columns(int64_t first, int64_t begin, int64_t end) const {
    const int64_t last = std::min(p.columns, first + span);
    compute(first, std::min(span, Padded::rounded(last - first)), {strip, span, 1});
    for (int64_t r = begin; r < end; r++) {
      const int64_t at = p.row(g, r), from = std::max(at, first), n = std::min(at + g.out[2], last) - from;
      for (int64_t c = 0; n > 0 && c < g.out_channels; c++) std::copy_n(strip + c * span + (from - first), n, y + c * g.out_plane() + r * g.out[2] + (from - at));
    }
  }
};

template <class T> void forward_direct(const ConvolutionSizes& g, const T* x, const T* weight, T* y) {
  const Padded p(g);
  const std::vector<int64_t> offsets = tap_offsets(g, p);
  const int64_t units = p.row_step ? (p.columns + span - 1) / span : g.out_rows(), panels = g.batch * g.groups < 8 ? std::min<int64_t>(4, units) : 1;
  const int64_t width = p.row_step ? span : Padded::rounded(g.out[2]);
  pool::parallel(g.batch * g.groups * panels, [&](int64_t unit) {
    const int64_t image = unit / panels, begin = units * (unit % panels) / panels, end = units * (unit % panels + 1) / panels;
    const Buffer memory = padded_of<T>(g, p), strip(g.out_channels * width * static_cast<int64_t>(sizeof(T)));
    fill_padded(g, p, x + image * g.in_channels * g.in_plane(), memory.as<T>());
    const Matrix<const T> filters{weight + image % g.groups * g.out_channels * g.depth(), g.depth(), 1};
    const Direct<T> direct{g, p, offsets, filters, memory.as<T>(), strip.as<T>(), y + image * g.out_channels * g.out_plane()};
    for (int64_t u = begin; u < end; u++) {
      if (p.row_step) direct.columns(u * span, 0, g.out_rows());
      else direct.row(u);
    }
  });
}

// The gradient of x is a convolution of y's with the filters from their other end, as far as no step leaves outputs out.
bool is_convolution(const ConvolutionSizes& g, ConvolutionSizes& back) {
  back = g;
  std::swap(back.in_channels, back.out_channels);
  for (int d = 0; d < 3; d++) {
    back.in[d] = g.out[d];
    back.out[d] = g.in[d];
    back.padding[d] = g.dilation[d] * (g.kernel[d] - 1) - g.padding[d];
    if (g.stride[d] != 1 || back.padding[d] < 0) return false;
  }
  return true;
}
template <class T> void from_other_end(const ConvolutionSizes& g, const T* weight, T* to) {
  for (int64_t group = 0; group < g.groups; group++)
    for (int64_t c = 0; c < g.in_channels; c++)
      for (int64_t o = 0; o < g.out_channels; o++, to += g.taps()) {
        const T* from = weight + ((group * g.out_channels + o) * g.in_channels + c) * g.taps();
        std::reverse_copy(from, from + g.taps(), to);
      }
}

// The matrix (channels x taps, outputs) of output rows [begin, end), from a padded image; up to `overrun` elements behind it are written too.
template <class T> void unfold(const ConvolutionSizes& g, const Padded& p, const std::vector<int64_t>& offsets, int64_t begin, int64_t end, const T* in, T* to) {
  constexpr int64_t piece = 16;
  const int64_t step = g.stride[2], width = g.out[2];
  std::vector<int64_t> rows;
  for (int64_t r = begin; r < end; r++) rows.push_back(p.row(g, r));
  for (const int64_t offset : offsets)
    for (const int64_t row : rows) {
      const T* const from = in + offset + row;
      if (step > 1) for (int64_t i = 0; i < width; i++) to[i] = from[i * step];
      else if (width > 4 * piece) std::copy_n(from, width, to);
      else for (int64_t i = 0; i < width; i += piece) std::memcpy(static_cast<void*>(to + i), from + i, piece * sizeof(T));
      to += width;
    }
}
// A kernel of one element.
template <class T> void forward_pointwise(const ConvolutionSizes& g, const T* x, const T* weight, T* y) {
  const int64_t rows = rows_per_panel<T>(g), panels = (g.out_rows() + rows - 1) / rows, plane = g.out_plane(), depth = g.depth();
  pool::parallel(g.batch * g.groups * panels, [&](int64_t unit) {
    const int64_t image = unit / panels, begin = unit % panels * rows * g.out[2], end = std::min(plane, begin + rows * g.out[2]);
    const Matrix<const T> filters{weight + image % g.groups * g.out_channels * depth, depth, 1};
    multiply<T>(filters, {x + image * g.in_channels * plane + begin, plane, 1}, {y + image * g.out_channels * plane + begin, plane, 1}, g.out_channels, end - begin, depth);
  });
}

template <class T> void forward(const ConvolutionSizes& g, const T* x, const T* weight, T* y) {
  if (g.is_pointwise()) return forward_pointwise<T>(g, x, weight, y);
  if constexpr (std::is_floating_point_v<T>)
    if (is_direct<T>(g)) return forward_direct<T>(g, x, weight, y);
  const Padded p(g);
  const std::vector<int64_t> offsets = tap_offsets(g, p);
  const int64_t rows = rows_per_panel<T>(g), panels = (g.out_rows() + rows - 1) / rows, shares = g.batch * g.groups < 8 ? std::min<int64_t>(4, panels) : 1;
  pool::parallel(g.batch * g.groups * shares, [&](int64_t unit) {
    const int64_t image = unit / shares, plane = g.out_plane(), depth = g.depth();
    const Matrix<const T> filters{weight + image % g.groups * g.out_channels * depth, depth, 1};
    const Buffer in = padded_of<T>(g, p), matrix = matrix_of<T>(g, rows);
    fill_padded(g, p, x + image * g.in_channels * g.in_plane(), in.as<T>());
    for (int64_t u = panels * (unit % shares) / shares; u < panels * (unit % shares + 1) / shares; u++) {
      const int64_t begin = u * rows, end = std::min(g.out_rows(), begin + rows), width = (end - begin) * g.out[2];
      unfold(g, p, offsets, begin, end, in.as<T>(), matrix.as<T>());
      multiply<T>(filters, {matrix.as<T>(), width, 1}, {y + image * g.out_channels * plane + begin * g.out[2], plane, 1}, g.out_channels, width, depth);
    }
  });
}

// Adds rows [begin, end) of the matrix (channels x taps, outputs), which lie at `from`, to x.
template <class T> void fold(const ConvolutionSizes& g, int64_t begin, int64_t end, const T* from, T* x) {
  const int64_t step = g.stride[2];
  for (int64_t t = begin; t < end; t++) {
    const int64_t tap = t % g.taps(), c = tap % g.kernel[2], b = tap / g.kernel[2] % g.kernel[1], a = tap / g.kernel[2] / g.kernel[1];
    int64_t first, last;
    g.inside(2, c, first, last);
    T* const plane = x + t / g.taps() * g.in_plane();
    for (int64_t r = 0; r < g.out_rows(); r++, from += g.out[2]) {
      const int64_t i = r / g.out[1] * g.stride[0] - g.padding[0] + a * g.dilation[0], j = r % g.out[1] * g.stride[1] - g.padding[1] + b * g.dilation[1];
      if (i < 0 || i >= g.in[0] || j < 0 || j >= g.in[1]) continue;
      T* const row = plane + (i * g.in[1] + j) * g.in[2] + first * step - g.padding[2] + c * g.dilation[2];
      if (step == 1) for (int64_t k = first; k < last; k++) row[k - first] += from[k];
      else for (int64_t k = first; k < last; k++) row[(k - first) * step] += from[k];
    }
  }
}

template <class T> void backward_input(const ConvolutionSizes& g, T* x, const T* weight, const T* y) {
  if constexpr (std::is_floating_point_v<T>)
    if (ConvolutionSizes back = g; !g.is_pointwise() && is_convolution(g, back) && is_direct<T>(back)) {
      const Buffer filters(g.groups * g.out_channels * g.depth() * static_cast<int64_t>(sizeof(T)));
      from_other_end(g, weight, filters.as<T>());
      return forward_direct<T>(back, y, filters.as<T>(), x);
    }
  const int64_t plane = g.out_plane(), depth = g.depth();
  const int64_t rows = std::max<int64_t>(16, panel_bytes / (plane * static_cast<int64_t>(sizeof(T)) + 1));   // of the matrix at a time
  const int64_t channels = std::clamp<int64_t>(rows / g.taps(), 1, g.in_channels);
  const int64_t panels = (g.in_channels + channels - 1) / channels;
  pool::parallel(g.batch * g.groups * panels, [&](int64_t unit) {
    const int64_t image = unit / panels, group = image % g.groups, first = unit % panels * channels, count = std::min(channels, g.in_channels - first);
    T* in = x + (image * g.in_channels + first) * g.in_plane();
    const Matrix<const T> filters{weight + group * g.out_channels * depth + first * g.taps(), 1, depth}, out{y + image * g.out_channels * plane, plane, 1};
    if (g.is_pointwise()) return multiply<T>(filters, out, {in, plane, 1}, count, plane, g.out_channels);
    std::fill_n(in, count * g.in_plane(), T(0));
    const int64_t block = std::min(count * g.taps(), rows);
    const Buffer matrix(block * plane * static_cast<int64_t>(sizeof(T)));
    for (int64_t t = 0; t < count * g.taps(); t += block) {
      const int64_t n = std::min(block, count * g.taps() - t);
      multiply<T>({filters.at(t, 0), 1, depth}, out, {matrix.as<T>(), plane, 1}, n, plane, g.out_channels);
      fold(g, t, t + n, matrix.as<T>(), in);
    }
  });
}

// Images are summed in order within a few parts that the shape decides, and the parts in order.
template <class T> void backward_weight(const ConvolutionSizes& g, const T* x, T* weight, const T* y) {
  const int64_t parts = std::min<int64_t>(g.batch, 8), size = g.groups * g.out_channels * g.depth(), depth = g.depth(), plane = g.out_plane();
  const int64_t rows = rows_per_panel<T>(g);
  const Padded p(g);
  const std::vector<int64_t> offsets = tap_offsets(g, p);
  const Buffer sums(parts * size * static_cast<int64_t>(sizeof(T)));
  pool::parallel(parts * g.groups, [&](int64_t unit) {
    const int64_t part = unit / g.groups, group = unit % g.groups;
    T* sum = sums.as<T>() + part * size + group * g.out_channels * depth;
    const Buffer in = padded_of<T>(g, p), matrix = matrix_of<T>(g, rows);
    bool begun = false;
    for (int64_t n = g.batch * part / parts; n < g.batch * (part + 1) / parts; n++) {
      const T* const image = x + (n * g.groups + group) * g.in_channels * g.in_plane();
      const T* const out = y + (n * g.groups + group) * g.out_channels * plane;
      if (g.is_pointwise()) {
        blas::gemm(false, true, g.out_channels, depth, plane, out, plane, image, plane, sum, depth, T(begun ? 1 : 0));
        begun = true;
        continue;
      }
      fill_padded(g, p, image, in.as<T>());
      for (int64_t begin = 0; begin < g.out_rows(); begin += rows, begun = true) {
        const int64_t end = std::min(g.out_rows(), begin + rows), width = (end - begin) * g.out[2];
        unfold(g, p, offsets, begin, end, in.as<T>(), matrix.as<T>());
        blas::gemm(false, true, g.out_channels, depth, width, out + begin * g.out[2], plane, matrix.as<T>(), width, sum, depth, T(begun ? 1 : 0));
      }
    }
  });
  pool::parallel_for(size, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      T total = sums.as<T>()[i];
      for (int64_t p = 1; p < parts; p++) total = total + sums.as<T>()[p * size + i];
      weight[i] = total;
    }
  });
}

enum class Result { x, weight, y };
template <Result result, class T> void convolve(const Launch& l, const View& x, const View& weight, const View& y) {
  const ConvolutionSizes g(x, weight, y, l.attrs.as<Convolution>());
  constexpr DType type = dtype_of<T>();
  const Contiguous in(x, type), filters(weight, type), out(y, type);
  if constexpr (result == Result::y) forward<T>(g, in.as<T>(), filters.as<T>(), out.as<T>());
  else if constexpr (result == Result::x) backward_input<T>(g, in.as<T>(), filters.as<T>(), out.as<T>());
  else backward_weight<T>(g, in.as<T>(), filters.as<T>(), out.as<T>());
  const View& written = (result == Result::y ? out : result == Result::x ? in : filters).view();
  if (written.data != l.y[0].data) cast(l.y[0], written);
}

template <Result result> void kernel(const Launch& l) {
  const View& x = result == Result::x ? l.y[0] : l.x[0];
  const View& weight = result == Result::weight ? l.y[0] : l.x[1];
  const View& y = result == Result::y ? l.y[0] : result == Result::x ? l.x[0] : l.x[1];
  if (x.numel == 0 || weight.numel == 0 || y.numel == 0) return reference(l);
  switch (l.y[0].dtype) {
    case DType::float32:
    case DType::float16:
    case DType::bfloat16: return convolve<result, float>(l, x, weight, y);
    case DType::float64: return convolve<result, double>(l, x, weight, y);
    case DType::complex64: return convolve<result, Complex<float>>(l, x, weight, y);
    case DType::complex128: return convolve<result, Complex<double>>(l, x, weight, y);
    default: return reference(l);
  }
}

constexpr Entry entries[] = {
    {"conv", kernel<Result::y>},
    {"conv_input_vjp", kernel<Result::x>},
    {"conv_weight_vjp", kernel<Result::weight>},
};

}  // namespace

Entries conv_kernels() { return entries; }

}  // namespace adjoint::cpu
