// Scans along one dimension, and the product, whose derivative is made of scans.
// One recurrence, y_i = a_i y_(i-1) + b_i, gives the derivatives of all of them and of itself: no division, so zeros are no
// special case, and exponents never positive, so nothing overflows.
#include <adjoint/core/batch.h>
#include <adjoint/core/functors/binary.h>
#include <adjoint/core/math/complex.h>
#include <adjoint/core/math/exp.h>
#include <adjoint/core/math/log.h>
#include <adjoint/core/types.h>

#include <cmath>

#include "families.h"
#include "lanes.h"
#include "one_zero.h"
#include "wide.h"

namespace adjoint {

namespace {

Tensor scan_from_start(const Op& op, const Tensor& x, int64_t dim) {
  return along(x, dim, op.name, [&](const Tensor& v, int d) { return apply(op, {v}, Scan{d, false}); });
}

// What stands before each element in the direction of the scan; `fill` before the first.
Tensor previous(const Tensor& x, const Scan& a, double fill) {
  const int64_t n = x.size(a.dim);
  if (n == 0) return x;
  Dims sizes = x.sizes();
  sizes[a.dim] = 1;
  const Tensor edge = full(sizes, fill, x.dtype(), x.device());
  return a.reverse ? cat(std::initializer_list<Tensor>{slice(x, a.dim, 1, n), edge}, a.dim) : cat(std::initializer_list<Tensor>{edge, slice(x, a.dim, 0, n - 1)}, a.dim);
}
Scan backwards(const Scan& a) { return {a.dim, !a.reverse}; }
Tensor next(const Tensor& x, const Scan& a, double fill) { return previous(x, backwards(a), fill); }

// step(state, value) -> result for each element of a line, in scan order; State{} starts each line.
template <class T, class State, class Step> void scan_lines(const Launch& l, Step&& step) {
  const Scan& a = l.attrs.as<Scan>();
  for_lines<2>({&l.x[0], &l.y[0]}, a.dim, [&](char* const* p, const int64_t* s, int64_t n) {
    State state{};
    for (int64_t k = 0; k < n; k++) {
      const int64_t i = a.reverse ? n - 1 - k : k;
      at<T>(p[1] + i * s[1]) = convert<T>(step(state, at<T>(p[0] + i * s[0])));
    }
  });
}

void cumsum_kernel(const Launch& l) {
  in_wide(l, [&](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    using A = accumulator_t<T>;
    scan_lines<T, A>(l, [](A& sum, T v) { return sum = functors::Add{}(sum, convert<A>(v)); });
  });
}

template <class A> struct RunningProduct { A value = A(1); };
void cumprod_kernel(const Launch& l) {
  in_wide(l, [&](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    using A = accumulator_t<T>;
    scan_lines<T, RunningProduct<A>>(l, [](RunningProduct<A>& p, T v) { return p.value = functors::Mul{}(p.value, convert<A>(v)); });
  });
}

void prod_kernel(const Launch& l) {
  const Dims dims{l.attrs.as<DimKeep>().dim};
  in_wide(l, [&](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    using A = accumulator_t<T>;
    for_groups(l.x[0], l.y[0], dims, [](char* y, const char* x, const Group& g) {
      A p(1);
      g.each<T>(x, [&](T v) { p = functors::Mul{}(p, convert<A>(v)); });
      at<T>(y) = convert<T>(p);
    });
  });
}

struct ComplexLogSum {  // as below; the real parts decide what is largest, and the imaginary part of which turns of 2 pi are kept
  double largest = -math::infinity<double>, imaginary = 0;
  Complex<double> scaled{0};
  Complex<double> add(Complex<double> v) {
    if (v.re > largest) imaginary = v.im;
    if (v.re > largest) {
      scaled = scaled * math::exp(largest - v.re);
      largest = v.re;
    }
    if (v.re != -math::infinity<double>) scaled += math::polar(v.re == largest ? 1. : math::exp(v.re - largest), v.im);   // which may be infinite
    if (scaled == 0.) return Complex<double>(largest, imaginary);
    constexpr double turn = 6.283185307179586;
    const Complex<double> y = math::log(scaled) + largest;
    imaginary = y.im + turn * std::nearbyint((imaginary - y.im) / turn);
    return {y.re, imaginary};
  }
};
struct LogSum {  // log of `scaled` e^largest
  double largest = -math::infinity<double>, scaled = 0;
  double add(double v) {
    if (v > largest) {
      scaled = scaled * math::exp(largest - v) + 1;
      largest = v;
    } else if (v != -math::infinity<double>) {
      scaled += v == largest ? 1 : math::exp(v - largest);
    }
    return scaled == 0 ? largest : largest + math::log(scaled);
  }
};
void logcumsumexp_kernel(const Launch& l) {
  in_inexact(l, [](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    if constexpr (is_complex_v<T>) scan_lines<T, ComplexLogSum>(l, [](ComplexLogSum& s, T v) { return s.add(Complex<double>(v)); });
    else scan_lines<T, LogSum>(l, [](LogSum& s, T v) { return s.add(convert<double>(v)); });
  });
}

void recurrence_kernel(const Launch& l) {
  const Scan& scan = l.attrs.as<Scan>();
  in_wide(l, [&](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    using A = accumulator_t<T>;
    for_lines<3>({&l.x[0], &l.x[1], &l.y[0]}, scan.dim, [&](char* const* p, const int64_t* s, int64_t n) {
      A y{};
      for (int64_t k = 0; k < n; k++) {
        const int64_t i = scan.reverse ? n - 1 - k : k;
        // Nothing stands before the first: its factor does not count, even if it is infinite.
        y = (k ? convert<A>(at<T>(p[0] + i * s[0])) * y : A{}) + convert<A>(at<T>(p[1] + i * s[1]));
        at<T>(p[2] + i * s[2]) = convert<T>(y);
      }
    });
  });
}

// Takes the last of equal values, and any NaN from the first one on.
template <bool largest> void running_extreme_kernel(const Launch& l) {
  with_type(l.x[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_complex_v<T>) fail(ErrorKind::not_implemented, l.op, ": not implemented for ", l.x[0].dtype);
    else for_lines<3>({&l.x[0], &l.y[0], &l.y[1]}, l.attrs.as<Dim>().dim, [](char* const* p, const int64_t* s, int64_t n) {
      T best{};
      int64_t index = 0;
      for (int64_t i = 0; i < n; i++) {
        const T v = at<T>(p[0] + i * s[0]);
        if (i == 0 || is_nan(v) || (!is_nan(best) && (largest ? v >= best : v <= best))) { best = v; index = i; }
        at<T>(p[1] + i * s[1]) = best;
        at<int64_t>(p[2] + i * s[2]) = index;
      }
    });
  });
}

void prod_shape(Tensors x, const Attrs& attrs, Dims* out) {
  const DimKeep& a = attrs.as<DimKeep>();
  out[0] = reduced(x[0].sizes(), {a.dim}, a.keepdim);
}

// Front functions of the records below, for their rules.
Tensor running_sum(const Tensor& x, const Scan& a);
Tensor recurrence(const Tensor& a, const Tensor& b, const Scan& scan);

// The factors of y_i = log(e^y_(i-1) + e^x_i): e^(y_(i-1) - y_i) and e^(x_i - y_i). An infinite y stands for 0: both are then 0 for -inf.
struct LogFactors { Tensor before, here; };
LogFactors log_factors(const Tensor& x, const Tensor& y, const Scan& a) {
  Tensor finite = where(isinf(y), zero_of(y), y);
  return {exp(previous(y, a, -math::infinity<double>) - finite), exp(x - finite)};
}

// The product of all other elements along the dimension.
Tensor product_of_others(const Tensor& x, int dim);

}  // namespace

