// Bags of rows as one operation. With the matrix A of what each row counts in each bag, sums are y = A weight; the derivative of weight is that
// of a record of its own, the transposed sum A' v, and the derivative of the numbers in A are elements of the product of v and weight'. Means are
// sums divided by the number of rows; the largest elements keep the row that each comes from.
#include <adjoint/core/batch.h>
#include <adjoint/core/embedding_bag.h>
#include <adjoint/core/sparse.h>
#include <adjoint/core/types.h>

#include <algorithm>

#include "families.h"
#include "in_double.h"
#include "in_float.h"

namespace adjoint {

std::vector<int64_t> bag_bounds(const View& index, const View& offsets, int64_t rows, const Bags& a) {
  auto at = [](const View& v, int64_t i) { return v.as<int64_t>()[i * v.strides[0]]; };
  for (int64_t i = 0; i < index.numel; i++) {
    const int64_t row = at(index, i);
    if (static_cast<uint64_t>(row) < static_cast<uint64_t>(rows) || (row >= 0 && row == a.padding)) [[likely]] continue;
    fail(ErrorKind::index, "embedding_bag: index ", row, " is out of bounds for dimension 0 with size ", rows);
  }
  std::vector<int64_t> bounds;
  for (int64_t b = 0; b < offsets.numel; b++) bounds.push_back(at(offsets, b));
  if (!a.closed) bounds.push_back(index.numel);
  expect(bounds[0] == 0 || bounds.size() == 1, "embedding_bag: offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got ", bounds[0]);
  for (size_t b = 1; b < bounds.size(); b++)
    expect(bounds[b] >= bounds[b - 1] && bounds[b] <= index.numel, "embedding_bag: offsets must not decrease, nor be greater than input's length ", index.numel, ", but bag ", b - 1, " is from ", bounds[b - 1], " to ", bounds[b]);
  return bounds;
}

namespace {

// f(bag, row, what it counts) for each row that counts, in their order.
void each_item(const Launch& l, int64_t rows, Borrowed<int64_t, int64_t, double> f) {
  expect(is_floating(l.x[0].dtype), ErrorKind::not_implemented, l.op, ": not implemented for ", l.x[0].dtype);
  const View& index = l.x[1];
  const Bags& a = l.attrs.as<Bags>();
  const std::vector<int64_t> bounds = bag_bounds(index, l.x[2], rows, a);
  Wide weights(l.x[3]);
  for (size_t b = 0; b + 1 < bounds.size(); b++)
    for (int64_t i = bounds[b]; i < bounds[b + 1]; i++)
      if (const int64_t row = index.as<int64_t>()[i * index.strides[0]]; row != a.padding) f(static_cast<int64_t>(b), row, l.x[3].numel ? weights.data()[i] : 1.0);
}

void bag_kernel(const Launch& l) {
  const View &y = l.y[0], &kept = l.y[1];
  const auto mode = static_cast<BagMode>(l.attrs.as<Bags>().mode);
  const int64_t m = y.sizes[1];
  Wide table(l.x[0]), r(y, true);
  std::vector<int64_t> from(static_cast<size_t>(y.numel), -1), counts(static_cast<size_t>(y.sizes[0]));
  each_item(l, l.x[0].sizes[0], [&](int64_t b, int64_t row, double factor) {
    counts[static_cast<size_t>(b)]++;
    for (int64_t j = 0; j < m; j++) {
      const double x = table.data()[row * m + j];
      double& to = r.data()[b * m + j];
      int64_t& at = from[static_cast<size_t>(b * m + j)];
      if (mode != BagMode::max) to += factor * x;
      else if (at < 0 || x > to || (x != x && to == to)) to = x, at = row;
    }
  });
  if (mode == BagMode::mean)
    for (int64_t i = 0; i < y.numel; i++) r.data()[i] /= static_cast<double>(std::max<int64_t>(1, counts[static_cast<size_t>(i / m)]));
  r.give(y);
  const std::vector<int64_t>& all = mode == BagMode::max ? from : counts;
  std::copy_n(all.begin(), kept.numel, kept.as<int64_t>());
}

void transposed_kernel(const Launch& l) {
  const int64_t m = l.y[0].sizes[1];
  Wide v(l.x[0]), r(l.y[0], true);
  each_item(l, l.y[0].sizes[0], [&](int64_t b, int64_t row, double factor) {
    for (int64_t j = 0; j < m; j++) r.data()[row * m + j] += factor * v.data()[b * m + j];
  });
  r.give(l.y[0]);
}

void bag_shape(Tensors x, const Attrs& attrs, Dims* out) {
  const Bags& a = attrs.as<Bags>();
  out[0] = {x[2].size(0) - a.closed, x[0].size(1)};
  if (a.mode == static_cast<int>(BagMode::max)) out[1] = out[0];
  else out[1] = {a.mode == static_cast<int>(BagMode::mean) ? out[0][0] : 0};
}

Bags sum_of(const Bags& a, int64_t rows) { return {rows, a.padding, static_cast<int>(BagMode::sum), a.closed}; }

// The part of v w' that stands where the list has its rows: v is (bags, features), w the table.
Tensor sampled(const Tensor& v, const Tensor& w, const Tensor& index, const Tensor& offsets, const Bags& a) {
  const int64_t bags = v.size(0);
  if (bags == 0) return zeros(index.sizes(), v.dtype(), v.device());
  const Tensor bag = sub(searchsorted(offsets, counting(index.numel(), index.device()), true), wrapped(int64_t(1)));
  if (a.padding < 0 && !a.closed) return sampled_matmul(v, w, bag, index);
  const Tensor counts = bitwise_and(ne(index, wrapped(a.padding)), lt(bag, wrapped(bags)));
  const Tensor zero = wrapped(int64_t(0));
  return where(counts, sampled_matmul(v, w, where(counts, bag, zero), where(counts, index, zero)), wrapped(0.0));
}

struct Picked { Tensor rows, none; };   // rows that elements come from: 0 where a bag is empty
Picked picked(const Tensor& from) { return {maximum(from, wrapped(int64_t(0))), lt(from, wrapped(int64_t(0)))}; }

// ---- many lanes: one list of all, whose rows are numbered from lane to lane if tables are many

TensorVector joined(const BatchCall& c, int64_t step, int64_t padding) {
  Tensor index = batch::spread(c, 1), offsets = batch::spread(c, 2);
  auto shifted = [&](const Tensor& t, int64_t by) { return by ? add(t, unsqueeze(arange(int64_t(0), c.size * by, by, DType::int64, t.device()), 1)) : t; };
  const Tensor numbers = shifted(index, step);
  const Tensor rows = padding < 0 || step == 0 ? numbers : where(eq(index, wrapped(padding)), wrapped(c.size * step), numbers);
  return {Tensor(), reshape(rows, {-1}), reshape(shifted(offsets, index.size(1)), {-1}), reshape(batch::spread(c, 3), {-1})};
}
void batch_bags(const BatchCall& c, Tensor* out) {
  Bags a = c.attrs.as<Bags>();
  const bool one = c.dims[0] < 0;
  const Tensor table = one ? c.x[0] : batch::spread(c, 0);
  const int64_t step = one ? 0 : table.size(1), bags = c.x[2].numel() / (c.dims[2] < 0 ? 1 : c.size);
  TensorVector x = joined(c, step, a.padding);
  x[0] = one ? table : flatten(table, 0, 1);
  const bool closed = std::exchange(a.closed, false);   // what lies between the last bag of one lane and the first of the next is a bag, too
  if (a.padding >= 0 && step) a.padding = c.size * step;
  Tensor y[max_outputs];
  apply(c.op, x, a, y);
  for (int i = 0; i < 2; i++) {
    if (i == 1 && a.mode == static_cast<int>(BagMode::sum)) {
      out[i] = reshape(y[i], {c.size, 0});
      continue;
    }
    Dims sizes = y[i].sizes();
    sizes[0] = bags;
    sizes.insert(0, c.size);
    out[i] = narrow(reshape(y[i], sizes), 1, 0, bags - closed);
  }
  if (a.mode != static_cast<int>(BagMode::max) || step == 0) return;
  const Tensor first = reshape(arange(int64_t(0), c.size * step, step, DType::int64, table.device()), {-1, 1, 1});
  out[1] = where(lt(out[1], wrapped(int64_t(0))), out[1], sub(out[1], first));
}
void batch_transposed(const BatchCall& c, Tensor* out) {
  Bags a = c.attrs.as<Bags>();
  const int64_t step = a.rows;
  TensorVector x = joined(c, step, a.padding);
  Tensor v = batch::spread(c, 0);
  if (std::exchange(a.closed, false)) v = cat(TensorVector{v, zeros({c.size, 1, v.size(2)}, v.dtype(), v.device())}, 1);
  x[0] = reshape(v, {c.size * v.size(1), v.size(2)});
  a.rows *= c.size;
  if (a.padding >= 0) a.padding = a.rows;
  Tensor y[max_outputs];
  apply(c.op, x, a, y);
  out[0] = reshape(y[0], {c.size, step, v.size(2)});
}

constexpr uint32_t lists = 0b0110;

}  // namespace

const Op op_embedding_bag_vjp{.name = "embedding_bag_vjp", .fields = fields_of<Bags>, .kind = Kind::multilinear, .indices = lists, .types = types::first,
    .shape = [](Tensors x, const Attrs& a, Dims* out) { out[0] = {a.as<Bags>().rows, x[0].size(1)}; },
    .d = {rule([](V w, X<1> index, X<2> offsets, X<3> weights, const Bags& a) { return apply(op_embedding_bag, {w, index, offsets, weights}, sum_of(a, 0)); }), Rule{}, Rule{},
          rule([](V w, X<0> v, X<1> index, X<2> offsets, const Bags& a) { return sampled(v, w, index, offsets, a); })},
    .batch = batch_transposed, .doc = "The cotangent of a table whose rows were summed in bags.", .reference = transposed_kernel};

const Op op_embedding_bag{.name = "embedding_bag", .torch = "|weight indices offsets per_sample_weights|", .fields = fields_of<Bags>, .kind = Kind::custom, .outputs = 2, .indices = lists, .types = types::with_index, .shape = bag_shape,
    .d = {rule([](V v, X<1> index, X<2> offsets, X<3> weights, Y<1> kept, XShape<0> table, const Bags& a) -> Tensor {
            if (a.mode == static_cast<int>(BagMode::max)) {
              const Picked p = picked(kept);
              return scatter_add(zeros(table.sizes, v.dtype(), v.device()), 0, p.rows, where(p.none, wrapped(0.0), v));
            }
            const Tensor w = a.mode == static_cast<int>(BagMode::mean) ? div(v, unsqueeze(to_dtype(maximum(kept, wrapped(int64_t(1))), v.dtype()), 1)) : Tensor(v);
            return apply(op_embedding_bag_vjp, {w, index, offsets, weights}, sum_of(a, table.sizes[0]));
          }), Rule{}, Rule{},
          rule([](V v, X<0> table, X<1> index, X<2> offsets, const Bags& a) { return sampled(v, table, index, offsets, a); })},
    .t = {rule([](V t, X<1> index, X<2> offsets, X<3> weights, Y<1> kept, const Bags& a) -> std::array<Tensor, 2> {
            if (a.mode != static_cast<int>(BagMode::max)) return {apply(op_embedding_bag, {t, index, offsets, weights}, a), Tensor()};
            const Picked p = picked(kept);
            return {where(p.none, wrapped(0.0), gather(t, 0, p.rows)), Tensor()};
          }), Rule{}, Rule{},
          rule([](V t, X<0> table, X<1> index, X<2> offsets, const Bags& a) { return std::array<Tensor, 2>{apply(op_embedding_bag, {table, index, offsets, t}, a), Tensor()}; })},
    .batch = batch_bags,
    .doc = "The sum, mean or largest elements of the rows of a table that each bag names; also how many rows count in a mean, or which rows the largest are of.", .reference = bag_kernel};

Tensor embedding_bag(const Tensor& weight, const Tensor& index, const Tensor& offsets, const Tensor& weights, BagMode mode, int64_t padding_idx, bool include_last_offset) {
  constexpr const char* types = " to have one of the following scalar types: Long, Int; but got ";
  auto whole = [](const Tensor& t) { return t.dtype() == DType::int64 || t.dtype() == DType::int32; };
  expect(weight.dim() == 2, "embedding_bag: weight has to be a 2D Tensor, but got Tensor of dimension ", weight.dim());
  expect(is_floating(weight.dtype()), ErrorKind::type, "embedding_bag: not implemented for ", weight.dtype());
  expect(index.dim() == 1 || index.dim() == 2, ErrorKind::value, "embedding_bag: input has to be 1D or 2D Tensor, but got Tensor of dimension ", index.dim());
  expect(whole(index), "embedding_bag: Expected tensor for argument #1 'indices'", types, index.dtype());
  expect(!weights || weights.dtype() == weight.dtype(), ErrorKind::type, "embedding_bag: expected per_sample_weights of weight's type ", weight.dtype(), ", got ", weights ? weights.dtype() : DType::bool_);
  if (weight.device().type == DeviceType::cpu) {
    const auto wide = [=](const Tensor& table, const Tensor& i, const Tensor& o, const Tensor& w) { return embedding_bag(table, i, o, w, mode, padding_idx, include_last_offset); };
    if (const Tensor y = rounded_once(wide, weight, index, offsets, weights)) return y;
  }
  expect(!weights || weights.sizes() == index.sizes(), ErrorKind::shape, "embedding_bag: expected per_sample_weights of input's sizes ", index.sizes());
  Tensor begins = offsets;
  if (index.dim() == 2) {
    const int64_t n = index.size(0), each = index.size(1);
    begins = each ? arange(int64_t(0), n * each, each, DType::int64, index.device()) : zeros({n}, DType::int64, index.device());
  } else {
    expect(offsets && offsets.dim() == 1, ErrorKind::value, "embedding_bag: offsets has to be a 1D Tensor");
    expect(whole(offsets), "embedding_bag: Expected tensor for argument #1 'offsets'", types, offsets.dtype());
    expect(!include_last_offset || offsets.numel() > 0, "embedding_bag: include_last_offset: number of offset should be at least 1");
  }
  Tensor y[max_outputs];
  const Tensor x[] = {weight, to_dtype(reshape(index, {-1}), DType::int64), to_dtype(begins, DType::int64), weights ? reshape(weights, {-1}) : empty({0}, weight.dtype(), weight.device())};
  apply(op_embedding_bag, x, Bags{0, padding_idx, static_cast<int>(mode), include_last_offset && index.dim() == 1}, y);
  return y[0];
}

const Op* const embedding_bag_ops[] = {&op_embedding_bag, &op_embedding_bag_vjp};
Ops families::embedding_bag() { return embedding_bag_ops; }

}  // namespace adjoint
