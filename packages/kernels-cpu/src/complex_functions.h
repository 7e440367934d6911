// Functions of complex numbers in vector loops, over real and imaginary parts in double precision; complex_forms.h has the formulas.
#pragma once
#include <adjoint/core/functors/activation.h>
#include <adjoint/core/functors/binary.h>
#include <adjoint/core/functors/unary.h>

#include "elementwise.h"

namespace adjoint::cpu {

// sinc of order 1, its derivative over -pi.
struct SincSlope : functors::Sinc {
  using Sinc::Sinc;
};

template <class F, class... Known> constexpr bool is_any_of = (std::is_same_v<F, Known> || ...);
template <class F>
constexpr bool has_form =
    is_any_of<F, functors::Acos, functors::Acosh, functors::Asin, functors::Asinh, functors::Atan, functors::Atanh, functors::Cos, functors::Cosh, functors::Exp, functors::Exp2,
              functors::Expm1, functors::Log, functors::Log10, functors::Log1p, functors::Log2, functors::Pow, functors::Rsqrt, functors::Sigmoid, functors::SigmoidDerivative, functors::Silu,
              functors::SiluDerivative, functors::Sin, functors::Sinh, functors::Sqrt, functors::Tan, functors::Tanh, functors::TanhDerivative>;
// Quotients of floats need no scaling in double; a series ends where it is exact for floats.
template <class F> constexpr bool has_form_of_floats = is_any_of<F, functors::Div, functors::Reciprocal, functors::Sinc, SincSlope>;

template <class F, class R> requires (has_form<F> || (has_form_of_floats<F> && sizeof(R) == 4)) constexpr bool by_parts<F, Complex<R>> = true;

}  // namespace adjoint::cpu
