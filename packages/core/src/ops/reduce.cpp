// Reductions over some or all dimensions: sum, mean, product, extreme values, logic.
#include <adjoint/core/batch.h>
#include <adjoint/core/sparse.h>
#include <adjoint/core/types.h>

#include <algorithm>

#include "families.h"
#include "keep.h"
#include "lanes.h"
#include "wide.h"

namespace adjoint {

Dims normal_dims(const OptionalDims& dims, int ndim, const char* op) {
  Dims r;
  if (!dims || dims->empty()) {
    for (int i = 0; i < ndim; i++) r.push_back(i);
    return r;
  }
  for (int64_t d : *dims) {
    const int w = wrap_dim(d, ndim, op);
    expect(!r.contains(w), op, ": dim ", w, " appears multiple times in the list of dims");
    if (ndim) r.push_back(w);
  }
  std::sort(r.begin(), r.end());
  return r;
}

Tensor unbroadcast(const Tensor& given, const Dims& sizes) {
  const Tensor v = to_dense(given);   // sparse tensors do not broadcast: the operand is dense
  if (v.sizes() == sizes) return v;
  const int lead = v.dim() - sizes.size();
  Dims dims;
  for (int i = 0; i < v.dim(); i++)
    if (i < lead || (sizes[i - lead] == 1 && v.sizes()[i] != 1)) dims.push_back(i);
  Tensor s = dims.empty() ? v : sum(v, dims, true);
  return s.sizes() == sizes ? s : reshape(s, sizes);
}

namespace {

void reduced_shape(Tensors x, const Attrs& attrs, Dims* out) {
  const Reduce& a = attrs.as<Reduce>();
  out[0] = reduced(x[0].sizes(), a.dims, a.keepdim);
}


// The CPU counts what is true as it stands: of all integers, only bool need not be widened first.
Types sum_types(Tensors x, const Attrs& a) {
  Types r = types::accumulated(x, a);
  if (x[0].dtype() == DType::bool_ && x[0].device().type == DeviceType::cpu) r.compute = DType::bool_;
  return r;
}
template <bool divide, bool numbers = false> void sum_kernel(const Launch& l) {
  const Reduce& a = l.attrs.as<Reduce>();
  if (l.x[0].dtype == DType::bool_)
    return for_groups(l.x[0], l.y[0], a.dims, [](char* y, const char* x, const Group& g) {
      int64_t count = 0;
      g.each<uint8_t>(x, [&](uint8_t v) { count += v != 0; });   // bytes of other types may be seen as bool
      at<int64_t>(y) = count;
    });
  in_wide(l, [&](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    using A = accumulator_t<T>;
    for_groups(l.x[0], l.y[0], a.dims, [](char* y, const char* x, const Group& g) {
      PairwiseSum<A> s;
      g.each<T>(x, [&](T v) {
        if (!numbers || !is_nan(v)) s.add(convert<A>(v));
      });
      A total = s.total();
      if constexpr (divide && !std::is_integral_v<T>) total = total / static_cast<double>(g.count);
      at<T>(y) = convert<T>(total);
    });
  });
}

// Keeps the first of equal values; NaN wins over all.
template <bool largest> void extreme_kernel(const Launch& l) {
  const Reduce& a = l.attrs.as<Reduce>();
  with_type(l.x[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_complex_v<T>) fail(ErrorKind::not_implemented, l.op, ": not implemented for ", l.x[0].dtype);
    else for_groups(l.x[0], l.y[0], a.dims, [](char* y, const char* x, const Group& g) {
      T best = *reinterpret_cast<const T*>(x);
      g.each<T>(x, [&](T v) {
        if ((largest ? v > best : v < best) || is_nan(v)) best = v;
      });
      at<T>(y) = best;
    });
  });
}

template <bool every> void logic_kernel(const Launch& l) {
  const Reduce& a = l.attrs.as<Reduce>();
  in_wide(l, [&](auto tag, const Launch& l) {
    using T = typename decltype(tag)::type;
    for_groups(l.x[0], l.y[0], a.dims, [](char* y, const char* x, const Group& g) {
      bool r = every;
      g.each<T>(x, [&](T v) { r = every ? r && convert<bool>(v) : r || convert<bool>(v); });
      at<bool>(y) = r;  // a byte that is 0 or 1, for bool and uint8 alike
    });
  });
}

template <bool largest> void arg_kernel(const Launch& l) {
  const int dim = l.attrs.as<DimKeep>().dim;
  with_type(l.x[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_complex_v<T>) fail(ErrorKind::not_implemented, l.op, ": not implemented for ", l.x[0].dtype);
    else for_lines<2>({&l.x[0], &l.y[0]}, dim, [](char* const* p, const int64_t* s, int64_t n) {
      int64_t best = 0;
      for (int64_t i = 1; i < n; i++) {
        const T v = at<T>(p[0] + i * s[0]), b = at<T>(p[0] + best * s[0]);
        if (!is_nan(b) && ((largest ? v > b : v < b) || is_nan(v))) best = i;
      }
      at<int64_t>(p[1]) = best;
    });
  });
}

