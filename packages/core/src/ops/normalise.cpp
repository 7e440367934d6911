// Normalisation: softmax along a dimension; standardised values over dimensions (layer, batch and root-mean-square norms).
#include <adjoint/core/batch.h>
#include <adjoint/core/history.h>
#include <adjoint/core/math/exp.h>
#include <adjoint/core/math/log.h>
#include <adjoint/core/norms.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/passing_views.h>
#include <adjoint/core/types.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "families.h"
#include "in_float.h"
#include "lanes.h"
#include "releasing.h"
#include "standardise_vjp.h"
#include "wide.h"

namespace adjoint {

namespace {

// ---- softmax

template <bool logarithm> void softmax_kernel(const Launch& l) {
  in_real(l, [](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    for_lines<2>({&l.x[0], &l.y[0]}, l.attrs.as<Dim>().dim, [](char* const* p, const int64_t* s, int64_t n) {
      auto value = [&](int64_t i) { return at<T>(p[0] + i * s[0]); };
      T largest = -math::infinity<T>;
      for (int64_t i = 0; i < n; i++) if (value(i) > largest) largest = value(i);
      PairwiseSum<double> sum;
      for (int64_t i = 0; i < n; i++) sum.add(math::exp(value(i) - largest));
      const double total = sum.total(), log_total = math::log(total);
      for (int64_t i = 0; i < n; i++) {
        const T shifted = value(i) - largest;
        at<T>(p[1] + i * s[1]) = convert<T>(logarithm ? static_cast<double>(shifted) - log_total : math::exp(shifted) / total);
      }
    });
  });
}

// y (v - sum(v y)) and scale (g - mean(g) - z mean(g z)) along a dimension: the derivatives of softmax and of standardised values, each a
// symmetric map of its first operand. Records, as a kernel takes one pass over memory.
Tensor softmax_vjp(const Tensor& v, const Tensor& y, const Dim& a);
Tensor log_softmax_vjp(const Tensor& v, const Tensor& y, const Dim& a);   // v - exp(y) sum(v)
Tensor layer_norm_vjp(const Tensor& g, const Tensor& z, const Tensor& scale, const Dim& a);

void softmax_vjp_kernel(const Launch& l) {
  in_real(l, [](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    for_lines<3>({&l.y[0], &l.x[0], &l.x[1]}, l.attrs.as<Dim>().dim, [](char* const* p, const int64_t* s, int64_t n) {
      auto value = [&](int k, int64_t i) { return convert<double>(at<T>(p[k] + i * s[k])); };
      PairwiseSum<double> sum;
      for (int64_t i = 0; i < n; i++) sum.add(value(1, i) * value(2, i));
      const double total = sum.total();
      for (int64_t i = 0; i < n; i++) at<T>(p[0] + i * s[0]) = convert<T>(value(2, i) * (value(1, i) - total));
    });
  });
}
void log_softmax_vjp_kernel(const Launch& l) {
  in_real(l, [](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    for_lines<3>({&l.y[0], &l.x[0], &l.x[1]}, l.attrs.as<Dim>().dim, [](char* const* p, const int64_t* s, int64_t n) {
      auto value = [&](int k, int64_t i) { return convert<double>(at<T>(p[k] + i * s[k])); };
      PairwiseSum<double> sum;
      for (int64_t i = 0; i < n; i++) sum.add(value(1, i));
      const double total = sum.total();
      for (int64_t i = 0; i < n; i++) at<T>(p[0] + i * s[0]) = convert<T>(value(1, i) - math::exp(value(2, i)) * total);
    });
  });
}
void layer_norm_vjp_kernel(const Launch& l) {
  in_real(l, [](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    for_lines<4>({&l.y[0], &l.x[0], &l.x[1], &l.x[2]}, l.attrs.as<Dim>().dim, [](char* const* p, const int64_t* s, int64_t n) {
      auto value = [&](int k, int64_t i) { return convert<double>(at<T>(p[k] + i * s[k])); };
      PairwiseSum<double> sum, product;
      for (int64_t i = 0; i < n; i++) sum.add(value(1, i)), product.add(value(1, i) * value(2, i));
      const double mean = sum.total() / static_cast<double>(n), along = product.total() / static_cast<double>(n);
      for (int64_t i = 0; i < n; i++) at<T>(p[0] + i * s[0]) = convert<T>(value(3, 0) * (value(1, i) - mean - value(2, i) * along));
    });
  });
}
// Whether kernels take it in one pass: lines that lie behind each other.
bool takes_lines(const Tensor& x, const Dims& dims) {
  for (int i = 0; i < dims.size(); i++)
    if (!dims.contains(x.dim() - 1 - i)) return false;
  return x.dim() > 0 && is_floating(x.dtype());
}

// The Jacobians: diag(y) - y y' is symmetric, that of the logarithm is I - 1 y'.
constexpr Rule softmax_rule = rule([](V v, Y<> y, const Dim& a) { return softmax_vjp(v, y, a); });

// ---- standardised values

// An operand that broadcasts to x from the right.
Dims aligned_strides(const View& v, int ndim) {
  Dims strides(ndim, 0);
  for (int i = 0; i < v.ndim; i++)
    if (v.sizes[i] != 1) strides[ndim - v.ndim + i] = v.strides[i];
  return strides;
}

// One operand of a standardising kernel, split into the dimensions that stay and those that statistics are taken over.
struct Halves {
  Dims outer_sizes, outer_strides, inner_sizes, inner_strides;
  Halves(const View& x, const View& v, const Dims& dims) {
    const Dims strides = aligned_strides(v, x.ndim);
    for (int i = 0; i < x.ndim; i++) {
      const bool in = dims.contains(i);
      (in ? inner_sizes : outer_sizes).push_back(x.sizes[i]);
      (in ? inner_strides : outer_strides).push_back(strides[i]);
    }
  }
  View outer(const View& v) const { return {v.data, outer_sizes.data(), outer_strides.data(), outer_sizes.size(), v.dtype, outer_sizes.product()}; }
  View inner(char* data, DType t) const { return {data, inner_sizes.data(), inner_strides.data(), inner_sizes.size(), t, inner_sizes.product()}; }
};

// write(y, x, weight, bias) over one group; absent operands stand on a constant.
template <class T, class F> void for_affine(const Halves (&h)[4], char* const* at_group, F&& f) {
  const DType t = dtype_of<T>();
  const View v[4] = {h[0].inner(at_group[0], t), h[1].inner(at_group[1], t), h[2].inner(at_group[2], t), h[3].inner(at_group[3], t)};
  for_rows<4>({&v[0], &v[1], &v[2], &v[3]}, [&](char* const* p, const int64_t* s, int64_t n) {
    for (int64_t i = 0; i < n; i++) at<T>(p[0] + i * s[0]) = f(at<T>(p[1] + i * s[1]), at<T>(p[2] + i * s[2]), at<T>(p[3] + i * s[3]));
  });
}

struct Moments { double mean, square; };  // square: the mean square distance from the mean
template <class T> Moments moments(const View& group, bool centred) {
  const double n = static_cast<double>(group.numel);
  auto average = [&](auto&& f) {
    PairwiseSum<double> s;
    for_rows<1>({&group}, [&](char* const* p, const int64_t* step, int64_t m) {
      for (int64_t i = 0; i < m; i++) s.add(f(convert<double>(at<T>(p[0] + i * step[0]))));
    });
    return s.total() / n;
  };
  const double mean = centred ? average([](double v) { return v; }) : 0;
  return {mean, average([=](double v) { return (v - mean) * (v - mean); })};
}

// y = (x - mean) / sqrt(var + eps) * weight + bias; also gives the statistics.
template <bool centred, class T> void standardise(const Launch& l) {
  const Normalize& a = l.attrs.as<Normalize>();
  T one = 1, zero = 0;
  const View& x = l.x[0];
  const View constants[2] = {{reinterpret_cast<char*>(&one), nullptr, nullptr, 0, x.dtype, 1}, {reinterpret_cast<char*>(&zero), nullptr, nullptr, 0, x.dtype, 1}};
  const View& weight = l.x.size() > 1 ? l.x[1] : constants[0];
  const View& bias = l.x.size() > 2 ? l.x[2] : constants[1];
  const Halves h[4] = {{x, l.y[0], a.dims}, {x, x, a.dims}, {x, weight, a.dims}, {x, bias, a.dims}};
  const Halves first{x, l.y[1], a.dims}, second{x, l.y[centred ? 2 : 1], a.dims};
  const View outer[6] = {h[0].outer(l.y[0]), h[1].outer(x), h[2].outer(weight), h[3].outer(bias), first.outer(l.y[1]), second.outer(l.y[centred ? 2 : 1])};
  for_rows<6>({&outer[0], &outer[1], &outer[2], &outer[3], &outer[4], &outer[5]}, [&](char* const* p, const int64_t* s, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
      char* group[4];
      for (int k = 0; k < 4; k++) group[k] = p[k] + i * s[k];
      const Moments m = moments<T>(h[1].inner(group[1], x.dtype), centred);
      if (centred) at<T>(p[4] + i * s[4]) = static_cast<T>(m.mean);
      at<T>(p[5] + i * s[5]) = static_cast<T>(m.square);
      const double scale = 1 / std::sqrt(m.square + a.eps);
      for_affine<T>(h, group, [&](T v, T w, T b) { return static_cast<T>((v - m.mean) * scale * w + b); });
    }
  });
}
template <bool centred> void standardise_kernel(const Launch& l) {
  in_real(l, []<class T>(TypeTag<T>, const Launch& wide) { standardise<centred, T>(wide); });
}

Types standardise_types(Tensors x, const Attrs&) {
  const DType t = x[0].dtype(), statistics = is_half(t) ? DType::float32 : t;
  return {t, {t, statistics, statistics}};
}
void standardise_shape(Tensors x, const Attrs& attrs, Dims* out) {
  out[0] = x[0].sizes();
  out[1] = out[2] = reduced(x[0].sizes(), attrs.as<Normalize>().dims, true);
}

// x with a batch dimension in front; weight and bias have the rank of x, so one without a batch dimension broadcasts.
void standardise_batch(const BatchCall& c, Tensor* out) {
  Normalize a = c.attrs.as<Normalize>();
  for (int64_t& d : a.dims) d++;
  TensorVector x{batch::spread(c, 0)};
  for (size_t i = 1; i < c.x.size(); i++) x.push_back(batch::front(c, static_cast<int>(i)));
  const bool lanes = std::any_of(c.dims.begin() + 1, c.dims.end(), [](int d) { return d >= 0; });
  if (!lanes) return apply(c.op, x, a, out);
  apply(c.op, {&x[0], 1}, a, out);   // kernels take one weight for all rows
  for (size_t i = 1; i < x.size(); i++) out[0] = to_dtype(i == 1 ? out[0] * x[i] : out[0] + x[i], x[0].dtype());
}

// What the rules share: with g the cotangent of z = (x - mean) * scale, or v a tangent of x, both give
//   scale * (g - mean(g) - z mean(g z)),
// a symmetric map; it is the derivative of z.
struct Standard {
  Tensor z, scale;
  const Dims& dims;
  bool centred;
  Tensor map(const Tensor& g) const {
    if (centred && g.dtype() == z.dtype() && takes_lines(g, dims) && g.sizes() == z.sizes()) {
      const int lead = g.dim() - dims.size();
      const Dims outer(std::span(g.sizes().begin(), static_cast<size_t>(lead)));
      auto lines = [&](const Tensor& t, int64_t n) {
        Dims sizes = outer;
        sizes.push_back(n);
        return t.sizes() == sizes ? t : reshape(t, sizes);
      };
      const int64_t n = reduced_count(g.sizes(), dims);
      const Tensor r = layer_norm_vjp(lines(g, n), lines(z, n), lines(scale, 1), Dim{lead});
      return r.sizes() == g.sizes() ? r : reshape(r, g.sizes());
    }
    Tensor r = addcmul(g, z, mean(g * z, dims, true), -1.0);
    return centred ? addcmul(-(scale * mean(g, dims, true)), r, scale, 1.0) : scale * r;   // one pass each over what is large
  }
};
Standard standard(const Tensor& x, const Tensor& mean, const Tensor& square, const Normalize& a) {
  Tensor scale = rsqrt(square + a.eps);
  return {(mean ? x - mean : x) * scale, scale, a.dims, static_cast<bool>(mean)};
}
Tensor scaled(const Tensor& t, Tensors x) { return x.size() > 1 ? t * x[1] : t; }

// How a weight lies to lines over the last dimensions of x: that of line r are the numbers of r % groups, each for `each` elements. groups is 0 for another form.
struct Spread { int64_t groups = 1, each = 1; };
Spread spread_of(const Tensor& x, const Dims& weight, const Dims& dims) {
  Spread s;
  int d = weight.size() - 1;
  const int lead = x.dim() - dims.size();
  for (; d >= lead && weight[d] == 1; d--) s.each *= x.size(d);
  for (; d >= 0 && weight[d] == x.size(d); d--) s.groups *= d < lead ? x.size(d) : 1;
  while (d >= 0 && d < lead && weight[d] == 1) d--;
  if (d >= 0 || (s.groups > 1 && s.each == 1) || (s.groups * s.each > 1 && x.device().type == DeviceType::cuda)) s.groups = 0;
  return s;
}
Spread spread_of(Tensors x, const Dims& dims) { return spread_of(x[0], x.size() > 1 ? x[1].sizes() : Dims{}, dims); }

// Whether one kernel does all: plain lines, of whose derivative no history is kept.
bool takes_rows(Tensors v, Tensors x, const Dims& dims, const Spread& spread) {
  for (size_t i = 1; i < v.size(); i++)
    if (v[i]) return false;
  for (const Tensor& t : {v[0], x[0], x[x.size() > 1]})
    if (!t || t->keys & key_lifted) return false;
  return spread.groups && x[0].numel() && v[0].sizes() == x[0].sizes() && v[0].dtype() == x[0].dtype() && takes_lines(x[0], dims) && !history_is_kept();
}
Tensor standardise_vjp(Tensors v, Tensors x, const Tensor& mean, const Tensor& square, const Normalize& a) {
  const int64_t count = reduced_count(x[0].sizes(), a.dims);
  const Spread s = spread_of(x, a.dims);
  if (takes_rows(v, x, a.dims, s)) return rows_vjp(v[0], x[0], mean, square, x.size() > 1 ? x[1] : Tensor(), count, a.eps, false, s.groups, s.each);
  const bool alone = v[0] && !v[1] && (v.size() < 3 || !v[2]), one_weight = x.size() < 2 || (x[1].numel() == (x[0].dim() > 1 ? x[0].size(1) : 0) && !(x[1]->keys & key_lifted));
  if (alone && one_weight && takes_channels(v[0], x[0], mean, a.dims)) return channels_vjp(v[0], x[0], mean, square, x.size() > 1 ? x[1] : Tensor(), a.eps, false);
  const double n = static_cast<double>(count);
  Tensor r;
  auto gather = [&](const Tensor& t) { r = r ? r + t : t; };
  if (v[0]) gather(standard(x[0], mean, square, a).map(scaled(v[0], x)));
  const Tensor& v_square = v[mean ? 2 : 1];
  if (mean && v[1]) gather(expand(v[1] / n, x[0].sizes()));
  if (v_square) gather(v_square * (mean ? x[0] - mean : x[0]) * (2 / n));
  return r ? r : zeros_like(x[0]);
}
Tensor weight_vjp(const Tensor& v, const Tensor& x, const Dims& weight, const Tensor& mean, const Tensor& square, const Normalize& a) {
  if (!v) return {};  // only the statistics have cotangents
  if (takes_channels(v, x, mean, a.dims)) return channels_vjp(v, x, mean, square, {}, a.eps, true);
  const Spread s = spread_of(x, weight, a.dims);
  if (takes_rows({&v, 1}, {&x, 1}, a.dims, s)) return reshape(rows_vjp(v, x, mean, square, {}, reduced_count(x.sizes(), a.dims), a.eps, true, s.groups, s.each), weight);
  return v * standard(x, mean, square, a).z;
}

}  // namespace

