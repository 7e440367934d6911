// Bessel functions of the first and second kind and order 0 and 1, in double arithmetic for float results: polynomials in x^2 up to 6,
// modulus and phase beyond. Both have absolute errors below 2^-50, as floats come to within 2^-26 of roots. The polynomials are own fits.
#pragma once

#include <adjoint/core/math/log.h>
#include <adjoint/core/math/trig.h>

#include <cmath>

namespace adjoint::math {

namespace detail {

constexpr double bessel_joint = 6;  // where the two forms meet

// J_0(a) or J_1(a) / a, and what is left of Y without its logarithm (and pole): Y_0 - 2/pi log(a) J_0, (Y_1 - 2/pi (log(a) J_1 - 1 / a)) / a;
// t = a^2 / 18 - 1.
template <int order> [[gnu::always_inline]] inline double bessel_j_near(double t) {
  if constexpr (order == 0)
    return poly(t, -0x1.7b393b9887346p-2, 0x1.4c914405e55aap-2, 0x1.577c120a1ec36p-1, -0x1.61b3dade4a84dp-1, 0x1.10f0bac5d8d16p-2,
                -0x1.d97d31052b782p-5, 0x1.0c2ede9fbff8fp-7, -0x1.af2853da412b3p-11, 0x1.03a5eb86dbc69p-14, -0x1.e706b183de675p-19,
                0x1.6e2ee125e545p-23, -0x1.c3a7deace47d9p-28, 0x1.d279e910d1e41p-33, -0x1.979865605d684p-38);
  else
    return poly(t, -0x1.279d91cc5a17bp-5, -0x1.3151d72570ae8p-3, 0x1.d79a7928635bbp-3, -0x1.e53a2f989db1ep-4, 0x1.070ca974a662p-5,
                -0x1.6593d37fc7ec1p-8, 0x1.4f584137f662dp-11, -0x1.cd98bef0d7ae7p-15, 0x1.e706b18b2e06ep-19, -0x1.96df2790ec07ap-23,
                0x1.140300ee4aa8cp-27, -0x1.36496596eed26p-32, 0x1.266a3d4d7a605p-37, -0x1.dc1da7dbd6467p-43);
}
template <int order> [[gnu::always_inline]] inline double bessel_y_near(double t) {
  if constexpr (order == 0)
    return poly(t, 0x1.da009e9555fc8p-3, -0x1.e3a39be238458p-1, -0x1.36f23e2017b38p-3, 0x1.55a9fb7433328p-1, -0x1.559b46844975ap-2,
                0x1.53236ca9a221bp-4, -0x1.a441908d16dabp-7, 0x1.691d7a7d1cc73p-10, -0x1.ca7e911a2c2e8p-14, 0x1.c11af50794df5p-18,
                -0x1.5e58fc10e206ep-22, 0x1.be21524d5b7ffp-27, -0x1.d8d2e77116879p-32, 0x1.a897f4a870cc3p-37, -0x1.46105e27c702bp-42);
  else
    return poly(t, 0x1.3a355e7b40c9cp-3, -0x1.ad76a3398be4cp-6, -0x1.7d5cef9aedb3bp-3, 0x1.177ffe93cdccep-3, -0x1.65721331a2a35p-5,
                0x1.0da80f483cb38p-7, -0x1.10a231525ee5p-10, 0x1.8dcd85aabb6a3p-14, -0x1.b8126b4d2d2b4p-18, 0x1.7e8aabe11af71p-22,
                -0x1.0c825f2de915ep-26, 0x1.36fc42c88c99ap-31, -0x1.2f015a0c2a5cdp-36, 0x1.f5bddcc633f91p-42);
}
// sqrt(a) times the modulus sqrt(J^2 + Y^2) to 2^-36, and a times the phase beyond a - pi/4 (J_1 lags by pi/2) to 2^-48; t = 72 / a^2 - 1.
template <int order> [[gnu::always_inline]] inline double bessel_modulus(double t) {
  if constexpr (order == 0)
    return poly(t, 0x1.982b7f8fe67fep-1, -0x1.5bf65e4a3c1dep-11, 0x1.bb0903e1a59bfp-17, -0x1.84a30ee6228fbp-21, 0x1.2b90e00fe1b49p-24,
                -0x1.68f7828833a4p-27, 0x1.1233e62512c8cp-29);
  else
    return poly(t, 0x1.9990f8498d72ap-1, 0x1.09200746b88bdp-9, -0x1.adaaa88489682p-16, 0x1.2ef4ea47aca3dp-20, -0x1.a2afcda1d27f8p-24,
                0x1.d83a54a7c5f02p-27, -0x1.5900bc8808b2cp-29);
}
template <int order> [[gnu::always_inline]] inline double bessel_phase(double t) {
  if constexpr (order == 0)
    return poly(t, -0x1.fc7259ec09993p-4, 0x1.b53d1aab9b4d9p-11, -0x1.025de1368e17bp-15, 0x1.40d286b67351ep-19, -0x1.3821532908de5p-22,
                0x1.9c3daf47d7d96p-25, -0x1.53ec3de2acc4fp-27, 0x1.4efbb19813279p-29, -0x1.79d8f98a27401p-31, 0x1.86cb98ffc053fp-33,
                -0x1.d31cfd6412f8fp-35, 0x1.a3d6ec2528c8ap-35, -0x1.72e60e316d54ap-36);
  else
    return poly(t, 0x1.7dbbfe3d3fce2p-2, -0x1.19f5ea476446ap-9, 0x1.dff10fc2aad2ap-15, -0x1.ec0402c249c22p-19, 0x1.b0dc241140ea8p-22,
                -0x1.0ddf588c6b13dp-24, 0x1.ad2059ff0c563p-27, -0x1.9c1d3104d4174p-29, 0x1.c816ed9f700a8p-31, -0x1.d507147dc0896p-33,
                0x1.167d63b5947eap-34, -0x1.e5a2574261a1bp-35, 0x1.a9906e3d02b19p-36);
}
// For a >= 6: the modulus times sin(a - pi/4 + phase + quadrants pi/2). All of a but the phase is reduced exactly.
template <int order> [[gnu::always_inline]] inline double bessel_far(double a, int quadrants) {
  const double inverse = 1 / a, t = 72 * inverse * inverse - 1;
  const double offset = bessel_phase<order>(t) * inverse - 0.78539816339744831;
  const auto [s, c, quadrant] = sincos_offset(a, offset);
  const int64_t n = quadrant + quadrants;
  const double value = n & 1 ? c : s;
  return std::sqrt(inverse) * bessel_modulus<order>(t) * (n & 2 ? -value : value);
}

}  // namespace detail

// For |x| < 2^27, infinity and NaN.
template <int order> [[gnu::always_inline]] inline float bessel_j_short(float x) {
  const double a = abs(x), near = clamp(a, 0., detail::bessel_joint), y = detail::bessel_j_near<order>(near * near * (1. / 18) - 1);
  const double far = detail::bessel_far<order>(clamp(a, detail::bessel_joint, 0x1p28), 1 - order);
  const double joined = a < detail::bessel_joint ? (order ? y * near : y) : far;
  const double result = a == infinity<double> ? 0 : joined;
  const double sign = order ? std::copysign(1., static_cast<double>(x)) : 1;
  return static_cast<float>(x == x ? result * sign : a);
}
template <int order> [[gnu::always_inline]] inline float bessel_y_short(float x) {
  const double a = x, near = clamp(a, 0x1p-149, detail::bessel_joint), t = near * near * (1. / 18) - 1;
  const double l = detail::log_positive(near), j = detail::bessel_j_near<order>(t), rest = detail::bessel_y_near<order>(t);
  const double y = order ? near * (0.63661977236758134 * l * j + rest) - 0.63661977236758134 / near : 0.63661977236758134 * l * j + rest;
  const double far = detail::bessel_far<order>(clamp(a, detail::bessel_joint, 0x1p28), order ? 3 : 0);
  const double joined = a < detail::bessel_joint ? y : far, positive = a == infinity<double> ? 0 : joined;
  const double result = a == 0 ? -infinity<double> : positive;
  return static_cast<float>(a >= 0 ? result : nan<double>);
}

}  // namespace adjoint::math
