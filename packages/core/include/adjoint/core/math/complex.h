// The functions of complex numbers, made of the real ones. Where a part is infinite or NaN the C++ library says what C99's annex G says.
//
// Inverse functions follow W. Kahan, "Branch cuts for complex elementary functions, or much ado about nothing's sign bit", 1987.
#pragma once

#include <adjoint/core/complex.h>
#include <adjoint/core/math/hyperbolic.h>
#include <adjoint/core/math/inverse_trig.h>
#include <adjoint/core/math/power.h>
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

// Long, and no vector loops: one copy of each for all that call them.
namespace detail {

inline bool is_finite(Complex<double> z) { return (abs(z.re) < infinity<double>) & (abs(z.im) < infinity<double>); }

// i z and -i z.
inline Complex<double> times_i(Complex<double> z) { return {-z.im, z.re}; }
inline Complex<double> over_i(Complex<double> z) { return {z.im, -z.re}; }

// e^x 2^shift (u + iv) for parts u, v of at most 1: e^x alone may overflow.
inline Complex<double> times_exp(double x, double u, double v, int shift = 0) {
  if (x < 711) {
    const int room = x > 600 ? 100 : 0;
    const double power = exp_scaled(x, shift - room), rest = power_of_two<double>(room);
    return {u * power * rest, v * power * rest};
  }
  const double quarter = exp(.25 * (x < 2800 ? x : 2800.));
  return {u * quarter * quarter * quarter * quarter, v * quarter * quarter * quarter * quarter};
}
[[gnu::noinline]] inline Complex<double> finite_exp(Complex<double> z) {
  return z.im == 0 ? Complex<double>(exp(z.re), z.im) : times_exp(z.re, cos(z.im), sin(z.im));
}

// |z|^2 - 1 near the unit circle is (a - 1)(a + 1) + b^2 with a >= b; both products are kept whole.
[[gnu::noinline]] inline double finite_log_abs(Complex<double> z) {
  const double x = abs(z.re), y = abs(z.im), a = x > y ? x : y, b = x > y ? y : x;
  if (a > .5 && a < 2) {
    const Twofold p = product(a - 1, a + 1), q = product(b, b);
    const double sum = p.high + q.high, part = sum - p.high, rest = (p.high - (sum - part)) + (q.high - part);
    return .5 * log1p(sum + (rest + p.low + q.low + (a - 1) * (a - ((a + 1) - 1))));
  }
  if (a > 0x1p1000) return log(abs(Complex<double>(a * 0x1p-30, b * 0x1p-30))) + 20.79441541679835928;  // 30 log 2
  if (a < 0x1p-1000) return log(abs(Complex<double>(a * 0x1p100, b * 0x1p100))) - 69.31471805599453094;  // 100 log 2
  return log(abs(z));
}
inline Complex<double> finite_log(Complex<double> z) { return {finite_log_abs(z), atan2(z.im, z.re)}; }

// The root of (|x| + |z|) / 2 is one part, y over twice that the other; scaled by a power of four to about 1.
[[gnu::noinline]] inline Complex<double> finite_sqrt(Complex<double> z) {
  if (z.re == 0 && z.im == 0) return {0, z.im};
  const double x = abs(z.re), y = abs(z.im), largest = x > y ? x : y;
  const int64_t half = ((to_bits(largest) >> 52) - 1023) / 2;
  const double a = scale(x, -2 * half), b = scale(y, -2 * half);
  const double large = std::sqrt(.5 * (a + std::sqrt(a * a + b * b))), small = .5 * b / large;
  const double re = scale(z.re < 0 ? small : large, half), im = scale(z.re < 0 ? large : small, half);
  return {re, std::copysign(im, z.im)};
}

// sinh x cos y + i cosh x sin y.
[[gnu::noinline]] inline Complex<double> finite_sinh(Complex<double> z) {
  const double c = cos(z.im), s = sin(z.im);
  if (abs(z.re) < 700) return {sinh(z.re) * c, cosh(z.re) * s};
  const Complex<double> w = times_exp(abs(z.re), c, s, -1);
  return {std::copysign(1., z.re) * w.re, w.im};
}
[[gnu::noinline]] inline Complex<double> finite_cosh(Complex<double> z) {
  const double c = cos(z.im), s = sin(z.im);
  if (abs(z.re) < 700) return {cosh(z.re) * c, sinh(z.re) * s};
  const Complex<double> w = times_exp(abs(z.re), c, s, -1);
  return {w.re, std::copysign(1., z.re) * w.im};
}
[[gnu::noinline]] inline Complex<double> finite_tanh(Complex<double> z) {
  if (abs(z.re) > 22) return {std::copysign(1., z.re), 4 * sin(z.im) * cos(z.im) * exp(-2 * abs(z.re))};
  const double t = tan(z.im), beta = 1 + t * t, s = sinh(z.re), rho = std::sqrt(1 + s * s), below = 1 + beta * s * s;
  if (!(abs(t) < infinity<double>)) return {rho / s, 1 / t};
  return {beta * rho * s / below, t / below};
}

// sqrt(1 - z) and sqrt(1 + z); sums of parts keep the sign of a zero.
struct Roots {
  Complex<double> minus, plus;
};
inline Roots roots_beside_one(Complex<double> z) { return {finite_sqrt({1 - z.re, -z.im}), finite_sqrt({1 + z.re, z.im})}; }

[[gnu::noinline]] inline Complex<double> finite_asin(Complex<double> z) {
  const auto [minus, plus] = roots_beside_one(z);
  return {atan2(z.re, minus.re * plus.re - minus.im * plus.im), asinh(minus.re * plus.im - minus.im * plus.re)};
}
[[gnu::noinline]] inline Complex<double> finite_acos(Complex<double> z) {
  const auto [minus, plus] = roots_beside_one(z);
  return {2 * atan2(minus.re, plus.re), asinh(plus.re * minus.im - plus.im * minus.re)};
}
[[gnu::noinline]] inline Complex<double> finite_acosh(Complex<double> z) {
  const Complex<double> minus = finite_sqrt({z.re - 1, z.im}), plus = finite_sqrt({z.re + 1, z.im});
  return {asinh(minus.re * plus.re + minus.im * plus.im), 2 * atan2(minus.im, plus.re)};
}
[[gnu::noinline]] inline Complex<double> finite_atanh(Complex<double> z) {
  const double x = abs(z.re), y = abs(z.im), side = std::copysign(1., z.re);
  if (x > 0x1p500 || y > 0x1p500) {
    const Complex<double> w = Complex<double>(1) / z;
    return {w.re, std::copysign(half_pi, z.im)};
  }
  const double from_one = (1 - x) * (1 - x) + y * y;
  const double re = x == 1 && y < 0x1p-100 ? .5 * (0.69314718055994531 - log(y)) : .25 * log1p(4 * x / from_one);  // y^2 may vanish
  return {side * re, .5 * atan2(2 * z.im, (1 - x) * (1 + x) - y * y)};
}

// finite(z) in double precision, and library(z) where z is not finite.
template <class T, class F, class L>
inline Complex<T> by_parts(Complex<T> z, F finite, L library) {
  const Complex<double> wide(z);
  return is_finite(wide) ? Complex<T>(finite(wide)) : from_std(library(to_std(z)));
}

}  // namespace detail

