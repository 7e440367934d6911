// Sparse tensors in Python; sparse_coo_tensor itself and what is composed are in _tensor/sparse.py.
#include <adjoint/core/linalg.h>
#include <adjoint/core/sparse.h>

#include "convert.h"
#include "fits.h"
#include "module.h"

namespace adjoint::python {

namespace {

const Sparse& expect_coo(const Tensor& x, const char* op) {
  const Sparse& s = expect_sparse(x, op);
  expect(!s.compression, op, ": expected a tensor of layout sparse_coo, got one of layout ", layout_name(*sparse_below(x)));
  return s;
}

// How many values a batch of the tensor specifies, or blocks.
int64_t specified(const Tensor& x) {
  const Sparse& s = expect_sparse(x, "_nnz");
  int64_t n = s.indices.size(1);
  if (s.compression) {
    n /= s.compression.rows * s.compression.columns;
    for (int d = 0; d < s.indices.size(0) - 2; d++) n /= std::max<int64_t>(x.size(d), 1);
  }
  return n;
}

// Batches, which stand before the sparse dimensions, are a matter of compressed layouts only.
int64_t sparse_dims(const Tensor& x) {
  const Sparse& s = expect_sparse(x, "sparse_dim");
  return s.compression ? 2 : s.indices.size(0);
}

void bind_parts(const Methods& t) {
  t.def("coalesce", [](const Tensor& x) { return expect_coo(x, "coalesce"), coalesce(x); }, "The same sparse tensor in row-major order, values at one position added.");
  t.def("is_coalesced", [](const Tensor& x) { return expect_coo(x, "is_coalesced").coalesced; }, "Whether no position occurs twice and all are in order.");
  t.def("_sparse_values", [](const Tensor& x) { return sparse_values(x); }, "The values of a coalesced sparse tensor in the order of its positions.");
  t.def("indices", [](const Tensor& x) {
    const Sparse& s = expect_coo(x, "indices");
    expect(s.coalesced, "Cannot get indices on an uncoalesced tensor, please call .coalesce() first");
    return alias_of(s.indices);
  }, "The positions of a coalesced sparse tensor, (sparse dims, nnz).");
  t.def("_values", [](const Tensor& x) { return alias_of(expect_sparse(x, "_values").values); }, "The values as they are, without history.");
  t.def("_indices", [](const Tensor& x) { return alias_of(expect_sparse(x, "_indices").indices); }, "The positions as they are.");
  t.def("_nnz", specified, "How many values are specified, or blocks; of a batched tensor, in each batch.");
  t.def("sparse_dim", [](const Tensor& x) { return is_sparse(x) ? sparse_dims(x) : 0; }, "How many leading dimensions are sparse.");
  t.def("dense_dim", [](const Tensor& x) { return is_sparse(x) ? expect_sparse(x, "dense_dim").values.dim() - 1 : x.dim(); }, "How many trailing dimensions are dense.");
}

}  // namespace

void bind_sparse(nb::module_& m) {
  function(m, "_sparse_matmul", sparse_matmul);
  function(m, "_sampled_addmm", [](const Tensor& values, const Tensor& a, const Tensor& b, const Tensor& rows, const Tensor& columns, const Scalar& beta, const Scalar& alpha) {
    const DType t = values.dtype();
    return scaled_sum(values, sampled_matmul(a, b, rows, columns), factor_in_float(beta, t), factor_in_float(alpha, t));
  });
  const Methods t;
  bind_parts(t);
  t.def("_to_sparse", [](const Tensor& x, std::optional<int64_t> dims, int layout, int64_t rows, int64_t columns, bool int32) {
    return to_sparse(x, dims, {static_cast<SparseLayout>(layout), int32, rows, columns});
  }, "sparse_dim"_a = nb::none(), "layout"_a = 0, "rows"_a = 1, "columns"_a = 1, "int32"_a = false);
  t.def("_to_dense", [](const Tensor& x) { return to_dense(x); });
  t.def("_masked_gradient", [](const Tensor& x) { return masked_gradient(x); });
  t.def("sparse_mask", [](const Tensor& x, const Tensor& mask) { return sparse_mask(x, mask); }, "mask"_a, "The values of this tensor where the sparse `mask` specifies some.");
  function(m, "_is_sparse", [](const Tensor& x) { return is_sparse(x); }, "Whether it is of any sparse layout.");
  function(m, "_compression", [](const Tensor& x) {
    const TensorImpl* t = is_sparse(x) ? sparse_below(x) : nullptr;
    if (!t) return nb::make_tuple(-1, 1, 1, false);
    const Compression& c = sparse_of(*t).compression;
    return nb::make_tuple(static_cast<int>(c.layout), c.rows, c.columns, c.int32);
  }, "The number of its layout (-1: strided, 0: sparse_coo, ...), the size of its blocks, and whether its indices are int32.");
  function(m, "_sparse_coo_tensor", [](const Tensor& values, const Tensor& indices, const std::optional<Dims>& size, bool coalesced) { return sparse_coo(values, indices, size, coalesced); },
        "values"_a, "indices"_a, "size"_a.none(), "coalesced"_a);
}

}  // namespace adjoint::python
