// Airy's function Ai and its derivative: scalar code, computed in double for all types.
// Formulas: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 1964, by their numbers.
#pragma once

#include <adjoint/core/math/exp.h>

#include <array>
#include <cmath>

namespace adjoint::math {

namespace detail {

// Ai and Ai' at -10, -9.5, ..., 10.
constexpr double airy_table[41][2] = {
    {0.04024123848644319, 0.99626504413279}, {0.3191032477191282, -0.10809531881187123}, {-0.022133721547341403, -0.9756639809263316},
    {-0.33029023763020887, -0.03231334828463914}, {-0.0527050503563862, 0.9355609381983065}, {0.3217757163806479, 0.3188095066985546},
    {0.18428083525050565, -0.7710081684101265}, {-0.2380203019971158, -0.6749524925132022}, {-0.3291451736298231, 0.3459354872813429},
    {0.017781541276574976, 0.8641972177713984}, {0.35076100902411433, 0.32719281855444315}, {0.2921527810559595, -0.5233625323157477},
    {-0.07026553294928951, -0.7906285753685813}, {-0.37553382314043193, -0.34344343345404815}, {-0.37881429367765806, 0.3145837692165988},
    {-0.11232506769296609, 0.6788527342647943}, {0.22740742820168558, 0.618259020741691}, {0.4642565777488694, 0.3091869672024104},
    {0.5355608832923521, -0.01016056711664521}, {0.4757280916105396, -0.20408167033954738}, {0.3550280538878172, -0.2588194037928068},
    {0.23169360648083348, -0.2249105326646839}, {0.13529241631288141, -0.1591474412967932}, {0.07174949700810541, -0.09738201284230132},
    {0.03492413042327438, -0.05309038443365363}, {0.01572592338047049, -0.026250881035903232}, {0.006591139357460719, -0.011912976705951319},
    {0.002584098786989635, -0.005004413967952583}, {0.0009515638512048018, -0.001958640950204179}, {0.00033025032351430896, -0.0007178665675575089},
    {0.00010834442813607442, -0.0002474138908684625}, {3.368531190859981e-05, -8.046339130556515e-05}, {9.947694360252889e-06, -2.4765200397034955e-05},
    {2.7958823432049136e-06, -7.231931466601793e-06}, {7.492128863997167e-07, -2.008150894738792e-06}, {1.9172560675134309e-07, -5.312713959720545e-07},
    {4.6922076160992316e-08, -1.3414392979067865e-07}, {1.0997009755195506e-08, -3.237725440447602e-08}, {2.47116843087249e-09, -7.480641389658946e-09},
    {5.330263704617492e-10, -1.6566394593740667e-09}, {1.1047532552898686e-10, -3.5206336767389237e-10},
};

constexpr int airy_terms = 22;
// 1 / ((k + 1) (k + 2)): each step waits for the one before it, and a division is four times as long as a product.
constexpr auto airy_steps = [] {
  std::array<double, airy_terms> steps{};
  for (int k = 0; k < airy_terms; k++) steps[k] = 1. / ((k + 1) * (k + 2));
  return steps;
}();

// From the nearest of these: y'' = x y (10.4.1) gives the coefficients of Taylor's series one after the other.
inline double airy_near(int n, double x) {
  const int i = static_cast<int>(std::rint(2 * x));
  const double from = .5 * i, h = x - from, *at = airy_table[i + 20];
  double before = 0, own = at[0], next = at[1], power = 1, y = n ? next : own;   // coefficients k - 1, k, k + 1
  for (int k = 0; k < airy_terms; k++) {
    const double after = (from * own + before) * airy_steps[k];
    power *= h;
    y += n ? (k + 2) * after * power : next * power;
    before = own, own = next, next = after;
  }
  return y;
}

// Series in 1 / zeta, zeta = 2/3 |x|^(3/2) (10.4.58 to 62): terms of even and of odd order, whose signs take turns below 0.
inline double airy_far(int n, double x) {
  const double a = std::fabs(x), root = std::sqrt(a), zeta = 2 / 3. * a * root, fourth = std::sqrt(root), scale = .5641895835477563 * (n ? fourth : 1 / fourth);
  double sums[2] = {1, 0}, term = 1;
  for (int k = 1; k <= 16; k++) {
    term *= (6 * k - 5.) * (6 * k - 3) * (6 * k - 1) / (216. * k * (2 * k - 1)) / zeta;
    const double own = n ? -term * (6 * k + 1) / (6 * k - 1) : term;
    sums[k % 2] += x < 0 && k / 2 % 2 ? -own : own;
  }
  if (x > 0) return (n ? -.5 : .5) * scale * exp(-zeta) * (sums[0] - sums[1]);
  const double angle = zeta - .7853981633974483, c = std::cos(angle), s = std::sin(angle);
  return scale * (n ? s * sums[0] - c * sums[1] : c * sums[0] + s * sums[1]);
}

}  // namespace detail

// Ai for n = 0, Ai' for 1. NaN at infinities and 0 far above, as in PyTorch.
[[gnu::noinline]] inline double airy(int n, double x) {
  if (!(std::fabs(x) < infinity<double>)) return nan<double>;
  return std::fabs(x) <= 10 ? detail::airy_near(n, x) : detail::airy_far(n, x);
}

}  // namespace adjoint::math
