// The compressed layouts of sparse tensors: what may take one, and which one results have. Positions stay coordinates in row-major order.
#include <adjoint/core/cuda/graph.h>

#include <string_view>

#include "sparse_kernels.h"

namespace adjoint {

Compression Compression::transposed() const {
  Compression c = *this;
  if (c) c.layout = static_cast<SparseLayout>(static_cast<int>(c.layout) + (layout == SparseLayout::csr || layout == SparseLayout::bsr ? 1 : -1));
  std::swap(c.rows, c.columns);
  return c;
}

namespace sparse {

namespace {

Dims sparse_sizes(const Dims& sizes, const Tensor& indices) {
  Dims r;
  for (int d = 0; d < indices.size(0); d++) r.push_back(sizes[d]);
  return r;
}

// The positions of all elements of the blocks in which some lie, in row-major order.
Tensor whole_blocks(const Tensor& indices, const Dims& all, const Compression& c) {
  const int dims = static_cast<int>(indices.size(0)), row = dims - 2, column = dims - 1;
  const Dims sizes = sparse_sizes(all, indices);
  Dims counts = sizes;
  counts[row] /= c.rows;
  counts[column] /= c.columns;
  TensorVector at = unbind(indices, 0);
  at[row] = floor_divide(at[row], wrapped(c.rows));
  at[column] = floor_divide(at[column], wrapped(c.columns));
  const Tensor blocks = positions(unique(flat(stack(at), counts)).values, counts, dims);
  const Dims each{blocks.size(1), c.rows, c.columns};
  at.clear();
  for (const Tensor& block : unbind(blocks, 0)) at.push_back(reshape(block, {each[0], 1, 1}));
  at[row] = add(mul(at[row], wrapped(c.rows)), reshape(counting(c.rows, indices.device()), {1, c.rows, 1}));
  at[column] = add(mul(at[column], wrapped(c.columns)), reshape(counting(c.columns, indices.device()), {1, 1, c.columns}));
  for (Tensor& t : at) t = reshape(expand(t, each), {-1});
  return positions(unique(flat(stack(at), sizes)).values, sizes, dims);
}

bool equal_batches(const Tensor& indices, const Dims& sizes) {
  const int batches = static_cast<int>(indices.size(0)) - 2;
  if (batches == 0 || indices.size(1) == 0) return true;
  cuda::expect_values(indices, "to_sparse");
  const Tensor leading = narrow(indices, 0, 0, batches);
  int64_t n = 1;
  for (int d = 0; d < batches; d++) n *= sizes[d];
  const Tensor counts = grouped(counting(indices.size(1), indices.device()) * 0 + 1, flat(leading, sizes), n);
  return item(eq(amin(counts), amax(counts))).to<bool>();
}

Compression csr(const Compression& c) { return {.layout = SparseLayout::csr, .int32 = c.int32}; }

// Of a transposed or permuted tensor: `order` are the dimensions of x that those of the result were.
Compression permuted(const Compression& c, const Dims& order, int sparse_dims) {
  const int row = sparse_dims - 2, column = sparse_dims - 1;
  if (order[row] == row && order[column] == column) return c;
  return order[row] == column && order[column] == row ? c.transposed() : Compression{};
}

Dims order_of(std::string_view op, const Attrs& attrs, int dims) {
  if (op == "permute") return attrs.as<Sizes>().sizes;
  Dims order;
  for (int d = 0; d < dims; d++) order.push_back(d);
  const auto [a, b] = attrs.as<Dims2>();
  std::swap(order[a], order[b]);
  return order;
}

// What the result shows, if x, the first compressed operand, shows c.
Compression result_layout(std::string_view op, Tensors operands, const Tensor& x, const Attrs& attrs, const Tensor& y) {
  const Compression& c = sparse_of(*x).compression;
  const int rows = static_cast<int>(sparse_of(*x).indices.size(0));
  if (sparse_of(*y).indices.size(0) < 2 || op == "sparse_coo_tensor" || op == "sparse_layout") return sparse_of(*y).compression;
  if (op == "transpose" || op == "permute") return permuted(c, order_of(op, attrs, x.dim()), rows);
  if (op == "select") return attrs.as<At>().dim < rows - 2 || attrs.as<At>().dim >= rows ? c : Compression{};
  if (op == "matmul") return csr(c);
  if (op == "sum") return attrs.as<Reduce>().keepdim ? csr(c) : Compression{};
  for (const Tensor& t : operands)
    if (t->keys & key_sparse && !(sparse_of(*t).compression == c)) return csr(c);
  return c;
}

}  // namespace

Tensor where_blocks(const Tensor& there, const Compression& c) {
  Dims split = there.sizes();
  const int row = there.dim() - 2;
  split[row] /= c.rows;
  split[row + 1] = c.rows;
  split.push_back(there.size(row + 1) / c.columns);
  split.push_back(c.columns);
  return reshape(expand(any(reshape(there, split), Dims{row + 1, row + 3}, true), split), there.sizes());
}

void expect_compressible(const Tensor& x, int64_t sparse_dims, const Compression& c) {
  expect(sparse_dims >= 2, ErrorKind::shape, "to_sparse: a compressed layout needs two sparse dimensions at least, got ", sparse_dims, " of shape ", x.sizes());
  const int row = static_cast<int>(sparse_dims) - 2;
  expect(c.rows > 0 && c.columns > 0 && x.size(row) % c.rows == 0 && x.size(row + 1) % c.columns == 0, ErrorKind::shape,
         "to_sparse: tensor sparse size (", x.size(row), ",", x.size(row + 1), ") must be divisible by given blocksize (", c.rows, ",", c.columns, ")");
}

void expect_equal_batches(const Tensor& indices, const Dims& sizes) {
  expect(equal_batches(indices, sizes), "to_sparse: Expect the same number of specified elements per batch.");
}

Tensor run_layout(const Op&, Tensors given, const Attrs& attrs) {
  const Compression& c = wanted_layout(attrs);
  const Tensor x = sorted(given[0]);
  const Sparse& s = sparse_of(*x);
  if (!c) return make_sparse(s.values, s.indices, x.sizes(), true);
  Tensor indices = s.indices, values = s.values;
  if (c.in_blocks() && !(s.compression.in_blocks() && s.compression.rows == c.rows && s.compression.columns == c.columns)) {
    indices = whole_blocks(indices, x.sizes(), c);
    values = values_at(x, indices);
  }
  expect_equal_batches(indices, x.sizes());
  return make_sparse(values, indices, x.sizes(), true, c);
}

Tensor with_layout_of(const Op& op, Tensors x, const Attrs& attrs, const Tensor& y) {
  const Tensor* first = nullptr;
  for (const Tensor& t : x)
    if (!first && t->keys & key_sparse && sparse_of(*t).compression) first = &t;
  if (!first || !y || !(y->keys & key_sparse)) return y;
  const Compression c = result_layout(op.name, x, *first, attrs, y);
  if (c == sparse_of(*y).compression) return y;
  const Tensor r = sorted(y);
  const Sparse& s = sparse_of(*r);
  const bool shown = c && equal_batches(s.indices, r.sizes());
  return make_sparse(s.values, s.indices, r.sizes(), true, shown ? c : Compression{});
}

}  // namespace sparse
}  // namespace adjoint