const Op op_softmax{.name = "softmax", .fields = fields_of<Dim>, .kind = Kind::custom, .types = types::floating, .shape = shapes::same, .d = {softmax_rule}, .t = {softmax_rule},
    .batch = batch::shift<&Dim::dim>, .doc = "exp(x) / sum(exp(x)) along a dimension, without overflow.", .reference = softmax_kernel<false>};
const Op op_log_softmax{.name = "log_softmax", .fields = fields_of<Dim>, .kind = Kind::custom, .types = types::floating, .shape = shapes::same,
    .d = {rule([](V v, Y<> y, const Dim& a) { return log_softmax_vjp(v, y, a); })},
    .t = {wide_rule([](V v, Y<> y, const Dim& a) { return v - sum(exp(y) * v, Dims{a.dim}, true); })},
    .batch = batch::shift<&Dim::dim>, .doc = "x - log(sum(exp(x))) along a dimension, without overflow.", .reference = softmax_kernel<true>};

const Op op_softmax_vjp{.name = "softmax_vjp", .fields = fields_of<Dim>, .kind = Kind::custom, .types = types::floating, .shape = shapes::same,
    .d = {rule([](V v, X<1> y, const Dim& a) { return softmax_vjp(v, y, a); }),
          wide_rule([](V v, X<0> u, X<1> y, const Dim& a) { return v * (u - sum(u * y, Dims{a.dim}, true)) - u * sum(v * y, Dims{a.dim}, true); })},
    .t = {rule([](V v, X<1> y, const Dim& a) { return softmax_vjp(v, y, a); }),
          wide_rule([](V v, X<0> u, X<1> y, const Dim& a) { return v * (u - sum(u * y, Dims{a.dim}, true)) - y * sum(u * v, Dims{a.dim}, true); })},
    .batch = batch::shift<&Dim::dim>, .doc = "`y (v - sum(v y))` along a dimension: the cotangent of softmax's input.", .reference = softmax_vjp_kernel};
