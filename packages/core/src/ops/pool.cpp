// Pooling over windows of the last one to three dimensions; whatever leads is a batch of planes.
#include <adjoint/core/batch.h>
#include <adjoint/core/grid_sample.h>
#include <adjoint/core/op_fields.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/planes.h>
#include <adjoint/core/resize.h>
#include <adjoint/core/types.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "families.h"
#include "one_zero.h"
#include "positions.h"
#include "wide.h"

namespace adjoint {

namespace {

int64_t pooled_size(int64_t in, const Window& w, int d) {
  const int64_t extent = w.dilation[d] * (w.kernel[d] - 1) + 1, free = in + 2 * w.padding[d] - extent;
  if (free < 0 && !(w.ceil_mode && free + w.stride[d] - 1 >= 0)) return 0;
  int64_t n = (free + (w.ceil_mode ? w.stride[d] - 1 : 0)) / w.stride[d] + 1;
  // A window must not begin in the padding behind the input.
  if (w.ceil_mode && (n - 1) * w.stride[d] >= in + w.padding[d]) n--;
  return n;
}
// Only windows that begin in front of the line may step over it: padding is at most half a kernel.
bool windows_hold_elements(int64_t in, int64_t out, const Window& w, int d) {
  const int64_t step = w.dilation[d];
  for (int64_t i = 0, start = -w.padding[d]; i < out && start < 0; i++, start += w.stride[d]) {
    const int64_t first = start + (-start + step - 1) / step * step;
    if (first >= in || first > start + (w.kernel[d] - 1) * step) return false;
  }
  return true;
}

Dims pooled(const Dims& x, const Window& w, const char* op) {
  const int n = w.kernel.size(), lead = x.size() - n;
  Dims r = x;
  for (int i = 0; i < n; i++) {
    if (w.adaptive) {
      r[lead + i] = w.stride[i];
      continue;
    }
    expect(std::max({w.kernel[i], w.stride[i], w.padding[i], w.dilation[i]}) <= INT32_MAX, op, ": kernel size, stride, padding and dilation are at most ", INT32_MAX, ", got ", w.kernel, ", ", w.stride, ", ",
           w.padding, " and ", w.dilation);   // so that no sum of products of them overflows
    r[lead + i] = pooled_size(x[lead + i], w, i);
    expect(r[lead + i] > 0, ErrorKind::shape, op, ": Given input size: ", x, ". Calculated output size: ", r[lead + i], " at dimension ", lead + i, ". Output size is too small");
    expect(windows_hold_elements(x[lead + i], r[lead + i], w, i), ErrorKind::shape, op, ": a window holds padding alone, got kernel ", w.kernel, ", padding ", w.padding, " and dilation ", w.dilation, " for input size ", x);
  }
  return r;
}

// One dimension of one window: its elements are first, first + dilation, ... below last; `full` counts padding as well.
struct Range { int64_t first, last, full; };

// Planes of three spatial dimensions (missing ones lead, of size 1) and the windows over them.
struct Planes {
  int64_t count = 1, in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, padding[3] = {}, dilation[3] = {1, 1, 1};
  bool adaptive;

  Planes(std::span<const int64_t> x, std::span<const int64_t> y, const Window& w) : adaptive(w.adaptive) {
    const int n = w.kernel.size(), lead = static_cast<int>(x.size()) - n;
    for (int i = 0; i < lead; i++) count *= x[i];
    for (int i = 0; i < n; i++) {
      const int d = 3 - n + i;
      in[d] = x[lead + i];
      out[d] = y[lead + i];
      kernel[d] = w.kernel[i];
      stride[d] = w.stride[i];
      padding[d] = w.padding[i];
      dilation[d] = w.dilation[i];
    }
  }
  Range range(int d, int64_t at) const {
    if (adaptive) {
      const int64_t begin = at * in[d] / out[d], end = ((at + 1) * in[d] + out[d] - 1) / out[d];
      return {begin, end, end - begin};
    }
    int64_t first = at * stride[d] - padding[d];
    const int64_t last = std::min(first + (kernel[d] - 1) * dilation[d] + 1, in[d] + padding[d]), full = last - first;
    if (first < 0) first += (-first + dilation[d] - 1) / dilation[d] * dilation[d];
    return {first, std::min(last, in[d]), full};
  }
  int64_t in_plane() const { return in[0] * in[1] * in[2]; }