Types logic_types(Tensors x, const Attrs&) {
  const DType t = x[0].dtype();
  return {t, {t == DType::uint8 ? t : DType::bool_}};
}

// The extremes share what comes back evenly.
constexpr Rule extreme_vjp = rule([](V v, X<0> x, Y<> y, const Reduce& a) {
  Tensor chosen = eq(x, keep_dims(y, a));
  return where(chosen, keep_dims(v, a), zero_of(v)) / count_over(chosen, a.dims, true);
});
constexpr Rule extreme_jvp = rule([](V v, X<0> x, Y<> y, const Reduce& a) {
  Tensor chosen = eq(x, keep_dims(y, a));
  return sum_over(where(chosen, v, zero_of(v)), a.dims, a.keepdim) / count_over(chosen, a.dims, a.keepdim);
});

void check_nonempty(const Tensor& x, const Reduce& a, bool all, const char* op) {
  if (x.numel() != 0) return;
  expect(!all, op, ": Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.");
  for (int64_t d : a.dims) expect(x.sizes()[static_cast<int>(d)] != 0, ErrorKind::index, op, ": Expected reduction dim ", d, " to have non-zero size.");
}

}  // namespace

const Op op_sum{.name = "sum", .fields = fields_of<Reduce>, .kind = Kind::linear, .types = sum_types, .shape = reduced_shape,
    .d = {rule([](V v, const Reduce& a, XShape<0> x) { return expand(keep_dims(v, a), x.sizes); })},
    .batch = batch::shift<&Reduce::dims>, .doc = "The sum over `dims`; integers are summed as int64.", .reference = sum_kernel<false>};
Tensor sum(const Tensor& x, const OptionalDims& dims, bool keepdim, std::optional<DType> dtype) {
  const Reduce a{normal_dims(dims, x.dim(), "sum"), keepdim};
  return dtype ? to_dtype(apply(op_sum, {to_dtype(x, *dtype)}, a), *dtype) : apply(op_sum, {x}, a);
}

const Op op_nansum{.name = "nansum", .fields = fields_of<Reduce>, .kind = Kind::custom, .types = types::accumulated, .shape = reduced_shape,
    .d = {rule([](V v, X<0> x, const Reduce& a, XShape<0> form) { return drop(isnan(x), expand(keep_dims(v, a), form.sizes)); })},
    .t = {rule([](V v, X<0> x, const Reduce& a) { return sum_over(drop(isnan(x), v), a.dims, a.keepdim); })},
    .batch = batch::shift<&Reduce::dims>, .doc = "The sum of the elements that are not NaN, over `dims`.", .reference = sum_kernel<false, true>};

const Op op_mean{.name = "mean", .fields = fields_of<Reduce>, .kind = Kind::linear, .types = types::first, .shape = reduced_shape,
    .d = {rule([](V v, const Reduce& a, XShape<0> x) { return expand(keep_dims(v, a) / static_cast<double>(reduced_count(x.sizes, a.dims)), x.sizes); })},
    .batch = batch::shift<&Reduce::dims>, .doc = "The mean over `dims`.", .reference = sum_kernel<true>};
Tensor mean(const Tensor& x, const OptionalDims& dims, bool keepdim, std::optional<DType> dtype) {
  const DType t = dtype.value_or(x.dtype());
  expect(is_differentiable(t), "mean: could not infer output dtype. ", dtype ? "Optional" : "Input", " dtype must be either a floating point or complex dtype. Got: ", t);
  return apply(op_mean, {to_dtype(x, t)}, Reduce{normal_dims(dims, x.dim(), "mean"), keepdim});
}

const Op op_amax{.name = "amax", .fields = fields_of<Reduce>, .kind = Kind::custom, .types = types::first, .shape = reduced_shape, .d = {extreme_vjp}, .t = {extreme_jvp},
    .batch = batch::shift<&Reduce::dims>, .doc = "The largest value over `dims`; equal ones share the derivative.", .reference = extreme_kernel<true>};
