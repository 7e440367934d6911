// Reading and writing at positions along one dimension: gather and scatter, index_select and index_add.
#include <adjoint/core/batch.h>
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/types.h>

#include <limits>

#include "families.h"
#include "one_zero.h"
#include "positions.h"

namespace adjoint {

extern const Op op_scatter_reduce;

namespace {

Types indexed_types(Tensors x, const Attrs&) { return all(x[0].dtype()); }

void expect_index(const Tensor& index, const char* op) {
  expect(index.dtype() == DType::int64 || index.dtype() == DType::int32 || !index.numel(), op, ": Expected dtype int32/int64 for index, got ", index.dtype());
}
void expect_same_type(const Tensor& x, const Tensor& source, const char* op) {
  expect(seen_type(x) == seen_type(source), op, ": Expected self.dtype to be equal to src.dtype, got ", x.dtype(), " and ", source.dtype());
}

// index may be smaller than x except along dim.
void expect_inside(const Tensor& x, const Tensor& index, int dim, const char* op) {
  expect(x.dim() == index.dim(), ErrorKind::shape, op, ": Index tensor must have the same number of dimensions as input tensor, got ", index.sizes(), " and ", x.sizes());
  for (int i = 0; i < x.dim(); i++)
    expect(i == dim || index.size(i) <= x.size(i), ErrorKind::shape, op, ": Size does not match at dimension ", i, " expected index ", index.sizes(), " to be no larger than self ",
           x.sizes(), " apart from dimension ", dim);
}

void gather_kernel(const Launch& l) {
  const int dim = l.attrs.as<Dim>().dim;
  const View &x = l.x[0], &index = l.x[1];
  positions::check(index, x.sizes[dim], dim, l.op);
  positions::take(l.y[0], positions::lines(x, dim, index).view(), index, x.strides[dim]);
}

template <bool accumulate>
void scatter_kernel(const Launch& l) {
  const int dim = l.attrs.as<Dim>().dim;
  const View &x = l.x[0], &index = l.x[1], &y = l.y[0];
  positions::check(index, x.sizes[dim], dim, l.op);
  positions::scatter(y, x, l.x[2], index, y.strides[dim], accumulate, [&](const View& at) { return positions::lines(at, dim, index); });
}

void index_select_kernel(const Launch& l) {
  const int dim = l.attrs.as<Dim>().dim;
  const View &x = l.x[0], &index = l.x[1], &y = l.y[0];
  positions::check(index, x.sizes[dim], dim, l.op);
  positions::take(y, positions::lines(x, dim, y).view(), positions::spread(index, dim, y).view(), x.strides[dim]);
}

template <bool accumulate>
void index_add_kernel(const Launch& l) {
  const int dim = l.attrs.as<Dim>().dim;
  const View &x = l.x[0], &source = l.x[2], &y = l.y[0];
  positions::check(l.x[1], x.sizes[dim], dim, l.op);
  positions::scatter(y, x, source, positions::spread(l.x[1], dim, source).view(), y.strides[dim], accumulate,
                     [&](const View& at) { return positions::lines(at, dim, source); });
}

void gather_shape(Tensors x, const Attrs& a, Dims* out) {
  expect_inside(x[0], x[1], a.as<Dim>().dim, "gather");
  out[0] = x[1].sizes();
}
void scatter_shape(Tensors x, int dim, const char* op, Dims* out) {
  expect_inside(x[0], x[1], dim, op);
  expect(x[1].sizes() == x[2].sizes(), ErrorKind::shape, op, ": index and source must have the same shape, got ", x[1].sizes(), " and ", x[2].sizes());
  out[0] = x[0].sizes();
  positions::check_of_nothing(x[1], x[0].size(dim), dim, out[0], op);
}
void scatter_shape(Tensors x, const Attrs& a, Dims* out) { scatter_shape(x, a.as<Dim>().dim, "scatter", out); }
void index_select_shape(Tensors x, const Attrs& a, Dims* out) {
  out[0] = x[0].sizes();
  const int dim = a.as<Dim>().dim;
  out[0][dim] = x[1].numel();
  positions::check_of_nothing(x[1], x[0].size(dim), dim, out[0], "index_select");
}
template <bool adds> void index_add_shape(Tensors x, const Attrs& a, Dims* out) {
  constexpr const char* op = adds ? "index_add" : "index_copy";
  const int dim = a.as<Dim>().dim;
  expect(x[2].dim() == x[0].dim() && x[2].size(dim) == x[1].numel(), ErrorKind::shape, op, ": Number of indices (", x[1].numel(), ") should be equal to source.size(dim): (",
         x[2].dim() == x[0].dim() ? x[2].size(dim) : x[2].dim(), "), for dim: ", dim);
  for (int i = 0; i < x[0].dim(); i++)
    expect(i == dim || x[0].size(i) == x[2].size(i), ErrorKind::shape, op, ": source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = ",
           x[0].sizes(), " source.shape = ", x[2].sizes());
  out[0] = x[0].sizes();
  positions::check_of_nothing(x[1], x[0].size(dim), dim, out[0], op);
}

// An index of length n along dim as one of the sizes of `like`, for gather and scatter.
Tensor index_like(const Tensor& index, const Dims& sizes, int dim) {
  Dims shape(sizes.size(), 1);
  shape[0] = index.size(0);
  shape[dim] = index.size(1);
  return expand(reshape(index, shape), sizes);
}

// One index per lane becomes the general form.
void batch_index_select(const BatchCall& c, Tensor* out) {
  const int dim = c.attrs.as<Dim>().dim + 1;
  const Tensor x = batch::spread(c, 0);
  if (c.dims[1] < 0) { out[0] = apply(c.op, {x, c.x[1]}, Dim{dim}); return; }
  const Tensor index = batch::front(c, 1);
  Dims sizes = x.sizes();
  sizes[dim] = index.size(1);
  out[0] = gather(x, dim, index_like(index, sizes, dim));
}
template <auto general>
void batch_index_add(const BatchCall& c, Tensor* out) {
  const int dim = c.attrs.as<Dim>().dim + 1;
  const Tensor x = batch::spread(c, 0), source = batch::spread(c, 2);
  if (c.dims[1] < 0) { out[0] = apply(c.op, {x, c.x[1], source}, Dim{dim}); return; }
  out[0] = general(x, dim, index_like(batch::front(c, 1), source.sizes(), dim), source);
}

// ---- scatter_reduce

struct Product { template <class T> auto operator()(T a, T b) const { return a * b; } };
// NaN wins over all; complex numbers never come here.
template <bool largest> struct Extreme {
  template <class T> T operator()(T a, T b) const {
    if constexpr (is_complex_v<T>) return a;
    else return (largest ? b > a : b < a) || !(b == b) ? b : a;
  }
};

void scatter_reduce_kernel(const Launch& l) {
  const ScatterReduce& a = l.attrs.as<ScatterReduce>();
  const View &x = l.x[0], &index = l.x[1], &y = l.y[0];
  positions::check(index, x.sizes[a.dim], a.dim, l.op);
  auto with = [&](auto f) { positions::scatter_with(y, x, l.x[2], index, y.strides[a.dim], [&](const View& at) { return positions::lines(at, a.dim, index); }, f); };
  if (a.how == Combine::prod) with(Product{});
  else if (a.how == Combine::amax) with(Extreme<true>{});
  else with(Extreme<false>{});
}
void scatter_reduce_shape(Tensors x, const Attrs& a, Dims* out) { scatter_shape(x, a.as<ScatterReduce>().dim, "scatter_reduce", out); }

Tensor reduced_at(const Tensor& x, const Tensor& index, const Tensor& source, const ScatterReduce& a) { return apply(op_scatter_reduce, {x, index, source}, a); }

// How many of x and its sources attain each result: they share what comes back. In the type of x, which counts to 2^24.
Tensor winners(const Tensor& x, const Tensor& index, const Tensor& source, const Tensor& y, int dim) {
  return scatter_add(to_dtype(eq(x, y), x.dtype()), dim, index, to_dtype(eq(source, gather(y, dim, index)), x.dtype()));
}

// dy/dx and dy/dsource, elementwise.
Tensor partial_x(const Tensor& x, const Tensor& index, const Tensor& source, const Tensor& y, const ScatterReduce& a) {
  if (a.how == Combine::prod) return reduced_at(ones_like(x), index, source, a);
  return to_dtype(eq(x, y), x.dtype()) / winners(x, index, source, y, a.dim);
}
Tensor partial_source(const Tensor& x, const Tensor& index, const Tensor& source, const Tensor& y, const ScatterReduce& a) {
  if (a.how != Combine::prod) return to_dtype(eq(source, gather(y, a.dim, index)), x.dtype()) / gather(winners(x, index, source, y, a.dim), a.dim, index);
  // A factor of 0 that is the only one sees the product of the others, one of two the other one times the rest (0 too, but not its
  // derivative); elsewhere that is a quotient.
  const Tensor zero = eq(source, zeros({}, source.dtype(), source.device())), count = to_dtype(zero, DType::int64), one = ones({}, source.dtype(), source.device());
  const Tensor zeros_there = gather(scatter_add(zeros(x.sizes(), DType::int64, x.device()), a.dim, index, count), a.dim, index);
  const Tensor alone = logical_and(zero, eq(zeros_there, wrapped(1))), paired = logical_and(zero, eq(zeros_there, wrapped(2)));
  const Tensor others = gather(reduced_at(x, index, where(logical_or(alone, paired), one, source), a), a.dim, index);
  const Tensor twin = gather(scatter_add(one_zero(x.sizes(), x), a.dim, index, where(zero, source, wrapped(0))), a.dim, index) - source;
  return where(alone, others, where(paired, others * twin, gather(y, a.dim, index) / where(zero, one, source)));
}

}  // namespace

const Op op_gather{.name = "gather", .torch = "|self index", .fields = fields_of<Dim>, .kind = Kind::linear, .indices = 2, .types = indexed_types, .shape = gather_shape,
    .d = {rule([](V v, X<1> index, XShape<0> x, const Dim& a) { return scatter_add(one_zero(x.sizes, v), a.dim, index, v); })},
    .batch = batch::shift<&Dim::dim>,
    .doc = "The elements of `x` at the positions `index` along `dim`; the result has the shape of `index`.", .reference = gather_kernel};

const Op op_scatter{.name = "scatter", .torch = "|self index src", .fields = fields_of<Dim>, .kind = Kind::linear, .updates = true, .indices = 2, .types = indexed_types, .shape = scatter_shape,
    .d = {rule([](V v, X<1> index, const Dim& a) { return scatter(v, a.dim, index, one_zero(index.sizes(), v)); }), {},
          rule([](V v, X<1> index, const Dim& a) { return gather(v, a.dim, index); })},
    .batch = batch::shift<&Dim::dim>,
    .doc = "`x` with the elements of `source` written at the positions `index` along `dim`.", .reference = scatter_kernel<false>};

const Op op_scatter_add{.name = "scatter_add", .torch = "|self index src", .fields = fields_of<Dim>, .kind = Kind::linear, .updates = true, .indices = 2, .types = indexed_types, .shape = scatter_shape,
    .d = {rule([](V v) -> Tensor { return v; }), {}, rule([](V v, X<1> index, const Dim& a) { return gather(v, a.dim, index); })},
    .batch = batch::shift<&Dim::dim>,
    .doc = "`x` with the elements of `source` added at the positions `index` along `dim`, in order.", .reference = scatter_kernel<true>};

const Op op_scatter_reduce{.name = "scatter_reduce", .torch = "|self index src", .fields = fields_of<ScatterReduce>, .kind = Kind::custom, .updates = true, .indices = 2, .types = indexed_types, .shape = scatter_reduce_shape,
    .d = {wide_rule([](V v, X<0> x, X<1> index, X<2> source, Y<> y, const ScatterReduce& a) { return v * conj(partial_x(x, index, source, y, a)); }), {},
          wide_rule([](V v, X<0> x, X<1> index, X<2> source, Y<> y, const ScatterReduce& a) { return gather(v, a.dim, index) * conj(partial_source(x, index, source, y, a)); })},
    .t = {wide_rule([](V v, X<0> x, X<1> index, X<2> source, Y<> y, const ScatterReduce& a) { return v * partial_x(x, index, source, y, a); }), {},
          wide_rule([](V v, X<0> x, X<1> index, X<2> source, Y<> y, const ScatterReduce& a) {
            return scatter_add(one_zero(x.sizes(), v), a.dim, index, v * partial_source(x, index, source, y, a));
          })},
    .batch = batch::shift<&ScatterReduce::dim>,
    .doc = "`x` combined (product, largest or smallest) with the elements of `source` at the positions `index` along `dim`.", .reference = scatter_reduce_kernel};

const Op op_index_select{.name = "index_select", .torch = "|self index", .fields = fields_of<Dim>, .kind = Kind::linear, .indices = 2, .types = indexed_types, .shape = index_select_shape,
    .d = {rule([](V v, X<1> index, XShape<0> x, const Dim& a) { return index_add(one_zero(x.sizes, v), a.dim, index, v); })},
    .batch = batch_index_select,
    .doc = "The slices of `x` at the positions `index` (1-d) along `dim`.", .reference = index_select_kernel};

const Op op_index_add{.name = "index_add", .torch = "|self index source", .fields = fields_of<Dim>, .kind = Kind::linear, .updates = true, .indices = 2, .types = indexed_types, .shape = index_add_shape<true>,
    .d = {rule([](V v) -> Tensor { return v; }), {}, rule([](V v, X<1> index, const Dim& a) { return index_select(v, a.dim, index); })},
    .batch = batch_index_add<scatter_add>,
    .doc = "`x` with the slices of `source` added at the positions `index` (1-d) along `dim`, in order.", .reference = index_add_kernel<true>};

const Op op_index_copy{.name = "index_copy", .torch = "|self index source", .fields = fields_of<Dim>, .kind = Kind::linear, .updates = true, .indices = 2, .types = indexed_types, .shape = index_add_shape<false>,
    .d = {rule([](V v, X<1> index, XShape<2> source, const Dim& a) { return index_copy(v, a.dim, index, one_zero(source.sizes, v)); }), {},
          rule([](V v, X<1> index, const Dim& a) { return index_select(v, a.dim, index); })},
    .batch = batch_index_add<scatter>,
    .doc = "`x` with the slices of `source` written at the positions `index` (1-d) along `dim`.", .reference = index_add_kernel<false>};

namespace {

// Positions with those counted from the end of `size` elements replaced; they are looked at first where that can be.
Tensor from_the_front(const Tensor& index, int64_t size) {
  if (index.numel() && !(index->keys & key_lifted) && !cuda::without_values(index) && index.device().type == DeviceType::cpu && item(amin(index)).to<int64_t>() >= 0) return index;
  return where(lt(index, wrapped(0)), index + wrapped(size), index);
}

// A 0-d tensor counts as one of length 1.
Tensor at_least_1d(const Tensor& x) { return x.dim() ? x : reshape(x, {1}); }

Tensor flat_index(const Tensor& index, const char* op) {
  expect_index(index, op);
  expect(index.dim() <= 1, ErrorKind::index, op, ": Index is supposed to be a vector, got ", index.dim(), " dimensions");
  return to_dtype(at_least_1d(index), DType::int64);
}

template <class Apply>
Tensor scatter_with(const char* op, const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, Apply&& apply_to) {
  const int d = wrap_dim(dim, x.dim(), op);
  expect_index(index, op);
  expect_same_type(x, source, op);
  const Tensor i = to_dtype(at_least_1d(index), DType::int64);
  Tensor s = at_least_1d(source);
  expect(s.dim() == i.dim(), ErrorKind::shape, op, ": Index tensor must have the same number of dimensions as src tensor, got ", index.sizes(), " and ", source.sizes());
  for (int k = 0; k < i.dim(); k++) {
    expect(i.size(k) <= s.size(k), ErrorKind::shape, op, ": Expected index ", index.sizes(), " to be no larger than src ", source.sizes());
    if (i.size(k) < s.size(k)) s = narrow(s, k, 0, i.size(k));
  }
  const Tensor y = apply_to(at_least_1d(x), d, i, s);
  return x.dim() ? y : reshape(y, {});
}

Tensor scatter_with(const Op& op, const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) {
  return scatter_with(op.name, x, dim, index, source, [&](const Tensor& x, int d, const Tensor& i, const Tensor& s) { const Tensor others[] = {i, s}; return update(op, x, others, Dim{d}); });
}

// What leaves the other operand of a combination as it is.
Scalar neutral(Combine how, DType t) {
  if (how == Combine::sum || how == Combine::mean) return 0;
  if (how == Combine::prod) return 1;
  if (is_floating(t)) return how == Combine::amax ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  return with_type(t, [&](auto tag) -> Scalar {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) return static_cast<int64_t>(how == Combine::amax ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max());
    else return 0;
  });
}

Tensor combined(const Tensor& start, int dim, const Tensor& index, const Tensor& source, Combine how, bool include_self) {
  auto constant = [&](const Scalar& value) { return expand(full({}, value, start.dtype(), start.device()), index.sizes()); };
  const Tensor x = include_self ? start : apply(op_scatter, {start, index, constant(neutral(how, start.dtype()))}, Dim{dim});
  const Tensor others[] = {index, source};
  if (how != Combine::sum && how != Combine::mean) return update(op_scatter_reduce, x, others, ScatterReduce{dim, how});
  if (how == Combine::sum) return update(op_scatter_add, x, others, Dim{dim});
  const Tensor total = apply(op_scatter_add, {x, index, source}, Dim{dim});
  const Tensor before = full(start.sizes(), include_self ? 1 : 0, real_of(start.dtype()), start.device()), one = ones({}, before.dtype(), start.device());
  const Tensor count = scatter_add(before, dim, index, expand(one, index.sizes()));
  if (!is_integral(total.dtype())) return total / maximum(count, one);
  return floor_divide(total, where(eq(count, wrapped(0)), one, count));   // a count that wrapped, as the sum did, stays
}

Tensor index_with(const Op& op, const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) {
  const int d = wrap_dim(dim, x.dim(), op.name);
  expect_same_type(x, source, op.name);
  const Tensor others[] = {flat_index(index, op.name), at_least_1d(source)};
  const Tensor y = update(op, at_least_1d(x), others, Dim{d});
  return x.dim() ? y : reshape(y, {});
}

}  // namespace

