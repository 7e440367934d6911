// Reductions with a scale: variance, standard deviation, vector norms, log-sum-exp.
#include <adjoint/core/batch.h>
#include <adjoint/core/math/complex.h>
#include <adjoint/core/math/exp.h>
#include <adjoint/core/math/power.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/types.h>

#include <algorithm>
#include <cmath>

#include "families.h"
#include "lanes.h"
#include "releasing.h"
#include "wide.h"

namespace adjoint {

namespace {

template <class A> void shape_of_statistic(Tensors x, const Attrs& attrs, Dims* out) {
  const A& a = attrs.as<A>();
  out[0] = reduced(x[0].sizes(), a.dims, a.keepdim);
}

// ---- variance

double square_of(double v) { return v * v; }
double square_of(Complex<double> v) { return v.re * v.re + v.im * v.im; }

// Two passes: squares of the distances to the mean do not cancel.
template <bool root> void variance_kernel(const Launch& l) {
  const Variance& a = l.attrs.as<Variance>();
  in_inexact(l, [&](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    using A = accumulator_t<T>;
    using R = real_t<T>;
    for_groups(l.x[0], l.y[0], a.dims, [&](char* y, const char* x, const Group& g) {
      PairwiseSum<A> s;
      g.each<T>(x, [&](T v) { s.add(convert<A>(v)); });
      const A mean = s.total() / static_cast<double>(g.count);
      PairwiseSum<double> squares;
      g.each<T>(x, [&](T v) { squares.add(square_of(convert<A>(v) - mean)); });
      const double var = squares.total() / std::max(static_cast<double>(g.count) - a.correction, 0.0);
      at<R>(y) = convert<R>(root ? std::sqrt(var) : var);
    });
  });
}

// 2 (x - mean) / (n - correction): what a cotangent of the variance is multiplied by.
Tensor deviation(const Tensor& x, const Variance& a) {
  const double degrees = std::max(static_cast<double>(reduced_count(x.sizes(), a.dims)) - a.correction, 0.0);
  return (x - mean_over(x, a.dims, true)) * (2 / degrees);
}
Tensor variance_vjp(const Tensor& v, const Tensor& x, const Variance& a) { return keep_dims(v, a) * deviation(x, a); }
Tensor variance_jvp(const Tensor& v, const Tensor& x, const Variance& a) { return sum_over(real(conj(deviation(x, a)) * v), a.dims, a.keepdim); }

// v / (2 y), and 0 where y is 0.
Tensor half_over(const Tensor& v, const Tensor& y) {
  Tensor flat = eq(y, zero_of(y));
  return where(flat, zero_of(v), v / (where(flat, ones({}, y.dtype(), y.device()), y) * 2));
}

// ---- norms

double magnitude(double v) { return std::fabs(v); }
double magnitude(Complex<double> v) { return std::hypot(v.re, v.im); }

[[gnu::noinline]] double power(double x, double p) { return math::pow(x, p); }   // long: once for all types

template <class Each> double scaled_norm(double p, double scale, Each&& each) {
  PairwiseSum<double> s;
  each([&](double m) {
    const double r = m / scale;
    s.add(p == 2 ? r * r : p == 1 ? r : power(r, p));
  });
  const double t = s.total();
  return scale * (p == 2 ? std::sqrt(t) : p == 1 ? t : power(t, 1 / p));
}

// Only where powers leave the range of double is there a second attempt, in units of the largest element.
template <class Each> double norm_of(double p, Each&& each) {
  if (p == 0) {
    int64_t n = 0;
    each([&](double m) { n += m != 0; });
    return static_cast<double>(n);
  }
  const double plain = scaled_norm(p, 1, each);
  if (p < 1 || (std::isfinite(plain) && plain > 1e-100)) return plain;
  double largest = 0;
  each([&](double m) { if (m > largest || m != m) largest = m; });
  return largest == 0 || !std::isfinite(largest) ? plain : scaled_norm(p, largest, each);
}

void norm_kernel(const Launch& l) {
  const VectorNorm& a = l.attrs.as<VectorNorm>();
  in_inexact(l, [&](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    using R = real_t<T>;
    for_groups(l.x[0], l.y[0], a.dims, [&](char* y, const char* x, const Group& g) {
      at<R>(y) = convert<R>(norm_of(a.p, [&](auto&& f) { g.each<T>(x, [&](T v) { f(magnitude(convert<accumulator_t<T>>(v))); }); }));
    });
  });
}

// dy/dx (conjugated, for complex x) with y of kept shape; 0 where the norm has a kink, so that derivatives of it are 0 there too.
Tensor norm_direction(const Tensor& x, const Tensor& y, const VectorNorm& a) {
  if (a.p == 0) return zeros_like(x);
  if (a.p == 1) return sgn(x);
  Tensor flat = eq(y, zero_of(y)), safe_y = where(flat, ones({}, y.dtype(), y.device()), y);
  if (a.p == 2) return where(flat, zero_of(x), x / safe_y);
  Tensor zero = logical_or(eq(x, zero_of(x)), flat);  // a negative order makes the norm 0 where one element is
  Tensor r = where(zero, ones({}, x.dtype(), x.device()), x);   // a statement each: temporaries go when they were used
  r = abs(r);
  r = r / safe_y;
  r = pow(r, wrapped(a.p - 1));
  r = sgn(x) * r;
  return where(zero, zero_of(x), r);
}

// ---- log-sum-exp

void logsumexp_kernel(const Launch& l) {
  const Reduce& a = l.attrs.as<Reduce>();
  in_inexact(l, [&](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    if constexpr (is_complex_v<T>) for_groups(l.x[0], l.y[0], a.dims, [](char* y, const char* x, const Group& g) {
      double largest = -math::infinity<double>;
      g.each<T>(x, [&](T v) { if (v.re > largest) largest = v.re; });
      if (math::abs(largest) == math::infinity<double>) largest = 0;
      PairwiseSum<Complex<double>> s;
      g.each<T>(x, [&](T v) { s.add(math::polar(math::exp(v.re - largest), static_cast<double>(v.im))); });
      at<T>(y) = convert<T>(math::log(s.total()) + largest);
    });
    else for_groups(l.x[0], l.y[0], a.dims, [](char* y, const char* x, const Group& g) {
      T largest = -math::infinity<T>;
      g.each<T>(x, [&](T v) { if (v > largest || is_nan(v)) largest = v; });
      if (math::abs(largest) == math::infinity<T> || is_nan(largest)) { at<T>(y) = largest; return; }
      PairwiseSum<double> s;
      g.each<T>(x, [&](T v) { s.add(math::exp(v - largest)); });
      at<T>(y) = convert<T>(static_cast<double>(largest) + math::log(s.total()));
    });
  });
}

// y, a result, where it was not rounded to a half type: exp(x - y) would be wrong by as much as y is large.
Tensor precise(const Tensor& y, const Tensor& x, DType given, const Reduce& a) { return is_half(given) ? logsumexp(x, a.dims, a.keepdim) : y; }

// exp(x - y); a y of -inf stands for 0, which gives 0 for a group of -inf. Beside +inf all others weigh nothing.
Tensor weights(const Tensor& x, const Tensor& y, const Reduce& a) {
  const Tensor k = keep_dims(y, a);
  return exp(x - where(is_complex(k.dtype()) ? isinf(k) : eq(k, wrapped(-math::infinity<double>)), zero_of(k), k));
}

}  // namespace

const Op op_var{.name = "var", .fields = fields_of<Variance>, .kind = Kind::custom, .types = types::real_part, .shape = shape_of_statistic<Variance>,
    .d = {wide_rule([](V v, X<0> x, const Variance& a) { return variance_vjp(v, x, a); })},
    .t = {wide_rule([](V v, X<0> x, const Variance& a) { return variance_jvp(v, x, a); })},
    .batch = batch::shift<&Variance::dims>, .doc = "The variance over `dims`, with n - correction as divisor.", .reference = variance_kernel<false>};
const Op op_std{.name = "std", .fields = fields_of<Variance>, .kind = Kind::custom, .types = types::real_part, .shape = shape_of_statistic<Variance>,
    .d = {wide_rule([](V v, X<0> x, Y<> y, const Variance& a) { return variance_vjp(half_over(v, y), x, a); })},
    .t = {wide_rule([](V v, X<0> x, Y<> y, const Variance& a) { return half_over(variance_jvp(v, x, a), y); })},
    .batch = batch::shift<&Variance::dims>, .doc = "The square root of the variance over `dims`; its derivative at 0 is 0.", .reference = variance_kernel<true>};
namespace {
Tensor spread(const Op& op, const Tensor& x, const OptionalDims& dims, double correction, bool keepdim) {
  expect(is_differentiable(x.dtype()), op.name, ": only support floating point and complex dtypes, got ", x.dtype());
  return apply(op, {x}, Variance{normal_dims(dims, x.dim(), op.name), correction, keepdim});
}
}  // namespace
Tensor var(const Tensor& x, const OptionalDims& dims, double correction, bool keepdim) { return spread(op_var, x, dims, correction, keepdim); }
Tensor std(const Tensor& x, const OptionalDims& dims, double correction, bool keepdim) { return spread(op_std, x, dims, correction, keepdim); }

const Op op_vector_norm{.name = "vector_norm", .torch = "LinalgVectorNorm|||dim ord keepdim", .fields = fields_of<VectorNorm>, .kind = Kind::custom, .types = types::real_part, .shape = shape_of_statistic<VectorNorm>,
    .d = {wide_rule([](V v, X<0> x, Y<> y, const VectorNorm& a) { return keep_dims(v, a) * norm_direction(x, keep_dims(y, a), a); })},
    .t = {wide_rule([](V v, X<0> x, Y<> y, const VectorNorm& a) { return sum_over(real(conj(norm_direction(x, keep_dims(y, a), a)) * v), a.dims, a.keepdim); })},
    .batch = batch::shift<&VectorNorm::dims>, .doc = "(sum |x|^p)^(1/p) over `dims`, for finite p; p = 0 counts what is not zero.", .reference = norm_kernel};
Tensor vector_norm(const Tensor& given, double p, const OptionalDims& dims, bool keepdim, std::optional<DType> dtype) {
  expect(is_differentiable(given.dtype()), "linalg.vector_norm: Expected a floating point or complex tensor as input. Got ", given.dtype());
  const Tensor x = dtype ? to_dtype(given, *dtype) : given;
  const VectorNorm a{normal_dims(dims, x.dim(), "linalg.vector_norm"), p, keepdim};
  expect((p >= 0 && !std::isinf(p)) || reduced_count(x.sizes(), a.dims) > 0,
         "linalg.vector_norm: cannot compute the ", p, " norm on an empty tensor because the operation does not have an identity");
  const NodeName node("LinalgVectorNormBackward0");
  if (std::isinf(p)) return p > 0 ? amax(abs(x), dims, keepdim) : amin(abs(x), dims, keepdim);
  return apply(op_vector_norm, {x}, a);
}

const Op op_logsumexp{.name = "logsumexp", .fields = fields_of<Reduce>, .kind = Kind::custom, .types = types::floating, .shape = shape_of_statistic<Reduce>,
    .d = {wide_rule([](V v, X<0> x, XShape<0> given, Y<> y, const Reduce& a) { return keep_dims(v, a) * conj(weights(x, precise(y, x, given.dtype, a), a)); })},
    .t = {wide_rule([](V v, X<0> x, XShape<0> given, Y<> y, const Reduce& a) { return sum_over(weights(x, precise(y, x, given.dtype, a), a) * v, a.dims, a.keepdim); })},
    .batch = batch::shift<&Reduce::dims>, .doc = "log(sum(exp(x))) over `dims` without overflow.", .reference = logsumexp_kernel};
Tensor logsumexp(const Tensor& x, const Dims& dims, bool keepdim) { return apply(op_logsumexp, {x}, Reduce{normal_dims(dims, x.dim(), "logsumexp"), keepdim}); }

const Op* const statistics_ops[] = {&op_logsumexp, &op_std, &op_var, &op_vector_norm};
Ops families::statistics() { return statistics_ops; }

}  // namespace adjoint
