// The cotangent of what layer_norm and rms_norm standardise, as one operation: with z = (x - mean) scale, scale = 1 / sqrt(square + eps) and
// g = v weight, scale (g - mean(g) - z mean(g z)); without the means of x and g where x is not centred. A kernel reads v and x, and writes neither z
// nor g. Of batch_norm the same along channels. Of both also what the weight gets, the sums of v z.
#include <adjoint/core/elementwise.h>
#include <adjoint/core/functors/binary.h>
#include <adjoint/core/history.h>
#include <adjoint/core/op_fields.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/types.h>

#include <cmath>

#include "families.h"
#include "in_float.h"
#include "lanes.h"
#include "standardise_vjp.h"
#include "wide.h"

namespace adjoint {

namespace {

// v, x, mean, square, [weight]: of rows, and a mean and a square for each.
template <class T> void standardise_rows(const Launch& l) {
  const StandardiseVjp& a = l.attrs.as<StandardiseVjp>();
  const int64_t rows = l.x[0].sizes[0], n = l.x[0].sizes[1];
  auto value = [&](const View& t, int64_t row, int64_t i) { return convert<double>(t.as<T>()[row * t.strides[0] + i * t.strides[1]]); };
  auto centre = [&](int64_t row) { return a.centred ? value(l.x[2], row, 0) : 0; };
  auto scale_of = [&](int64_t row) { return 1 / std::sqrt(value(l.x[3], row, 0) + a.eps); };
  const int64_t weights = n / a.each;   // of a row
  for (int64_t w = 0; w < (a.sums ? a.groups * weights : 0); w++) {
    PairwiseSum<double> sum;
    for (int64_t row = w / weights; row < rows; row += a.groups)
      for (int64_t i = w % weights * a.each; i < (w % weights + 1) * a.each; i++) sum.add(value(l.x[0], row, i) * (value(l.x[1], row, i) - centre(row)) * scale_of(row));
    l.y[0].as<T>()[w] = convert<T>(sum.total());
  }
  for (int64_t row = 0; row < (a.sums ? 0 : rows); row++) {
    const double middle = centre(row), scale = scale_of(row);
    auto g = [&](int64_t i) { return value(l.x[0], row, i) * (l.x.size() > 4 ? value(l.x[4], row % a.groups, i / a.each) : 1); };
    auto z = [&](int64_t i) { return (value(l.x[1], row, i) - middle) * scale; };
    PairwiseSum<double> sum, product;
    for (int64_t i = 0; i < n; i++) sum.add(g(i)), product.add(g(i) * z(i));
    const double mean = a.centred ? sum.total() / static_cast<double>(n) : 0, slope = product.total() / static_cast<double>(n);
    for (int64_t i = 0; i < n; i++) l.y[0].as<T>()[row * n + i] = convert<T>(scale * (g(i) - mean - z(i) * slope));
  }
}
void standardise_vjp_kernel(const Launch& l) {
  in_real(l, []<class T>(TypeTag<T>, const Launch& wide) { standardise_rows<T>(wide); });
}

// v, x, mean, square, [weight]: v and x (samples, channels, places), a number of the others for each channel.
template <class T> void standardise_channels(const Launch& l) {
  const ChannelsVjpOf& a = l.attrs.as<ChannelsVjpOf>();
  const View &v = l.x[0], &x = l.x[1], &y = l.y[0];
  const int64_t places = v.sizes[2], n = v.sizes[0] * places;
  auto value = [](const View& t, int64_t i, int64_t channel, int64_t j) { return convert<double>(t.as<T>()[i * t.strides[0] + channel * t.strides[1] + j * t.strides[2]]); };
  auto number = [](const View& t, int64_t channel) { return t.dtype == DType::float32 ? t.as<float>()[channel * t.strides[1]] : convert<double>(t.as<T>()[channel * t.strides[1]]); };
  for (int64_t c = 0; c < v.sizes[1]; c++) {
    const double centre = number(l.x[2], c), scale = 1 / std::sqrt(number(l.x[3], c) + a.eps), weight = l.x.size() > 4 ? value(l.x[4], 0, c, 0) : 1;
    auto z = [&](int64_t i, int64_t j) { return (value(x, i, c, j) - centre) * scale; };
    PairwiseSum<double> sum, product;
    for (int64_t k = 0; k < n; k++) sum.add(value(v, k / places, c, k % places)), product.add(value(v, k / places, c, k % places) * z(k / places, k % places));
    if (a.sums) y.as<T>()[c * y.strides[1]] = convert<T>(product.total());
    const double mean = sum.total() / static_cast<double>(n), slope = product.total() / static_cast<double>(n);
    for (int64_t k = 0; k < (a.sums ? 0 : n); k++) {
      const int64_t i = k / places, j = k % places;
      y.as<T>()[i * y.strides[0] + c * y.strides[1] + j * y.strides[2]] = convert<T>(weight * scale * (value(v, i, c, j) - mean - z(i, j) * slope));
    }
  }
}
void batch_norm_vjp_kernel(const Launch& l) {
  in_real(l, []<class T>(TypeTag<T>, const Launch& wide) { standardise_channels<T>(wide); });
}

}  // namespace

const Op op_standardise_vjp{.name = "standardise_vjp", .fields = fields_of<StandardiseVjp>, .kind = Kind::custom, .types = types::floating,
    .shape = [](Tensors x, const Attrs& a, Dims* out) { 
      const StandardiseVjp& s = a.as<StandardiseVjp>();
      out[0] = s.sums ? Dims{s.groups, x[0].size(1) / s.each} : x[0].sizes();
    },
    .doc = "The cotangent of what layer_norm or rms_norm standardise, of rows, or of its weight.", .reference = standardise_vjp_kernel};

Tensor rows_vjp(const Tensor& v, const Tensor& x, const Tensor& mean, const Tensor& square, const Tensor& weight, int64_t n, double eps, bool sums, int64_t groups, int64_t each) {
  expect(n > 0 && x.numel() % n == 0 && v.sizes() == x.sizes() && square.numel() * n == x.numel(), "standardise_vjp: expected a cotangent as large as x and a square for each ", n, " elements, got ", v.sizes(), ", ", x.sizes(), " and ", square.sizes());
  const Dims lines{x.numel() / n, n}, lone{x.numel() / n, 1};
  const Tensor spread = reshape(square, lone);
  TensorVector operands{reshape(v, lines), reshape(x, lines), mean ? reshape(mean, lone) : spread, spread};
  if (weight) operands.push_back(reshape(weight, {groups, n / each}));
  Tensor y[max_outputs];
  apply(op_standardise_vjp, operands, StandardiseVjp{1, eps, static_cast<bool>(mean), sums, groups, each}, y);
  return sums ? y[0] : reshape(y[0], x.sizes());
}

const Op op_batch_norm_vjp{.name = "batch_norm_vjp", .fields = fields_of<ChannelsVjpOf>, .kind = Kind::custom, .types = types::floating,
    .shape = [](Tensors x, const Attrs& a, Dims* out) { out[0] = a.as<ChannelsVjpOf>().sums ? Dims{1, x[0].size(1), 1} : x[0].sizes(); },
    .doc = "The cotangent of what batch_norm standardises, or of its weight.", .reference = batch_norm_vjp_kernel};

Tensor channels_vjp(const Tensor& v, const Tensor& x, const Tensor& mean, const Tensor& square, const Tensor& weight, double eps, bool sums) {
  const int64_t channels = square.numel();
  expect(x.dim() > 1 && x.numel() && x.size(1) == channels && v.sizes() == x.sizes() && mean.numel() == channels && (!weight || weight.numel() == channels),
         "batch_norm_vjp: expected a cotangent as large as x and a mean, a square and a weight for each channel, got ", v.sizes(), ", ", x.sizes(), " and ", square.sizes());
  const Dims samples{x.size(0), channels, x.numel() / x.size(0) / channels}, each{1, channels, 1};
  TensorVector operands{reshape(v, samples), reshape(x, samples), reshape(mean, each), reshape(square, each)};
  if (weight) operands.push_back(reshape(weight, each));
  Tensor y[max_outputs];
  apply(op_batch_norm_vjp, operands, ChannelsVjpOf{{0, 2}, eps, sums}, y);
  return reshape(y[0], sums ? square.sizes() : x.sizes());
}

bool takes_channels(const Tensor& v, const Tensor& x, const Tensor& mean, const Dims& dims) {
  if (!mean || dims.size() != x.dim() - 1 || dims.contains(1)) return false;
  for (const Tensor& t : {v, x, mean})
    if (t->keys & key_lifted) return false;
  return is_floating(x.dtype()) && x.numel() && v.sizes() == x.sizes() && v.dtype() == x.dtype() && !history_is_kept();
}

namespace {
// v x, or the sums of it where one kernel finds those of all channels.
Tensor factor_vjp(const Tensor& v, const Tensor& x, const Dims& factor) {
  Dims dims, reduced;
  for (int i = 0; i < x.dim(); i++) {
    reduced.push_back(i == 1 ? x.size(1) : 1);
    if (i != 1) dims.push_back(i);
  }
  if (!takes_channels(v, x, x, dims) || !(factor == reduced)) return v * x;
  const Tensor zero = zeros({x.size(1)}, x.dtype(), x.device());
  return reshape(channels_vjp(v, x, zero, ones_like(zero), {}, 0, true), factor);
}
}  // namespace

// As PyTorch's node of batch_norm: its derivative in x does not change with x, but where a graph is recorded that is zero, not absent.
const Op op_affine{.name = "affine", .fields = fields_of<Scale>, .types = types::promoted,
    .d = {rule([](V v) -> Tensor { return v; }),
          rule([](V v, X<1> x, X<2> factor) { return unsqueeze(x, 0)->keys & key_tape ? v * factor * pow(in_float(x), wrapped(0.)) : v * factor; }),
          rule([](V v, X<1> x, XShape<2> factor) { return factor_vjp(v, x, factor.sizes); })},
    .doc = "`shift + x * factor`, elementwise: batch_norm with given statistics.", .reference = elementwise<functors::Addcmul, 3>};
Tensor affine(const Tensor& shift, const Tensor& x, const Tensor& factor) { return apply(op_affine, {shift, x, factor}, Scale{1}); }

const Op* const standardise_vjp_ops[] = {&op_affine, &op_batch_norm_vjp, &op_standardise_vjp};
Ops families::standardise_vjp() { return standardise_vjp_ops; }

}  // namespace adjoint
