// Compositions of half types: computed in float, rounded once at their end.
#pragma once
#include <adjoint/core/in_float.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/types.h>

#include <tuple>

namespace adjoint {

// Half types as float, others as they are; none stays none.
inline Tensor in_float(const Tensor& x) { return x && is_half(x.dtype()) ? to_dtype(x, DType::float32) : x; }
template <class A> const A& in_float(const A& a) { return a; }

template <class A> void see_operand(TensorVector& given, const A& a) {
  if constexpr (std::is_convertible_v<const A&, const Tensor&>) given.push_back(a);
}

// f(a...) where all floating-point tensors among the arguments are of one half type: in float, rounded once. Empty where they are not:
//   if (const Tensor y = rounded_once(huber_loss, x, target, r, delta)) return y;
template <class F, class... A> Tensor rounded_once(F&& f, const A&... a) {
  const auto half = half_type(a...);
  if (!half) return {};
  TensorVector given;
  (see_operand(given, a), ...);
  if (InFloat::serves(given)) {
    Tensor y;
    { const InFloat here; y = f(a...); }
    return to_dtype(y, *half);
  }
  // In braces, so that every compiler converts them from left to right.
  return to_dtype(std::apply(f, std::tuple<decltype(in_float(a))...>{in_float(a)...}), *half);
}

}  // namespace adjoint