template <class T>
inline Complex<T> exp(Complex<T> z) {
  return detail::by_parts(z, detail::finite_exp, [](auto w) { return std::exp(w); });
}
template <class T>
inline Complex<T> log(Complex<T> z) {
  return detail::by_parts(z, detail::finite_log, [](auto w) { return std::log(w); });
}
template <class T>
inline Complex<T> sqrt(Complex<T> z) {
  return detail::by_parts(z, detail::finite_sqrt, [](auto w) { return std::sqrt(w); });
}
template <class T>
inline Complex<T> sin(Complex<T> z) {
  return detail::by_parts(z, [](auto w) { return detail::over_i(detail::finite_sinh(detail::times_i(w))); }, [](auto w) { return std::sin(w); });
}
template <class T>
inline Complex<T> cos(Complex<T> z) {
  return detail::by_parts(z, [](auto w) { return detail::finite_cosh(detail::times_i(w)); }, [](auto w) { return std::cos(w); });
}
template <class T>
inline Complex<T> tan(Complex<T> z) {
  return detail::by_parts(z, [](auto w) { return detail::over_i(detail::finite_tanh(detail::times_i(w))); }, [](auto w) { return std::tan(w); });
}
template <class T>
inline Complex<T> sinh(Complex<T> z) {
  return detail::by_parts(z, detail::finite_sinh, [](auto w) { return std::sinh(w); });
}
template <class T>
inline Complex<T> cosh(Complex<T> z) {
  return detail::by_parts(z, detail::finite_cosh, [](auto w) { return std::cosh(w); });
}
template <class T>
inline Complex<T> tanh(Complex<T> z) {
  return detail::by_parts(z, detail::finite_tanh, [](auto w) { return std::tanh(w); });
}
template <class T>
inline Complex<T> asin(Complex<T> z) {
  return detail::by_parts(z, detail::finite_asin, [](auto w) { return std::asin(w); });
}
template <class T>
inline Complex<T> acos(Complex<T> z) {
  return detail::by_parts(z, detail::finite_acos, [](auto w) { return std::acos(w); });
}
template <class T>
inline Complex<T> atan(Complex<T> z) {
  return detail::by_parts(z, [](auto w) { return detail::over_i(detail::finite_atanh(detail::times_i(w))); }, [](auto w) { return std::atan(w); });
}
template <class T>
inline Complex<T> asinh(Complex<T> z) {
  return detail::by_parts(z, [](auto w) { return detail::over_i(detail::finite_asin(detail::times_i(w))); }, [](auto w) { return std::asinh(w); });
}
template <class T>
inline Complex<T> acosh(Complex<T> z) {
  return detail::by_parts(z, detail::finite_acosh, [](auto w) { return std::acosh(w); });
}
template <class T>
inline Complex<T> atanh(Complex<T> z) {
  return detail::by_parts(z, detail::finite_atanh, [](auto w) { return std::atanh(w); });
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
  const Complex<double> wide(z), exponent(w);
  if (!detail::is_finite(wide) || !detail::is_finite(exponent)) return detail::from_std(std::pow(detail::to_std(z), detail::to_std(w)));
  return Complex<T>(detail::finite_exp(exponent * detail::finite_log(wide)));
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
