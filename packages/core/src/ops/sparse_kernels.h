// What records do to sparse operands: shared by sparse_kernels.cpp and ops/sparse.cpp.
#pragma once
#include <adjoint/core/ops.h>
#include <adjoint/core/sparse.h>

namespace adjoint::sparse {

Tensor coalesced(const Sparse& s, const Dims& sizes);
Tensor run_coo(const Op&, Tensors x, const Attrs& attrs);
int sparse_dims(const Attrs& attrs);          // of to_sparse

}  // namespace adjoint::sparse
