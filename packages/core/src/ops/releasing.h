// Operators that let go of temporaries: a rule written as one expression would keep all of them until its end.
#pragma once
#include <adjoint/core/ops.h>

namespace adjoint {

inline Tensor without(Tensor y, Tensor& temporary) {
  temporary = {};
  return y;
}

inline Tensor operator+(Tensor&& a, const Tensor& b) { return without(add(a, b), a); }
inline Tensor operator+(const Tensor& a, Tensor&& b) { return without(add(a, b), b); }
inline Tensor operator+(Tensor&& a, Tensor&& b) { return without(std::move(a) + b, b); }
inline Tensor operator-(Tensor&& a, const Tensor& b) { return without(sub(a, b), a); }
inline Tensor operator-(const Tensor& a, Tensor&& b) { return without(sub(a, b), b); }
inline Tensor operator-(Tensor&& a, Tensor&& b) { return without(std::move(a) - b, b); }
inline Tensor operator*(Tensor&& a, const Tensor& b) { return without(mul(a, b), a); }
inline Tensor operator*(const Tensor& a, Tensor&& b) { return without(mul(a, b), b); }
inline Tensor operator*(Tensor&& a, Tensor&& b) { return without(std::move(a) * b, b); }
inline Tensor operator/(Tensor&& a, const Tensor& b) { return without(div(a, b), a); }
inline Tensor operator/(const Tensor& a, Tensor&& b) { return without(div(a, b), b); }
inline Tensor operator/(Tensor&& a, Tensor&& b) { return without(std::move(a) / b, b); }
inline Tensor operator-(Tensor&& a) { return without(neg(a), a); }
inline Tensor operator+(Tensor&& a, double b) { return without(add(a, wrapped(b)), a); }
inline Tensor operator-(Tensor&& a, double b) { return without(sub(a, wrapped(b)), a); }
inline Tensor operator*(Tensor&& a, double b) { return without(mul(a, wrapped(b)), a); }
inline Tensor operator-(double a, Tensor&& b) { return without(sub(wrapped(a), b), b); }
inline Tensor operator*(double a, Tensor&& b) { return without(mul(wrapped(a), b), b); }

}  // namespace adjoint
