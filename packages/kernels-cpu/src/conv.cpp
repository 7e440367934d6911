// Convolutions as products of matrices: the elements under each kernel position become the rows of a matrix, a panel of
// outputs or a few channels at a time, so that it stays in the second-level cache.
#include "kernels.h"
#include "lines.h"
#include "matmul.h"
#include "pool.h"

#include <adjoint/core/convolution.h>

#include <vector>

namespace adjoint::cpu {

namespace {

constexpr int64_t panel_bytes = 1 << 18;

// f(x row or null, offset of its first element, matrix row, first, last) for output rows [begin, end) of one channel's plane.
template <class T, class F> void for_rows_under_taps(const ConvolutionSizes& g, int64_t begin, int64_t end, T* plane, T* matrix, F&& f) {
  const int64_t width = (end - begin) * g.out[2];
  for (int64_t a = 0; a < g.kernel[0]; a++)
    for (int64_t b = 0; b < g.kernel[1]; b++)
      for (int64_t c = 0; c < g.kernel[2]; c++, matrix += width) {
        int64_t first, last;
        g.inside(2, c, first, last);
        for (int64_t r = begin; r < end; r++) {
          const int64_t i = r / g.out[1] * g.stride[0] - g.padding[0] + a * g.dilation[0], j = r % g.out[1] * g.stride[1] - g.padding[1] + b * g.dilation[1];
          const bool inside = i >= 0 && i < g.in[0] && j >= 0 && j < g.in[1];
          T* row = inside ? plane + (i * g.in[1] + j) * g.in[2] + first * g.stride[2] - g.padding[2] + c * g.dilation[2] : nullptr;
          f(row, matrix + (r - begin) * g.out[2], first, last);
        }
      }
}

// The matrix (channels x taps, outputs) of output rows [begin, end).
template <class T> void unfold(const ConvolutionSizes& g, int64_t begin, int64_t end, const T* x, int64_t channels, T* matrix) {
  const int64_t step = g.stride[2], width = g.out[2];
  for (int64_t c = 0; c < channels; c++)
    for_rows_under_taps<T>(g, begin, end, const_cast<T*>(x) + c * g.in_plane(), matrix + c * g.taps() * (end - begin) * width, [&](const T* row, T* to, int64_t first, int64_t last) {
      if (!row) first = last = width;
      std::fill(to, to + first, T(0));
      if (step == 1) std::copy_n(row, last - first, to + first);
      else for (int64_t i = first; i < last; i++) to[i] = row[(i - first) * step];
      std::fill(to + last, to + width, T(0));
    });
}
// Its transpose: adds the matrix to x.
template <class T> void fold(const ConvolutionSizes& g, const T* matrix, int64_t channels, T* x) {
  const int64_t step = g.stride[2];
  for (int64_t c = 0; c < channels; c++)
    for_rows_under_taps<T>(g, 0, g.out_rows(), x + c * g.in_plane(), const_cast<T*>(matrix) + c * g.taps() * g.out_plane(), [&](T* row, const T* from, int64_t first, int64_t last) {
      if (!row) return;
      if (step == 1) for (int64_t i = first; i < last; i++) row[i - first] += from[i];
      else for (int64_t i = first; i < last; i++) row[(i - first) * step] += from[i];
    });
}

// Output rows a panel, so that its matrix has about panel_bytes.
template <class T> int64_t rows_per_panel(const ConvolutionSizes& g) {
  return std::clamp<int64_t>(panel_bytes / (g.depth() * g.out[2] * static_cast<int64_t>(sizeof(T)) + 1), 1, g.out_rows());
}

// Where columns are visited one by one, no matrix is needed: of an image with its padding in memory, row q of the matrix for one
// row of outputs begins at an offset that depends on q alone.
constexpr int64_t padded_bytes = 1 << 19;  // in the second-level cache
constexpr int64_t overrun = 64;            // elements behind it, which the last tile may read

template <class T> bool is_direct(const ConvolutionSizes& g) {
  const int64_t padded = (g.in[0] + 2 * g.padding[0]) * (g.in[1] + 2 * g.padding[1]) * (g.in[2] + 2 * g.padding[2]);
  return g.stride[2] == 1 && !g.is_pointwise() && g.out_channels >= 4 && g.out[2] >= 8 && g.in_channels * padded * static_cast<int64_t>(sizeof(T)) <= padded_bytes;
}
template <class T> void forward_direct(const ConvolutionSizes& g, const T* x, const T* weight, T* y) {
  const int64_t high = g.in[1] + 2 * g.padding[1], wide = g.in[2] + 2 * g.padding[2], padded = (g.in[0] + 2 * g.padding[0]) * high * wide;
  const int64_t plane = g.out_plane(), depth = g.depth(), width = (g.out[2] + 15) / 16 * 16;
  std::vector<int64_t> offsets;
  for (int64_t c = 0; c < g.in_channels; c++)
    for (int64_t i = 0; i < g.kernel[0]; i++)
      for (int64_t j = 0; j < g.kernel[1]; j++)
        for (int64_t k = 0; k < g.kernel[2]; k++) offsets.push_back(c * padded + (i * g.dilation[0] * high + j * g.dilation[1]) * wide + k * g.dilation[2]);
  const int64_t panels = g.batch * g.groups < 8 ? std::min<int64_t>(4, g.out_rows()) : 1;
  pool::parallel(g.batch * g.groups * panels, [&](int64_t unit) {
    const int64_t image = unit / panels, begin = g.out_rows() * (unit % panels) / panels, end = g.out_rows() * (unit % panels + 1) / panels;
    const Buffer memory((g.in_channels * padded + overrun) * static_cast<int64_t>(sizeof(T))), strip(g.out_channels * width * static_cast<int64_t>(sizeof(T)));
    T* const in = memory.as<T>();
    std::fill_n(in, g.in_channels * padded + overrun, T(0));
    const T* from = x + image * g.in_channels * g.in_plane();
    for (int64_t c = 0; c < g.in_channels; c++)
      for (int64_t i = 0; i < g.in[0]; i++)
        for (int64_t j = 0; j < g.in[1]; j++, from += g.in[2]) std::copy_n(from, g.in[2], in + c * padded + ((i + g.padding[0]) * high + j + g.padding[1]) * wide + g.padding[2]);
    const Matrix<const T> filters{weight + image % g.groups * g.out_channels * depth, depth, 1};
    for (int64_t r = begin; r < end; r++) {
      const T* first = in + (r / g.out[1] * g.stride[0] * high + r % g.out[1] * g.stride[1]) * wide;
      T* const to = y + image * g.out_channels * plane + r * g.out[2];
      const bool whole = width == g.out[2];
      isa::call<SmallMatmul<T, ScatteredRows<T>>>(filters, ScatteredRows<T>{first, offsets.data()}, whole ? Matrix<T>{to, plane, 1} : Matrix<T>{strip.as<T>(), width, 1}, g.out_channels, width, depth);
      if (whole) continue;
      for (int64_t c = 0; c < g.out_channels; c++) std::copy_n(strip.as<T>() + c * width, g.out[2], to + c * plane);
    }
  });
}

template <class T> void forward(const ConvolutionSizes& g, const T* x, const T* weight, T* y) {
  if constexpr (std::is_floating_point_v<T>)
    if (is_direct<T>(g)) return forward_direct<T>(g, x, weight, y);
  const int64_t rows = rows_per_panel<T>(g), panels = (g.out_rows() + rows - 1) / rows, plane = g.out_plane(), depth = g.depth();
  pool::parallel(g.batch * g.groups * panels, [&](int64_t unit) {
    const int64_t image = unit / panels, group = image % g.groups, begin = unit % panels * rows, end = std::min(g.out_rows(), begin + rows);
    const int64_t width = (end - begin) * g.out[2];
    const T* in = x + image * g.in_channels * g.in_plane();
    const Matrix<const T> filters{weight + group * g.out_channels * depth, depth, 1};
    const Matrix<T> out{y + image * g.out_channels * plane + begin * g.out[2], plane, 1};
    if (g.is_pointwise()) return multiply<T>(filters, {in + begin * g.out[2], plane, 1}, out, g.out_channels, width, depth);
    const Buffer matrix(depth * width * static_cast<int64_t>(sizeof(T)));
    unfold(g, begin, end, in, g.in_channels, matrix.as<T>());
    multiply<T>(filters, {matrix.as<T>(), width, 1}, out, g.out_channels, width, depth);
  });
}

template <class T> void backward_input(const ConvolutionSizes& g, T* x, const T* weight, const T* y) {
  const int64_t plane = g.out_plane(), depth = g.depth();
  const int64_t channels = std::clamp<int64_t>(panel_bytes / (g.taps() * plane * static_cast<int64_t>(sizeof(T)) + 1), 1, g.in_channels);
  const int64_t panels = (g.in_channels + channels - 1) / channels;
  pool::parallel(g.batch * g.groups * panels, [&](int64_t unit) {
    const int64_t image = unit / panels, group = image % g.groups, first = unit % panels * channels, count = std::min(channels, g.in_channels - first);
    T* in = x + (image * g.in_channels + first) * g.in_plane();
    const Matrix<const T> filters{weight + group * g.out_channels * depth + first * g.taps(), 1, depth}, out{y + image * g.out_channels * plane, plane, 1};
    if (g.is_pointwise()) return multiply<T>(filters, out, {in, plane, 1}, count, plane, g.out_channels);
    const Buffer matrix(count * g.taps() * plane * static_cast<int64_t>(sizeof(T)));
    multiply<T>(filters, out, {matrix.as<T>(), plane, 1}, count * g.taps(), plane, g.out_channels);
    std::fill_n(in, count * g.in_plane(), T(0));
    fold(g, matrix.as<T>(), count, in);
  });
}

// Images are summed in order within a few parts that the shape decides, and the parts in order.
template <class T> void backward_weight(const ConvolutionSizes& g, const T* x, T* weight, const T* y) {
  const int64_t parts = std::min<int64_t>(g.batch, 8), size = g.groups * g.out_channels * g.depth(), depth = g.depth(), plane = g.out_plane();
  const int64_t rows = rows_per_panel<T>(g);
  const Buffer sums(parts * size * static_cast<int64_t>(sizeof(T)));
  pool::parallel(parts * g.groups, [&](int64_t unit) {
    const int64_t part = unit / g.groups, group = unit % g.groups;
    T* sum = sums.as<T>() + part * size + group * g.out_channels * depth;
    const Buffer matrix(depth * rows * g.out[2] * static_cast<int64_t>(sizeof(T)));
    bool begun = false;
    for (int64_t n = g.batch * part / parts; n < g.batch * (part + 1) / parts; n++)
      for (int64_t begin = 0; begin < g.out_rows(); begin += rows, begun = true) {
        const int64_t end = std::min(g.out_rows(), begin + rows), width = (end - begin) * g.out[2], image = n * g.groups + group;
        unfold(g, begin, end, x + image * g.in_channels * g.in_plane(), g.in_channels, matrix.as<T>());
        blas::gemm(false, true, g.out_channels, depth, width, y + image * g.out_channels * plane + begin * g.out[2], plane, matrix.as<T>(), width, sum, depth, T(begun ? 1 : 0));
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
