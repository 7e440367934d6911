// The functions of complex numbers. Those without a vector form go to the C++ library, which holds to C99's annex G.
#pragma once

#include <adjoint/core/complex.h>
#include <adjoint/core/math/hyperbolic.h>
#include <adjoint/core/math/inverse_trig.h>
#include <adjoint/core/math/trig.h>

#include <complex>

namespace adjoint::math {

namespace detail {

template <class T>
inline std::complex<T> to_std(Complex<T> z) {
  return {z.re, z.im};
}
template <class T>
inline Complex<T> from_std(std::complex<T> z) {
  return {z.real(), z.imag()};
}

}  // namespace detail

// sqrt(re^2 + im^2), the larger part scaled to about 1; infinite where a part is, even beside NaN.
[[gnu::always_inline]] inline double abs(Complex<double> z) {
  const double x = abs(z.re), y = abs(z.im), largest = x > y ? x : y;
  const int64_t n = (to_bits(largest) >> 52) - 1023;
  const double a = scale(x, -n), b = scale(y, -n);
  const double r = scale(std::sqrt(a * a + b * b), n);
  return (x == infinity<double>) | (y == infinity<double>) ? infinity<double> : r;
}
// The squares of floats neither overflow nor vanish in double.
[[gnu::always_inline]] inline float abs(Complex<float> z) {
  const double x = z.re, y = z.im;
  const float r = static_cast<float>(std::sqrt(x * x + y * y));
  return (abs(z.re) == infinity<float>) | (abs(z.im) == infinity<float>) ? infinity<float> : r;
}
template <class T>
[[gnu::always_inline]] inline T arg(Complex<T> z) {
  return atan2(z.im, z.re);
}
template <class T>
[[gnu::always_inline]] inline Complex<T> polar(T magnitude, T angle) {
  return {magnitude * cos(angle), magnitude * sin(angle)};
}
// z / |z|, and 0 for 0.
template <class T>
[[gnu::always_inline]] inline Complex<T> sign(Complex<T> z) {
  const T r = abs(z);
  return r == 0 ? Complex<T>(0) : Complex<T>(z.re / r, z.im / r);
}

template <class T>
inline Complex<T> exp(Complex<T> z) {
  return detail::from_std(std::exp(detail::to_std(z)));
}
template <class T>
inline Complex<T> log(Complex<T> z) {
  return detail::from_std(std::log(detail::to_std(z)));
}
template <class T>
inline Complex<T> sqrt(Complex<T> z) {
  return detail::from_std(std::sqrt(detail::to_std(z)));
}
template <class T>
inline Complex<T> sin(Complex<T> z) {
  return detail::from_std(std::sin(detail::to_std(z)));
}
template <class T>
inline Complex<T> cos(Complex<T> z) {
  return detail::from_std(std::cos(detail::to_std(z)));
}
template <class T>
inline Complex<T> tan(Complex<T> z) {
  return detail::from_std(std::tan(detail::to_std(z)));
}
template <class T>
inline Complex<T> sinh(Complex<T> z) {
  return detail::from_std(std::sinh(detail::to_std(z)));
}
template <class T>
inline Complex<T> cosh(Complex<T> z) {
  return detail::from_std(std::cosh(detail::to_std(z)));
}
template <class T>
inline Complex<T> tanh(Complex<T> z) {
  return detail::from_std(std::tanh(detail::to_std(z)));
}
template <class T>
inline Complex<T> asin(Complex<T> z) {
  return detail::from_std(std::asin(detail::to_std(z)));
}
template <class T>
inline Complex<T> acos(Complex<T> z) {
  return detail::from_std(std::acos(detail::to_std(z)));
}
template <class T>
inline Complex<T> atan(Complex<T> z) {
  return detail::from_std(std::atan(detail::to_std(z)));
}
template <class T>
inline Complex<T> asinh(Complex<T> z) {
  return detail::from_std(std::asinh(detail::to_std(z)));
}
template <class T>
inline Complex<T> acosh(Complex<T> z) {
  return detail::from_std(std::acosh(detail::to_std(z)));
}
template <class T>
inline Complex<T> atanh(Complex<T> z) {
  return detail::from_std(std::atanh(detail::to_std(z)));
}

// The real part of a scaled logarithm scales too; the constants are 1 / log 2 and 1 / log 10.
template <class T>
inline Complex<T> log2(Complex<T> z) {
  return log(z) * T(1.4426950408889634);
}
template <class T>
inline Complex<T> log10(Complex<T> z) {
  return log(z) * T(0.43429448190325183);
}
template <class T>
inline Complex<T> exp2(Complex<T> z) {
  return exp(z * T(0.69314718055994531));
}
// e^z - 1 = expm1(x) cos y - 2 sin^2(y / 2) + i e^x sin y: no cancellation in a small z.
template <class T>
inline Complex<T> expm1(Complex<T> z) {
  const T half_sine = sin(z.im / 2);
  return {expm1(z.re) * cos(z.im) - 2 * half_sine * half_sine, exp(z.re) * sin(z.im)};
}
// log |1 + z|^2 / 2 = log1p(x (2 + x) + y^2) / 2 near 0.
template <class T>
inline Complex<T> log1p(Complex<T> z) {
  const Complex<T> w(1 + z.re, z.im);  // a zero's sign says on which side of the cut it lies; a sum of complex numbers loses it
  if (!(abs(z.re) < T(.5)) || !(abs(z.im) < T(.5))) return log(w);
  return {T(.5) * log1p(z.re * (2 + z.re) + z.im * z.im), arg(w)};
}

template <class T>
inline Complex<T> rsqrt(Complex<T> z) {
  return Complex<T>(1) / sqrt(z);
}
template <class T>
[[gnu::always_inline]] inline Complex<T> reciprocal(Complex<T> z) {
  return Complex<T>(1) / z;
}

// Small exponents exactly, as PyTorch; 0 to a power with a positive real part is 0.
template <class T>
inline Complex<T> pow(Complex<T> z, Complex<T> w) {
  if (w.im == 0) {
    if (w.re == 0) return {1};
    if (w.re == 1) return z;
    if (w.re == 2) return z * z;
    if (w.re == 3) return z * z * z;
    if (w.re == T(.5)) return sqrt(z);
    if (w.re == T(-.5)) return rsqrt(z);
    if (w.re == -1) return reciprocal(z);
    if (w.re == -2) return reciprocal(z * z);
  }
  if (z == Complex<T>(0)) return w.re > 0 ? Complex<T>(0) : reciprocal(z);
  return detail::from_std(std::pow(detail::to_std(z), detail::to_std(w)));
}

// The exponential is taken where it is below 1.
template <class T>
inline Complex<T> sigmoid(Complex<T> z) {
  const Complex<T> e = exp(z.re < 0 ? z : -z);
  return (z.re < 0 ? e : Complex<T>(1)) / (Complex<T>(1) + e);
}
template <class T>
inline Complex<T> silu(Complex<T> z) {
  return z * sigmoid(z);
}

}  // namespace adjoint::math
