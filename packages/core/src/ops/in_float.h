// Compositions of half types: computed in float, rounded once at their end.
#pragma once
#include <adjoint/core/ops.h>

namespace adjoint {

// Half types as float, others as they are; none stays none.
inline Tensor in_float(const Tensor& x) { return x && is_half(x.dtype()) ? to_dtype(x, DType::float32) : x; }
template <class A> const A& in_float(const A& a) { return a; }

// The one half type of all floating-point arguments; else that of their common type, which is none.
struct HalfType {
  DType type = DType::bool_;
  bool single = true;
  void see(const Tensor& x) {
    if (!x || is_integral(x.dtype())) return;
    single = single && is_half(x.dtype()) && (type == DType::bool_ || type == x.dtype());
    type = x.dtype();
  }
  template <class A> void see(const A&) {}
  explicit operator bool() const { return single && type != DType::bool_; }
};

// f(a...) where all floating-point tensors among the arguments are of one half type: in float, rounded once. Empty where they are not:
//   if (const Tensor y = rounded_once(huber_loss, x, target, r, delta)) return y;
template <class F, class... A> Tensor rounded_once(F&& f, const A&... a) {
  HalfType half;
  (half.see(a), ...);
  return half ? to_dtype(f(in_float(a)...), half.type) : Tensor();
}

}  // namespace adjoint
