// Modified Bessel functions of the orders 0 and 1, and e^(x^2) erfc(x), in double: free of branches, so that loops over them are vectorised.
#pragma once

#include <adjoint/core/math/error_function.h>

#include <cmath>

namespace adjoint::math {

// I_n(x), times e^-|x| where it is scaled: a polynomial in x^2 / 4 up to 8, of terms of one sign, and one in 1 / x beyond, to 2^-57.
template <int n> [[gnu::always_inline]] inline double bessel_i_plain(double x, bool scaled) {
  const double a = abs(x), z = .25 * a * a, t = 16 / a - 1;
  double small, large;
  if constexpr (n == 0) {
    small = poly_by_two(z, 0x1p+0, 0x1p+0, 0x1.ffffffffffff3p-3, 0x1.c71c71c71c85bp-6, 0x1.c71c71c71a936p-10, 0x1.23456789c5e7dp-14,
                        0x1.02e85c06c936ap-19, 0x1.522a442190c94p-25, 0x1.522a412689d7bp-31, 0x1.0b3153e868fecp-37, 0x1.55ff4d71d22c9p-44,
                        0x1.69e61feddd4dep-51, 0x1.40a5d86d080bcp-58, 0x1.f2a31dd325821p-66, 0x1.108b1a591bb8cp-73, 0x1.1cb01973df1bdp-80);
    large = poly_by_two(t, 0x1.9bd428ad249a5p-2, 0x1.b87969bb93b9bp-9, 0x1.1daa72b5e270fp-13, 0x1.75e5ee711e65fp-17, 0x1.8e513a7961194p-20,
                        0x1.3f49a965bc12bp-22, 0x1.7d0f0a3e3b1b2p-24, 0x1.51cdd593ba741p-25, 0x1.7234df652860cp-26, 0x1.03a4a447d74acp-27,
                        -0x1.cfe7a11aee4b2p-28, -0x1.cd011c33cb871p-27, -0x1.729534eabf9b9p-28, 0x1.0440ad8e087d6p-27, 0x1.fc7a503d4412bp-28,
                        -0x1.e720d70fc99fbp-29, -0x1.957c2ac904ce6p-28, 0x1.adec8182ca5c3p-30, 0x1.ebe16f0188664p-29, -0x1.4b98dc8294fe2p-31,
                        -0x1.b1a0f33285329p-30, 0x1.6c62669996807p-33, 0x1.e4fc7b9c796d4p-32, -0x1.8cba671a3dac2p-36, -0x1.fc3462e37974cp-35);
  } else {
    small = .5 * a * poly_by_two(z, 0x1p+0, 0x1p-1, 0x1.5555555555552p-4, 0x1.c71c71c71c7a1p-8, 0x1.6c16c16c160bdp-12, 0x1.845c8a0cf770cp-17,
                                 0x1.27e4fb76585bcp-22, 0x1.522a44114542dp-28, 0x1.2c97573011b49p-34, 0x1.ab82105bb0e68p-41,
                                 0x1.f17427eab87e1p-48, 0x1.e280891c42f4dp-55, 0x1.8ad6b0ff117c5p-62, 0x1.1c185958c4015p-69,
                                 0x1.26fe6483535abp-77, 0x1.17ce060b0cc4fp-84);
    large = poly_by_two(t, 0x1.8ebe783a8403p-2, -0x1.3f796198ee632p-7, -0x1.cbc54df1e8dbcp-13, -0x1.f89c23059f668p-17, -0x1.ec8e10775e356p-20,
                        -0x1.7613810d88e1cp-22, -0x1.ad8d46d335a34p-24, -0x1.727972a57d2a5p-25, -0x1.9191e042cab3dp-26, -0x1.21a47f0ce3464p-27,
                        0x1.cf03458be3723p-28, 0x1.e27e8aed22681p-27, 0x1.99ac26a657d2p-28, -0x1.0759df4ee7c3p-27, -0x1.0de5dbca9aed9p-27,
                        0x1.dc4499f24b0bp-29, 0x1.a91b01c3af902p-28, -0x1.97ce5e14deb67p-30, -0x1.006de918cf7c5p-28, 0x1.34e02c250d876p-31,
                        0x1.c2f55fc7be0f5p-30, -0x1.512ca062b2bb1p-33, -0x1.f7b26094ba16dp-32, 0x1.6f0554598d829p-36, 0x1.07b1608676ecep-34);
  }
  // e^a may overflow where I_n does not.
  const bool is_small = a <= 8;
  const double limited = !scaled & (a > 1500) ? 1500. : a, exponent = scaled ? (is_small ? -a : 0.) : (is_small ? 0. : .5 * limited);
  const double power = exp(exponent), beyond = (power * large) * (power / std::sqrt(limited)), y = is_small ? small * power : beyond;
  return n ? std::copysign(y, x) : y;
}

// Below 0, 2 e^(x^2) - erfcx(-x).
[[gnu::always_inline]] inline double erfcx_plain(double x) {
  const double a = abs(x), inverse = 1 / a, r = inverse * inverse;
  const double far = inverse * 0.5641895835477563 * poly(r, 1., -.5, .75, -1.875, 6.5625, -29.53125, 162.421875);
  const double positive = a < 27.5 ? detail::erfcx(a) : far;
  const double b = a > 27 ? 27. : a, h = from_bits(to_bits(b) & static_cast<int64_t>(0xfffffffff8000000));
  const auto [s, n] = detail::reduce_ln2(h * h);
  const double power = (1 + detail::expm1_small(s + (b - h) * (b + h))) * power_of_two<double>(n - 40) * 0x1p41;   // 2 e^(b^2)
  return x < 0 ? power - positive : positive;
}

}  // namespace adjoint::math
