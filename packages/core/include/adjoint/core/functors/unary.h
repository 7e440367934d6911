// Scalar functions of the elementwise records with one operand.
#pragma once
#include <adjoint/core/functors/number.h>
#include <adjoint/core/math/activation.h>
#include <adjoint/core/math/complex.h>
#include <adjoint/core/math/gamma.h>
#include <adjoint/core/math/power.h>
#include <adjoint/core/math/rounding.h>

namespace adjoint::functors {

struct Neg {
  template <Number T> T operator()(T x) const {
    if constexpr (Integer<T>) return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x));
    else return -x;
  }
};
struct Abs {
  template <Number T> real_t<T> operator()(T x) const {
    if constexpr (std::unsigned_integral<T>) return x;
    else if constexpr (Integer<T>) return x < 0 ? Neg{}(x) : x;
    else return math::abs(x);
  }
};
struct Sign {
  template <class T> T operator()(T x) const {
    if constexpr (std::unsigned_integral<T>) return x != 0;  // bool too
    else return math::sign(x);
  }
};
struct Square {
  template <Number T> T operator()(T x) const {
    if constexpr (Integer<T>) return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(x));
    else return x * x;
  }
};
struct Reciprocal { template <Field T> T operator()(T x) const { return math::reciprocal(x); } };

struct Exp { template <Field T> T operator()(T x) const { return math::exp(x); } };
struct Exp2 { template <Field T> T operator()(T x) const { return math::exp2(x); } };
struct Expm1 { template <Field T> T operator()(T x) const { return math::expm1(x); } };
struct Log { template <Field T> T operator()(T x) const { return math::log(x); } };
struct Log2 { template <Field T> T operator()(T x) const { return math::log2(x); } };
struct Log10 { template <Field T> T operator()(T x) const { return math::log10(x); } };
struct Log1p { template <Field T> T operator()(T x) const { return math::log1p(x); } };
struct Sqrt { template <Field T> T operator()(T x) const { return math::sqrt(x); } };
struct Rsqrt { template <Field T> T operator()(T x) const { return math::rsqrt(x); } };

struct Floor {
  template <Real T> T operator()(T x) const { return math::floor(x); }
  template <Integer T> T operator()(T x) const { return x; }
};
struct Ceil {
  template <Real T> T operator()(T x) const { return math::ceil(x); }
  template <Integer T> T operator()(T x) const { return x; }
};
struct Round {
  template <Real T> T operator()(T x) const { return math::round(x); }
  template <Integer T> T operator()(T x) const { return x; }
};
struct RoundDecimals {
  double scale;
  bool up;   // to multiples of the scale, else of its inverse
  explicit RoundDecimals(const Attrs& a) : scale(a.as<Factors>().a), up(a.as<Factors>().b > 0) {}
  template <Real T> T operator()(T x) const {
    const T s = static_cast<T>(scale), y = math::round(up ? x / s : x * s);
    return up ? y * s : y / s;
  }
};
struct Trunc {
  template <Real T> T operator()(T x) const { return math::trunc(x); }
  template <Integer T> T operator()(T x) const { return x; }
};
struct Frac { template <Real T> T operator()(T x) const { return math::frac(x); } };

// x = mantissa 2^exponent with a mantissa of size in [1/2, 1); of 0 and what is not finite the exponent is 0.
struct Mantissa { template <Real T> T operator()(T x) const { return math::frexp(x).mantissa; } };
struct Exponent { template <Real T> int32_t operator()(T x) const { return math::frexp(x).exponent; } };

struct Sin { template <Field T> T operator()(T x) const { return math::sin(x); } };
struct Cos { template <Field T> T operator()(T x) const { return math::cos(x); } };
struct Tan { template <Field T> T operator()(T x) const { return math::tan(x); } };
struct Asin { template <Field T> T operator()(T x) const { return math::asin(x); } };
struct Acos { template <Field T> T operator()(T x) const { return math::acos(x); } };
struct Atan { template <Field T> T operator()(T x) const { return math::atan(x); } };
struct Sinh { template <Field T> T operator()(T x) const { return math::sinh(x); } };
struct Cosh { template <Field T> T operator()(T x) const { return math::cosh(x); } };
struct Tanh { template <Field T> T operator()(T x) const { return math::tanh(x); } };
struct Asinh { template <Field T> T operator()(T x) const { return math::asinh(x); } };
struct Acosh { template <Field T> T operator()(T x) const { return math::acosh(x); } };
struct Atanh { template <Field T> T operator()(T x) const { return math::atanh(x); } };

struct Erf { template <Real T> T operator()(T x) const { return math::erf(x); } };
struct Erfc { template <Real T> T operator()(T x) const { return math::erfc(x); } };
struct Erfinv { template <Real T> T operator()(T x) const { return math::erfinv(x); } };
struct Lgamma { template <Real T> T operator()(T x) const { return math::lgamma(x); } };
struct Digamma { template <Real T> T operator()(T x) const { return math::digamma(x); } };
struct Polygamma {
  int n;
  explicit Polygamma(const Attrs& a) : n(static_cast<int>(a.as<Order>().n)) {}
  template <Real T> T operator()(T x) const { return math::polygamma(n, x); }
};