const Op op_cumsum{.name = "cumsum", .fields = fields_of<Scan>, .kind = Kind::linear, .types = types::accumulated, .shape = shapes::same,
    .d = {rule([](V v, const Scan& a) { return running_sum(v, backwards(a)); })},
    .batch = batch::shift<&Scan::dim>, .doc = "Sums of the elements up to each one along a dimension.", .reference = cumsum_kernel};
Tensor cumsum(const Tensor& x, int64_t dim) { return scan_from_start(op_cumsum, x, dim); }

const Op op_linear_recurrence{.name = "linear_recurrence", .fields = fields_of<Scan>, .kind = Kind::custom, .types = types::promoted, .shape = shapes::same,
    .d = {wide_rule([](V v, X<0> a, Y<> y, const Scan& s) { return recurrence(next(conj(a), s, 0), v, backwards(s)) * conj(previous(y, s, 0)); }),
          rule([](V v, X<0> a, const Scan& s) { return recurrence(next(conj(a), s, 0), v, backwards(s)); })},
    .t = {wide_rule([](V v, X<0> a, Y<> y, const Scan& s) { return recurrence(a, v * previous(y, s, 0), s); }),
          rule([](V v, X<0> a, const Scan& s) { return recurrence(a, v, s); })},
    .batch = batch::shift<&Scan::dim>, .doc = "y_i = a_i y_(i-1) + b_i along a dimension, from y = 0.", .reference = recurrence_kernel};

const Op op_cumprod{.name = "cumprod", .fields = fields_of<Scan>, .kind = Kind::custom, .types = types::accumulated, .shape = shapes::same,
    .d = {wide_rule([](V v, X<0> x, Y<> y, const Scan& a) { return conj(previous(y, a, 1)) * recurrence(next(conj(x), a, 0), v, backwards(a)); })},
    .t = {wide_rule([](V v, X<0> x, Y<> y, const Scan& a) { return recurrence(x, previous(y, a, 1) * v, a); })},
    .batch = batch::shift<&Scan::dim>, .doc = "Products of the elements up to each one along a dimension.", .reference = cumprod_kernel};
