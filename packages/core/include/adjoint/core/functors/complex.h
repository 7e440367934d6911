// Scalar functions on complex numbers and their parts.
#pragma once
#include <adjoint/core/functors/number.h>
#include <adjoint/core/math/complex.h>

namespace adjoint::functors {

struct Conj { template <class T> requires is_complex_v<T> T operator()(T x) const { return conj(x); } };
struct Angle {
  template <class T> requires is_complex_v<T> real_t<T> operator()(T x) const { return math::arg(x); }
  template <Real T> T operator()(T x) const { return is_nan(x) ? x : x < 0 ? T(3.141592653589793) : T(0); }
};
struct MakeComplex { template <Real T> Complex<T> operator()(T re, T im) const { return {re, im}; } };

}  // namespace adjoint::functors
