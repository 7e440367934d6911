// Scalar functions of the elementwise records with several operands.
#pragma once
#include <adjoint/core/error.h>
#include <adjoint/core/functors/number.h>
#include <adjoint/core/math/activation.h>
#include <adjoint/core/math/complex.h>
#include <adjoint/core/math/incomplete_gamma.h>
#include <adjoint/core/math/power.h>
#include <adjoint/core/math/rounding.h>

namespace adjoint::functors {

struct Add {
  template <class T> T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) return a || b;
    else if constexpr (Integer<T>) return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    else return a + b;
  }
};
struct Sub {
  template <Number T> T operator()(T a, T b) const {
    if constexpr (Integer<T>) return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
    else return a - b;
  }
};
struct Mul {
  template <class T> T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) return a && b;
    else if constexpr (Integer<T>) return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    else return a * b;
  }
};
struct Div { template <Field T> T operator()(T a, T b) const { return a / b; } };
struct Pow {
  template <Number T> T operator()(T a, T b) const {
    if constexpr (Real<T>) {
      if (b == 2) return a * a;
    }
    return math::pow(a, b);
  }
  bool operator()(bool a, bool b) const { return a || !b; }
};

template <class T> void check_divisor(T b) {
  if constexpr (Integer<T>) expect(b != 0, "ZeroDivisionError");
}
struct FloorDivide {
  template <Number T> requires Ordered<T> T operator()(T a, T b) const { check_divisor(b); return math::floor_divide(a, b); }
};
struct TruncDivide {
  template <Number T> requires Ordered<T> T operator()(T a, T b) const { check_divisor(b); return math::trunc_divide(a, b); }
};
struct Remainder {
  template <Number T> requires Ordered<T> T operator()(T a, T b) const { check_divisor(b); return math::remainder(a, b); }
};
struct Fmod {
  template <Number T> requires Ordered<T> T operator()(T a, T b) const { check_divisor(b); return math::fmod(a, b); }
};

struct Atan2 { template <Real T> T operator()(T a, T b) const { return math::atan2(a, b); } };
struct Hypot { template <Real T> T operator()(T a, T b) const { return math::abs(Complex<T>(a, b)); } };
struct Heaviside {
  template <Number T> requires Ordered<T> T operator()(T a, T b) const { return a == T(0) ? b : a > T(0) ? T(1) : T(0); }   // a bool made a number keeps a loop from vectors
  bool operator()(bool a, bool b) const { return a || b; }
};
struct Copysign { template <Real T> T operator()(T a, T b) const { return std::copysign(a, b); } };

// NaN in either operand is the result; fmax and fmin give the other one. Without branches: loops over them vectorise.
struct Maximum { template <Ordered T> T operator()(T a, T b) const { return is_nan(a) | (a > b) ? a : b; } };
struct Minimum { template <Ordered T> T operator()(T a, T b) const { return is_nan(a) | (a < b) ? a : b; } };
struct Fmax { template <Ordered T> T operator()(T a, T b) const { return is_nan(b) | (a > b) ? a : b; } };
struct Fmin { template <Ordered T> T operator()(T a, T b) const { return is_nan(b) | (a < b) ? a : b; } };
struct Clamp { template <Number T> requires Ordered<T> T operator()(T x, T low, T high) const { return Minimum{}(Maximum{}(x, low), high); } };

struct Xlogy {
  template <Real T> T operator()(T a, T b) const { return a == 0 && !is_nan(b) ? T(0) : a * math::log(b); }
};
struct Igamma { template <Real T> T operator()(T a, T x) const { return math::igamma(a, x); } };
struct Igammac { template <Real T> T operator()(T a, T x) const { return math::igammac(a, x); } };
struct GammaDensity { template <Real T> T operator()(T a, T x) const { return math::gamma_density(a, x); } };
struct LogAddExp {
  template <Field T> T operator()(T a, T b) const {
    if (a == b && is_infinite(a)) return a;
    const bool swap = real_of(a) < real_of(b);
    const T high = swap ? b : a, low = swap ? a : b;
    return high + math::log1p(math::exp(low - high));
  }