const Op op_log_softmax_vjp{.name = "log_softmax_vjp", .fields = fields_of<Dim>, .kind = Kind::custom, .types = types::floating, .shape = shapes::same,
    .d = {wide_rule([](V v, X<1> y, const Dim& a) { return v - sum(exp(y) * v, Dims{a.dim}, true); }),
          wide_rule([](V v, X<0> u, X<1> y, const Dim& a) { return -(v * exp(y) * sum(u, Dims{a.dim}, true)); })},
    .t = {rule([](V v, X<1> y, const Dim& a) { return log_softmax_vjp(v, y, a); }),
          wide_rule([](V v, X<0> u, X<1> y, const Dim& a) { return -(v * exp(y) * sum(u, Dims{a.dim}, true)); })},
    .batch = batch::shift<&Dim::dim>, .doc = "`v - exp(y) sum(v)` along a dimension: the cotangent of log_softmax's input.", .reference = log_softmax_vjp_kernel};
const Op op_layer_norm_vjp{.name = "layer_norm_vjp", .fields = fields_of<Dim>, .kind = Kind::custom, .types = types::floating, .shape = shapes::same,
    .d = {rule([](V v, X<1> z, X<2> scale, const Dim& a) { return layer_norm_vjp(v, z, scale, a); }),
          wide_rule([](V v, X<0> g, X<1> z, X<2> scale, const Dim& a) {
            const Tensor w = v * scale;
            return -(w * mean(g * z, Dims{a.dim}, true) + g * mean(w * z, Dims{a.dim}, true));
          }),
          wide_rule([](V v, X<0> g, X<1> z, X<2> scale, const Dim& a) { return v * layer_norm_vjp(g, z, ones_like(scale), a); })},
    .t = {rule([](V v, X<1> z, X<2> scale, const Dim& a) { return layer_norm_vjp(v, z, scale, a); }),
          wide_rule([](V v, X<0> g, X<1> z, X<2> scale, const Dim& a) { return -(scale * (v * mean(g * z, Dims{a.dim}, true) + z * mean(g * v, Dims{a.dim}, true))); }),
          wide_rule([](V v, X<0> g, X<1> z, X<2> scale, const Dim& a) { return v * layer_norm_vjp(g, z, ones_like(scale), a); })},
    .batch = batch::shift<&Dim::dim>, .doc = "`scale (g - mean(g) - z mean(g z))` along a dimension: the cotangent of layer_norm's input, `z` its standardised values.",
    .reference = layer_norm_vjp_kernel};
