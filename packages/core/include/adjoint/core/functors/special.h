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

struct Zeta { template <Real T> T operator()(T s, T q) const { return static_cast<T>(math::zeta(static_cast<double>(s), static_cast<double>(q))); } };

}  // namespace adjoint::functors
