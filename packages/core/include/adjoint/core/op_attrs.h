// The attribute structs of records: what a call carries besides tensors. Dims are already wrapped to [0, ndim).
#pragma once
#include <adjoint/core/device.h>
#include <adjoint/core/dims.h>
#include <adjoint/core/dtype.h>
#include <adjoint/core/scalar.h>

namespace adjoint {

struct NoAttrs {};
struct Dim { int dim; };
struct Dims2 { int a, b; };                              // transpose, diagonal
struct Slice { int dim; int64_t start, stop, step; };
struct At { int dim; int64_t index; };                   // select
struct Reduce { Dims dims; bool keepdim; };              // sum, amax: dims sorted, never empty for ndim > 0
struct KeptScale { double scale; };                      // masked_scale: by what dropout multiplies what it keeps
struct DimKeep { int dim; bool keepdim; };               // max, argmax, sort-like reductions over one dim
struct Sizes { Dims sizes; };                            // expand, reshape, permute (a permutation)
// as_strided; `x_strides` and `x_offset`: how x lies in its memory, no strides if row-major from the start.
struct Strided { Dims sizes, strides; int64_t offset; Dims x_strides = {}; int64_t x_offset = 0; };
struct Windows { int dim; int64_t size, step; };         // unfold
struct Cast { DType dtype; };
struct Transfer { Device device; bool non_blocking; };
struct Factors { double a, b; };                         // softplus(beta, threshold), hardtanh(min, max), ...
struct EluFactors { double alpha, scale, input_scale; }; // scale x, or alpha scale expm1(input_scale x)
// piecewise: a factor to `low`, one from `high` on, and `inside` + `slope` (x - `middle`) between them.
struct Pieces { double low, high, below, inside, above, slope = 0, middle = 0; };
struct Power { double p; };
struct Diagonal { int64_t offset; int a, b; };
struct Triangle { int64_t diagonal; };
struct Shifts { Dims shifts, dims; };                    // roll
struct Variance { Dims dims; double correction; bool keepdim; };
struct VectorNorm { Dims dims; double p; bool keepdim; };
struct Scan { int dim; bool reverse; };                  // cumsum, ...: reverse runs from the end
struct Normalize { Dims dims; double eps; };             // layer_norm, batch_norm, rms_norm: what statistics are taken over
struct Sorting { int dim; bool descending; };
struct TopK { int64_t k; int dim; bool largest, sorted; };
// adaptive: the line in nearly equal parts, as many as `stride` says, the longest as long as `kernel` says.
// values_only: max_pool on the host leaves out the positions, whose result is empty.
struct Window { Dims kernel, stride, padding, dilation; int64_t groups; bool ceil_mode, count_include_pad, adaptive = false, values_only = false; };
// conv and its transposes; `sizes`: the spatial sizes of a result that the operands do not determine (of x, or of weight).
struct Convolution { Dims stride, padding, dilation; int64_t groups; Dims sizes; };
// avg_pool: `sizes` are the spatial sizes of its input. divisor 0: the number of elements.
struct Averaging { Window window; int64_t divisor; Dims sizes; };
// index: one tensor of flat positions over the dimensions `dims` of x; its own dimensions stand at `at` in the result.
struct Indexed { Dims dims; int at; bool accumulate; };
struct Padding { Dims before, after; double value; };
struct Epsilon { double eps; };
struct Replacements { double nan, positive, negative; }; // nan_to_num
struct RowCount { int64_t n; };                          // sparse_matmul: of the result
struct Order { int64_t n; };                             // polygamma, sinc: which derivative or Bessel function
enum class Family : uint8_t { chebyshev_t, chebyshev_v, chebyshev_w, gegenbauer, hermite, hermite_e, laguerre };
struct Polynomials { Family family; double parameter; }; // of orthogonal_polynomial: that of Gegenbauer's and Laguerre's
enum class Combine : uint8_t { sum, mean, prod, amax, amin };
struct ScatterReduce { int dim; Combine how; };          // prod, amax or amin: the others are compositions
struct Search { bool right; };                           // searchsorted: behind equal values, or before them
struct Scale { Scalar value = 0; };                          // addcmul, addcdiv

}  // namespace adjoint