namespace {
Tensor softmax_vjp(const Tensor& v, const Tensor& y, const Dim& a) { return apply(op_softmax_vjp, {v, y}, a); }
Tensor log_softmax_vjp(const Tensor& v, const Tensor& y, const Dim& a);   // v - exp(y) sum(v)
Tensor log_softmax_vjp(const Tensor& v, const Tensor& y, const Dim& a) { return apply(op_log_softmax_vjp, {v, y}, a); }
Tensor layer_norm_vjp(const Tensor& g, const Tensor& z, const Tensor& scale, const Dim& a) { return apply(op_layer_norm_vjp, {g, z, scale}, a); }

Tensor softmax_like(const Op& op, const Tensor& x, int64_t dim, std::optional<DType> dtype) {
  const Tensor cast = dtype ? to_dtype(x, *dtype) : x;
  expect(is_floating(cast.dtype()), ErrorKind::not_implemented, op.name, ": not implemented for ", cast.dtype());
  return along(cast, dim, op.name, [&](const Tensor& v, int d) { return apply(op, {v}, Dim{d}); });
}
}  // namespace
Tensor softmax(const Tensor& x, int64_t dim, std::optional<DType> dtype) {
  const Named named("softmax", {&x, 1}, "SoftmaxBackward0");
  const PassingViews passing({&x, 1});
  return softmax_like(op_softmax, x, dim, dtype);
}
Tensor log_softmax(const Tensor& x, int64_t dim, std::optional<DType> dtype) {
  const Named named("log_softmax", {&x, 1}, "LogSoftmaxBackward0");
  const PassingViews passing({&x, 1});
  return softmax_like(op_log_softmax, x, dim, dtype);
}

