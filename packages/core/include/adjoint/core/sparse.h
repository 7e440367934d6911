// Sparse tensors: a list of positions and the values there (COO); everything else is zero. The compressed layouts (CSR, CSC, BSR, BSC) are that
// list in row-major order with another face: their compressed indices are made when they are asked for.
#pragma once
#include <adjoint/core/op.h>

#include <optional>

namespace adjoint {

enum class SparseLayout : uint8_t { coo, csr, csc, bsr, bsc };

// How a sparse tensor shows its last two sparse dimensions, those before them being batches: each of them has as many values.
struct Compression {
  SparseLayout layout = SparseLayout::coo;
  bool int32 = false;               // the type of the indices shown; int64 otherwise
  int64_t rows = 1, columns = 1;    // of a block; positions come in whole blocks
  bool operator==(const Compression&) const = default;
  explicit operator bool() const { return layout != SparseLayout::coo; }
  bool in_blocks() const { return layout >= SparseLayout::bsr; }
  Compression transposed() const;
};

// What a tensor with `key_sparse` has in place of memory. Its tensors are plain: histories lie on the sparse tensor.
struct Sparse final : Object {
  Tensor indices;          // (sparse dimensions, n), int64
  Tensor values;           // (n, dense dimensions...)
  bool coalesced = false;  // in row-major order, no position twice; so are all compressed tensors
  Compression compression;
  void visit_refs(RefVisitor& v) const override;
};

inline const Sparse& sparse_of(const TensorImpl& t) {
  expect(t.keys & key_sparse, "expected a tensor of a sparse layout, got one of layout strided");
  return *static_cast<const Sparse*>(t.face.get());
}
inline bool any_sparse(Tensors x) {
  for (const Tensor& t : x)
    if (t->keys & key_sparse) return true;
  return false;
}
ADJOINT_API const TensorImpl* sparse_below(const Tensor& x);   // the sparse tensor under all faces; null if it is none, or inside vmap
inline bool is_sparse(const Tensor& x) { return x->keys & (key_sparse | key_lifted) && sparse_below(x); }
ADJOINT_API const Sparse& expect_sparse(const Tensor& x, const char* op);
ADJOINT_API const char* layout_name(const TensorImpl& x);
inline void expect_strided(const TensorImpl& x, const char* op) {
  expect(!(x.keys & key_sparse), ErrorKind::not_implemented, op, ": not supported for a tensor of layout ", layout_name(x), "; use to_dense() first");
}

// ---- operations (ops/sparse.cpp)
ADJOINT_API Tensor sparse_coo(const Tensor& values, const Tensor& indices, const std::optional<Dims>& sizes, bool coalesced = false);
ADJOINT_API Tensor sparse_zeros(const Tensor& like);                            // of the sizes, type and sparse dimensions of a sparse tensor
ADJOINT_API Tensor to_sparse(const Tensor& x, std::optional<int64_t> sparse_dims = {}, const Compression& c = {});
ADJOINT_API Tensor sparse_layout(const Tensor& x, const Compression& c);        // a sparse tensor in another sparse layout
ADJOINT_API Tensor to_dense(const Tensor& x);
ADJOINT_API Tensor coalesce(const Tensor& x);
ADJOINT_API Tensor sparse_values(const Tensor& x);                              // of a coalesced tensor
ADJOINT_API Tensor sparse_at(const Tensor& x, const Tensor& indices);           // the values of x at given positions
ADJOINT_API Tensor sparse_mask(const Tensor& x, const Tensor& mask);            // x, sparse or not, where mask specifies a value
ADJOINT_API Tensor masked_gradient(const Tensor& x);                            // x; its gradient is zero wherever x specifies no value
// ---- products with a list of values, each at a row and a column (ops/sparse_products.cpp)
ADJOINT_API Tensor sparse_matmul(const Tensor& values, const Tensor& rows, const Tensor& columns, const Tensor& dense, int64_t n);   // by (k, m): (n, m)
ADJOINT_API Tensor sampled_matmul(const Tensor& a, const Tensor& b, const Tensor& rows, const Tensor& columns);   // elements of (n, m) by a transposed (k, m)

// ---- below all levels and tapes (sparse.cpp)
ADJOINT_API Tensor make_sparse(const Tensor& values, const Tensor& indices, const Dims& sizes, bool coalesced, const Compression& c = {});
ADJOINT_API void run_sparse(const Op& op, Tensors x, const Attrs& attrs, Tensor* y);
ADJOINT_API void run_sparse_inplace(const Op& op, const Tensor& self, Tensors others, const Attrs& attrs);
Device common_device(const Op& op, Tensors x);                                  // of the result; numbers and positions may come from the CPU (apply.cpp)
using SparseKernel = Tensor (*)(const Op&, Tensors, const Attrs&);
ADJOINT_API SparseKernel sparse_kernel(const char* op);                         // null: not supported

}  // namespace adjoint