Tensor cumprod(const Tensor& x, int64_t dim) { return scan_from_start(op_cumprod, x, dim); }

const Op op_logcumsumexp{.name = "logcumsumexp", .fields = fields_of<Scan>, .kind = Kind::custom, .types = types::floating, .shape = shapes::same,
    .d = {wide_rule([](V v, X<0> x, XShape<0> given, Y<> y, const Scan& a) {
      const auto [before, here] = log_factors(x, is_half(given.dtype) ? apply(op_logcumsumexp, {x}, a) : Tensor(y), a);
      return conj(here) * recurrence(next(conj(before), a, 0), v, backwards(a));
    })},
    .t = {wide_rule([](V v, X<0> x, XShape<0> given, Y<> y, const Scan& a) {
      const auto [before, here] = log_factors(x, is_half(given.dtype) ? apply(op_logcumsumexp, {x}, a) : Tensor(y), a);
      return recurrence(before, here * v, a);
    })},
    .batch = batch::shift<&Scan::dim>, .doc = "log(sum(exp(x))) of the elements up to each one along a dimension, without overflow.", .reference = logcumsumexp_kernel};
Tensor logcumsumexp(const Tensor& x, int64_t dim) { return scan_from_start(op_logcumsumexp, x, dim); }

const Op op_prod{.name = "prod", .fields = fields_of<DimKeep>, .kind = Kind::custom, .types = types::accumulated, .shape = prod_shape,
    .d = {wide_rule([](V v, X<0> x, const DimKeep& a) { return keep_dims(v, {a.dim}, a.keepdim) * conj(product_of_others(x, a.dim)); })},
    .t = {wide_rule([](V v, X<0> x, const DimKeep& a) { return sum(product_of_others(x, a.dim) * v, Dims{a.dim}, a.keepdim); })},
    .batch = batch::shift<&DimKeep::dim>, .doc = "The product along a dimension; integers are multiplied as int64.", .reference = prod_kernel};
Tensor prod(const Tensor& x, std::optional<int64_t> dim, bool keepdim, std::optional<DType> dtype) {
  if (dtype) return to_dtype(prod(to_dtype(x, *dtype), dim, keepdim), *dtype);
  if (dim) return along(x, *dim, "prod", [&](const Tensor& v, int d) { return apply(op_prod, {v}, DimKeep{d, keepdim}); });
  // A product has no order: elements are taken as they lie.
  const bool lies = x->keys & key_lifted || x->contiguous();
  Tensor y = apply(op_prod, {reshape(lies ? x : permute(x, order_by_strides(x->strides.data(), x.dim())), {x.numel()})}, DimKeep{0, false});
  return keepdim ? as_result(reshape(y, Dims(x.dim(), 1))) : y;
}

namespace {

Tensor running_sum(const Tensor& x, const Scan& a) { return apply(op_cumsum, {x}, a); }
Tensor recurrence(const Tensor& a, const Tensor& b, const Scan& scan) { return apply(op_linear_recurrence, {a, b}, scan); }

Tensor product_of_others(const Tensor& x, int dim) {
  const Scan forward{dim, false}, reverse{dim, true};
  return previous(apply(op_cumprod, {x}, forward), forward, 1) * previous(apply(op_cumprod, {x}, reverse), reverse, 1);
}

constexpr Rule running_vjp = rule([](V v, Y<1> index, const Dim& a) { return scatter_add(one_zero(v.sizes(), v), a.dim, index, v); });
constexpr Rule running_jvp = rule([](V v, Y<1> index, const Dim& a) { return gather(v, a.dim, index); });
Values running(const Op& op, const Tensor& x, int64_t dim) {
  return along_values(x, dim, op.name, [&](const Tensor& v, int d) { return apply_values(op, v, Dim{d}); });
}

}  // namespace

const Op op_cummax{.name = "cummax", .fields = fields_of<Dim>, .kind = Kind::custom, .outputs = 2, .types = types::with_index, .shape = shapes::same, .d = {running_vjp}, .t = {running_jvp},
    .batch = batch::shift<&Dim::dim>, .doc = "The largest element up to each one along a dimension, and where it is.", .reference = running_extreme_kernel<true>};
Values cummax(const Tensor& x, int64_t dim) { return running(op_cummax, x, dim); }
const Op op_cummin{.name = "cummin", .fields = fields_of<Dim>, .kind = Kind::custom, .outputs = 2, .types = types::with_index, .shape = shapes::same, .d = {running_vjp}, .t = {running_jvp},
    .batch = batch::shift<&Dim::dim>, .doc = "The smallest element up to each one along a dimension, and where it is.", .reference = running_extreme_kernel<false>};
Values cummin(const Tensor& x, int64_t dim) { return running(op_cummin, x, dim); }

const Op* const scan_ops[] = {&op_cummax, &op_cummin, &op_cumprod, &op_cumsum, &op_linear_recurrence, &op_logcumsumexp, &op_prod};
Ops families::scan() { return scan_ops; }

}  // namespace adjoint
