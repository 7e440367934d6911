// Convolution in 1, 2 and 3 dimensions. Three records, each the derivative of the other two: x and weight give y,
// y and weight give x (transposed convolution), x and y give weight.
#include <adjoint/core/batch.h>
#include <adjoint/core/one_type.h>
#include <adjoint/core/op_fields.h>
#include <adjoint/core/convolution.h>
#include <adjoint/core/functors/number.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/passing_views.h>
#include <adjoint/core/types.h>

#include <algorithm>

#include "families.h"
#include "in_float.h"
#include "positions.h"
#include "wide.h"

namespace adjoint {

namespace {

int64_t output_size(int64_t in, int64_t kernel, const Convolution& a, int d) {
  return (in + 2 * a.padding[d] - a.dilation[d] * (kernel - 1) - 1) / a.stride[d] + 1;
}
Convolution with_sizes(const Convolution& a, const Dims& full) {
  Convolution r = a;
  r.sizes = Dims(std::span(full.begin() + 2, full.end()));
  return r;
}

// f(x row, distance in x, weight element, y row, length) for each row of outputs and each kernel element, over one pair of planes.
template <class C, class F>
void for_taps(const ConvolutionSizes& g, C* x, C* weight, C* y, F&& f) {
  for (int64_t a = 0; a < g.kernel[0]; a++)
    for (int64_t b = 0; b < g.kernel[1]; b++)
      for (int64_t c = 0; c < g.kernel[2]; c++, weight++) {
        int64_t first[3], last[3];
        g.inside(0, a, first[0], last[0]);
        g.inside(1, b, first[1], last[1]);
        g.inside(2, c, first[2], last[2]);
        if (first[2] >= last[2]) continue;
        for (int64_t i = first[0]; i < last[0]; i++)
          for (int64_t j = first[1]; j < last[1]; j++) {
            const int64_t plane = i * g.stride[0] - g.padding[0] + a * g.dilation[0], row = j * g.stride[1] - g.padding[1] + b * g.dilation[1];
            const int64_t column = first[2] * g.stride[2] - g.padding[2] + c * g.dilation[2];
            f(x + (plane * g.in[1] + row) * g.in[2] + column, g.stride[2], *weight, y + (i * g.out[1] + j) * g.out[2] + first[2], last[2] - first[2]);
          }
      }
}
template <class C, class F>
[[gnu::noinline]] void for_planes(const ConvolutionSizes& g, C* x, C* weight, C* y, F&& f) {
  for (int64_t n = 0; n < g.batch; n++)
    for (int64_t group = 0; group < g.groups; group++)
      for (int64_t o = 0; o < g.out_channels; o++)
        for (int64_t i = 0; i < g.in_channels; i++) {
          const int64_t in = (n * g.groups + group) * g.in_channels + i, filter = group * g.out_channels + o, out = n * g.groups * g.out_channels + filter;
          for_taps(g, x + in * g.in_plane(), weight + (filter * g.in_channels + i) * g.taps(), y + out * g.out_plane(), f);
        }
}

// Dense copies in the type that sums are taken in; the result starts as zeros.
template <class C> std::vector<C> dense(const View& v) {
  std::vector<C> r(v.numel, C(0));
  const Dims sizes = positions::dims_of(v.sizes, v.ndim), strides = contiguous_strides(sizes);
  positions::copy(v, {reinterpret_cast<char*>(r.data()), sizes.data(), strides.data(), v.ndim, dtype_of<C>(), v.numel});
  return r;
}
template <class Body>
void convolve(const Launch& l, const View& x, const View& weight, const View& y, int result, Body&& body) {
  expect(l.y[0].dtype != DType::bool_, ErrorKind::not_implemented, l.op, ": not implemented for bool");
  const ConvolutionSizes g(x, weight, y, l.attrs.as<Convolution>());
  detail::with_wide_type(l.y[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
    std::vector<C> data[3];
    const View* const views[3] = {&x, &weight, &y};
    for (int i = 0; i < 3; i++) data[i] = i == result ? std::vector<C>(views[i]->numel, C(0)) : dense<C>(*views[i]);
    for_planes(g, data[0].data(), data[1].data(), data[2].data(), body);
    View sums = l.y[0];   // which is dense
    sums.data = reinterpret_cast<char*>(data[result].data()), sums.dtype = dtype_of<C>();
    cast_elements(l.y[0], sums);
  });
}

// sum + a b; of integers, which wrap.
template <class T> T plus_product(T sum, T a, T b) {
  if constexpr (functors::Integer<T>) return static_cast<T>(static_cast<functors::Wrapping<T>>(sum) + static_cast<functors::Wrapping<T>>(a) * static_cast<functors::Wrapping<T>>(b));
  else return sum + a * b;
}

void conv_kernel(const Launch& l) {
  convolve(l, l.x[0], l.x[1], l.y[0], 2, [](const auto* x, int64_t step, auto weight, auto* y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = plus_product(y[i], weight, x[i * step]);
  });
}
void conv_input_kernel(const Launch& l) {
  convolve(l, l.y[0], l.x[1], l.x[0], 0, [](auto* x, int64_t step, auto weight, const auto* y, int64_t n) {
    for (int64_t i = 0; i < n; i++) x[i * step] = plus_product(x[i * step], weight, y[i]);
  });
}
void conv_weight_kernel(const Launch& l) {
  convolve(l, l.x[0], l.y[0], l.x[1], 1, [](const auto* x, int64_t step, auto& weight, const auto* y, int64_t n) {
    auto sum = x[0] * y[0];
    for (int64_t i = 1; i < n; i++) sum += x[i * step] * y[i];
    weight += sum;
  });
}

Types conv_types(Tensors x, const Attrs&) {
  expect(x[0].dtype() == x[1].dtype(), "conv: expected scalar type ", x[0].dtype(), " but found ", x[1].dtype());
  return all(x[0].dtype());
}

void conv_shape(Tensors t, const Attrs& attrs, Dims* out) {
  const Convolution& a = attrs.as<Convolution>();
  const Dims &x = t[0].sizes(), &w = t[1].sizes();
  expect(a.groups > 0, "conv: non-positive groups is not supported, got ", a.groups);
  expect(w[0] % a.groups == 0, ErrorKind::shape, "conv: Given groups=", a.groups, ", expected weight to be divisible by ", a.groups, " at dimension 0, but got weight of size ", w, " instead");
  expect(x[1] == w[1] * a.groups, ErrorKind::shape, "conv: Given groups=", a.groups, ", weight of size ", w, ", expected input", x, " to have ", w[1] * a.groups, " channels, but got ", x[1], " channels instead");
  out[0] = {x[0], w[0]};
  for (int i = 0; i < a.stride.size(); i++) {
    const int64_t padded = x[2 + i] + 2 * a.padding[i], extent = a.dilation[i] * (w[2 + i] - 1) + 1;
    expect(padded >= extent, ErrorKind::shape, "conv: Calculated padded input size per channel: (", padded, "). Kernel size: (", extent, "). Kernel size can't be greater than actual input size");
    out[0].push_back(output_size(x[2 + i], w[2 + i], a, i));
  }
}
// y (n, out, ...), weight (out, in / groups, ...) -> x
void conv_input_shape(Tensors t, const Attrs& attrs, Dims* out) {
  const Convolution& a = attrs.as<Convolution>();
  const Dims &y = t[0].sizes(), &w = t[1].sizes();
  expect(y[1] == w[0] && w[0] % a.groups == 0, ErrorKind::shape, "conv_transpose: Given transposed=1, weight of size ", w, ", expected input", y, " to have ", w[0], " channels, but got ", y[1], " channels instead");
  out[0] = {y[0], w[1] * a.groups};
  for (int i = 0; i < a.sizes.size(); i++) {
    expect(output_size(a.sizes[i], w[2 + i], a, i) == y[2 + i], ErrorKind::shape, "conv_input_vjp: sizes ", a.sizes, " do not belong to an output of size ", y);
    out[0].push_back(a.sizes[i]);
  }
}
// x (n, in, ...), y (n, out, ...) -> weight
void conv_weight_shape(Tensors t, const Attrs& attrs, Dims* out) {
  const Convolution& a = attrs.as<Convolution>();
  const Dims &x = t[0].sizes(), &y = t[1].sizes();
  expect(x[0] == y[0] && x[1] % a.groups == 0 && y[1] % a.groups == 0, ErrorKind::shape, "conv_weight_vjp: sizes ", x, " and ", y, " do not belong together");
  out[0] = {y[1], x[1] / a.groups};
  for (int i = 0; i < a.sizes.size(); i++) {
    expect(output_size(x[2 + i], a.sizes[i], a, i) == y[2 + i], ErrorKind::shape, "conv_weight_vjp: sizes ", a.sizes, " do not belong to an output of size ", y);
    out[0].push_back(a.sizes[i]);
  }
}

// A batch dimension in front joined with the dimension that follows it or with the one after, and taken apart again.
Tensor fold(const Tensor& x, int dim) {
  const Tensor moved = movedim(x, 0, dim);
  return flatten(moved, dim, dim + 1);
}
Tensor unfold_lanes(const Tensor& y, int dim, int64_t lanes) {
  Dims sizes = y.sizes();
  sizes[dim] = lanes ? sizes[dim] / lanes : 0;
  sizes.insert(dim, lanes);
  return movedim(reshape(y, sizes), dim, 0);
}

// Lanes become groups; where the filters are shared, lanes of images become more images. Folds: the dimension of each operand and of the result.
template <int first, int second, int result, bool shared_second>
void batch_conv(const BatchCall& c, Tensor* out) {
  Convolution a = c.attrs.as<Convolution>();
  if (shared_second && c.dims[1] < 0) {
    out[0] = unfold_lanes(apply(c.op, {fold(batch::front(c, 0), 0), c.x[1]}, a), 0, c.size);
    return;
  }
  a.groups *= c.size;
  out[0] = unfold_lanes(apply(c.op, {fold(batch::spread(c, 0), first), fold(batch::spread(c, 1), second)}, a), result, c.size);
}

Tensor conv_of(const Tensor& x, const Tensor& weight, const Convolution& a);
Tensor conv_input_vjp(const Tensor& y, const Tensor& weight, const Convolution& a);
Tensor conv_weight_vjp(const Tensor& x, const Tensor& y, const Convolution& a);

}  // namespace

const Op op_conv{.name = "conv", .torch = "Convolution|input weight", .fields = fields_of<Convolution>, .kind = Kind::multilinear, .types = conv_types, .shape = conv_shape,
    .d = {rule([](V v, X<1> weight, XShape<0> x, const Convolution& a) { return conv_input_vjp(v, weight, with_sizes(a, x.sizes)); }),
          rule([](V v, X<0> x, XShape<1> weight, const Convolution& a) { return conv_weight_vjp(x, v, with_sizes(a, weight.sizes)); })},
    .batch = batch_conv<1, 0, 1, true>,
    .doc = "Convolution of `x` (n, in, ...) with `weight` (out, in / groups, ...).", .reference = conv_kernel};

const Op op_conv_input_vjp{.name = "conv_input_vjp", .fields = fields_of<Convolution>, .kind = Kind::multilinear, .types = conv_types, .shape = conv_input_shape,
    .d = {rule([](V v, X<1> weight, const Convolution& a) { return conv_of(v, weight, a); }),
          rule([](V v, X<0> y, XShape<1> weight, const Convolution& a) { return conv_weight_vjp(v, y, with_sizes(a, weight.sizes)); })},
    .batch = batch_conv<1, 0, 1, true>,
    .doc = "Transposed convolution of `y` (n, out, ...) with `weight`: the cotangent of conv's input.", .reference = conv_input_kernel};

const Op op_conv_weight_vjp{.name = "conv_weight_vjp", .fields = fields_of<Convolution>, .kind = Kind::multilinear, .types = conv_types, .shape = conv_weight_shape,
    .d = {rule([](V v, X<1> y, XShape<0> x, const Convolution& a) { return conv_input_vjp(y, v, with_sizes(a, x.sizes)); }),
          rule([](V v, X<0> x, const Convolution& a) { return conv_of(x, v, a); })},
    .batch = batch_conv<1, 1, 0, false>,
    .doc = "Correlation of `x` (n, in, ...) with `y` (n, out, ...): the cotangent of conv's weight.", .reference = conv_weight_kernel};

namespace {

Tensor conv_of(const Tensor& x, const Tensor& weight, const Convolution& a) { return apply(op_conv, {x, weight}, a); }
Tensor conv_input_vjp(const Tensor& y, const Tensor& weight, const Convolution& a) { return apply(op_conv_input_vjp, {y, weight}, a); }
Tensor conv_weight_vjp(const Tensor& x, const Tensor& y, const Convolution& a) { return apply(op_conv_weight_vjp, {x, y}, a); }

// Checked attributes; x has n + 2 dimensions, or n + 1 without a batch.
Convolution checked(const Tensor& x, const Tensor& weight, const Window& w, const char* op) {
  const int n = weight.dim() - 2;
  expect(n >= 1 && n <= 3, ErrorKind::shape, op, ": expected weight of 3 to 5 dimensions, got weight of size ", weight.sizes());
  expect(x.dim() == n + 1 || x.dim() == n + 2, ErrorKind::shape, op, ": Expected ", n + 1, "D (unbatched) or ", n + 2, "D (batched) input to ", op, n, "d, but got input of size: ", x.sizes());
  expect(w.stride.size() == n && w.padding.size() == n && w.dilation.size() == n, op, ": expected stride, padding and dilation to have ", n, " values each");
  for (int i = 0; i < n; i++) {
    expect(w.stride[i] > 0, op, ": non-positive stride is not supported, got ", w.stride);
    expect(w.padding[i] >= 0, op, ": negative padding is not supported, got ", w.padding);
    expect(w.dilation[i] > 0, op, ": dilation should be greater than zero, got ", w.dilation);
    // So that no sum of products of them overflows.
    expect(std::max({w.stride[i], w.padding[i], w.dilation[i], weight.size(2 + i)}) <= INT32_MAX, op, ": kernel size, stride, padding and dilation are at most ", INT32_MAX,
           ", got weight of size ", weight.sizes(), ", ", w.stride, ", ", w.padding, " and ", w.dilation);
  }
  expect(w.groups > 0, op, ": non-positive groups is not supported, got ", w.groups);
  return {w.stride, w.padding, w.dilation, w.groups, {}};
}

Tensor finish(const Tensor& y, const Tensor& weight, const Tensor& bias, int64_t channels, bool batched, const char* op) {
  Tensor r = y;
  if (bias) {
    expect(bias.dim() == 1 && bias.size(0) == channels, ErrorKind::shape, op, ": Given weight of size ", weight.sizes(), ", expected bias to be 1-dimensional with ", channels,
           " elements, but got bias of size ", bias.sizes(), " instead");
    Dims sizes(y.dim(), 1);
    sizes[1] = channels;
    r = add(y, reshape(bias, sizes));
  }
  return batched ? r : squeeze(r, Dims{0});
}

}  // namespace

Tensor conv(const Tensor& x, const Tensor& weight, const Tensor& bias, const Window& w) {
  const Given given(x, weight, bias);
  const Named named("conv", given, x.dim() == weight.dim() ? "ConvolutionBackward0" : "SqueezeBackward1");
  const PassingViews passing(given);
  expect_type("conv", "bias", bias, "weight", weight);
  if (bias)
    if (const Tensor y = rounded_once(conv, x, weight, bias, w)) return y;
  const Convolution a = checked(x, weight, w, "conv");
  const bool batched = x.dim() == weight.dim();
  return finish(conv_of(batched ? x : unsqueeze(x, 0), weight, a), weight, bias, weight.size(0), batched, "conv");
}

Tensor conv_transpose(const Tensor& x, const Tensor& weight, const Tensor& bias, const Window& w, const Dims& output_padding) {
  const Given given(x, weight, bias);
  const Named named("conv_transpose", given, x.dim() == weight.dim() ? "ConvolutionBackward0" : "SqueezeBackward1");
  const PassingViews passing(given);
  expect_type("conv_transpose", "bias", bias, "weight", weight);
  if (bias)
    if (const Tensor y = rounded_once(conv_transpose, x, weight, bias, w, output_padding)) return y;
  Convolution a = checked(x, weight, w, "conv_transpose");
  const bool batched = x.dim() == weight.dim();
  Tensor y = batched ? x : unsqueeze(x, 0);
  expect(output_padding.size() == a.stride.size(), "conv_transpose: expected output_padding to have ", a.stride.size(), " values, got ", output_padding);
  Dims before(y.dim(), 0), after(y.dim(), 0);
  for (int i = 0; i < a.stride.size(); i++) {
    expect(output_padding[i] >= 0 && output_padding[i] < std::max(a.stride[i], a.dilation[i]), "conv_transpose: output padding must be smaller than either stride or dilation, but got output_padding ",
           output_padding, ", stride ", a.stride, ", dilation ", a.dilation);
    // conv of a result longer by a whole stride has one more output: the operand gets a zero there.
    after[2 + i] = output_padding[i] / a.stride[i];
    expect(y.size(2 + i) <= INT64_MAX / 4 / a.stride[i], "conv_transpose: too large an output of input", x.sizes(), " and stride ", a.stride);
    a.sizes.push_back((y.size(2 + i) - 1) * a.stride[i] - 2 * a.padding[i] + a.dilation[i] * (weight.size(2 + i) - 1) + 1 + output_padding[i]);
    expect(a.sizes[i] >= 0, ErrorKind::shape, "conv_transpose: Given input size per channel: ", x.sizes(), ". Calculated output size per channel: ", a.sizes, ". Output size is too small");
  }
  if (std::any_of(after.begin(), after.end(), [](int64_t n) { return n > 0; })) y = pad(y, before, after);
  return finish(conv_input_vjp(y, weight, a), weight, bias, weight.size(1) * a.groups, batched, "conv_transpose");
}

const Op* const conv_ops[] = {&op_conv, &op_conv_input_vjp, &op_conv_weight_vjp};
Ops families::conv() { return conv_ops; }

}  // namespace adjoint