const Op op_amin{.name = "amin", .fields = fields_of<Reduce>, .kind = Kind::custom, .types = types::first, .shape = reduced_shape, .d = {extreme_vjp}, .t = {extreme_jvp},
    .batch = batch::shift<&Reduce::dims>, .doc = "The smallest value over `dims`; equal ones share the derivative.", .reference = extreme_kernel<false>};
namespace {
Tensor extreme(const Op& op, const Tensor& x, const OptionalDims& dims, bool keepdim) {
  const Reduce a{normal_dims(dims, x.dim(), op.name), keepdim};
  check_nonempty(x, a, !dims || dims->empty(), op.name);
  return apply(op, {x}, a);
}
}  // namespace
Tensor amax(const Tensor& x, const OptionalDims& dims, bool keepdim) { return extreme(op_amax, x, dims, keepdim); }
Tensor amin(const Tensor& x, const OptionalDims& dims, bool keepdim) { return extreme(op_amin, x, dims, keepdim); }

const Op op_all{.name = "all", .fields = fields_of<Reduce>, .types = logic_types, .shape = reduced_shape, .batch = batch::shift<&Reduce::dims>,
    .doc = "Whether every element over `dims` is non-zero.", .reference = logic_kernel<true>};
const Op op_any{.name = "any", .fields = fields_of<Reduce>, .types = logic_types, .shape = reduced_shape, .batch = batch::shift<&Reduce::dims>,
    .doc = "Whether some element over `dims` is non-zero.", .reference = logic_kernel<false>};
namespace {
Tensor logic(const Op& op, const Tensor& x, const OptionalDims& dims, bool keepdim) {
  if (dims && dims->empty()) return to_dtype(ne(x, wrapped(0.0)), x.dtype() == DType::uint8 ? DType::uint8 : DType::bool_);   // over none
  return apply(op, {x}, Reduce{normal_dims(dims, x.dim(), op.name), keepdim});
}
}  // namespace
Tensor all(const Tensor& x, const OptionalDims& dims, bool keepdim) { return logic(op_all, x, dims, keepdim); }
Tensor any(const Tensor& x, const OptionalDims& dims, bool keepdim) { return logic(op_any, x, dims, keepdim); }

namespace {
void arg_shape(Tensors x, const Attrs& attrs, Dims* out) {
  const DimKeep& a = attrs.as<DimKeep>();
  out[0] = reduced(x[0].sizes(), {a.dim}, a.keepdim);
}
}  // namespace
const Op op_argmax{.name = "argmax", .fields = fields_of<DimKeep>, .types = types::positions, .shape = arg_shape, .batch = batch::shift<&DimKeep::dim>,
    .doc = "The position of the first largest value along a dimension.", .reference = arg_kernel<true>};
const Op op_argmin{.name = "argmin", .fields = fields_of<DimKeep>, .types = types::positions, .shape = arg_shape, .batch = batch::shift<&DimKeep::dim>,
    .doc = "The position of the first smallest value along a dimension.", .reference = arg_kernel<false>};
namespace {
// Without a dim: the position in the flattened tensor.
Tensor arg_extreme(const Op& op, const Tensor& x, std::optional<int64_t> dim, bool keepdim) {
  if (!dim) {
    expect(x.numel() > 0, ErrorKind::index, op.name, ": Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.");
    Tensor r = apply(op, {reshape(x, {-1})}, DimKeep{0, false});
    return keepdim ? reshape(r, Dims(x.dim(), 1)) : r;
  }
  return along(x, *dim, op.name, [&](const Tensor& v, int d) {
    expect(v.size(d) > 0, ErrorKind::index, op.name, ": Expected reduction dim ", d, " to have non-zero size.");
    return apply(op, {v}, DimKeep{d, keepdim});
  });
}
}  // namespace
Tensor argmax(const Tensor& x, std::optional<int64_t> dim, bool keepdim) { return arg_extreme(op_argmax, x, dim, keepdim); }
Tensor argmin(const Tensor& x, std::optional<int64_t> dim, bool keepdim) { return arg_extreme(op_argmin, x, dim, keepdim); }

const Op* const reduce_ops[] = {&op_all, &op_amax, &op_amin, &op_any, &op_argmax, &op_argmin, &op_mean, &op_nansum, &op_sum};
Ops families::reduce() { return reduce_ops; }

}  // namespace adjoint
