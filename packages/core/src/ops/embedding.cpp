// Rows of a table by their numbers, with a gradient that may be sparse.
#include <adjoint/core/batch.h>
#include <adjoint/core/sparse.h>
#include <adjoint/core/types.h>

#include "families.h"
#include "positions.h"

namespace adjoint {

namespace {

// padding: a row that does not count (-1: none). by_frequency: derivatives of a row are divided by how often it occurs.
struct Embedding { int64_t padding; bool by_frequency, sparse; };

// The rows of v that the gradient counts.
Tensor weighted(const Tensor& v, const Tensor& index, int64_t rows, const Embedding& a) {
  Tensor r = v;
  if (a.padding >= 0) r = where(unsqueeze(eq(index, wrapped(a.padding)), -1), wrapped(0.0), r);
  if (!a.by_frequency) return r;
  const Tensor at = reshape(index, {-1}), counts = index_add(zeros({rows}, r.dtype(), r.device()), 0, at, ones({at.numel()}, r.dtype(), r.device()));
  return div(r, unsqueeze(reshape(index_select(counts, 0, at), index.sizes()), -1));
}

// The rows that count, one a column of indices.
Tensor sparse_gradient(const Tensor& v, const Tensor& index, const Dims& sizes, int64_t padding) {
  Tensor at = reshape(index, {-1}), rows = reshape(v, {-1, sizes[1]});
  if (padding >= 0) {
    const Tensor kept = reshape(nonzero(ne(at, wrapped(padding))), {-1});
    at = index_select(at, 0, kept);
    rows = index_select(rows, 0, kept);
  }
  return sparse_coo(rows, unsqueeze(at, 0), sizes);
}

Tensor row_of(const Tensor& weight, const Tensor& index) { return adjoint::index(weight, {&index, 1}); }

void embedding_kernel(const Launch& l) {
  positions::check(l.x[1], l.x[0].sizes[0], 0, l.op);   // counted from the front alone
  find_op("index")->reference({l.x, l.y, Indexed{{0}, 0, false}, l.op});
}

void batch_embedding(const BatchCall& c, Tensor* out) {
  const Embedding& a = c.attrs.as<Embedding>();
  if (c.dims[0] < 0 && !a.by_frequency) {
    out[0] = apply(c.op, {c.x[0], batch::front(c, 1)}, a);
    return;
  }
  // One table of all lanes: row i of lane l is number l * rows + i.
  const Tensor weight = batch::spread(c, 0), index = batch::spread(c, 1);
  Dims lanes(index.dim(), 1);
  lanes[0] = c.size;
  const int64_t rows = weight.size(1);
  if (!(index->keys & key_lifted) && index.device().type == DeviceType::cpu) positions::check(view_of(*index), rows, 0, c.op.name);   // or a row of another lane is found
  const Tensor first = reshape(arange(int64_t(0), c.size * rows, rows, DType::int64, index.device()), lanes);
  const Tensor table = reshape(weight, {c.size * rows, weight.size(2)}), at = add(index, first);
  Tensor all = a.by_frequency ? apply(c.op, {table, at}, Embedding{-1, true, false}) : row_of(table, at);   // each lane has its own rows to count
  if (a.padding >= 0) {
    const Tensor mask = unsqueeze(eq(index, wrapped(a.padding)), -1);
    all = apply(*find_op("detach_where"), {all, mask});
  }
  out[0] = all;
}

}  // namespace

const Op op_embedding{.name = "embedding", .torch = "|weight indices", .kind = Kind::custom, .indices = 2, .types = types::first,
    .shape = [](Tensors x, const Attrs&, Dims* out) {
      out[0] = x[1].sizes();
      out[0].push_back(x[0].size(1));
      positions::check_of_nothing(x[1], x[0].size(0), 0, out[0], "embedding");
    },
    .d = {rule([](V v, X<1> x1, XShape<0> weight, const Embedding& a) {
      const Tensor& index = x1;
      const Tensor rows = weighted(v, index, weight.sizes[0], a);
      return a.sparse ? sparse_gradient(rows, index, weight.sizes, a.padding) : index_put(zeros(weight.sizes, v.dtype(), v.device()), Tensors(&index, 1), rows, true);
    })},
    .t = {rule([](V v, X<1> index) { return row_of(to_dense(v), index); })},
    .batch = batch_embedding,
    .doc = "The rows of a table that `index` names.", .reference = embedding_kernel};

Tensor embedding(const Tensor& weight, const Tensor& index, int64_t padding_idx, bool by_frequency, bool sparse) {
  expect(weight.dim() == 2, "embedding: 'weight' must be 2-D, got ", weight.sizes());
  expect(index.dtype() == DType::int64 || index.dtype() == DType::int32, "embedding: Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got ", index.dtype());
  return apply(op_embedding, {weight, to_dtype(index, DType::int64)}, Embedding{padding_idx, by_frequency, sparse});
}

const Op* const embedding_ops[] = {&op_embedding};
Ops families::embedding() { return embedding_ops; }

}  // namespace adjoint