 private:
  template <class T> static real_t<T> real_of(T x) {
    if constexpr (is_complex_v<T>) return x.re;
    else return x;
  }
  template <class T> static bool is_infinite(T x) { return math::abs(real_of(x)) == math::infinity<real_t<T>>; }
};

struct LogAddExp2 {
  template <Real T> T operator()(T a, T b) const {
    const T high = a < b ? b : a, low = a < b ? a : b, y = high + math::log1p(math::exp2(low - high)) * T(1.4426950408889634);
    return (a == b) & (math::abs(a) == math::infinity<T>) ? a : y;
  }
};

// The floating-point number behind x in the direction of y, all as integers I of their width; `infinity` says where their exponents end.
template <class I> struct NextAfter {
  static constexpr I rest = std::numeric_limits<I>::max();
  I infinity;
  // In order as the numbers are, and back: of negative ones all bits but the sign are turned.
  static I ordered(I x) { return static_cast<I>(x ^ ((x >> (8 * sizeof(I) - 1)) & rest)); }
  I operator()(I x, I y) const {
    const I b = ordered(y), a = (x & rest) == 0 ? static_cast<I>(b < 0 ? -1 : 0) : ordered(x);   // of both zeros that on the way
    const I moved = ordered(static_cast<I>(a + (a < b ? 1 : -1))), found = a == b ? y : moved;
    const I size_x = x & rest, size_y = y & rest, larger = size_x > size_y ? size_x : size_y;
    return larger > infinity ? rest : found;   // all bits but the sign: a NaN
  }
};
// The bits of infinity in a floating-point type.
constexpr int64_t infinity_bits(DType t) {
  return t == DType::float16 ? 0x7c00 : t == DType::bfloat16 ? 0x7f80 : t == DType::float32 ? 0x7f800000 : 0x7ff0000000000000;
}

// From the nearer end, so that weight 1 gives b exactly.
struct Lerp {
  template <Field T> T operator()(T a, T b, T weight) const { return is_small(weight) ? a + weight * (b - a) : b - (b - a) * (T(1) - weight); }

 private:
  template <class T> static bool is_small(T weight) {
    if constexpr (is_complex_v<T>) return weight.re * weight.re + weight.im * weight.im < real_t<T>(.25);
    else return math::abs(weight) < T(.5);
  }
};
struct Axpby {
  double a, b;
  explicit Axpby(const Attrs& f) : a(f.as<Factors>().a), b(f.as<Factors>().b) {}
  template <Real T> T operator()(T x, T y) const { return static_cast<T>(a) * x + static_cast<T>(b) * y; }
};
// A number of any type becomes one of theirs before a loop: `of` gives that form.
struct Addcmul {
  Scalar value;
  explicit Addcmul(const Attrs& a) : value(a.as<Scale>().value) {}
  template <Number T> struct Of {
    T value;
    T operator()(T x, T a, T b) const { return Add{}(x, Mul{}(Mul{}(value, a), b)); }
  };
  template <Number T> Of<T> of() const { return {value.to<T>()}; }
  template <Number T> T operator()(T x, T a, T b) const { return of<T>()(x, a, b); }
};
struct Addcdiv {
  Scalar value;
  explicit Addcdiv(const Attrs& a) : value(a.as<Scale>().value) {}
  template <Field T> struct Of {
    T value;
    T operator()(T x, T a, T b) const { return x + value * a / b; }
  };
  template <Field T> Of<T> of() const { return {value.to<T>()}; }
  template <Field T> T operator()(T x, T a, T b) const { return of<T>()(x, a, b); }
};

struct Where { template <class T> T operator()(bool mask, T a, T b) const { return mask ? a : b; } };

}  // namespace adjoint::functors