namespace {
constexpr std::array<Rule, 4> centred_vjp{
    wide_rule([](Cotangents c, Inputs in, Y<1> mean, Y<2> square, const Normalize& a) { return standardise_vjp(c.v, in.x, mean, square, a); }),
    wide_rule([](V v, X<0> x, XShape<1> weight, Y<1> mean, Y<2> square, const Normalize& a) { return weight_vjp(v, x, weight.sizes, mean, square, a); }),
    rule([](V v) -> Tensor { return v; })};
constexpr std::array<Rule, 4> centred_jvp{
    wide_rule([](V v, Inputs in, Y<1> mean, Y<2> square, const Normalize& a) {
      const Tensor& x = in.x[0];
      return std::array<Tensor, 3>{scaled(standard(x, mean, square, a).map(v), in.x), adjoint::mean(v, a.dims, true), adjoint::mean((x - mean) * v, a.dims, true) * 2};
    }),
    wide_rule([](V v, X<0> x, XShape<1> weight, Y<1> mean, Y<2> square, const Normalize& a) { return weight_vjp(v, x, weight.sizes, mean, square, a); }),
    rule([](V v, X<0> x) { return expand(v, x.sizes()); })};
}  // namespace

const Op op_layer_norm{.name = "layer_norm", .torch = "NativeLayerNorm|input|result0 result1 result2|dims eps", .fields = fields_of<Normalize>, .kind = Kind::custom, .outputs = 3, .types = standardise_types, .shape = standardise_shape, .d = centred_vjp, .t = centred_jvp,
    .batch = standardise_batch, .doc = "(x - mean) / sqrt(var + eps) over trailing dimensions, times weight, plus bias; also mean and var.", .reference = standardise_kernel<true>};
