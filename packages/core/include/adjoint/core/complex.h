// Complex<T>: two numbers side by side, with arithmetic that vectorises and does not overflow on the way.
#pragma once

#include <adjoint/core/math/bits.h>

#include <cmath>
#include <type_traits>

namespace adjoint {

// Same layout as std::complex<T> and as PyTorch's and NumPy's complex numbers.
template <class T>
struct Complex {
  using value_type = T;
  T re, im;

  Complex() = default;
  [[gnu::always_inline]] constexpr Complex(T re, T im = T(0)) : re(re), im(im) {}
  template <class U>
  [[gnu::always_inline]] constexpr explicit Complex(Complex<U> z)
      : re(static_cast<T>(z.re)), im(static_cast<T>(z.im)) {}

  [[gnu::always_inline]] friend constexpr Complex operator+(Complex a) { return a; }
  [[gnu::always_inline]] friend constexpr Complex operator-(Complex a) { return {-a.re, -a.im}; }
  [[gnu::always_inline]] friend constexpr Complex operator+(Complex a, Complex b) {
    return {a.re + b.re, a.im + b.im};
  }
  [[gnu::always_inline]] friend constexpr Complex operator-(Complex a, Complex b) {
    return {a.re - b.re, a.im - b.im};
  }
  // The plain formula, as PyTorch's: (inf + 0i)(1 + 0i) is inf + NaN i. Each product is rounded.
  [[gnu::always_inline]] friend Complex operator*(Complex a, Complex b) {
    return {math::rounded(a.re * b.re) - math::rounded(a.im * b.im),
            math::rounded(a.re * b.im) + math::rounded(a.im * b.re)};
  }
  [[gnu::always_inline]] friend Complex operator*(Complex a, T b) { return {a.re * b, a.im * b}; }
  [[gnu::always_inline]] friend Complex operator*(T a, Complex b) { return {a * b.re, a * b.im}; }
  [[gnu::always_inline]] friend Complex operator/(Complex a, T b) { return {a.re / b, a.im / b}; }
  [[gnu::always_inline]] friend Complex operator/(Complex a, Complex b) { return divide(a, b); }
  [[gnu::always_inline]] Complex& operator+=(Complex b) { return *this = *this + b; }
  [[gnu::always_inline]] Complex& operator-=(Complex b) { return *this = *this - b; }
  [[gnu::always_inline]] Complex& operator*=(Complex b) { return *this = *this * b; }
  [[gnu::always_inline]] Complex& operator/=(Complex b) { return *this = *this / b; }
  [[gnu::always_inline]] friend constexpr bool operator==(Complex a, Complex b) {
    return (a.re == b.re) & (a.im == b.im);
  }

 private:
  // The larger component's exponent n, such that the components times 2^-n are below 1/2; 0 stays 0.
  [[gnu::always_inline]] static math::Bits<T> exponent(Complex a) {
    constexpr int mantissa = sizeof(T) == 4 ? 23 : 52, bias = sizeof(T) == 4 ? 127 : 1023;
    const T x = math::abs(a.re), y = math::abs(a.im);
    const T largest = x > y ? x : y;
    // A subnormal gives the smallest exponent: it is scaled by too little, and still exactly.
    return (math::to_bits(largest) >> mantissa) - (bias - 2);
  }
  // C99 annex G: a number with an infinite part counts as a direction of unit parts.
  [[gnu::always_inline]] static Complex direction(Complex a, bool infinite) {
    const T x = math::abs(a.re) == math::infinity<T> ? T(1) : T(0);
    const T y = math::abs(a.im) == math::infinity<T> ? T(1) : T(0);
    return {infinite ? std::copysign(x, a.re) : a.re, infinite ? std::copysign(y, a.im) : a.im};
  }
  [[gnu::always_inline]] static bool is_infinite(Complex a) {
    return (math::abs(a.re) == math::infinity<T>) | (math::abs(a.im) == math::infinity<T>);
  }
  [[gnu::always_inline]] static Complex divide(Complex a, Complex b) {
    const bool a_infinite = is_infinite(a), b_infinite = is_infinite(b);
    const T a_factor = a_infinite ? math::infinity<T> : T(1), b_factor = b_infinite ? T(0) : T(1);
    const Complex a0 = direction(a, a_infinite), b0 = direction(b, b_infinite);
    const auto n = exponent(a0), m = exponent(b0);
    const Complex p = {math::scale(a0.re, -n), math::scale(a0.im, -n)};
    const Complex q = {math::scale(b0.re, -m), math::scale(b0.im, -m)};
    const T norm = math::rounded(q.re * q.re) + math::rounded(q.im * q.im);
    const T re = math::rounded(p.re * q.re) + math::rounded(p.im * q.im);
    const T im = math::rounded(p.im * q.re) - math::rounded(p.re * q.im);
    const T factor = a_factor * b_factor;
    // By zero: each part by the zero, as C and NumPy do.
    const bool zero = (b.re == 0) & (b.im == 0);
    return {zero ? a.re / math::abs(b.re) : math::scale(re / norm, n - m) * factor,
            zero ? a.im / math::abs(b.im) : math::scale(im / norm, n - m) * factor};
  }
};

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<Complex<T>> = true;

// T for Complex<T>, else T itself.
template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<Complex<T>> {
  using type = T;
};
template <class T>
using real_t = typename RealOf<T>::type;

template <class T>
[[gnu::always_inline]] constexpr Complex<T> conj(Complex<T> a) {
  return {a.re, -a.im};
}

static_assert(std::is_trivially_copyable_v<Complex<float>> && sizeof(Complex<double>) == 16);

}  // namespace adjoint
