// Choosing, gathering and scattering elements; elementwise functions with options.
#include <adjoint/core/history.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/random_lanes.h>
#include <adjoint/core/types.h>

#include <algorithm>

#include "convert.h"
#include "direct.h"
#include "fits.h"
#include "warn.h"

namespace adjoint::python {

namespace {

using python::Operand;

Tensor choose(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Tensor x[] = {a, b};
  const DType t = result_type(x);
  for (const Tensor& v : x)
    if (!is_half(t) || !is_integral(v.dtype())) expect_number_fits(v, t);   // whole numbers become infinite there
  if (condition.dtype() != DType::uint8) return where(condition, a, b);
  warn_once("where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version of PyTorch. Use a boolean condition instead.");
  return where(to_dtype(condition, DType::bool_), a, b);
}

// Where elements are not zero, a tensor for each dimension; a scalar counts as one of one dimension.
nb::tuple positions(const Tensor& x) { return nb::tuple(nb::cast(unbind(nonzero(x.dim() ? x : reshape(x, {1})), 1))); }

// In lanes all must be as many; they come first in a sort, which keeps their order.
Tensor argwhere(const Tensor& x) {
  if (!(x->keys & key_lifted)) return nonzero(x);
  const Tensor zero = reshape(eq(x, wrapped(0)), {-1}), counts = random_lanes.all(sum(logical_not(zero)));
  const int64_t n = item(amax(counts)).to<int64_t>(), least = item(amin(counts)).to<int64_t>();
  expect(n == least, "argwhere: vmap: the members of the batch must have as many elements that are not zero, got between ", least, " and ", n);
  Tensor place = narrow(sort(zero, 0).indices, 0, 0, n);
  TensorVector columns;
  for (int d = x.dim(); d-- > 0;) {
    columns.push_back(remainder(place, wrapped(x.size(d))));
    place = floor_divide(place, wrapped(x.size(d)));
  }
  std::reverse(columns.begin(), columns.end());
  return columns.empty() ? zeros({n, 0}, DType::int64, x.device()) : stack(columns, 1);
}

Tensor filled_where(const Tensor& x, const Tensor& mask, const Tensor& v) {
  expect(v.dim() == 0, "masked_fill: masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ", v.dim(), " dimension(s).");
  expect_number_fits(v, x.dtype());
  const bool real_by_value = is_complex(v.dtype()) && !is_complex(x.dtype()) && !(v->keys & key_lifted) && v.device().type == DeviceType::cpu && item(imag(v)).is_zero();
  return masked_fill(x, mask, real_by_value ? real(v) : v);
}

// Whether it lies in expanded memory, and is written from what can be read.
bool is_expanded(const Tensor& x, std::initializer_list<Tensors> from) {
  if (x->keys & ~uint32_t(key_view) || !x->storage || !overlaps_itself(*x)) return false;
  for (Tensors some : from)
    for (const Tensor& t : some)
      if (t && t->keys & key_lifted) return false;
  return true;
}

void warn_expanded(const char* name, const char* assignment) {
  warn((std::string("Use of ") + name + " on expanded tensors is deprecated. Please clone() the tensor before performing this operation. "
        "This also applies to advanced indexing e.g. " + assignment).c_str());
}

}  // namespace

void warn_if_expanded(const Tensor& x, std::initializer_list<Tensors> from, const char* name, const char* assignment) {
  if (is_expanded(x, from)) warn_expanded(name, assignment);
}

namespace {

// The value at these positions of expanded memory.
Tensor put_expanded(const Tensor& x, Tensors at, const Tensor& value) {
  const Tensor v = to_dtype(value, x.dtype());
  return updated(x, [&](const Tensor& y) { return index_put(y, at, v); });
}

void bind_where(nb::module_& m) {
  function(m, "where", [](const Tensor& c, const Operand& a, const Operand& b) { return choose(c, a, b); }, "condition"_a, "input"_a, "other"_a,
        "Elements of `input` where `condition`, else of `other`.");
  function(m, "where", positions, "condition"_a);
  Methods().def("where", [](const Tensor& x, const Tensor& c, const Operand& b) { return choose(c, x, b); }, "condition"_a, "other"_a);
  both(m, "masked_fill", [](const Tensor& x, const Tensor& mask, const Operand& v) { return filled_where(x, mask, v); }, "mask"_a, "value"_a);
  Methods().def("masked_fill_", [](const Tensor& self, const Tensor& mask, const Operand& v) {
    if (!is_expanded(self, {{&mask, 1}, {&v.t, 1}})) return into(self, [&](const Tensor& x) { return filled_where(x, mask, v); });
    filled_where(zeros_like(self), mask, v);   // what is wrong is said as of any other tensor
    warn_expanded("masked_fill_", "tensor[mask] = scalar");
    const Tensor at = expand(mask, self.sizes());
    return put_expanded(self, {&at, 1}, v);
  }, "mask"_a, "value"_a);
  both(m, "masked_select", [](const Tensor& x, const Tensor& mask) { return masked_select(x, mask); }, "mask"_a);
  both(m, "nonzero", [](const Tensor& x, bool as_tuple) -> nb::object {
    return as_tuple ? nb::object(positions(x)) : nb::cast(nonzero(x));
  }, nb::kw_only(), "as_tuple"_a = false);
  both(m, "argwhere", argwhere);
}

Tensor limited(const Tensor& x, const Tensor& lo, const Tensor& hi) {
  const Tensor all[] = {x, lo ? lo : hi, hi};
  const DType t = lo || hi ? result_type({all, lo && hi ? 3u : 2u}) : x.dtype();
  for (const Tensor& limit : {lo, hi})
    if (limit) expect_number_fits(limit, t);
  return clamp(x, lo, hi);
}

void bind_clamp(nb::module_& m) {
  for (const char* name : {"clamp", "clip"})
    both_and_inplace(m, name, [](const Tensor& x, const Operand& lo, const Operand& hi) { return limited(x, lo, hi); }, "min"_a.none() = nb::none(), "max"_a.none() = nb::none());
  both_and_inplace(m, "heaviside", [](const Tensor& x, const Tensor& values) { return heaviside(x, values); }, "values"_a);
  both_and_inplace(m, "clamp_min", [](const Tensor& x, const Operand& lo) { return limited(x, lo, Tensor()); }, "min"_a);
  both_and_inplace(m, "clamp_max", [](const Tensor& x, const Operand& hi) { return limited(x, Tensor(), hi); }, "max"_a);
}

template <class... T> DType type_of_all(const T&... operands) {
  const Tensor x[] = {operands...};
  return result_type(x);
}

Scalar alpha_of(DType t, const Scalar& alpha) {
  expect(!is_floating(t) || !is_complex(alpha.dtype()), "For non-complex input tensors, argument alpha must not be a complex number.");
  return factor_of_kind("alpha", alpha, t);
}

// Of op(a, b), which may refuse the operands.
DType type_of(const Op& op, const Tensor& a, const Tensor& b) {
  const Tensor x[] = {a, b};
  return op.types({x, 2}, {}).compute;
}

// alpha b in the type of op(a, b), which may be wider than that of b.
Tensor scaled(const Op& op, const Tensor& a, const Tensor& b, const std::optional<Scalar>& alpha) {
  if (!alpha) return b;
  const DType t = type_of(op, a, b);
  return mul(to_dtype(b, t), wrapped(alpha_of(t, *alpha)));
}

// Whether nobody sees how a sum of both is made: plain floating-point memory of one shape, no level, no history to be kept.
bool is_plain_pair(const Tensor& a, const Tensor& b) {
  const uint32_t keys = a->keys | b->keys;
  return !(keys & ~uint32_t(key_tape | key_view)) && (!(keys & key_tape) || !history_is_kept()) && !watched() && a.device().type == DeviceType::cpu && a.device() == b.device() &&
         a.dtype() == b.dtype() && is_floating(a.dtype()) && a.sizes() == b.sizes() && !((a->flags | b->flags) & flag_wrapped);
}
const Op& op_addcmul() {
  static const Op* const op = find_op("addcmul");
  return *op;
}
// What addcmul takes for a + alpha b, in one pass, or for a - alpha b.
Scale weight_of(const Op& op, const Tensor& a, const Scalar& alpha) {
  const double by = alpha_of(a.dtype(), alpha).to<double>();
  return {&op == &op_add ? by : -by};
}
// op(a, alpha b); half types are rounded once, at the end.
Tensor with_alpha(const Op& op, const Tensor& a, const Tensor& b, const std::optional<Scalar>& alpha) {
  if (alpha && is_plain_pair(a, b)) return apply(op_addcmul(), {a, b, wrapped(1)}, weight_of(op, a, *alpha));
  const DType t = alpha ? type_of(op, a, b) : DType::float32;
  if (!is_half(t)) return apply(op, {a, scaled(op, a, b, alpha)});
  const Tensor by = wrapped(alpha_of(t, *alpha));
  return to_dtype(apply(op, {to_dtype(a, DType::float32), mul(to_dtype(b, DType::float32), by)}), t);
}

// Whole numbers are weighed, too, and give floating ones then.
Tensor weight(const Tensor& a, const Tensor& b, const Tensor& w) {
  const DType t = type_of_all(a, b);
  return w->flags & flag_wrapped && w->storage && is_differentiable(t) ? wrapped(factor_in_float(item(w), t)) : w;
}

Tensor divide(const Tensor& a, const Tensor& b, const std::optional<std::string>& mode) {
  if (!mode) return div(a, b);
  expect(*mode == "floor" || *mode == "trunc", "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *mode, "'");
  return *mode == "floor" ? floor_divide(a, b) : trunc_divide(a, b);
}

Tensor rounded(const Tensor& x, int64_t decimals) {
  if (decimals == 0) return round(x);
  static const Op* const op = find_op("round_decimals");
  return apply(*op, {x}, Factors{__builtin_powi(10.0, static_cast<int>(decimals < 0 ? -decimals : decimals)), decimals < 0 ? 1. : 0.});
}

void bind_arithmetic(nb::module_& m) {
  const Methods t;
  const Op *op_sub = find_op("sub"), *op_div = find_op("div");
  for (auto [name, op] : {std::pair("add", &op_add), {"sub", op_sub}, {"subtract", op_sub}}) {
    both(m, name, [op = op](const Operand& a, const Operand& b, const std::optional<Scalar>& alpha) { return of_numbers(with_alpha(*op, a, b, alpha)); },
         "other"_a, nb::kw_only(), "alpha"_a = nb::none());
    t.def((std::string(name) + "_").c_str(), [op = op](const Tensor& x, const Operand& b, const std::optional<Scalar>& alpha) {
      if (alpha && is_plain_pair(x, b)) {
        const Tensor others[] = {b, wrapped(1)};
        apply_inplace(op_addcmul(), x, others, weight_of(*op, x, *alpha));
        return x;
      }
      const Tensor other = scaled(*op, x, b, alpha);
      apply_inplace(*op, x, {&other, 1});
      return x;
    }, "other"_a, nb::kw_only(), "alpha"_a = nb::none());
    direct_both<Operand, Operand>(m, name, [op = op](const Tensor& a, const Tensor& b) { return of_numbers(apply(*op, {a, b})); });
    direct_inplace((std::string(name) + "_").c_str(), *op);
  }
  both(m, "rsub", [op_sub](const Tensor& a, const Operand& b, const std::optional<Scalar>& alpha) { return with_alpha(*op_sub, b, a, alpha); }, "other"_a, nb::kw_only(), "alpha"_a = nb::none());
  for (const char* name : {"div", "divide", "true_divide"}) {
    both(m, name, [](const Operand& a, const Operand& b, const std::optional<std::string>& mode) { return of_numbers(divide(a, b, mode)); }, "other"_a, nb::kw_only(), "rounding_mode"_a = nb::none());
    t.def((std::string(name) + "_").c_str(), [op_div](const Tensor& self, const Operand& b, const std::optional<std::string>& mode) {
      if (mode) return into(self, [&](const Tensor& x) { return divide(x, b, mode); });
      apply_inplace(*op_div, self, {&b.t, 1});
      return self;
    }, "other"_a, nb::kw_only(), "rounding_mode"_a = nb::none());
    direct_both<Operand, Operand>(m, name, [](const Tensor& a, const Tensor& b) { return of_numbers(div(a, b)); });
    direct_inplace((std::string(name) + "_").c_str(), *op_div);
  }
  both_and_inplace(m, "round", [](const Tensor& x, int64_t decimals) { return rounded(x, decimals); }, nb::kw_only(), "decimals"_a = 0);
  both_and_inplace(m, "lerp", [](const Tensor& a, const Tensor& b, const Operand& w) { return lerp(a, b, weight(a, b, w)); }, "end"_a, "weight"_a);
  both_and_inplace(m, "addcmul", [](const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& v) { return addcmul(x, a, b, factor_in_float(v, type_of_all(x, a, b))); }, "tensor1"_a, "tensor2"_a, nb::kw_only(), "value"_a = 1);
  both_and_inplace(m, "addcdiv", [](const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& v) { return addcdiv(x, a, b, factor_in_float(v, type_of_all(x, a, b))); }, "tensor1"_a, "tensor2"_a, nb::kw_only(), "value"_a = 1);
  both_and_inplace(m, "logit", [](const Tensor& x, std::optional<double> eps) { return logit(x, eps); }, "eps"_a = nb::none());
  both_and_inplace(m, "nan_to_num", [](const Tensor& x, std::optional<double> nan, std::optional<double> positive, std::optional<double> negative) {
    return nan_to_num(x, nan.value_or(0), positive, negative);
  }, "nan"_a = nb::none(), "posinf"_a = nb::none(), "neginf"_a = nb::none());
  both(m, "positive", [](const Tensor& x) {
    expect(x.dtype() != DType::bool_, "The `+` operator, on a bool tensor is not supported.");
    return x;
  });
  function(m, "polygamma", [](int64_t n, const Tensor& x) { return polygamma(n, x); }, "n"_a, "input"_a);
  t.def("polygamma", [](const Tensor& x, int64_t n) { return polygamma(n, x); }, "n"_a);
  t.def("polygamma_", [](const Tensor& self, int64_t n) { return into(self, [&](const Tensor& x) { return polygamma(n, x); }); }, "n"_a);
}

void bind_complex(nb::module_& m) {
  for (auto [name, f] : {std::pair<const char*, Tensor (*)(const Tensor&)>("real", real), {"imag", imag}, {"view_as_real", view_as_real}, {"view_as_complex", view_as_complex}})
    function(m, name, [f = f](const Tensor& x) { return f(x); }, "input"_a);
  both(m, "conj", [](const Tensor& x) { return conj(x); });
  both_and_inplace(m, "conj_physical", [](const Tensor& x) { return conj(x); });
  both(m, "angle", [](const Tensor& x) { return angle(x); });
  function(m, "complex", [](const Tensor& re, const Tensor& im) { return complex(re, im); }, "real"_a, "imag"_a);
  function(m, "polar", [](const Tensor& r, const Tensor& a) { return polar(r, a); }, "abs"_a, "angle"_a);
}

Tensor scatter_combined(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, const std::string& reduce) {
  expect(reduce == "add" || reduce == "multiply", "scatter: reduce argument must be either add or multiply, got '", reduce, "'");
  return reduce == "add" ? scatter_add(x, dim, index, source) : scatter_reduce(x, dim, index, source, Combine::prod, true);
}

// The elements of x at positions in row-major order. A few of a tensor that lies otherwise are found by their coordinates, without a copy of it all.
Tensor taken(const Tensor& x, const Tensor& at) {
  const bool plain = !((x->keys | at->keys) & key_lifted) && at.dtype() == DType::int64 && at.device().type == DeviceType::cpu;
  if (x.dim() < 2 || x->contiguous() || !plain || at.numel() * 8 > x.numel()) return index(reshape(x, {-1}), {&at, 1});
  const Tensor listed = contiguous(at);
  for (const int64_t p : std::span(listed.data<int64_t>(), static_cast<size_t>(at.numel())))
    expect(p >= -x.numel() && p < x.numel(), ErrorKind::index, "take: index ", p, " is out of bounds for a tensor of ", x.numel(), " elements");
  TensorVector coordinates;
  Tensor rest = listed;
  for (int d = x.dim() - 1; d > 0; d--) {
    const Tensor size = wrapped(static_cast<int64_t>(x.size(d)));
    coordinates.push_back(remainder(rest, size));
    rest = floor_divide(rest, size);
  }
  coordinates.push_back(rest);   // of a position from the end: so is this one
  std::reverse(coordinates.begin(), coordinates.end());
  return index(x, coordinates);
}

void bind_gather(nb::module_& m) {
  const Methods t;
  auto source_of = [](const Operand& s, const Tensor& x, const Tensor& index) {
    expect_number_fits(s, x.dtype());
    return s.t.dim() == 0 && (index.dim() > 0 || (s.t->flags & flag_wrapped)) ? expand(to_device(to_dtype(s.t, x.dtype()), x.device()), index.sizes()) : s.t;
  };
  both(m, "gather", [](const Tensor& x, int64_t dim, const Tensor& index, bool) { return gather(x, dim, index); }, "dim"_a, "index"_a, nb::kw_only(), "sparse_grad"_a = false);
  both_and_update(m, "scatter", [source_of](const Tensor& x, int64_t dim, const Tensor& index, const Operand& s) { return scatter(x, dim, index, source_of(s, x, index)); }, "dim"_a, "index"_a, "src"_a);
  both_and_update(m, "scatter", [source_of](const Tensor& x, int64_t dim, const Tensor& index, const Operand& s) { return scatter(x, dim, index, source_of(s, x, index)); }, "dim"_a, "index"_a, nb::kw_only(), "value"_a);
  both_and_update(m, "scatter", [source_of](const Tensor& x, int64_t dim, const Tensor& index, const Operand& s, const std::string& reduce) {
    return scatter_combined(x, dim, index, source_of(s, x, index), reduce);
  }, "dim"_a, "index"_a, "src"_a, nb::kw_only(), "reduce"_a);
  both_and_update(m, "scatter", [source_of](const Tensor& x, int64_t dim, const Tensor& index, const Operand& s, const std::string& reduce) {
    return scatter_combined(x, dim, index, source_of(s, x, index), reduce);
  }, "dim"_a, "index"_a, nb::kw_only(), "value"_a, "reduce"_a);
  using Along = Tensor (*)(const Tensor&, int64_t, const Tensor&, const Tensor&);
  for (auto [name, f] : {std::pair<const char*, Along>("scatter_add", scatter_add), {"index_copy", index_copy}}) {
    const char* source = std::string(name) == "scatter_add" ? "src" : "source";
    both_and_update(m, name, [f = f](const Tensor& x, int64_t dim, const Tensor& index, const Tensor& s) { return f(x, dim, index, s); }, "dim"_a, "index"_a, nb::arg(source));
  }
  both(m, "index_select", [](const Tensor& x, int64_t dim, const Tensor& index) { return index_select(x, dim, index); }, "dim"_a, "index"_a);
  both_and_update(m, "index_add", [](const Tensor& x, int64_t dim, const Tensor& index, const Tensor& s, const Scalar& alpha) { return index_add(x, dim, index, s, factor(alpha, s.dtype())); },
       "dim"_a, "index"_a, "source"_a, nb::kw_only(), "alpha"_a = 1);
  const auto filled_at = [](const Tensor& x, int64_t dim, const Tensor& index, const Tensor& v) {
    expect(is_complex(x.dtype()) || !is_complex(v.dtype()), "index_fill_(): Converting complex Scalar to non-complex type is not supported");
    expect_number_fits(v, x.dtype());
    return index_fill(x, dim, index, v);
  };
  both(m, "index_fill", [filled_at](const Tensor& x, int64_t dim, const Tensor& index, const Operand& v) { return filled_at(x, dim, index, v); }, "dim"_a, "index"_a, "value"_a);
  Methods().def("index_fill_", [filled_at](const Tensor& self, int64_t dim, const Tensor& index, const Operand& v) {
    if (!is_expanded(self, {{&index, 1}, {&v.t, 1}})) return updated(self, [&](const Tensor& x) { return filled_at(x, dim, index, v); });
    filled_at(zeros_like(self), dim, index, v);
    warn_expanded("index_fill_", "tensor[mask] = scalar");
    TensorVector at(wrap_dim(dim, self.dim(), "index_fill"), Tensor());
    at.push_back(index);
    return put_expanded(self, at, v);
  }, "dim"_a, "index"_a, "value"_a);
  both(m, "take_along_dim", [](const Tensor& x, const Tensor& index, std::optional<int64_t> dim) { return take_along_dim(x, index, dim); }, "indices"_a, "dim"_a = nb::none());
  both(m, "take", taken, "index"_a);
}

void expect_puttable(const Tensor& x, const Tensor& index, const Tensor& source) {
  expect(index.dtype() == DType::int64, "put_(): Expected a long tensor for index, but got ", index.dtype());
  expect(x.dtype() == source.dtype(), "put_(): self and source expected to have the same dtype, but got self.dtype = ", x.dtype(), " and source.dtype = ", source.dtype());
  expect(source.numel() == index.numel(), ErrorKind::index, "put_(): Expected source and index to have the same number of elements, but got source.numel() = ", source.numel(), ", index.numel() = ", index.numel());
  expect(x.numel() || !index.numel(), ErrorKind::index, "put_(): Tried to put elements into an empty tensor");
}

void bind_index_put(nb::module_& m) {
  function(m, "_put", [](const Tensor& x, const Tensor& index, const Tensor& source, bool accumulate) {
    expect_puttable(x, index, source);
    const Tensor at = reshape(index, {-1});
    return reshape(index_put(reshape(x, {-1}), {&at, 1}, reshape(source, {-1}), accumulate), x.sizes());
  }, "input"_a, "index"_a, "source"_a, "accumulate"_a);
  m.def("_expect_puttable", expect_puttable, "input"_a, "index"_a, "source"_a);
  function(m, "_is_among", [](const Tensor& x, const Tensor& few) { return any(eq(unsqueeze(x, -1), reshape(few, {-1})), Dims{-1}, false); }, "input"_a, "few"_a);
  both(m, "index_put", [](const Tensor& x, const TensorVector& at, const Tensor& v, bool accumulate) { return index_put(x, at, v, accumulate); }, "indices"_a, "values"_a, "accumulate"_a = false);
  Methods().def("index_put_", [](const Tensor& self, const TensorVector& at, const Tensor& v, bool accumulate) {
    warn_if_expanded(self, {at, {&v, 1}}, "index_put_", "tensor[indices] = tensor");
    return updated(self, [&](const Tensor& x) { return index_put(x, at, v, accumulate); });
  }, "indices"_a, "values"_a, "accumulate"_a = false);
}

Tensor is_close(const Tensor& x, const Tensor& y, double rtol, double atol, bool equal_nan) {
  expect(rtol >= 0, "isclose: rtol must be greater than or equal to zero, but got ", rtol);
  expect(atol >= 0, "isclose: atol must be greater than or equal to zero, but got ", atol);
  expect(x.dtype() == y.dtype(), "isclose: ", x.dtype(), " did not match ", y.dtype());
  Tensor close = eq(x, y);
  if (is_integral(x.dtype()) && rtol == 0 && atol == 0) return close;
  const DType wide = is_integral(x.dtype()) ? default_dtype() : x.dtype();
  const Tensor a = to_dtype(x, wide), b = to_dtype(y, wide);
  if (equal_nan && !is_integral(x.dtype())) close = logical_or(close, logical_and(isnan(a), isnan(b)));
  const Tensor error = abs(a - b);
  return logical_or(close, logical_and(isfinite(error), le(error, abs(b) * rtol + atol)));
}

void bind_equality(nb::module_& m) {
  both(m, "equal", [](const Tensor& x, const Tensor& y) { return x.sizes() == y.sizes() && item(all(eq(x, y))).to<bool>(); }, "other"_a, "Same shape and same elements?");
  both(m, "isclose", is_close, "other"_a, "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false);
  both(m, "allclose", [](const Tensor& x, const Tensor& y, double rtol, double atol, bool equal_nan) { return item(all(is_close(x, y, rtol, atol, equal_nan))).to<bool>(); },
       "other"_a, "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false, "Are all elements close?");
  function(m, "result_type", [](const Operand& a, const Operand& b) {
    const Tensor x[2] = {a.t, b.t};
    return result_type(x);
  }, "tensor"_a, "other"_a, "The element type of an operation on two tensors or numbers.");
}

}  // namespace

void bind_gathering(nb::module_& m) {
  bind_where(m);
  bind_clamp(m);
  bind_arithmetic(m);
  bind_complex(m);
  bind_gather(m);
  bind_index_put(m);
  bind_equality(m);
}

}  // namespace adjoint::python
