// Products of matrices of which one is a list of values, each at a row and a column: by a dense matrix, and what its derivative needs, the
// elements of a dense product at such a list. Both are linear in two operands, and each is the other's transpose.
#include <adjoint/core/batch.h>
#include <adjoint/core/sparse.h>
#include <adjoint/core/types.h>

#include "families.h"
#include "positions.h"

namespace adjoint {

namespace {

template <class T> using Sum = std::conditional_t<std::is_same_v<T, bool>, uint8_t, compute_t<T>>;   // bool never comes here

void sparse_matmul_shape(Tensors x, const Attrs& a, Dims* out) { out[0] = {a.as<RowCount>().n, x[3].size(1)}; }
void sparse_matmul_kernel(const Launch& l) {
  const View &values = l.x[0], &rows = l.x[1], &columns = l.x[2], &dense = l.x[3], &y = l.y[0];
  const int64_t m = y.sizes[1];
  positions::check(rows, y.sizes[0], 0, l.op);
  positions::check(columns, dense.sizes[0], 0, l.op);
  with_type(y.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Sum<T>;
    std::vector<C> sums(y.numel);
    for (int64_t i = 0; i < values.numel; i++) {
      C* to = sums.data() + rows.as<int64_t>()[i * rows.strides[0]] * m;
      const T* from = dense.as<T>() + columns.as<int64_t>()[i * columns.strides[0]] * dense.strides[0];
      const C v = convert<C>(values.as<T>()[i * values.strides[0]]);
      for (int64_t j = 0; j < m; j++) to[j] = static_cast<C>(to[j] + v * convert<C>(from[j * dense.strides[1]]));
    }
    for (int64_t i = 0; i < y.numel; i++) y.as<T>()[i / m * y.strides[0] + i % m * y.strides[1]] = convert<T>(sums[i]);
  });
}

void sampled_matmul_shape(Tensors x, const Attrs&, Dims* out) { out[0] = x[2].sizes(); }
void sampled_matmul_kernel(const Launch& l) {
  const View &a = l.x[0], &b = l.x[1], &rows = l.x[2], &columns = l.x[3], &y = l.y[0];
  positions::check(rows, a.sizes[0], 0, l.op);
  positions::check(columns, b.sizes[0], 0, l.op);
  with_type(y.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Sum<T>;
    for (int64_t i = 0; i < y.numel; i++) {
      const T* p = a.as<T>() + rows.as<int64_t>()[i * rows.strides[0]] * a.strides[0];
      const T* q = b.as<T>() + columns.as<int64_t>()[i * columns.strides[0]] * b.strides[0];
      C sum{};
      for (int64_t j = 0; j < a.sizes[1]; j++) sum = static_cast<C>(sum + convert<C>(p[j * a.strides[1]]) * convert<C>(q[j * b.strides[1]]));
      y.as<T>()[i * y.strides[0]] = convert<T>(sum);
    }
  });
}

// Positions of all lanes in one matrix whose diagonal blocks, of n rows, are theirs.
Tensor in_blocks(const BatchCall& c, int i, int64_t n) {
  return reshape(add(batch::spread(c, i), unsqueeze(arange(int64_t(0), c.size * n, n, DType::int64, c.x[i].device()), 1)), {-1});
}
Tensor stacked(const BatchCall& c, int i) {
  const Tensor x = batch::spread(c, i);
  return reshape(x, {c.size * x.size(1), x.size(2)});
}
void batch_sparse_matmul(const BatchCall& c, Tensor* out) {
  const int64_t n = c.attrs.as<RowCount>().n;
  const Tensor dense = stacked(c, 3);
  const Tensor y = apply(c.op, {reshape(batch::spread(c, 0), {-1}), in_blocks(c, 1, n), in_blocks(c, 2, dense.size(0) / c.size), dense}, RowCount{c.size * n});
  out[0] = reshape(y, {c.size, n, dense.size(1)});
}
void batch_sampled_matmul(const BatchCall& c, Tensor* out) {
  const Tensor a = stacked(c, 0), b = stacked(c, 1);
  out[0] = reshape(apply(c.op, {a, b, in_blocks(c, 2, a.size(0) / c.size), in_blocks(c, 3, b.size(0) / c.size)}), {c.size, -1});
}

}  // namespace