// v times the derivative of erf at x: e^(-x^2) without the rounding error of x^2.
struct ErfDerivative {
  template <Real T> T operator()(T v, T x) const {
    const double a = math::abs(static_cast<double>(x));
    return v * static_cast<T>(1.1283791670955126 * math::detail::exp_minus_square(a > 40 ? 40 : a, 1));
  }
};

// The spherical Bessel function j_n at pi x; sin(pi x) / (pi x) for n = 0.
struct Sinc {
  int n;
  explicit Sinc(const Attrs& a) : n(static_cast<int>(a.as<Order>().n)) {}
  template <Field T> T operator()(T x) const {
    if constexpr (is_complex_v<T>) return T(bessel(Complex<double>(x), static_cast<double>(x.re)));
    else return n == 0 && is_zero(x) ? 0 : static_cast<T>(bessel(static_cast<double>(x), static_cast<double>(x)));
  }

 private:
  static constexpr double pi = 3.141592653589793;
  template <class T> static bool is_zero(T x) { return math::trunc(x) == x && x - x == 0 && x != 0; }
  // Sine and cosine are taken of the distance to the nearest integer, which is exact, of large x too.
  template <class T> T bessel(T given, double real) const {
    const T x = given * pi;
    if (math::abs(x) < n + 1.5) return series(x);
    const double whole = math::round(real), sign = math::trunc(.5 * whole) == .5 * whole ? 1 : -1;
    const T rest = (given - whole) * pi;
    T previous = sign * math::sin(rest) / x, current = previous / x - sign * math::cos(rest) / x;
    if (n == 0) return previous;
    for (int k = 1; k < n; k++) {  // upwards: stable for |x| > n
      const T next = (2 * k + 1.) * current / x - previous;
      previous = current;
      current = next;
    }
    return current;
  }
  // x^n / (2n + 1)!! times the sum of (-x^2 / 2)^k / (k! (2n + 3) ... (2n + 2k + 1)).
  template <class T> T series(T x) const {
    const T w = -.5 * (x * x);
    T term(1), sum(1);
    for (int k = 1; math::abs(term) > 0x1p-60 * math::abs(sum); k++) {
      term = term * w / (k * (2. * n + 2 * k + 1));
      sum = sum + term;
    }
    for (int k = 1; k <= n; k++) sum = sum * x / (2 * k + 1.);
    return sum;
  }
};

struct Rad2deg { template <Real T> T operator()(T x) const { return x * T(57.29577951308232); } };
struct Deg2rad { template <Real T> T operator()(T x) const { return x * T(0.017453292519943295); } };

// log(x / (1 - x)) of x between eps and 1 - eps; a negative eps is none. Near 1/2 the quotient would lose what 2x - 1 keeps.
struct Logit {
  double eps;
  explicit Logit(const Attrs& a) : eps(a.as<Epsilon>().eps) {}
  template <Real T> T operator()(T x) const {
    const T low = static_cast<T>(eps), high = 1 - low;
    if (low >= 0) x = x < low ? low : x > high ? high : x;
    if constexpr (std::is_same_v<T, float>) return of_quotient(x);
    else return math::abs(x - T(.5)) < T(.25) ? 2 * math::atanh(2 * x - 1) : math::log(x / (1 - x));
  }

 private:
  // log(x / (1 - x)) as the logarithm of the rounded quotient and the first order of what rounding took, which doubles hold exactly.
  static float of_quotient(float x) {
    const float below = 1 - x, q = x / below, lost = (1 - below) - x;
    const double rest = static_cast<double>(x) - static_cast<double>(q) * below;
    const auto [m, e] = math::detail::split_any(q);
    return math::detail::log_special(q, math::detail::log_sum(m - 1, e, (static_cast<float>(rest) - q * lost) / x));
  }
};

struct NanToNum {
  Replacements by;
  explicit NanToNum(const Attrs& a) : by(a.as<Replacements>()) {}
  template <std::integral T> T operator()(T x) const { return x; }
  template <Field T> T operator()(T x) const {
    if constexpr (is_complex_v<T>) return {operator()(x.re), operator()(x.im)};
    else {
      const T above = x == math::infinity<T> ? static_cast<T>(by.positive) : x, inside = x == -math::infinity<T> ? static_cast<T>(by.negative) : above;
      return x == x ? inside : static_cast<T>(by.nan);
    }
  }
};

struct IsNan { template <class T> bool operator()(T x) const { return is_nan(x); } };
struct IsInf {
  template <class T> bool operator()(T x) const {
    if constexpr (Real<T>) return math::abs(x) == math::infinity<T>;
    else if constexpr (is_complex_v<T>) return IsInf{}(x.re) || IsInf{}(x.im);
    else return false;
  }
};
struct IsFinite { template <class T> bool operator()(T x) const { return !is_nan(x) && !IsInf{}(x); } };
struct LogicalNot { template <class T> bool operator()(T x) const { return !is_nonzero(x); } };
struct BitwiseNot {
  template <std::integral T> T operator()(T x) const {
    if constexpr (std::is_same_v<T, bool>) return !x;
    else return static_cast<T>(~x);
  }
};

}  // namespace adjoint::functors