const Op op_batch_norm{.name = "batch_norm", .torch = "NativeBatchNorm|input|result0 result1 result2|dims eps", .fields = fields_of<Normalize>, .kind = Kind::custom, .outputs = 3, .types = standardise_types, .shape = standardise_shape, .d = centred_vjp, .t = centred_jvp,
    .batch = standardise_batch, .doc = "(x - mean) / sqrt(var + eps) over all dimensions but one, times weight, plus bias; also mean and var.", .reference = standardise_kernel<true>};
const Op op_rms_norm{.name = "rms_norm", .fields = fields_of<Normalize>, .kind = Kind::custom, .outputs = 2, .types = standardise_types, .shape = standardise_shape,
    .d = {wide_rule([](Cotangents c, Inputs in, Y<1> square, const Normalize& a) { return standardise_vjp(c.v, in.x, {}, square, a); }),
          wide_rule([](V v, X<0> x, XShape<1> weight, Y<1> square, const Normalize& a) { return weight_vjp(v, x, weight.sizes, {}, square, a); })},
    .t = {wide_rule([](V v, Inputs in, Y<1> square, const Normalize& a) {
            const Tensor& x = in.x[0];
            return std::array<Tensor, 2>{scaled(standard(x, {}, square, a).map(v), in.x), mean(x * v, a.dims, true) * 2};
          }),
          wide_rule([](V v, X<0> x, XShape<1> weight, Y<1> square, const Normalize& a) { return weight_vjp(v, x, weight.sizes, {}, square, a); })},
    .batch = standardise_batch, .doc = "x / sqrt(mean(x^2) + eps) over trailing dimensions, times weight; also the mean square.", .reference = standardise_kernel<false>};