const Op op_sparse_matmul{.name = "sparse_matmul", .kind = Kind::multilinear, .indices = 0b0110, .types = types::first, .shape = sparse_matmul_shape,
    .d = {rule([](V v, X<1> rows, X<2> columns, X<3> dense) { return sampled_matmul(v, dense, rows, columns); }), Rule{}, Rule{},
          rule([](V v, X<0> values, X<1> rows, X<2> columns, XShape<3> dense) { return sparse_matmul(values, columns, rows, v, dense.sizes[0]); })},
    .batch = batch_sparse_matmul,
    .doc = "The matrix with `values` (n) at `rows` and `columns`, (n) each, where they add up, by a dense one, (k, m).", .reference = sparse_matmul_kernel};

const Op op_sampled_matmul{.name = "sampled_matmul", .kind = Kind::multilinear, .indices = 0b1100, .types = types::first, .shape = sampled_matmul_shape,
    .d = {rule([](V v, X<1> b, X<2> rows, X<3> columns, XShape<0> a) { return sparse_matmul(v, rows, columns, b, a.sizes[0]); }),
          rule([](V v, X<0> a, X<2> rows, X<3> columns, XShape<1> b) { return sparse_matmul(v, columns, rows, a, b.sizes[0]); })},
    .batch = batch_sampled_matmul,
    .doc = "The elements at `rows` and `columns`, (n) each, of the product of (k, m) and a transposed (l, m).", .reference = sampled_matmul_kernel};

namespace {
void check_list(const Tensor& rows, const Tensor& columns, const char* op) {
  expect(rows.dtype() == DType::int64 && columns.dtype() == DType::int64, ErrorKind::type, op, ": positions must be of type int64, got ", rows.dtype(), " and ", columns.dtype());
  expect(rows.dim() == 1 && rows.sizes() == columns.sizes(), ErrorKind::shape, op, ": expected as many rows as columns, got shapes ", rows.sizes(), " and ", columns.sizes());
}
}  // namespace

// GPUs take the slices of dense operands one by one, which are then added up in their order.
Tensor sparse_matmul(const Tensor& values, const Tensor& rows, const Tensor& columns, const Tensor& dense, int64_t n) {
  check_list(rows, columns, "sparse_matmul");
  expect(values.sizes() == rows.sizes() && dense.dim() == 2, ErrorKind::shape, "sparse_matmul: expected (n) values at (n) positions and a matrix, got shapes ", values.sizes(), ", ", rows.sizes(), " and ", dense.sizes());
  expect(values.dtype() == dense.dtype(), ErrorKind::type, "sparse_matmul: expected one type, got ", values.dtype(), " and ", dense.dtype());
  if (values.device().type == DeviceType::cpu) return apply(op_sparse_matmul, {values, rows, columns, dense}, RowCount{n});
  return index_add(zeros({n, dense.size(1)}, dense.dtype(), dense.device()), 0, rows, mul(unsqueeze(values, 1), index_select(dense, 0, columns)));
}
Tensor sampled_matmul(const Tensor& a, const Tensor& b, const Tensor& rows, const Tensor& columns) {
  check_list(rows, columns, "sampled_matmul");
  expect(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(1) && a.dtype() == b.dtype(), ErrorKind::shape, "sampled_matmul: expected matrices of one type and width, got ", a.dtype(), " ", a.sizes(), " and ", b.dtype(), " ", b.sizes());
  if (a.device().type == DeviceType::cpu || !is_complex(a.dtype())) return apply(op_sampled_matmul, {a, b, rows, columns});
  return sum(mul(index_select(a, 0, rows), index_select(b, 0, columns)), Dims{1});
}

const Op* const sparse_product_ops[] = {&op_sampled_matmul, &op_sparse_matmul};
Ops families::sparse_products() { return sparse_product_ops; }

}  // namespace adjoint
