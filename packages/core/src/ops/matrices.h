// What the records of linear algebra share: checks of their operands, and the words of their derivative rules.
#pragma once
#include <adjoint/core/batch.h>
#include <adjoint/core/linalg.h>
#include <adjoint/core/op_fields.h>
#include <adjoint/core/types.h>

#include "dense/matrix.h"

namespace adjoint {

inline void describe(const Checked& a, FieldList& f) { f.add("check", a.check); }
inline void describe(const Triangular& a, FieldList& f) { f.add("upper", a.upper); f.add("unit", a.unit); }
inline void describe(const Solving& a, FieldList& f) { f.add("adjoint", a.adjoint); }
inline void describe(const Symmetric& a, FieldList& f) { f.add("hermitian", a.hermitian); f.add("check", a.check); }
inline void describe(const Reflecting& a, FieldList& f) { f.add("left", a.left); f.add("transpose", a.transpose); }
inline void describe(const Orthogonal& a, FieldList& f) { f.add("complete", a.complete); }

}  // namespace adjoint

namespace adjoint::matrices {

inline void expect_type(const Tensor& x, const char* op) {
  expect(is_differentiable(x.dtype()), op, ": Expected a floating point or complex tensor as input. Got ", x.dtype());
  expect(!is_half(x.dtype()), ErrorKind::not_implemented, op, ": not implemented for ", x.dtype());
}
inline void expect_matrices(const Tensor& x, const char* op, const char* name = "A") {
  expect(x.dim() >= 2, ErrorKind::shape, op, ": The input tensor ", name, " must have at least 2 dimensions.");
  expect_type(x, op);
}
inline void expect_square(const Tensor& x, const char* op) {
  expect_matrices(x, op);
  expect(x.size(-1) == x.size(-2), ErrorKind::shape, op, ": A must be batches of square matrices, but they are ", x.size(-2), " by ", x.size(-1), " matrices");
}

// Sizes of the batch with more behind them.
inline Dims batch_and(const Dims& sizes, int inner, std::initializer_list<int64_t> more) {
  Dims r(std::span<const int64_t>(sizes.data(), sizes.size() - inner));
  for (int64_t n : more) r.push_back(n);
  return r;
}
// Operands whose batches broadcast, brought to one batch.
inline void align(Tensor& a, Tensor& b, const char* op) {
  const Dims batch = broadcast(batch_and(a.sizes(), 2, {}), batch_and(b.sizes(), 2, {}), op);
  for (Tensor* t : {&a, &b}) {
    Dims sizes = batch;
    for (int64_t n : {t->size(-2), t->size(-1)}) sizes.push_back(n);
    if (!(t->sizes() == sizes)) *t = expand(*t, sizes);
  }
}

inline Tensor mH(const Tensor& x) { return conj(mT(x)); }
inline Tensor hermitian(const Tensor& x) { return (x + mH(x)) * 0.5; }
inline Tensor diagonals(const Tensor& x) { return diagonal(x, 0, -2, -1); }
inline Tensor off_diagonal(const Tensor& x) { return tril(x, -1) + triu(x, 1); }
inline Tensor rows_times(const Tensor& x, const Tensor& v) { return x * unsqueeze(v, -1); }
inline Tensor columns_times(const Tensor& x, const Tensor& v) { return x * unsqueeze(v, -2); }
inline Tensor columns_over(const Tensor& x, const Tensor& v) { return x / unsqueeze(v, -2); }
// Element (i, j) is v_j - v_i, and 1 on the diagonal.
inline Tensor gaps(const Tensor& v) { return unsqueeze(v, -2) - unsqueeze(v, -1) + eye(v.size(-1), v.size(-1), v.dtype(), v.device()); }
// i Im x; x itself has no imaginary part if it is real.
inline Tensor imaginary(const Tensor& x) { return is_complex(x.dtype()) ? (x - conj(x)) * 0.5 : zeros_like(x); }

// The matrices with their rows, or columns, in another order; `order` holds positions of what comes first, second, ...
inline Tensor permuted_rows(const Tensor& x, const Tensor& order) { return adjoint::gather(x, x.dim() - 2, expand(unsqueeze(order, -1), x.sizes())); }
inline Tensor permuted_columns(const Tensor& x, const Tensor& order) { return adjoint::gather(x, x.dim() - 1, expand(unsqueeze(order, -2), x.sizes())); }
inline Tensor inverse_order(const Tensor& order) { return sort(order).indices; }

// Sums of terms of which any may be missing.
inline void add_to(Tensor& sum, const Tensor& term) { sum = sum ? sum + term : term; }

}  // namespace adjoint::matrices