namespace {

// The last dimensions of x, which must have the sizes `shape`.
Dims trailing_dims(const Tensor& x, const Dims& shape, const char* op) {
  const int lead = x.dim() - shape.size();
  expect(!shape.empty(), op, ": Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = ", shape);
  if (lead < 0 || !std::equal(shape.begin(), shape.end(), x.sizes().begin() + lead)) {
    std::ostringstream wanted;
    for (int64_t n : shape) wanted << ", " << n;
    fail(ErrorKind::runtime, op, ": Given normalized_shape=", shape, ", expected input with shape [*", wanted.str(), "], but got input of size", x.sizes());
  }
  Dims dims;
  for (int i = lead; i < x.dim(); i++) dims.push_back(i);
  return dims;
}
void check_affine(const Tensor& t, const Dims& shape, const char* op, const char* what) {
  expect(!t || t.sizes() == shape, op, ": Expected ", what, " to be of same shape as normalized_shape, but got ", what, " of shape ", t ? t.sizes() : shape, " and normalized_shape = ", shape);
}
// A parameter of the trailing dimensions, or of channels, in the rank of x.
Tensor in_rank(const Tensor& t, int ndim, int first) {
  Dims sizes(ndim, 1);
  for (int i = 0; i < t.dim(); i++) sizes[first + i] = t.sizes()[i];
  return sizes == t.sizes() ? t : reshape(t, sizes);
}

struct Standardised { Tensor y, mean, var; };
Standardised standardised(const Op& op, const Tensor& x, const Dims& dims, double eps, const Tensor& weight, const Tensor& bias, int first) {
  TensorVector in{x};
  if (weight) in.push_back(in_rank(weight, x.dim(), first));
  if (weight && bias) in.push_back(in_rank(bias, x.dim(), first));
  Tensor y[max_outputs];
  apply(op, in, Normalize{dims, eps}, y);
  return {!weight && bias ? y[0] + in_rank(bias, x.dim(), first) : y[0], y[1], y[2]};
}

}  // namespace

namespace {
Standardised layer_standardised(const Tensor& x, const Dims& shape, const Tensor& weight, const Tensor& bias, double eps) {
  const Given given(x, weight, bias);
  const Named named("layer_norm", given);
  const PassingViews passing(given);
  const Dims dims = trailing_dims(x, shape, "layer_norm");
  check_affine(weight, shape, "layer_norm", "weight");
  check_affine(bias, shape, "layer_norm", "bias");
  return standardised(op_layer_norm, x, dims, eps, weight, bias, x.dim() - shape.size());
}
// With what the caller is told of the statistics.
Normalised with_deviation(const Standardised& s, const Tensor& x, double eps) { return {s.y, to_dtype(s.mean, x.dtype()), to_dtype(rsqrt(s.var + eps), x.dtype())}; }
}  // namespace
Tensor layer_norm(const Tensor& x, const Dims& shape, const Tensor& weight, const Tensor& bias, double eps) { return layer_standardised(x, shape, weight, bias, eps).y; }
Normalised native_layer_norm(const Tensor& x, const Dims& shape, const Tensor& weight, const Tensor& bias, double eps) { return with_deviation(layer_standardised(x, shape, weight, bias, eps), x, eps); }

namespace {
double epsilon_of(DType t) {
  return t == DType::float64 ? 0x1p-52 : 0x1p-23;   // of the type that it is computed in
}
}  // namespace
Tensor rms_norm(const Tensor& x, const Dims& shape, const Tensor& weight, std::optional<double> eps) {
  const Given given(x, weight);
  const Named named("rms_norm", given);
  const PassingViews passing(given);
  const Dims dims = trailing_dims(x, shape, "rms_norm");
  check_affine(weight, shape, "rms_norm", "weight");
  if (is_complex(x.dtype())) {  // by PyTorch's definition the mean of x^2, not of |x|^2
    const Tensor y = x * rsqrt(mean(x * x, dims, true) + eps.value_or(epsilon_of(real_of(x.dtype()))));
    return weight ? y * weight : y;
  }
  return standardised(op_rms_norm, x, dims, eps.value_or(epsilon_of(x.dtype())), weight, {}, x.dim() - shape.size()).y;
}

