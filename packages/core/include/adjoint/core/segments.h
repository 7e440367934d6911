// Histograms and reductions of segments in one pass over plain memory of the host; composed of other operations elsewhere.
#pragma once
#include <adjoint/core/op.h>
#include <adjoint/core/op_attrs.h>

namespace adjoint {

// How many of the points (n, k), or how much of their weights (n,), each cell of the grid holds whose k edges are given, sorted. Empty: not plain memory of
// float32 or float64, all of one type.
ADJOINT_API Tensor histogram_of(const Tensor& points, Tensors edges, const Tensor& weight);

// How many elements each of so many equal parts of [low, high] holds, low < high. Empty as above.
ADJOINT_API Tensor histc_of(const Tensor& x, int64_t bins, double low, double high);

// The bits of the elements of each row (rows, n), as numbers of 64 bits, joined by exclusive or: (rows,) uint64. Empty: not plain memory, or complex.
ADJOINT_API Tensor joined_bits_of(const Tensor& x);

// Of rows [offsets[s], offsets[s + 1]) along `axis`; offsets (..., s + 1) have the dimensions in front of it. What a segment begins with is `initial`.
// Empty: not plain memory of float32 or float64, or a derivative is wanted.
ADJOINT_API Tensor segments_of(const Tensor& data, const Tensor& offsets, int64_t axis, Combine how, double initial);

}  // namespace adjoint
