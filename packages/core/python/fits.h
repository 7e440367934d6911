// Does a Python number fit an element type? Operands of arithmetic wrap; numbers that are written must not.
#pragma once
#include <adjoint/core/scalar.h>
#include <adjoint/core/tensor.h>

namespace adjoint::python {

// As in PyTorch: whole numbers may be negative in unsigned types, infinities and NaN are floating numbers of every size.
bool fits(const Scalar& value, DType t);
void expect_fits(const Scalar& value, DType t);

// The number an operand was made from; tensors pass. fill() goes by way of double: too large a number becomes infinite in half types.
void expect_number_fits(const Tensor& operand, DType t);
inline DType filled_by(DType t) { return is_half(t) ? DType::float64 : t; }

// What elements of `t` are multiplied by (alpha, beta, value): whole for whole ones, real for real ones. Most functions compute in float for half
// types; add, sub and addr look at the kind of number, too.
Scalar factor(const Scalar& value, DType t);
inline Scalar factor_in_float(const Scalar& value, DType t) { return factor(value, is_half(t) ? DType::float32 : t); }
Scalar factor_of_kind(const char* name, const Scalar& value, DType t);

// An element of tensor(data, dtype=t), where large numbers become infinite, and only bool takes a complex number for its truth.
void expect_element_fits(const Scalar& value, DType t);

}  // namespace adjoint::python