Tensor gather(const Tensor& x, int64_t dim, const Tensor& index) {
  const int d = wrap_dim(dim, x.dim(), "gather");
  expect_index(index, "gather");
  if (!index.numel() && index.dim() != x.dim()) return reshape(narrow(reshape(x, {-1}), 0, 0, 0), index.sizes());
  const Tensor y = apply(op_gather, {at_least_1d(x), to_dtype(at_least_1d(index), DType::int64)}, Dim{d});
  return index.dim() ? y : reshape(y, {});
}
Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) { return scatter_with(op_scatter, x, dim, index, source); }
Tensor scatter_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) { return scatter_with(op_scatter_add, x, dim, index, source); }

Tensor scatter_reduce(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, Combine how, bool include_self) {
  expect(!is_complex(x.dtype()) || (how != Combine::amax && how != Combine::amin), ErrorKind::not_implemented, "scatter_reduce: amax and amin are not implemented for ", x.dtype());
  return scatter_with("scatter_reduce", x, dim, index, source, [&](const Tensor& x, int d, const Tensor& i, const Tensor& s) { return combined(x, d, i, s, how, include_self); });
}

Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index) {
  const int d = wrap_dim(dim, x.dim(), "index_select");
  const Tensor y = apply(op_index_select, {at_least_1d(x), flat_index(index, "index_select")}, Dim{d});
  return x.dim() ? y : reshape(y, {});
}
Tensor index_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  const bool one = !is_complex(alpha.dtype()) && alpha.to<double>() == 1;
  return index_with(op_index_add, x, dim, index, one ? source : mul(source, wrapped(alpha)));
}
Tensor index_copy(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) { return index_with(op_index_copy, x, dim, index, source); }
Tensor index_fill(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& value) {
  const int d = wrap_dim(dim, x.dim(), "index_fill");
  expect(value.dim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(), " dimension(s).");
  expect(index.dtype() == DType::int64, ErrorKind::index, "index_fill_(): Expected dtype int64 for index.");
  expect(index.dim() <= 1, "index_fill_(): Index has to be a vector/scalar");
  const int64_t size = x.dim() ? x.size(d) : 1;
  const Tensor at = from_the_front(index, size), filler = to_device(to_dtype(value, x.dtype()), x.device());
  if (value->flags & flag_wrapped) {   // no gradient to share out among equal positions
    Dims sizes = x.dim() ? x.sizes() : Dims{1};
    sizes[d] = at.numel();
    return index_copy(x, dim, at, expand(filler, sizes));
  }
  Dims sizes(std::max(x.dim(), 1), 1);
  sizes[d] = size;
  const Tensor filled = index_copy(zeros({size}, DType::bool_, x.device()), 0, at, ones({index.numel()}, DType::bool_, x.device()));
  return where(reshape(filled, x.dim() ? sizes : Dims{}), filler, x);
}

Tensor take_along_dim(const Tensor& x, const Tensor& index, std::optional<int64_t> dim) {
  if (!dim) return gather(reshape(x, {-1}), 0, reshape(index, {-1}));
  expect(index.dtype() == DType::int64, "take_along_dim: dtype of indices should be Long but got ", index.dtype());
  expect(x.dim() == index.dim(), ErrorKind::shape, "take_along_dim: input and indices should have the same number of dimensions, but got ", x.dim(), " dimensions for input, and ", index.dim(), " dimensions for indices");
  const int d = wrap_dim(*dim, x.dim(), "take_along_dim");
  if (x.dim() == 0) return gather(x, 0, index);
  Dims a = x.sizes(), b = index.sizes();
  a[d] = b[d] = 1;
  const Dims common = broadcast(a, b, "take_along_dim");
  a = b = common;
  a[d] = x.size(d);
  b[d] = index.size(d);
  return gather(expand(x, a), d, expand(from_the_front(index, x.size(d)), b));
}

const Op* const index_along_ops[] = {&op_gather, &op_index_add, &op_index_copy, &op_index_select, &op_scatter, &op_scatter_add, &op_scatter_reduce};
Ops families::index_along() { return index_along_ops; }

}  // namespace adjoint
