// Scalar functions of the records of special functions.
#pragma once
#include <adjoint/core/functors/number.h>
#include <adjoint/core/math/bessel.h>
#include <adjoint/core/math/gamma.h>

namespace adjoint::functors {

template <double (*f)(int, double)> struct OfOrder {
  int n;
  explicit OfOrder(const Attrs& a) : n(static_cast<int>(a.as<Order>().n)) {}
  template <Real T> T operator()(T x) const { return static_cast<T>(f(n, static_cast<double>(x))); }
};

// From s = 2^52 on the first term is the sum, as far as doubles tell.
struct Zeta {
  template <Real T> T operator()(T s, T q) const {
    const double power = static_cast<double>(s), point = static_cast<double>(q);
    if (power >= 0x1p52 && point > 0) return static_cast<T>(math::pow(point, -power));
    return static_cast<T>(math::zeta(power, point));
  }
};

}  // namespace adjoint::functors
