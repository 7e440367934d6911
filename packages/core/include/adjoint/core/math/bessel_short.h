// Special functions in double arithmetic for float results, to 2^-33: free of branches, so that loops over them are vectorised.
// The polynomials are own fits, in variables that bring all arguments into a short interval.
#pragma once

#include <adjoint/core/math/error_function.h>

#include <cmath>

namespace adjoint::math {

namespace detail {

// e^-a I_n(a) for a >= 0: the square root of 1 + a takes the decrease, t = (a - 6) / (a + 6) the rest.
struct BesselIParts {
  double t, root;  // root: 1 / ((a + 6) sqrt(1 + a))
};
[[gnu::always_inline]] inline BesselIParts bessel_i_parts(double a) {
  const double w = std::sqrt(1 + a), root = 1 / ((a + 6) * w);
  return {(a - 6) * (root * w), root};
}
[[gnu::always_inline]] inline double bessel_i0_scaled(double a) {
  const auto [t, root] = bessel_i_parts(a);
  return root * (a + 6) * poly_by_two(t, 0x1.c3843bf418e78p-2, -0x1.5f5cadd62ec71p-4, 0x1.78c2f3472231fp-4, -0x1.aecbc788db102p-4,
                         0x1.0428e9ab24a4ap-3, -0x1.2e1247c4bf155p-3, 0x1.0f13db512f06cp-3, -0x1.654148f89e8e3p-5,
                         -0x1.656a72b546388p-4, 0x1.0d558768e32c5p-3, -0x1.39bbcfb1f2910p-6, -0x1.803215ac9fa69p-4,
                         0x1.d54e8fd9438e4p-6, 0x1.4e8a75abe8b5cp-4, -0x1.6cc6e85d284c8p-6, -0x1.27b457cb33b9ep-4,
                         0x1.17da7beee9fd6p-7, 0x1.e894303fecafcp-5, 0x1.2c29108294e12p-12, -0x1.410b08161b27cp-5,
                         -0x1.7d41d76aff515p-9, 0x1.31f439c4e3742p-6, 0x1.ab30dd07f0d1ap-10, -0x1.6e4b975bbf2a6p-8,
                         -0x1.77771a3ae84cbp-12, 0x1.a527e4aa8c0d6p-11);
}
[[gnu::always_inline]] inline double bessel_i1_scaled(double a) {
  const auto [t, root] = bessel_i_parts(a);
  return root * a * poly_by_two(t, 0x1.9bf2003d5d32fp-1, -0x1.97e2a1a957e02p-1, 0x1.7b757ed958d0fp-1, -0x1.3f220eb84eab2p-1,
                         0x1.b090f4b444bdcp-2, -0x1.17f61af64275ap-3, -0x1.4a3a456e393acp-3, 0x1.38d42d6a501c5p-2,
                         -0x1.684da7a0d5856p-3, -0x1.498b354d851ffp-4, 0x1.16dcd73433d41p-3, 0x1.7e2a88134a27fp-5,
                         -0x1.e06b6136ddb93p-4, -0x1.4503afb1dc97dp-5, 0x1.7011bf2cc5aa5p-4, 0x1.9d026ae733e6fp-5,
                         -0x1.10e08d2b4a564p-4, -0x1.8f9699fe21d26p-5, 0x1.4bcfea96751fbp-5, 0x1.1b93b58799a7dp-5,
                         -0x1.3873c194b138cp-6, -0x1.05ffee71f7afbp-6, 0x1.830c19c677f08p-8, 0x1.19e80b8d4f85fp-8,
                         -0x1.f148518b063f7p-11, -0x1.dcd56dc1031efp-12);
}

[[gnu::always_inline]] inline double bessel_i2_scaled(double a) {
  const auto [t, root] = bessel_i_parts(a);
  return root * a * (a / (a + 6)) * poly_by_two(t, 0x1.3a339134ced39p+0, -0x1.baf76d3ecf8b5p+0, 0x1.937950d3669c0p+0, -0x1.dda1ecb4fdf9ep-1,
                                         0x1.9c42b99ee1d70p-4, 0x1.07581fb289d3ap-1, -0x1.2ac1d43b49287p-1, 0x1.5634e5c734f53p-3,
                                         0x1.c4b1dff897ea8p-3, -0x1.2ce9f613777fap-3, -0x1.2cc9b62c81caep-3, 0x1.01c41f74d94fep-3,
                                         0x1.cfdbef00ba41dp-4, -0x1.46409977fcdc0p-4, -0x1.ccb60aa311c48p-4, 0x1.80875ca5f159dp-5,
                                         0x1.8d5b2e82c17ccp-4, -0x1.5c44788b2200ep-6, -0x1.10718090ed909p-4, 0x1.0c9c6c6538edfp-7,
                                         0x1.00c2dc33e6415p-5, -0x1.3de0fcbf3f6aep-9, -0x1.24ccd11eb8e2fp-7, 0x1.0ca3e2eb52729p-11,
                                         0x1.17ad16a686554p-10);
}

// `small` up to 2 and `large` e^-x beyond, where sqrt(x) takes the decrease; times e^(scaled x).
[[gnu::always_inline]] inline float bessel_k_joined(float x, double small, double large, double scaled) {
  const double a = x, y = a <= 2 ? small : large / std::sqrt(a);
  const float joined = static_cast<float>(y * exp_short((a <= 2 ? scaled : scaled - 1) * clamp(a, 0., 200.)));
  const float result = x == 0 ? infinity<float> : joined;
  return x < 0 ? nan<float> : result;
}
[[gnu::always_inline]] inline double log_half(double x) { return log_short(split(.5 * x)); }
// e^a for a >= 0, or 1 of the scaled ones: of a loop of its own.
[[gnu::always_inline]] inline double growth(double a, double scaled) { return scaled != 0 ? 1. : exp_short(clamp(a, 0., 200.)); }

}  // namespace detail

// The modified Bessel functions; scaled is 1 or 0, a number so that one loop serves both: e^-|x| I_n(x) and e^x K_n(x), or without the power.
[[gnu::always_inline]] inline float bessel_i0_short(float x, double scaled) {
  const double a = abs(x), y = detail::bessel_i0_scaled(clamp(a, 0., 3.5e38)) * detail::growth(a, scaled);
  return static_cast<float>(a == infinity<double> ? 1 / scaled - 1 : y);
}
[[gnu::always_inline]] inline float bessel_i1_short(float x, double scaled) {
  const double a = abs(x), y = detail::bessel_i1_scaled(clamp(a, 0., 3.5e38)) * detail::growth(a, scaled);
  return std::copysign(static_cast<float>(a == infinity<double> ? 1 / scaled - 1 : y), x);
}
[[gnu::always_inline]] inline float bessel_i2_short(float x, double scaled) {
  const double a = abs(x), y = detail::bessel_i2_scaled(clamp(a, 0., 3.5e38)) * detail::growth(a, scaled);
  return static_cast<float>(a == infinity<double> ? 1 / scaled - 1 : y);
}
// K_0 = -log(x / 2) I_0 + a series in x^2.
[[gnu::always_inline]] inline float bessel_k0_short(float x, double scaled) {
  const double a = x, z = a * a, w = 1 / (a + 1);
  const double i = poly(z, 0x1.00000000059a3p+0, 0x1.fffffffbb7428p-3, 0x1.00000088e04c5p-6, 0x1.c71c3e9003e42p-12,
                         0x1.c7258f4bc15a2p-18, 0x1.2270ad7472707p-24, 0x1.16089005c6ad2p-31);
  const double rest = poly(z, -0x1.2788cfc6fb797p-1, 0x1.b0ee6072211efp-4, 0x1.d87730351aa27p-7, 0x1.1dd628e24200ep-11,
                            0x1.56b997f8fc51dp-17, 0x1.f0f98037d81b1p-24, 0x1.e3ae4b7fe3484p-31, 0x1.6c25c47512127p-38);
  const double large = poly(w, 0x1.40d931ff16630p+0, -0x1.40d92d748af6ap-3, -0x1.18c0eb1dc4ed7p-4, -0x1.276deff5ce099p-4,
                             -0x1.d2e0a15a1314bp-6, -0x1.0846edbec4b1cp-4, -0x1.394df52ba3c7fp-7, -0x1.634225d306cb4p-7,
                             -0x1.5a0a2e60be2dfp-4);
  return detail::bessel_k_joined(x, rest - detail::log_half(a) * i, large, scaled);
}
// K_1 = 1 / x + log(x / 2) I_1 + a series in x.
[[gnu::always_inline]] inline float bessel_k1_short(float x, double scaled) {
  const double a = x, z = a * a, w = 1 / (a + 1);
  const double i = poly(z, 0x1.0000000000b22p-1, 0x1.fffffffeef8cdp-5, 0x1.5555559959a1ap-9, 0x1.c71c5852566bap-15,
                         0x1.6c1b49b3c304bp-21, 0x1.8388dd81d22cfp-28, 0x1.3af2e4c1dd2c6p-35);
  const double rest = poly(z, 0x1.3c467e37db222p-5, -0x1.5877303907538p-5, -0x1.73ddae5e0370ap-9, -0x1.3a47efba5c961p-14,
                            -0x1.2462744352471p-20, -0x1.5b7dc9eec14c7p-27, -0x1.1f18e7095e268p-34, -0x1.74978aa5e281bp-42);
  const double large = poly(w, 0x1.40d931ff3d9b7p+0, 0x1.e145cc4e74faep-2, 0x1.4adf7e7f6b763p-2, 0x1.3825243df0ecbp-2,
                             0x1.dd13d598d87b1p-3, 0x1.2a312a51c59a9p-2, 0x1.0cd4462ea7decp-5, 0x1.766179b78d3c6p-1,
                             -0x1.aceec24720276p-1, 0x1.31833c3882afbp+0);
  return detail::bessel_k_joined(x, 1 / a + a * (rest + detail::log_half(a) * i), large, scaled);
}

// e^(x^2) times the n-th integral of erfc, n = 0 or 1: the asymptotic series beyond what error_function.h has, the reflection below 0. The
// first integral is 1 / sqrt(pi) - x e^(x^2) erfc(x), which has digits enough up to there.
template <int n> [[gnu::always_inline]] inline float erfcx_short(float x, double) {
  const double b = x, a = abs(b), inverse = 1 / a, r = inverse * inverse;
  const double near = detail::erfcx_short(clamp(a, 0., 10.6)), scale = n ? r : inverse;
  const double far = scale * 0.5641895835477563 * (n ? poly(r, .5, -.75, 1.875, -6.5625, 29.53125) : poly(r, 1., -.5, .75, -1.875, 6.5625, -29.53125));
  const double below = 2 * detail::exp_short(a * a) - near;
  if (n == 0) return static_cast<float>(x < 0 ? below : a < 10.6 ? near : far);
  const double first = 0.5641895835477563 - b * (x < 0 ? below : near);
  return static_cast<float>(x < 10.6f ? first : far);
}

namespace detail {
// sin(pi a) / (pi a) for a > 0, by the distance r to the nearest integer, which is exact; what is beyond 2^51 counts as an integer.
struct SincParts {
  double square, p, sinc;   // r^2, sin(pi r) / (pi r)
  bool odd;                 // the integer
};
[[gnu::always_inline]] inline SincParts sinc_parts(double a) {
  const double c = clamp(a, 0., 0x1p51), shifted = c + round_magic<double>;
  const double r = c - (shifted - round_magic<double>), z = r * r;
  const double p = poly(z, 1., -0x1.a51a6625307d3p+0, 0x1.9f9cb402bc3ecp-1, -0x1.86a8e472088b3p-3, 0x1.ac6805cbe1c57p-6,
                        -0x1.33816970a7a7cp-9, 0x1.3746973a2836dp-13, -0x1.d3e3c575a8cbdp-18, 0x1.07195ba656098p-22);
  const bool odd = to_bits(shifted) & 1;
  const double s = r * p / a;
  return {z, p, odd ? -s : s, odd};
}
}  // namespace detail

// sin(pi x) / (pi x), for doubles too.
template <std::floating_point T> [[gnu::always_inline]] inline T sinc_short(T x) {
  const double a = abs(static_cast<double>(x));
  const auto [z, p, s, odd] = detail::sinc_parts(a);
  const double y = a < .5 ? p : s;
  return a == infinity<double> ? nan<T> : static_cast<T>(y);
}
// The spherical Bessel function j_1(pi x) = (sinc(x) - cos(pi x)) / (pi x), of which sinc's derivative is made; two terms of its series near 0.
[[gnu::always_inline]] inline float sinc_slope_short(float x) {
  const double a = abs(static_cast<double>(x));
  const auto [z, p, s, odd] = detail::sinc_parts(a);
  const double q = poly(z, 1., -0x1.3bd3cc9be45dep+2, 0x1.03c1f081b5ac3p+2, -0x1.55d3c7e3cbff9p+0, 0x1.e1f506891bab8p-3, -0x1.a6d1f2a204a89p-6,
                        0x1.f9d38a3763cbep-10, -0x1.b6e24f44b128bp-14, 0x1.20c62c2f2d7f1p-18);
  const double far = (s - (odd ? -q : q)) * 0.3183098861837907 / a, near = a * (0x1.0c152382d7365p+0 - z * 0x1.08963eb51650ep+0);
  const double y = a < 1e-3 ? near : far;
  return a == infinity<double> ? nan<float> : static_cast<float>(x < 0 ? -y : y);
}

}  // namespace adjoint::math
