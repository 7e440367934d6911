// erf, erfc, erfinv: a polynomial near 0, e^(-x^2) erfcx(x) beyond.
#pragma once

#include <adjoint/core/math/exp.h>
#include <adjoint/core/math/log.h>

namespace adjoint::math {

namespace detail {

// e^(a^2) erfc(a) for 0 <= a <= 10.6 to 2^-37, in t = (a - 3) / (a + 3); one division serves t and the factor 1 / (1 + 2 a).
[[gnu::always_inline]] inline double erfcx_short(double a) {
  const double b = 1 + 2 * a, inverse = 1 / ((a + 3) * b), t = (a - 3) * b * inverse;
  return poly_by_two(t, 0x1.40c522d7e6985p+0, -0x1.15c084db8e2cep-3, -0x1.85a15c8e714fbp-5, 0x1.09836d39d3800p-3,
              -0x1.e88b76eaaabd8p-4, 0x1.17c96580e67c9p-4, -0x1.857817ca02e8dp-6, 0x1.4c187cc161af7p-9,
              0x1.f0d9d79259a5ap-10, -0x1.9deb20f3ac12fp-11, -0x1.0c98b938d91afp-13, 0x1.0631a4a058df3p-13,
              0x1.10faaac1bea08p-15) *
         ((a + 3) * inverse);
}
// The same for a <= 27.5 to 2^-55.
[[gnu::always_inline]] inline double erfcx(double a) {
  const double t = (a - 3) / (a + 3);
  return poly(t, 0x1.40c522d7e4987p+0, -0x1.15c084bb9e8dcp-3, -0x1.85a15c58aa511p-5, 0x1.098366a5b3ca5p-3,
              -0x1.e88b803a4a6e3p-4, 0x1.17ca28781ac08p-4, -0x1.8574c40b5e661p-6, 0x1.4b884df4f0addp-9,
              0x1.ef1bdcefe56fbp-10, -0x1.98db46af8e813p-11, -0x1.b9124a5ee9fa4p-14, 0x1.0659638be8848p-13,
              0x1.4c17cfcbff775p-18, -0x1.5125f497c4612p-16, -0x1.8704c6b10d652p-21, 0x1.d0a55eedd0ccep-19,
              0x1.775f793028fc7p-22, -0x1.43603872324e4p-21, -0x1.196337779e7a2p-23, 0x1.8271258599a9fp-24,
              0x1.16722969e4379p-25, -0x1.1070dcbb1ebd5p-27, -0x1.100256b86f911p-28) /
         (1 + 2 * a);
}
// e^(-factor a^2) 2^shift for factor 1 or 1/2: a^2 = h^2 + l, h^2 exact.
[[gnu::always_inline]] inline double exp_minus_square(double a, double factor, int shift) {
  const double h = from_bits(to_bits(a) & static_cast<int64_t>(0xfffffffff8000000));
  const double l = factor * (a - h) * (a + h);
  return exp_scaled(-factor * h * h, shift) * (1 - l * (1 - l * (.5 - l * (1. / 6))));
}
[[gnu::always_inline]] inline double erfc_positive(double a) {
  a = clamp(a, 0., 27.5);
  return exp_minus_square(a, 1, 100) * erfcx(a) * 0x1p-100;  // a subnormal result is rounded once
}
[[gnu::always_inline]] inline double erfc_positive_short(double a) {
  a = clamp(a, 0., 10.6);
  return exp_short(-a * a) * erfcx_short(a);
}
// erf(x) / x in z = x^2 for |x| <= 1, to 2^-56.
[[gnu::always_inline]] inline double erf_small(double z) {
  return poly(z, 0x1.20dd750429b6dp+0, -0x1.812746b0379bdp-2, 0x1.ce2f21a040d16p-4, -0x1.b82ce311fa960p-6,
              0x1.565bccf92b78fp-8, -0x1.c02db03de2239p-11, 0x1.f9a2baaa02a8ap-14, -0x1.f4ca4d7e7aa70p-17,
              0x1.b97fd46c12409p-20, -0x1.5c072a5a62877p-23, 0x1.d71b26234defdp-27, -0x1.abae8c3dabc7ap-31);
}

}  // namespace detail

// Beyond 1 the float form is 1 - e^Q(a), the polynomial Q = log erfc.
[[gnu::always_inline]] inline float erf(float x) {
  const float a = clamp(abs(x), 0.f, 4.f), z = a * a;
  const float small = a + a * poly(z, 1.283791657e-01f, -3.761262582e-01f, 1.128358514e-01f, -2.685381176e-02f,
                                   5.188327544e-03f, -8.010193777e-04f, 7.853865632e-05f);
  const float q = poly(a, 1.755842908e-04f, -1.129513844e+00f, -6.333637067e-01f, -1.082390338e-01f,
                       2.507089371e-02f, -4.138648853e-03f, 4.219730827e-04f, -1.850398587e-05f, -2.240700064e-07f);
  const auto [r, n] = detail::reduce_ln2(q);
  const float large = 1 - (1 + detail::expm1_small(r)) * power_of_two<float>(n);
  return std::copysign(a < 1 ? small : large, x);
}
[[gnu::always_inline]] inline double erf(double x) {
  const double a = abs(x);
  const double large = 1 - detail::erfc_positive(a > 6 ? 6. : a);
  return std::copysign(a < 1 ? a * detail::erf_small(a * a) : large, x);
}

[[gnu::always_inline]] inline float erfc(float x) {
  const double y = detail::erfc_positive_short(abs(static_cast<double>(x)));
  return static_cast<float>(x < 0 ? 2 - y : y);
}
[[gnu::always_inline]] inline double erfc(double x) {
  const double a = abs(x), y = detail::erfc_positive(a);
  const double large = x < 0 ? 2 - y : y;
  return a < .5 ? 1 - x * detail::erf_small(x * x) : large;
}

namespace detail {
// erfinv(y) / y by polynomials in w = -log(1 - y^2) and its root, own fits to 2^-34, of floats.
[[gnu::always_inline]] inline double erfinv_ratio(double w) {
  const double near = w * .4 - 1, far = (std::sqrt(w) - 3.16131566292015) * 0x1.14aec375cda3fp+0;
  const double low = poly_by_two(near, 0x1.805c5cfd03db4p+0, 0x1.3bb315fd8c36p-1, -0x1.abc1e2d05c7e5p-6, -0x1.40b17a9a265e3p-6, 0x1.175c8314675bbp-7,
                          -0x1.ff9358121c695p-12, -0x1.b56d82925c9a3p-11, 0x1.325399eb96c81p-12, 0x1.60c8393e4bdc5p-16, -0x1.5b4ac27ce4cedp-15,
                          0x1.066b1137397f4p-17, 0x1.89691a15539b2p-19, -0x1.487bea80db5e4p-20);
  const double high = poly_by_two(far, 0x1.7f54f2b0883e8p+1, 0x1.dbb8aadb1be98p-1, 0x1.6ca21c3227fabp-8, -0x1.f0753e4cc7299p-9, 0x1.42e15dd7136e3p-9,
                           -0x1.90bc193b436bbp-10, 0x1.82485e0b4db7p-11, -0x1.a92b094e07b6dp-13, -0x1.b391f0b09b7cp-16, 0x1.e77c8e2458c47p-15,
                           -0x1.be0d9ac377097p-16, 0x1.a0a80fb970a5fp-20, 0x1.062cf1609b84fp-18, -0x1.63d9f4d12a6e3p-20);
  return w < 5 ? low : high;
}
}  // namespace detail
[[gnu::always_inline]] inline float erfinv(float y) {
  const double a = abs(static_cast<double>(y)), x = y * detail::erfinv_ratio(-detail::log_short(detail::split((1 - a) * (1 + a))));
  const float result = a == 1 ? std::copysign(infinity<float>, y) : static_cast<float>(x);
  return a <= 1 ? result : nan<float>;
}
// Winitzki's closed form is right to 2e-3; each of two Halley steps towards erf(x) = a, on erfc above 1/2, cubes the error: the first one
// in short forms, whose error of 2^-37 does no harm.
template <bool is_short> [[gnu::always_inline]] inline double erfinv_step(double x, double a) {
  const double upper = is_short ? detail::erfc_positive_short(x) : detail::erfc_positive(x);
  const double tail = x < .5 ? a - x * detail::erf_small(x * x) : upper - (1 - a);
  const double d = tail * 0.88622692545275801 * (is_short ? detail::exp_short(x * x) : exp(x * x));
  return x + d / (1 - x * d);
}
[[gnu::always_inline]] inline double erfinv(double y) {
  const double a = abs(y), w = log((1 - a) * (1 + a)), b = 2 / (3.14159265358979 * 0.147) + w * .5;
  double x = std::sqrt(std::sqrt(b * b - w / 0.147) - b);
  x = erfinv_step<true>(a < 1e-3 ? a * 0.88622692545275801 : x, a);
  x = erfinv_step<false>(x, a);
  x = a == 1 ? infinity<double> : x;
  return a > 1 ? nan<double> : std::copysign(x, y);
}

}  // namespace adjoint::math
