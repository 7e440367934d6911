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
// The same for a <= 27.5 to 2^-57, in t = (a - 2.5) / (a + 2.5): one division, with what it and its divisor lost.
[[gnu::always_inline]] inline double erfcx(double a) {
  const double b = a + 2.5, q = 1 / b, lost = (b * q - 1) + (a - (b - 2.5)) * q, t = (a - 2.5) * q, u = t - t * lost;
  const double p = poly(u, 0x1.0dd50785280a5p+0, -0x1.9bfb53c4039d7p-1, 0x1.d0cedcb8c902ap-2, -0x1.5eb8eba1dfd42p-3, 0x1.d0acf691fb47bp-6,
                        0x1.1305f56563751p-7, -0x1.3bcdce3bc967bp-8, poly_by_two(u, -0x1.cc8b1204ad30fp-12, 0x1.7069f50ba5404p-11, 0x1.e91ef2167a378p-15,
                        -0x1.d84ca7b6ca40fp-14, -0x1.47b05f4f03e1ep-16, 0x1.3219c83f6c48fp-16, 0x1.c52322cc55b7bp-18, -0x1.3954235d3a718p-19,
                        -0x1.06ab98a3b07e9p-19, -0x1.107fa480d4732p-30, 0x1.d6c4a30ae1f9dp-22, 0x1.1816a422413e9p-23, -0x1.0143cf78f3f17p-24,
                        -0x1.8440ca56a592dp-25, -0x1.09b7b82db66e8p-30, 0x1.c95a874265616p-28, 0x1.c796eaf1e0444p-30));
  return q * (p - p * lost);
}
// y e^(-factor a^2) 2^100 for factor 1 or 1/2, down to e^-770: a^2 = h^2 + l, h^2 exact.
[[gnu::always_inline]] inline double exp_minus_square_raised(double a, double factor, double y = 1) {
  const double h = from_bits(to_bits(a) & static_cast<int64_t>(0xfffffffff8000000));
  const auto [r, n] = reduce_ln2(-factor * h * h);
  return (y + y * expm1_small(r - factor * (a - h) * (a + h))) * power_of_two<double>(n + 100);
}
// The same not raised: a subnormal result is rounded once, one that vanishes is chosen.
[[gnu::always_inline]] inline double exp_minus_square(double a, double factor) {
  const bool vanishes = factor * a * a > 746;
  const double y = exp_minus_square_raised(vanishes ? 0. : a, factor) * 0x1p-100;
  return vanishes ? 0. : y;
}
[[gnu::always_inline]] inline double erfc_positive(double a) {
  const bool vanishes = a > 27.3;
  a = vanishes ? 0. : a;
  const double y = exp_minus_square_raised(a, 1, erfcx(a)) * 0x1p-100;
  return vanishes ? 0. : y;
}
[[gnu::always_inline]] inline double erfc_positive_short(double a) {
  a = clamp(a, 0., 10.6);
  return exp_short(-a * a) * erfcx_short(a);
}
// erf(x) / x in z = x^2 for |x| <= 1 and for |x| <= 1/2, to 2^-56 and 2^-57.
[[gnu::always_inline]] inline double erf_small(double z) {
  return poly(z, 0x1.20dd750429b6dp+0, -0x1.812746b0379bdp-2, 0x1.ce2f21a040d16p-4, -0x1.b82ce311fa960p-6,
              0x1.565bccf92b78fp-8, -0x1.c02db03de2239p-11, 0x1.f9a2baaa02a8ap-14, -0x1.f4ca4d7e7aa70p-17,
              0x1.b97fd46c12409p-20, -0x1.5c072a5a62877p-23, 0x1.d71b26234defdp-27, -0x1.abae8c3dabc7ap-31);
}
[[gnu::always_inline]] inline double erf_least(double z) {
  return poly(z, 0x1.20dd750429b6dp+0, -0x1.812746b0379b3p-2, 0x1.ce2f21a03d693p-4, -0x1.b82ce30f1f2e8p-6, 0x1.565bcbf5f21d2p-8,
              -0x1.c02d4ea6dbf33p-11, 0x1.f98d95eb38d13p-14, -0x1.f2229e3ffc475p-17, 0x1.8b395c6600ec2p-20);
}
// log erfc(1 + d) for d <= 5, right enough for erf: to 2^-59 / erfc(1 + d).
[[gnu::always_inline]] inline double log_erfc(double d) {
  return poly_by_two(d, -0x1.d97fbf27aa2a1p+0, -0x1.51c9b0006c23fp+1, -0x1.afabc11a28ee3p-1, -0x1.5477f09c938c1p-5, 0x1.48c9d402d9224p-7,
              -0x1.033f6806d6192p-9, 0x1.f1b4235245b3dp-13, 0x1.b8d106bb0e7ebp-16, -0x1.c78c21dd26ffcp-16, 0x1.421b64c4565dp-17,
              -0x1.13171a6aff593p-19, 0x1.210dd0642f4ddp-23, 0x1.b8812b6a7c485p-24, -0x1.d25c8ea8d5f8p-25, 0x1.0cdc45acff7edp-26,
              -0x1.a11f808b7540fp-29, 0x1.b1f855f51296ap-32, -0x1.13006eb79fe52p-35, 0x1.414f13d38dd4ep-40);
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
  const double size = abs(x), a = size > 6 ? 6. : size;
  const auto [r, n] = detail::reduce_ln2(detail::log_erfc(a - 1));
  const double large = 1 - (1 + detail::expm1_small(r)) * power_of_two<double>(n);
  return std::copysign(a < 1 ? a * detail::erf_small(a * a) : large, x);
}

