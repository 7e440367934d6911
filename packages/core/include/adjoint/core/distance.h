// Euclid's distances between rows, from their differences.
#pragma once
#include <adjoint/core/op.h>
#include <adjoint/core/op_fields.h>

namespace adjoint {

extern const Op op_distances;
struct Distances { bool above; };   // only those of row i to rows j > i; 0 elsewhere
inline void describe(const Distances& a, FieldList& f) { f.add("above", a.above); }

// (..., n, d) and (..., m, d) give (..., n, m).
ADJOINT_API Tensor distances(const Tensor& a, const Tensor& b);
// (n, d): between each two rows, n (n - 1) / 2.
ADJOINT_API Tensor pair_distances(const Tensor& x);

}  // namespace adjoint
