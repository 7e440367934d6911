// Sparse tensors in Python; sparse_coo_tensor itself and what is composed are in _tensor/sparse.py.
#include <adjoint/core/sparse.h>

#include "module.h"

namespace adjoint::python {

namespace {

void bind_parts(const Methods& t) {
  t.def("coalesce", [](const Tensor& x) { return coalesce(x); }, "The same sparse tensor in row-major order, values at one position added.");
  t.def("is_coalesced", [](const Tensor& x) { return expect_sparse(x, "is_coalesced").coalesced; }, "Whether no position occurs twice and all are in order.");
  t.def("values", [](const Tensor& x) { return sparse_values(x); }, "The values of a coalesced sparse tensor, (nnz, dense dims...).");
  t.def("indices", [](const Tensor& x) {
    const Sparse& s = expect_sparse(x, "indices");
    expect(s.coalesced, "Cannot get indices on an uncoalesced tensor, please call .coalesce() first");
    return alias_of(s.indices);
  }, "The positions of a coalesced sparse tensor, (sparse dims, nnz).");
  t.def("_values", [](const Tensor& x) { return alias_of(expect_sparse(x, "_values").values); }, "The values as they are, without history.");
  t.def("_indices", [](const Tensor& x) { return alias_of(expect_sparse(x, "_indices").indices); }, "The positions as they are.");
  t.def("_nnz", [](const Tensor& x) { return expect_sparse(x, "_nnz").indices.size(1); }, "How many values are specified.");
  t.def("sparse_dim", [](const Tensor& x) { return is_sparse(x) ? expect_sparse(x, "sparse_dim").indices.size(0) : 0; }, "How many leading dimensions are sparse.");
  t.def("dense_dim", [](const Tensor& x) { return is_sparse(x) ? expect_sparse(x, "dense_dim").values.dim() - 1 : x.dim(); }, "How many trailing dimensions are dense.");
}

}  // namespace

void bind_sparse(nb::module_& m) {
  const Methods t;
  bind_parts(t);
  t.def("_to_sparse", [](const Tensor& x, std::optional<int64_t> dims) { return to_sparse(x, dims); }, "sparse_dim"_a = nb::none());
  t.def("_to_dense", [](const Tensor& x) { return to_dense(x); });
  t.def("_masked_gradient", [](const Tensor& x) { return masked_gradient(x); });
  t.def("sparse_mask", [](const Tensor& x, const Tensor& mask) { return sparse_mask(x, mask); }, "mask"_a, "The values of this tensor where the sparse `mask` specifies some.");
  m.def("_is_sparse", [](const Tensor& x) { return is_sparse(x); });
  m.def("_sparse_coo_tensor", [](const Tensor& values, const Tensor& indices, const std::optional<Dims>& size, bool coalesced) { return sparse_coo(values, indices, size, coalesced); },
        "values"_a, "indices"_a, "size"_a.none(), "coalesced"_a);
}

}  // namespace adjoint::python
