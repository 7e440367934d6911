// Distances between rows, from their differences.
#pragma once
#include <adjoint/core/op.h>
#include <adjoint/core/op_fields.h>

namespace adjoint {

extern const Op op_distances;
// above: only those of row i to rows j > i; 0 elsewhere. products: Euclid's may be less exact for rows that are close to each other, as products of
// matrices are. power: 0 counts coordinates that differ, 1 sums what they differ by, 2 is Euclid's.
struct Distances { bool above, products; int power; };
inline void describe(const Distances& a, FieldList& f) { f.add("above", a.above); f.add("products", a.products); f.add("power", a.power); }

// (..., n, d) and (..., m, d) give (..., n, m).
ADJOINT_API Tensor distances(const Tensor& a, const Tensor& b, bool products = false, int power = 2);
// Euclid's, (n, d): between each two rows, n (n - 1) / 2.
ADJOINT_API Tensor pair_distances(const Tensor& x);

}  // namespace adjoint
