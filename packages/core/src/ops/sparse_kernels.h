// What records do to sparse operands: shared by sparse_kernels.cpp and ops/sparse.cpp.
#pragma once
#include <adjoint/core/ops.h>
#include <adjoint/core/sparse.h>

namespace adjoint::sparse {

struct Sparsity { int dims; Compression compression; };   // of to_sparse: the first so many dimensions are sparse

Tensor flat(const Tensor& indices, const Dims& sizes);                      // the row-major number of each position
Tensor positions(const Tensor& flat, const Dims& sizes, int dims);          // and back
Tensor grouped(const Tensor& values, const Tensor& group, int64_t places);  // values[i] added up over the places group[i]
Tensor coalesced(const Sparse& s, const Dims& sizes);
Tensor sorted(const Tensor& x);                                             // x, coalesced
Tensor values_at(const Tensor& x, const Tensor& indices);                   // zero where x specifies none
Tensor run_coo(const Op&, Tensors x, const Attrs& attrs);
const Compression& wanted_layout(const Attrs& attrs);                       // of sparse_layout

Tensor sparse_by_sparse(const Tensor& a, const Tensor& b, const Dims& sizes);   // of the result: ops/sparse_by_sparse.cpp

// ---- ops/sparse_layouts.cpp
Tensor where_blocks(const Tensor& there, const Compression& c);             // the blocks of (..., n, m) with a true element, whole
Tensor run_layout(const Op&, Tensors x, const Attrs& attrs);
void expect_compressible(const Tensor& x, int64_t sparse_dims, const Compression& c);
void expect_equal_batches(const Tensor& indices, const Dims& sizes);
Tensor with_layout_of(const Op& op, Tensors x, const Attrs& attrs, const Tensor& y);   // y, the result for x, in the layout that PyTorch gives it

}  // namespace adjoint::sparse
