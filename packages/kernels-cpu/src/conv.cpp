// Convolutions, by vectors of outputs or of channels, or as products of matrices: the elements under each kernel position become the rows of a
// matrix, a panel of outputs or a few channels at a time, so that it stays in the second-level cache.
#include "conv_bfloat16.h"
#include "conv_complex.h"
#include "conv_gradient.h"
#include "conv_outputs.h"
#include "kernels.h"
#include "lines.h"
#include "matmul.h"
#include "whole.h"

#include <adjoint/core/convolution.h>

#include <cstring>
#include <utility>

namespace adjoint::cpu {

namespace {

constexpr int64_t panel_bytes = 1 << 19;

// Output rows a panel, so that its matrix has about panel_bytes.
template <class T> int64_t rows_per_panel(const ConvolutionSizes& g) {
  return std::clamp<int64_t>(panel_bytes / (g.depth() * g.out[2] * static_cast<int64_t>(sizeof(T)) + 1), 1, g.out_rows());
}

template <class T> Buffer matrix_of(const ConvolutionSizes& g, int64_t rows) { return Buffer((g.depth() * rows * g.out[2] + PaddedImage::overrun) * static_cast<int64_t>(sizeof(T))); }
template <class T> Buffer memory_of(const ConvolutionSizes& g, const PaddedImage& image) { return Buffer((g.in_channels * image.size + PaddedImage::overrun) * static_cast<int64_t>(sizeof(T))); }

// The matrix (channels x taps, outputs) of output rows [begin, end), from a padded image; up to `overrun` elements behind it are written too.
template <class T> void unfold(const Outputs& outputs, int64_t begin, int64_t end, const T* in, T* to) {
  constexpr int64_t piece = 16;
  const int64_t width = outputs.count[2];
  for (const int64_t offset : outputs.taps)
    for (int64_t r = begin; r < end; r++) {
      const T* const from = in + offset + outputs.reads[r];
      if (width > 4 * piece) std::copy_n(from, width, to);
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

// Whether there are too few for tiles of four rows, which multiply padding too, if outputs are many, of one image and of all; where those would
// not do, for a matrix.
bool few_channels(int64_t channels, const PaddedImage& image, const Outputs& o, int64_t images, bool direct) {
  const int64_t outputs = o.rows() * o.count[2];
  return channels <= (!direct ? 12 : image.mostly_live ? 3 : 4) && outputs * static_cast<int64_t>(o.taps.size()) >= 2048 && outputs * images >= 1024;
}

template <class T> void forward(const ConvolutionSizes& g, const T* x, const T* weight, T* y) {
  if (g.is_pointwise()) return forward_pointwise<T>(g, x, weight, y);
  const PaddedImage image = padded_input(g);
  const Outputs outputs = all_outputs(g, image);
  if constexpr (std::is_floating_point_v<T>) {
    const bool direct = is_direct<T>(outputs, image, g.in_channels);
    if constexpr (std::is_same_v<T, float>) {
      if (channels_pay(outputs, g.out_channels, g.depth()) || (!direct && channels_spare_a_matrix(g.out_channels)))
        return ByChannels<T>(image, {&outputs, 1}, g.batch, g.groups, g.in_channels, g.out_channels, g.out_plane()).run(x, weight, y);
      if (few_channels(g.out_channels, image, outputs, g.batch * g.groups, direct)) return convolve_outputs<T>(image, {&outputs, 1}, g.batch, g.groups, x, g.in_channels, weight, y, g.out_channels, g.out_plane());
    }
    if (direct) return convolve_direct<T>(image, {outputs}, g.batch, g.groups, x, g.in_channels, weight, y, g.out_channels, g.out_plane());
  }
  const int64_t rows = rows_per_panel<T>(g), panels = (g.out_rows() + rows - 1) / rows, shares = g.batch * g.groups < 8 ? std::min<int64_t>(4, panels) : 1;
  pool::parallel(g.batch * g.groups * shares, [&](int64_t unit) {
    const int64_t n = unit / shares, plane = g.out_plane(), depth = g.depth();
    const Matrix<const T> filters{weight + n % g.groups * g.out_channels * depth, depth, 1};
    const Buffer in = memory_of<T>(g, image), matrix = matrix_of<T>(g, rows);
    image.fill(x + n * g.in_channels * g.in_plane(), g.in_channels, in.as<T>());
    for (int64_t u = panels * (unit % shares) / shares; u < panels * (unit % shares + 1) / shares; u++) {
      const int64_t begin = u * rows, end = std::min(g.out_rows(), begin + rows), width = (end - begin) * g.out[2];
      unfold(outputs, begin, end, in.as<T>(), matrix.as<T>());
      multiply<T>(filters, {matrix.as<T>(), width, 1}, {y + n * g.out_channels * plane + begin * g.out[2], plane, 1}, g.out_channels, width, depth);
    }
  });
}

// Adds rows [begin, end) of the matrix (channels x taps, outputs), which lie `down` elements apart at `from`, to x.
template <class T> void fold(const ConvolutionSizes& g, int64_t begin, int64_t end, const T* from, int64_t down, T* x) {
  const int64_t step = g.stride[2];
  for (int64_t t = begin; t < end; t++, from += down - g.out_plane()) {
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

// Outputs of a group in several images, as a matrix (out_channels, images x outputs).
template <class T> void join(const ConvolutionSizes& g, const T* y, int64_t images, T* to) {
  const int64_t plane = g.out_plane();
  for (int64_t n = 0; n < images; n++, y += (g.groups - 1) * g.out_channels * plane)
    for (int64_t o = 0; o < g.out_channels; o++, y += plane)
      for (int64_t k = 0; k < plane; k++) to[(o * images + n) * plane + k] = y[k];
}

// As a convolution of the output's gradient.
template <class T> void backward_by_outputs(const ConvolutionSizes& g, const InputGradient& gradient, bool direct, bool few, T* x, const T* weight, const T* y) {
  const Buffer filters(g.groups * g.out_channels * g.depth() * static_cast<int64_t>(sizeof(T)));
  gradient.gather(g, weight, filters.as<T>());
  if (!gradient.every) std::fill_n(x, g.batch * g.groups * g.in_channels * g.in_plane(), T(0));
  if (gradient.sets.empty()) return;
  if constexpr (std::is_same_v<T, float>)
    if (channels_spare_a_matrix(g.in_channels) && (!direct || std::all_of(gradient.sets.begin(), gradient.sets.end(), [&](const Outputs& o) { return channels_pay(o, g.in_channels, static_cast<int64_t>(o.taps.size())); })))
      return ByChannels<T>(gradient.y, gradient.sets, g.batch, g.groups, g.out_channels, g.in_channels, g.in_plane()).run(y, filters.as<T>(), x);
  if constexpr (std::is_same_v<T, float>)
    if (few) return convolve_outputs<T>(gradient.y, gradient.sets, g.batch, g.groups, y, g.out_channels, filters.as<T>(), x, g.in_channels, g.in_plane());
  convolve_direct<T>(gradient.y, gradient.sets, g.batch, g.groups, y, g.out_channels, filters.as<T>(), x, g.in_channels, g.in_plane());
}

template <class T> void backward_input(const ConvolutionSizes& g, T* x, const T* weight, const T* y) {
  if constexpr (std::is_floating_point_v<T>)
    if (!g.is_pointwise() && InputGradient::is_cheap<T>(g)) {
      const InputGradient gradient(g);
      const bool direct = gradient.is_direct<T>(g), few = std::is_same_v<T, float> && !gradient.sets.empty() && few_channels(g.in_channels, gradient.y, gradient.sets[0], g.batch * g.groups, direct);
      if ((std::is_same_v<T, float> && channels_spare_a_matrix(g.in_channels)) || direct || few) return backward_by_outputs(g, gradient, direct, few, x, weight, y);
    }
  const int64_t plane = g.out_plane(), depth = g.depth(), each = g.is_pointwise() ? 1 : std::clamp<int64_t>(64 / plane, 1, g.batch);   // images at a time
  const int64_t rows = std::max<int64_t>(16, panel_bytes / (each * plane * static_cast<int64_t>(sizeof(T)) + 1));   // of the matrix at a time
  const int64_t channels = std::clamp<int64_t>(rows / g.taps(), 1, g.in_channels);
  const int64_t panels = (g.in_channels + channels - 1) / channels, from_image = g.groups * g.in_channels * g.in_plane();
  pool::parallel((g.batch + each - 1) / each * g.groups * panels, [&](int64_t unit) {
    const int64_t step = unit / panels / g.groups * each, group = unit / panels % g.groups, first = unit % panels * channels, count = std::min(channels, g.in_channels - first);
    const int64_t images = std::min(each, g.batch - step), width = images * plane;
    T* in = x + step * from_image + (group * g.in_channels + first) * g.in_plane();
    const T* from = y + (step * g.groups + group) * g.out_channels * plane;
    const Buffer together(images > 1 ? g.out_channels * width * static_cast<int64_t>(sizeof(T)) : 0);
    if (images > 1) join(g, from, images, together.as<T>()), from = together.as<T>();
    const Matrix<const T> filters{weight + group * g.out_channels * depth + first * g.taps(), 1, depth}, out{from, width, 1};
    if (g.is_pointwise()) return multiply<T>(filters, out, {in, plane, 1}, count, plane, g.out_channels);
    for (int64_t n = 0; n < images; n++) std::fill_n(in + n * from_image, count * g.in_plane(), T(0));
    const int64_t block = std::min(count * g.taps(), rows);
    const Buffer matrix(block * width * static_cast<int64_t>(sizeof(T)));
    for (int64_t t = 0; t < count * g.taps(); t += block) {
      const int64_t m = std::min(block, count * g.taps() - t);
      multiply<T>({filters.at(t, 0), 1, depth}, out, {matrix.as<T>(), width, 1}, m, width, g.out_channels);
      for (int64_t n = 0; n < images; n++) fold(g, t, t + m, matrix.as<T>() + n * plane, width, in + n * from_image);
    }
  });
}

// Images are summed in order within a few parts that the shape decides, and the parts in order.
template <class T> void backward_weight(const ConvolutionSizes& g, const T* x, T* weight, const T* y) {
  const int64_t parts = std::min<int64_t>(g.batch, 8), size = g.groups * g.out_channels * g.depth(), depth = g.depth(), plane = g.out_plane();
  const int64_t rows = rows_per_panel<T>(g);
  const bool by_taps = std::is_same_v<T, float> && g.out_channels < (g.out[2] >= 16 ? 6 : 4) && g.out[2] >= TapProducts<float>::shortest;   // a few rows alone do not pay for a matrix
  const PaddedImage padded = padded_input(g);
  const Outputs outputs = all_outputs(g, padded);
  if constexpr (std::is_same_v<T, float>)
    if (!g.is_pointwise() && weight_channels_pay(g)) return WeightByChannels<T>(g, padded, outputs).run(x, weight, y);
  const Buffer sums(parts * size * static_cast<int64_t>(sizeof(T)));
  pool::parallel(parts * g.groups, [&](int64_t unit) {
    const int64_t part = unit / g.groups, group = unit % g.groups;
    T* sum = sums.as<T>() + part * size + group * g.out_channels * depth;
    const Buffer in = memory_of<T>(g, padded), matrix = by_taps ? Buffer(0) : matrix_of<T>(g, rows);
    bool begun = false;
    for (int64_t n = g.batch * part / parts; n < g.batch * (part + 1) / parts; n++) {
      const T* const image = x + (n * g.groups + group) * g.in_channels * g.in_plane();
      const T* const out = y + (n * g.groups + group) * g.out_channels * plane;
      if (g.is_pointwise()) {
        blas::gemm(false, true, g.out_channels, depth, plane, out, plane, image, plane, sum, depth, T(begun ? 1 : 0));
        begun = true;
        continue;
      }
      padded.fill(image, g.in_channels, in.as<T>());
      if (by_taps) {
        if (!std::exchange(begun, true)) std::fill_n(sum, g.out_channels * depth, T(0));
        if constexpr (std::is_same_v<T, float>) isa::call<TapProducts<T>>(static_cast<const T*>(in.as<T>()), outputs.taps.data(), depth, outputs.reads.data(), g.out_rows(), g.out[2], out, g.out_channels, sum);
        continue;
      }
      for (int64_t begin = 0; begin < g.out_rows(); begin += rows, begun = true) {
        const int64_t end = std::min(g.out_rows(), begin + rows), width = (end - begin) * g.out[2];
        unfold(outputs, begin, end, in.as<T>(), matrix.as<T>());
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

// Filters as large as the image, which are there once: products of the matrices (batch, channels x elements) and (out_channels, the same).
bool covers_image(const ConvolutionSizes& g) { return g.out_plane() == 1 && g.taps() == g.in_plane() && g.padding[0] + g.padding[1] + g.padding[2] == 0; }
template <Result result, class T> void convolve_whole(const ConvolutionSizes& g, T* x, T* weight, T* y) {
  constexpr int64_t panel = 64, strip = 256;   // rows and columns of a product
  const int64_t depth = g.depth(), in = g.groups * depth, out = g.groups * g.out_channels, rows = result == Result::weight ? g.out_channels : g.batch;
  const int64_t columns = result == Result::y ? g.out_channels : depth, panels = (rows + panel - 1) / panel, strips = (columns + strip - 1) / strip;
  pool::parallel(g.groups * panels * strips, [&](int64_t unit) {
    const int64_t group = unit / strips / panels, first = unit / strips % panels * panel, at = unit % strips * strip, count = std::min(panel, rows - first), width = std::min(strip, columns - at);
    T *const images = x + group * depth, *const filters = weight + group * g.out_channels * depth, *const outputs = y + group * g.out_channels;
    if constexpr (result == Result::y) multiply<T>({images + first * in, in, 1}, {filters + at * depth, 1, depth}, {outputs + first * out + at, out, 1}, count, width, depth);
    else if constexpr (result == Result::x) multiply<T>({outputs + first * out, out, 1}, {filters + at, depth, 1}, {images + first * in + at, in, 1}, count, width, g.out_channels);
    else multiply<T>({outputs + first, 1, out}, {images + at, in, 1}, {filters + first * depth + at, depth, 1}, count, width, g.batch);
  });
}

template <Result result, class T> void convolve_dense(const ConvolutionSizes& g, T* x, T* weight, T* y) {
  if constexpr (result == Result::y) forward<T>(g, x, weight, y);
  else if constexpr (result == Result::x) backward_input<T>(g, x, weight, y);
  else backward_weight<T>(g, x, weight, y);
}
template <Result result, class T> void convolve(const Convolution& a, const View& x, const View& weight, const View& y) {
  const ConvolutionSizes g(x, weight, y, a);
  constexpr DType type = dtype_of<T>();
  const Contiguous in(x, type), filters(weight, type), out(y, type);
  if (covers_image(g)) convolve_whole<result, T>(g, in.as<T>(), filters.as<T>(), out.as<T>());
  else if (is_complex_v<T> && parts_pay(g)) {
    if constexpr (is_complex_v<T>) convolve_parts<result == Result::x, result == Result::weight>(g, in.as<T>(), filters.as<T>(), out.as<T>(), convolve_dense<result, real_t<T>>);
  } else convolve_dense<result, T>(g, in.as<T>(), filters.as<T>(), out.as<T>());
  const View &written = (result == Result::y ? out : result == Result::x ? in : filters).view(), &to = result == Result::y ? y : result == Result::x ? x : weight;
  if (written.data != to.data) cast(to, written);
}

// Whether it was done.
template <Result result> bool convolve_bfloat16(const Launch& l, const View& x, const View& weight, const View& y) {
  const View& to = l.y[0];
  const ConvolutionSizes g(x, weight, y, l.attrs.as<Convolution>());
  if (l.x[0].dtype != DType::bfloat16 || l.x[1].dtype != DType::bfloat16 || !to.contiguous() || covers_image(g) || !tiles_pay(result, g)) return false;
  const Contiguous left(l.x[0]), right(l.x[1]);
  convolve_in_tiles(result, g, left.as<BFloat16>(), right.as<BFloat16>(), to.data, to.dtype);
  return true;
}

// Of whole numbers: whether all sums are exact as floating ones.
template <Result result> bool convolve_whole_numbers(const Launch& l, const View& x, const View& weight, const View& y) {
  const View& to = l.y[0];
  if (!is_integral(to.dtype) || to.dtype == DType::bool_) return false;
  const Convolution& a = l.attrs.as<Convolution>();
  const ConvolutionSizes g(x, weight, y, a);
  const int64_t terms = result == Result::y ? g.depth() : result == Result::x ? g.out_channels * g.taps() : g.batch * g.out_plane();
  const Whole left(l.x[0]), right(l.x[1]);
  const std::optional<DType> type = holds_whole(left.largest * right.largest * static_cast<double>(terms));
  if (!type) return false;
  const Dims dense = contiguous_strides(Dims(std::span(to.sizes, static_cast<size_t>(to.ndim))));
  const auto as = [&](DType t, const Buffer& memory) { return View{memory.as<char>(), to.sizes, dense.data(), to.ndim, t, to.numel}; };
  const Buffer memory(to.numel * itemsize(*type));
  const View sums = as(*type, memory);
  with_real(*type, [&]<class T>(T) {
    const bool floats = dtype_of<T>() == DType::float32;
    const Contiguous first(floats ? left.floats.view() : l.x[0], dtype_of<T>()), second(floats ? right.floats.view() : l.x[1], dtype_of<T>());
    const View &u = first.view(), &v = second.view();
    if constexpr (result == Result::y) convolve<result, T>(a, u, v, sums);
    else if constexpr (result == Result::x) convolve<result, T>(a, sums, v, u);
    else convolve<result, T>(a, u, sums, v);
  });
  if (itemsize(to.dtype) == 8) return cast(to, sums), true;
  const Buffer whole(to.numel * itemsize(DType::int64));   // what does not fit wraps
  cast(as(DType::int64, whole), sums), cast(to, as(DType::int64, whole));
  return true;
}

template <Result result> void kernel(const Launch& l) {
  const View& x = result == Result::x ? l.y[0] : l.x[0];
  const View& weight = result == Result::weight ? l.y[0] : l.x[1];
  const View& y = result == Result::y ? l.y[0] : result == Result::x ? l.x[0] : l.x[1];
  if (x.numel == 0 || weight.numel == 0 || y.numel == 0) return reference(l);
  const Convolution& a = l.attrs.as<Convolution>();
  switch (l.y[0].dtype) {
    case DType::float32:
    case DType::bfloat16:
      if (convolve_bfloat16<result>(l, x, weight, y)) return;
      [[fallthrough]];
    case DType::float16: return convolve<result, float>(a, x, weight, y);
    case DType::float64: return convolve<result, double>(a, x, weight, y);
    case DType::complex64: return convolve<result, Complex<float>>(a, x, weight, y);
    case DType::complex128: return convolve<result, Complex<double>>(a, x, weight, y);
    default:
      if (!convolve_whole_numbers<result>(l, x, weight, y)) reference(l);
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