extern const Op op_axpby;

namespace {

// running = (1 - momentum) running + momentum factor value, outside of any graph.
void update_running(const Tensor& running, const Tensor& value, double momentum, double factor) {
  if (!running) return;
  const bool plain = !((running->keys | value->keys) & key_lifted);
  const Tensor v = reshape(plain ? alias_of(value) : value, running.sizes());
  if (plain) run_inplace(op_axpby, running, {&v, 1}, Factors{1 - momentum, momentum * factor});
  else copy_(running, running * (1 - momentum) + v * (momentum * factor));
}

}  // namespace

namespace {
void check_channels(const Tensor& x, std::initializer_list<Tensor> parameters) {
  expect(x.dim() >= 2, ErrorKind::value, "batch_norm: expected at least 2D input, got ", x.dim(), "D input");
  for (const Tensor& t : parameters)
    expect(!t || t.numel() == x.size(1), "batch_norm: expected parameters to contain ", x.size(1), " elements, got ", t ? t.numel() : 0);
}
Standardised batch_standardised(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight, const Tensor& bias, double momentum, double eps) {
  const int64_t n = x.size(1) ? x.numel() / x.size(1) : 0;
  expect(n != 1, ErrorKind::value, "batch_norm: Expected more than 1 value per channel when training, got input size ", x.sizes());
  Dims dims;
  for (int i = 0; i < x.dim(); i++)
    if (i != 1) dims.push_back(i);
  const Standardised s = standardised(op_batch_norm, x, dims, eps, weight, bias, 1);
  if (n == 0) return s;   // an empty batch says nothing of the statistics
  update_running(running_mean, s.mean, momentum, 1);
  update_running(running_var, s.var, momentum, static_cast<double>(n) / static_cast<double>(n - 1));
  return s;
}
}  // namespace
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight, const Tensor& bias, bool training, double momentum, double eps) {
  const Given given(x, weight, bias, running_mean, running_var);
  const Named named("batch_norm", given);
  const PassingViews passing(given);
  expect(training ? eps > 0 : eps >= 0, ErrorKind::value, "batch_norm: eps must be ", training ? "positive during training" : "non-negative", ", but got ", eps);
  check_channels(x, {running_mean, running_var, weight, bias});
  if (training) return batch_standardised(x, running_mean, running_var, weight, bias, momentum, eps).y;
  expect(running_mean && running_var, "batch_norm: Expected running_mean and running_var to be defined when training=False");
  const Tensor scale = rsqrt(in_float(running_var) + eps), factor = weight ? scale * weight : scale, mean = in_float(running_mean);
  const Tensor shift = bias ? addcmul(in_float(bias), mean, factor, -1) : -(mean * factor);   // one pass over x, as in PyTorch
  const auto moved = [&](const Tensor& t) { return affine(in_rank(shift, x.dim(), 1), t, in_rank(factor, x.dim(), 1)); };
  const Tensor terms[] = {shift, x, factor};
  if (!is_half(x.dtype()) || !InFloat::serves(terms)) return to_dtype(moved(in_float(x)), x.dtype());
  Tensor y;
  { const InFloat here; y = moved(x); }
  return to_dtype(y, x.dtype());
}
Normalised native_batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight, const Tensor& bias, double momentum, double eps) {
  const Given given(x, weight, bias, running_mean, running_var);
  const Named named("batch_norm", given);
  const PassingViews passing(given);
  check_channels(x, {running_mean, running_var, weight, bias});
  Normalised r = with_deviation(batch_standardised(x, running_mean, running_var, weight, bias, momentum, eps), x, eps);
  const Dims channels{x.size(1)};
  return {r.y, reshape(r.mean, channels), reshape(r.deviation, channels)};
}

const Op* const normalise_ops[] = {&op_batch_norm, &op_layer_norm, &op_layer_norm_vjp, &op_log_softmax, &op_log_softmax_vjp, &op_rms_norm, &op_softmax, &op_softmax_vjp};
Ops families::normalise() { return normalise_ops; }

}  // namespace adjoint