  // f(plane, output number, ranges of the window) for each window.
  template <class F> void for_windows(F&& f) const {
    int64_t number = 0;
    for (int64_t plane = 0; plane < count; plane++)
      for (int64_t a = 0; a < out[0]; a++)
        for (int64_t b = 0; b < out[1]; b++)
          for (int64_t c = 0; c < out[2]; c++) {
            const Range r[3] = {range(0, a), range(1, b), range(2, c)};
            f(plane, number++, r);
          }
  }
  // f(position in the plane) for each element of a window.
  template <class F> void for_elements(const Range (&r)[3], F&& f) const {
    for (int64_t i = r[0].first; i < r[0].last; i += dilation[0])
      for (int64_t j = r[1].first; j < r[1].last; j += dilation[1])
        for (int64_t k = r[2].first; k < r[2].last; k += dilation[2]) f((i * in[1] + j) * in[2] + k);
  }
};

std::span<const int64_t> sizes_of(const View& v) { return {v.sizes, static_cast<size_t>(v.ndim)}; }

// A dense copy of x where it is not dense already.
template <class T> const T* dense(const View& x, std::vector<char>& memory) {
  if (x.contiguous()) return x.as<T>();
  memory.resize(x.numel * sizeof(T));
  const Dims sizes = positions::dims_of(x.sizes, x.ndim), strides = contiguous_strides(sizes);
  positions::copy(x, {memory.data(), sizes.data(), strides.data(), x.ndim, x.dtype, x.numel});
  return reinterpret_cast<const T*>(memory.data());
}

// The largest element of a window; of equal ones the first stays, NaN always enters.
template <class C, class T> int64_t largest_of(const Planes& planes, const T* p, const Range (&r)[3]) {
  int64_t best = (r[0].first * planes.in[1] + r[1].first) * planes.in[2] + r[2].first;
  C largest = static_cast<C>(p[best]);
  planes.for_elements(r, [&](int64_t at) {
    const C v = static_cast<C>(p[at]);
    if (!(v > largest) && v == v) return;
    largest = v;
    best = at;
  });
  return best;
}

void max_pool_kernel(const Launch& l) {
  const Planes planes(sizes_of(l.x[0]), sizes_of(l.y[0]), l.attrs.as<Window>());
  in_number(l, [&](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    std::vector<char> memory;
    const T* x = dense<T>(l.x[0], memory);
    planes.for_windows([&](int64_t plane, int64_t number, const Range (&r)[3]) {
      const T* p = x + plane * planes.in_plane();
      const int64_t best = largest_of<T>(planes, p, r);
      l.y[0].as<T>()[number] = p[best];
      if (l.y[1].numel) l.y[1].as<int64_t>()[number] = best;
    });
  });
}

// Where the `count` windows of a line begin, by a number in [0, 1): B. Graham, Fractional max-pooling, 2014.
template <class C> void set_starts(std::vector<int64_t>& at, C sample, int64_t size, int64_t window, int64_t count) {
  at.clear();
  sample = sample >= 0 ? std::min(sample, C(1)) : C(0);   // of other numbers, NaN among them, windows would lie outside
  const C step = count > 1 ? static_cast<C>(static_cast<double>(size - window) / static_cast<double>(count - 1)) : C(0);
  for (int64_t i = 0; i + 1 < count; i++) at.push_back(static_cast<int64_t>((sample + static_cast<C>(i)) * step) - static_cast<int64_t>(sample * step));
  at.push_back(size - window);
}
// Of numbers as they are stored, since windows read a part of them; they are compared as C.
template <class T, class C> void fractional_max_pool_of(const Launch& l) {
  const Window& w = l.attrs.as<Window>();
  const Planes planes(sizes_of(l.x[0]), sizes_of(l.y[0]), w);
  const int64_t n = w.kernel.size();
  std::vector<char> memory, numbers;
  const T *x = dense<T>(l.x[0], memory), *samples = dense<T>(l.x[1], numbers);
  std::vector<int64_t> at[3] = {{0}, {0}, {0}};
  for (int64_t plane = 0, number = 0; plane < planes.count; plane++, x += planes.in_plane()) {
    for (int64_t d = 3 - n; d < 3; d++) {
      const int64_t k = d - (3 - n), which = n == 2 ? 1 - k : k;   // PyTorch draws for the width of an image first, and for a volume in the order of its dimensions
      set_starts(at[d], static_cast<C>(samples[plane * n + which]), planes.in[d], planes.kernel[d], planes.out[d]);
    }
    for (const int64_t a : at[0])
      for (const int64_t b : at[1])
        for (const int64_t c : at[2]) {
          const Range r[3] = {{a, a + planes.kernel[0], 0}, {b, b + planes.kernel[1], 0}, {c, c + planes.kernel[2], 0}};
          const int64_t best = largest_of<C>(planes, x, r);
          l.y[0].as<T>()[number] = x[best];
          l.y[1].as<int64_t>()[number++] = best;
        }
  }
}
void fractional_max_pool_kernel(const Launch& l) {
  switch (l.x[0].dtype) {
    case DType::float32: return fractional_max_pool_of<float, float>(l);
    case DType::float64: return fractional_max_pool_of<double, double>(l);
    case DType::float16: return fractional_max_pool_of<Half, float>(l);
    case DType::bfloat16: return fractional_max_pool_of<BFloat16, float>(l);
    default: fail(ErrorKind::not_implemented, l.op, ": not implemented for ", l.x[0].dtype);
  }
}

int64_t divisor_of(const Averaging& a, const Range (&r)[3]) {
  if (a.divisor) return a.divisor;
  int64_t n = 1;
  for (int d = 0; d < 3; d++) n *= a.window.count_include_pad ? r[d].full : r[d].last - r[d].first;
  return n;
}
void avg_pool_kernel(const Launch& l) {
  const Averaging& a = l.attrs.as<Averaging>();
  const Planes planes(sizes_of(l.x[0]), sizes_of(l.y[0]), a.window);
  in_number(l, [&](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    std::vector<char> memory;
    const T* x = dense<T>(l.x[0], memory);
    planes.for_windows([&](int64_t plane, int64_t number, const Range (&r)[3]) {
      T sum = 0;
      planes.for_elements(r, [&](int64_t at) { sum += x[plane * planes.in_plane() + at]; });
      l.y[0].as<T>()[number] = sum / static_cast<T>(divisor_of(a, r));
    });
  });
}
void avg_pool_vjp_kernel(const Launch& l) {
  const Averaging& a = l.attrs.as<Averaging>();
  const Planes planes(sizes_of(l.y[0]), sizes_of(l.x[0]), a.window);
  in_number(l, [&](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    std::vector<char> memory;
    const T* v = dense<T>(l.x[0], memory);
    T* const sums = l.y[0].as<T>();
    std::fill_n(sums, l.y[0].numel, T(0));
    planes.for_windows([&](int64_t plane, int64_t number, const Range (&r)[3]) {
      const T share = v[number] / static_cast<T>(divisor_of(a, r));
      planes.for_elements(r, [&](int64_t at) { sums[plane * planes.in_plane() + at] += share; });
    });
  });
}

Tensor flat_planes(const Tensor& x, int spatial) { return flatten(x, x.dim() - spatial, -1); }

void max_pool_shape(Tensors x, const Attrs& a, Dims* out) {
  out[0] = pooled(x[0].sizes(), a.as<Window>(), "max_pool");
  out[1] = a.as<Window>().values_only ? Dims{0} : out[0];
}
void avg_pool_shape(Tensors x, const Attrs& a, Dims* out) { out[0] = pooled(x[0].sizes(), a.as<Averaging>().window, "avg_pool"); }
void avg_pool_vjp_shape(Tensors v, const Attrs& attrs, Dims* out) {
  const Dims& sizes = attrs.as<Averaging>().sizes;
  out[0] = v[0].sizes();
  for (int i = 0; i < sizes.size(); i++) out[0][out[0].size() - sizes.size() + i] = sizes[i];
}

Tensor avg_pool_of(const Tensor& x, const Averaging& a);
Tensor avg_pool_vjp(const Tensor& v, const Averaging& a);

void check(const Tensor& x, const Window& w, const char* op) {
  const int n = w.kernel.size();
  expect(n >= 1 && n <= 3 && w.stride.size() == n && w.padding.size() == n && w.dilation.size() == n, op, ": expected one to three values for each of kernel, stride, padding and dilation, got ", w.kernel, ", ",
         w.stride, ", ", w.padding, " and ", w.dilation);
  expect(x.dim() == n + 1 || x.dim() == n + 2, ErrorKind::shape, op, ": Expected ", n + 1, "D or ", n + 2, "D (batch mode) tensor for input, got shape ", x.sizes());
  expect(x.sizes().product() != 0 || (x.dim() == n + 2 && !x.size(0) && !std::count(x.sizes().begin() + 1, x.sizes().end(), 0)), ErrorKind::shape, op,
         ": Expected input to have non-zero size for non-batch dimensions, got shape ", x.sizes());
  for (int i = 0; i < n; i++) {
    expect(w.kernel[i] > 0, op, ": kernel size should be greater than zero, got ", w.kernel);
    expect(w.stride[i] > 0, op, ": stride should be greater than zero, got ", w.stride);
    expect(w.dilation[i] > 0, op, ": dilation should be greater than zero, got ", w.dilation);
    expect(w.padding[i] >= 0, op, ": pad must be non-negative, but got pad: ", w.padding[i]);
    expect(w.padding[i] <= w.kernel[i] / 2, op, ": pad should be at most half of kernel size, but got pad=", w.padding[i], " and kernel_size=", w.kernel[i]);
  }
}

}  // namespace

namespace {
// Of what picks an element of each window.
constexpr auto picked_vjp = [](V v, Y<1> index, XShape<0> x, const Window& w) {
  const int n = w.kernel.size();
  Dims flat = x.sizes;
  for (int i = 1; i < n; i++) {
    flat[flat.size() - 2] *= flat.back();
    flat.resize(flat.size() - 1);
  }
  return reshape(scatter_add(one_zero(flat, v), -1, flat_planes(index, n), flat_planes(v, n)), x.sizes);
};
constexpr auto picked_jvp = [](V v, Y<1> index, const Window& w) {
  const int n = w.kernel.size();
  return std::array<Tensor, 2>{reshape(gather(flat_planes(v, n), -1, flat_planes(index, n)), index.sizes()), Tensor()};
};
}  // namespace

const Op op_max_pool{.name = "max_pool", .torch = "|self|result0 result1", .fields = fields_of<Window>, .kind = Kind::custom, .outputs = 2, .types = types::with_index, .shape = max_pool_shape,
    .d = {rule(picked_vjp)}, .t = {rule(picked_jvp)}, .batch = batch::leading,
    .doc = "The largest element of each window, and its position in the flattened plane; ties take the first.", .reference = max_pool_kernel};
Tensor max_pool_values(const Tensor& x, Window w) {
  w.values_only = !x->keys && x.device().type == DeviceType::cpu && !watched();   // nobody asks for positions: there will be no derivative
  return max_pool(x, w).values;
}
Values max_pool(const Tensor& x, const Window& w) {
  check(x, w, "max_pool");
  static constexpr const char* names[] = {"max_pool1d", "max_pool2d", "max_pool3d"};
  const Named named(names[w.kernel.size() - 1], {&x, 1}, w.kernel.size() == 1 ? "SqueezeBackward1" : nullptr);
  Tensor y[max_outputs];
  apply(op_max_pool, {&x, 1}, w, y);
  return {y[0], y[1]};
}

const Op op_fractional_max_pool{.name = "fractional_max_pool", .torch = "FractionalMaxPool|self random_samples|result0 result1", .fields = fields_of<Window>, .kind = Kind::custom, .outputs = 2, .types = types::with_index,
    .shape = [](Tensors x, const Attrs& a, Dims* out) {
      const Dims& sizes = a.as<Window>().stride;
      out[0] = x[0].sizes();
      for (int i = 0; i < sizes.size(); i++) out[0][out[0].size() - sizes.size() + i] = sizes[i];
      out[1] = out[0];
    },
    .d = {rule(picked_vjp)}, .t = {rule(picked_jvp)}, .batch = batch::leading,
    .doc = "The largest element of each window at places that a number for each dimension of a plane decides about, and its position in the plane.", .reference = fractional_max_pool_kernel};
Values fractional_max_pool(const Tensor& x, const Tensor& samples, const Dims& kernel, const Dims& sizes) {
  const int n = kernel.size();
  expect(sizes.size() == n, ErrorKind::shape, "fractional_max_pool: expected as many output sizes as windows have dimensions, got ", sizes, " for ", kernel);
  expect(x.dim() == n + 2 && samples.dim() == 3 && samples.size(0) == x.size(0) && samples.size(1) == x.size(1) && samples.size(2) == n, ErrorKind::shape, "fractional_max_pool: expected a number for each channel and dimension of an input of sizes ", x.sizes(), ", got ", samples.sizes());
  for (int d = 0; d < n; d++) expect(kernel[d] > 0 && sizes[d] >= 0 && sizes[d] + kernel[d] - 1 <= x.size(2 + d), "fractional_max_pool: windows of ", kernel, " do not fit ", sizes, " times into an input of ", x.sizes());
  Tensor y[max_outputs];
  const Tensor operands[] = {x, samples};
  apply(op_fractional_max_pool, operands, Window{kernel, sizes, Dims(n, 0), Dims(n, 1), 1, false, true}, y);
  return {y[0], y[1]};
}

const Op op_avg_pool{.name = "avg_pool", .fields = fields_of<Averaging>, .kind = Kind::linear, .types = types::first, .shape = avg_pool_shape,
    .d = {rule([](V v, XShape<0> x, const Averaging& a) {
      Averaging r = a;
      r.sizes = Dims(std::span(x.sizes.end() - a.window.kernel.size(), x.sizes.end()));
      return avg_pool_vjp(v, r);
    })},
    .batch = batch::leading,
    .doc = "The mean of each window.", .reference = avg_pool_kernel};

const Op op_avg_pool_vjp{.name = "avg_pool_vjp", .fields = fields_of<Averaging>, .kind = Kind::linear, .types = types::first, .shape = avg_pool_vjp_shape,
    .d = {rule([](V v, const Averaging& a) { return avg_pool_of(v, a); })},
    .batch = batch::leading,
    .doc = "The cotangent of avg_pool's input: each element shared out over its window.", .reference = avg_pool_vjp_kernel};

namespace {
Tensor avg_pool_of(const Tensor& x, const Averaging& a) { return apply(op_avg_pool, {x}, a); }
Tensor avg_pool_vjp(const Tensor& v, const Averaging& a) { return apply(op_avg_pool_vjp, {v}, a); }
}  // namespace

Tensor avg_pool(const Tensor& x, const Window& w, std::optional<int64_t> divisor) {
  Averaging a{w, divisor.value_or(0), {}};
  a.window.dilation = Dims(w.kernel.size(), 1);
  check(x, a.window, "avg_pool");
  expect(!divisor || *divisor != 0, "avg_pool: divisor must be not zero");
  return avg_pool_of(x, a);
}

namespace {
// A pass for each position of equal windows is faster than one for each window where windows are short and rows of them are long.
constexpr int64_t short_window = 16, long_row = 8;

Window parts(const Tensor& x, const Dims& sizes, const char* op) {
  const int n = sizes.size();
  expect(n >= 1 && n <= 3, op, ": expected one to three sizes, got ", sizes);
  expect(x.dim() == n + 1 || x.dim() == n + 2, ErrorKind::shape, op, ": Expected ", n + 1, "D or ", n + 2, "D tensor, but got ", x.sizes());
  Dims longest = sizes;
  bool equal = true;
  for (int i = 0; i < n; i++) {
    const int64_t in = x.size(x.dim() - n + i), out = sizes[i];
    expect(in > 0, ErrorKind::shape, op, ": Expected input to have non-zero size for non-batch dimensions, but input has sizes ", x.sizes());
    expect(out >= 0 && out < int64_t(1) << 31, op, ": elements of output_size must be greater than or equal to 0 and fit 32 bits, got ", sizes);
    equal = equal && out > 0 && in % out == 0;
    longest[i] = out ? (in + out - 1) / out + (in % out > 1) : 1;
  }
  equal = equal && longest.back() <= short_window && sizes.back() >= long_row;
  return {longest, equal ? longest : sizes, Dims(n, 0), Dims(n, 1), 1, false, false, !equal};
}
}  // namespace

Tensor adaptive_avg_pool(const Tensor& x, const Dims& sizes) {
  const bool whole = sizes.size() > 1 && std::count(sizes.begin(), sizes.end(), 1) == sizes.size();   // in PyTorch a mean, too
  static constexpr const char* names[] = {"SqueezeBackward1", "AdaptiveAvgPool2DBackward0", "AdaptiveAvgPool3DBackward0"};
  const NodeName node(whole ? nullptr : names[sizes.size() - 1]);
  expect(is_floating(x.dtype()), ErrorKind::not_implemented, "adaptive_avg_pool: not implemented for ", x.dtype());
  const Window w = parts(x, sizes, "adaptive_avg_pool");
  if (std::count(sizes.begin(), sizes.end(), 1) < sizes.size()) return avg_pool_of(x, {w, 0, {}});
  Dims planes;
  for (int d = x.dim() - sizes.size(); d < x.dim(); d++) planes.push_back(d);
  return mean(x, planes, true);
}
Values adaptive_max_pool(const Tensor& x, const Dims& sizes) {
  static constexpr const char* names[] = {"SqueezeBackward1", "AdaptiveMaxPool2DBackward0", "AdaptiveMaxPool3DBackward0"};
  const NodeName node(names[sizes.size() - 1]);
  Tensor y[max_outputs];
  apply(op_max_pool, {&x, 1}, parts(x, sizes, "adaptive_max_pool"), y);
  return {y[0], y[1]};
}

// With the other records of images.
const Op* const pool_ops[] = {&op_avg_pool, &op_avg_pool_vjp, &op_fractional_max_pool, &op_grid_sample, &op_grid_sample_grid_vjp, &op_grid_sample_image_vjp, &op_max_pool, &op_resize, &op_resize_vjp};
Ops families::pool() { return pool_ops; }

}  // namespace adjoint