[[gnu::always_inline]] inline float erfc(float x) {
  const double y = detail::erfc_positive_short(abs(static_cast<double>(x)));
  return static_cast<float>(x < 0 ? 2 - y : y);
}
[[gnu::always_inline]] inline double erfc(double x) {
  const double a = abs(x), y = detail::erfc_positive(a);
  const double large = x < 0 ? 2 - y : y;
  return a < .5 ? 1 - x * detail::erf_least(x * x) : large;
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
namespace detail {
// erfinv(y) / y to 2^-56: in w up to 5, beyond in (w - 15) / (w + 15), up to 36.1 of the last number before 1.
[[gnu::always_inline]] inline double erfinv_quotient(double w) {
  const double t = (w - 15) / (w + 15);
  const double near = poly(w, 0x1.c5bf891b4ef6bp-1, poly_by_two(w, 0x1.db29fb2fee58fp-3, 0x1.7a72e72c29e5fp-7, -0x1.32110260443ecp-9,
                           -0x1.0c86b75ce5d12p-13, 0x1.87013d4d0eacp-15, 0x1.0f2150c976711p-19, -0x1.0fda5296cb347p-20, -0x1.3e25121c9d2bdp-25,
                           0x1.82b39ad13c2dep-26, 0x1.115100e271796p-30, -0x1.7640ad0c53818p-31, 0x1.15563e3cc5c75p-34, -0x1.4b656ef9eb577p-36,
                           0x1.54d6d5377935p-37, -0x1.4ca4e1a5effecp-39, 0x1.5c7ccb9b277a7p-42, -0x1.66b9e5b672957p-46, -0x1.ce846731b92b5p-54,
                           0x1.148aa7b609f1dp-53, -0x1.38968611ad127p-57, 0x1.efbf6c74339bap-63));
  const double far = poly_by_two(t, 0x1.db152b58221d4p+1, 0x1.f44465a5b96d7p+1, 0x1.fa818b66508a2p+0, 0x1.ead5d55c07b4cp+0, 0x1.7f394d9c65538p+0,
                                 0x1.646f101b881e7p+0, 0x1.5a26dcb381ad6p+0, 0x1.ed0c390823565p-1, 0x1.5ff770cc79c06p+0, 0x1.cf4aab8ad67ebp-1,
                                 0x1.7310b93b5047cp-1, 0x1.6eda371703a1fp+0, 0x1.683a4d049a417p-1, 0x1.f8090423879ffp-2, 0x1.2f2de52f81a55p+0,
                                 0x1.e44dff3d10acp-1, 0x1.49de5ff3bc69ap-1, 0x1.9781f008c666ep-2, 0x1.97c233740c80ap-1, 0x1.652343ff28866p+0,
                                 0x1.e90997ee2952p-2, -0x1.0c8bcd131d42ap-5, 0x1.228203749ade2p-1, 0x1.179a9bf3851c5p+0, 0x1.807983a3bc23ap+0,
                                 0x1.b86051b5040fep-1);
  return w < 5 ? near : far;
}
}  // namespace detail
[[gnu::always_inline]] inline double erfinv(double y) {
  const double a = abs(y), x = a * detail::erfinv_quotient(-detail::log_positive((1 - a) * (1 + a)));
  return a <= 1 ? std::copysign(a == 1 ? infinity<double> : x, y) : nan<double>;
}

}  // namespace adjoint::math
