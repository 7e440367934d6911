// sigmoid, softplus, silu, gelu and their like, with tails right down to subnormals.
#pragma once

#include <adjoint/core/math/error_function.h>
#include <adjoint/core/math/exp.h>
#include <adjoint/core/math/log.h>

namespace adjoint::math {

namespace detail {

// factor / (1 + e^-x). With -x = n ln 2 + r this is factor 2^-n / (2^-n + e^r): one division and no overflow;
// half of 2^-n is multiplied last, so that a subnormal result is rounded once.
template <std::floating_point T>
[[gnu::always_inline]] inline T logistic(T factor, T x) {
  constexpr bool single = sizeof(T) == 4;
  const auto [r, n] = reduce_ln2(-clamp(x, single ? T(-120) : T(-760), single ? T(30) : T(50)));
  const Bits<T> half = static_cast<int32_t>(n) >> 1;
  const T s = power_of_two<T>(-half), t = power_of_two<T>(half - n);
  return ((factor * s) / (s * t + (1 + expm1_small(r)))) * t;
}

// log1p(e^-a) for a >= 0. What is nothing beside 1 is a normal number, too: a square that underflows would take a hundred times as long.
[[gnu::always_inline]] inline float log1p_exp(float a) {
  const float z = exp(-a), s = z / (2 + z), root = s < 0x1p-30f ? 0x1p-30f : s, w = root * root;
  return 2 * s + s * (w * poly(w, 6.666667561e-01f, 3.999887839e-01f, 2.861686959e-01f, 2.142780466e-01f, 2.430043449e-01f));
}
[[gnu::always_inline]] inline double log1p_exp(double a) { return log1p(exp(-a)); }

}  // namespace detail

template <std::floating_point T>
[[gnu::always_inline]] inline T sigmoid(T x) {
  return detail::logistic(T(1), x);
}
// z / (1 + z)^2 with z = e^-|x|: y (1 - y) would cancel for large x.
template <std::floating_point T>
[[gnu::always_inline]] inline T sigmoid_derivative(T x) {
  const T z = exp(-abs(x)), d = 1 / (1 + z);
  return z * d * d;
}
// log(sigmoid(x)) = min(x, 0) - log1p(e^-|x|).
template <std::floating_point T>
[[gnu::always_inline]] inline T log_sigmoid(T x) {
  return (x < 0 ? x : T(0)) - detail::log1p_exp(abs(x));
}
// log(1 + e^(beta x)) / beta; x itself where beta x > threshold, as PyTorch.
template <std::floating_point T>
[[gnu::always_inline]] inline T softplus(T x, T beta = 1, T threshold = 20) {
  const T z = x * beta;
  const T y = ((z > 0 ? z : T(0)) + detail::log1p_exp(abs(z))) / beta;
  return z > threshold ? x : y;
}

// x sigmoid(x); its limit -0 at -infinity, where PyTorch has NaN.
template <std::floating_point T>
[[gnu::always_inline]] inline T silu(T x) {
  const T y = x < T(-1000) ? T(-1000) : x;
  const T inside = detail::logistic(y, rounded(x));  // scales by up to 2^36 on the way: the largest would overflow. Of clamps of one number the compiler makes cases, each computed for all
  return x > T(64) ? x : inside;
}
// s(x) (1 + x s(-x)) with s = sigmoid: both of one e^-|x|.
template <std::floating_point T>
[[gnu::always_inline]] inline T silu_derivative(T x) {
  const T z = exp(-abs(x)), large = 1 / (1 + z), small = z * large, c = clamp(rounded(x), T(-1000), T(1000));  // no infinity times 0
  return (x < 0 ? small : large) * (1 + c * (x < 0 ? large : small));
}

namespace detail {

// The parts of Phi(-d) = e 2^exponent p / (p + c) / d for 0 <= d <= 14.6; the density at d is e 2^exponent (1 + 1.465e-6).
struct NormalTail {
  float e, p, c;
  int32_t exponent;
};
[[gnu::always_inline]] inline NormalTail normal_tail(float d) {
  // d^2 = s + l with s exact: the exponential would multiply a rounding error by d^2.
  const float h = from_bits(to_bits(d) & static_cast<int32_t>(0xfffff000)), s = h * h, l = (d - h) * (d + h);
  // e^(-d^2/2) = 2^n e^(-r/2), and e = e^(-r/2) / sqrt(2 pi) to 2^-28, but for 1e-6 that the quotient below has.
  const float shifted = s * -0.72134752f + round_magic<float>, n = shifted - round_magic<float>;
  const float r = ((s + n * (2 * 0.693359375f)) + n * (2 * -2.12194440e-4f)) + l;
  const float e = poly(r, 3.989416959e-01f, -1.994708552e-01f, 4.986770397e-02f, -8.311161426e-03f, 1.038949835e-03f,
                       -1.044102847e-04f, 8.625035016e-06f);
  // d Phi(-d) = e^(-d^2/2) / sqrt(2 pi) p / (p + c) to 2^-25: a rounding error of p counts little once c is the smaller one.
  const float p = d * poly(d, 9.811111450e+01f, 9.086780548e+01f, 3.963375473e+01f, 9.233604431e+00f, 1.f);
  const float c = poly(d, 7.828122711e+01f, 3.685028839e+01f, 9.297196388e+00f, 9.973627925e-01f);
  return {e, p, c, to_bits(shifted) - to_bits(round_magic<float>)};
}

}  // namespace detail

// x Phi(x) = max(x, 0) - d Phi(-d) with d = |x|. PyTorch's float form is -0 from -6 down.
[[gnu::always_inline]] inline float gelu(float x) {
  const float a = abs(x), d = a > 14.6f ? 14.6f : a;
  const auto [e, p, c, n] = detail::normal_tail(d);
  // Times 2^64, so that a subnormal result is rounded once; 2^n goes into the exponent of the denominator.
  const float quotient = p * e / from_bits(to_bits(p + c) - ((n + 64) << 23)), tail = a > 14.6f ? 0.f : quotient;
  return (x < 0 ? -0.f : x) - tail * 0x1p-64f;
}
[[gnu::always_inline]] inline double gelu(double x) {
  const double size = abs(x);
  const bool vanishes = size > 38.6, is_near = size < .7;
  const double d = vanishes ? 0. : size, a = d * 0.7071067811865476, raised = detail::exp_minus_square_raised(d, .5, .5 * detail::erfcx(a));
  const double tail = vanishes ? 0. : raised;  // Phi(-d) 2^100
  const double near_half = .5 - .5 * a * detail::erf_small(a * a);
  const double negative = is_near ? x * near_half : (x * tail) * 0x1p-100;
  const double positive = x * (1 - (is_near ? near_half : tail * 0x1p-100));
  const double y = x < 0 ? negative : positive;
  return x < -38.6 ? -0. : y;
}
// Phi(x) + x phi(x), gelu's derivative: 1 - g for positive x, with g = Phi(-d) - d phi(d).
[[gnu::always_inline]] inline float gelu_derivative(float x) {
  const float a = abs(x), d = a > 14.6f ? 14.6f : a;
  const auto [e, p, c, n] = detail::normal_tail(d);
  const float quotient = poly(d, 9.811111450e+01f, 9.086780548e+01f, 3.963375473e+01f, 9.233604431e+00f, 1.f) / (p + c);
  const float g = (e * (quotient - (d + d * 1.465e-6f))) * power_of_two<float>(n + 64) * 0x1p-64f;
  return x != x ? x : x < 0 ? g : 1 - g;
}
[[gnu::always_inline]] inline double gelu_derivative(double x) {
  const double z = clamp(x, -40., 40.);
  const double phi = .5 * erfc(-z * 0.7071067811865476);
  return phi + z * 0.3989422804014327 * detail::exp_minus_square(abs(z), .5);
}

// x (1 + tanh u) / 2 = x sigmoid(2 u), u = sqrt(2/pi) (x + 0.044715 x^3).
template <std::floating_point T>
[[gnu::always_inline]] inline T gelu_tanh(T x) {
  const T z = clamp(x, T(-1000), T(64));   // the largest would overflow on the way
  const T inside = detail::logistic(z, T(1.5957691216057308) * (z + T(0.044715) * z * z * z));
  return x > T(64) ? x : inside;
}
template <std::floating_point T>
[[gnu::always_inline]] inline T gelu_tanh_derivative(T x) {
  const T z = clamp(x, T(-1000), T(1000)), square = z * z;
  const T u = T(1.5957691216057308) * z * (1 + T(0.044715) * square);
  const T slope = T(1.5957691216057308) * (1 + 3 * T(0.044715) * square);
  return sigmoid(u) + z * slope * sigmoid_derivative(u);
}

template <std::floating_point T>
[[gnu::always_inline]] inline T elu(T x, T scale, T negative_scale, T input_scale) {
  return x > 0 ? x * scale : negative_scale * expm1(x * input_scale);
}
// The same of exp: elu's derivative.
template <std::floating_point T>
[[gnu::always_inline]] inline T elu_derivative(T x, T scale, T negative_scale, T input_scale) {
  return x > 0 ? scale : negative_scale * exp(x * input_scale);
}

// NaN stays, -0 too.
template <class T>
[[gnu::always_inline]] inline T relu(T x) {
  return x < T(0) ? T(0) : x;
}

}  // namespace adjoint::math
