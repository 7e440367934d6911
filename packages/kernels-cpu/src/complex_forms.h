// Complex functions of finite numbers x + iy in double precision, as vectors can take them: without branches, by the formulas of
// core/math/complex.h. Each says which numbers are `hard`: those it does not hold for.
#pragma once
#include <adjoint/core/math/complex.h>

#include "complex_functions.h"

namespace adjoint::cpu::forms {

struct Form {
  double re, im;
  int64_t hard = 0;
};

// ---- what they are made of. Zeros have the signs that the arithmetic of complex numbers gives them: 1 / z is (1 + 0i) / z.

// Sizes whose squares are normal numbers; 0 is one.
[[gnu::always_inline]] inline bool is_extreme(double x, double y) {
  const double size = math::abs(x) + math::abs(y);
  return (!(size < 0x1p400)) | ((size < 0x1p-400) & (size > 0));
}
// Beyond these an exponential, or a reduced angle, is left to the exact functions; NaN too.
[[gnu::always_inline]] inline bool is_long(double x) { return !(math::abs(x) < 700); }
[[gnu::always_inline]] inline bool is_far(double angle) { return !(math::abs(angle) < math::trig_limit<double>); }

struct Circle { double cos, sin; };
[[gnu::always_inline]] inline Circle circle(double y) {
  const auto [s, c, n] = math::detail::sincos_quadrant(y);
  const double cos = n & 1 ? s : c, sin = n & 1 ? c : s, turned = n & 2 ? -sin : sin;
  return {(n + 1) & 2 ? -cos : cos, y == 0 ? y : turned};
}
struct Exponentials { double exp, expm1; };   // e^x, e^x - 1
[[gnu::always_inline]] inline Exponentials exponentials(double x) {
  const auto [r, n] = math::detail::reduce_ln2(x);
  const double p = math::detail::expm1_small(r), power = math::power_of_two<double>(n);
  return {power * (1 + p), x == 0 ? x : power * p + (power - 1)};
}
[[gnu::always_inline]] inline double exponential(double x) {
  const auto [r, n] = math::detail::reduce_ln2(x);
  return (1 + math::detail::expm1_small(r)) * math::power_of_two<double>(n);
}
struct Hyperbola { double cosh, sinh; };
[[gnu::always_inline]] inline Hyperbola hyperbola(double x) {
  const auto [e, m] = exponentials(math::abs(x));
  const double inverse = 1 / e;
  return {.5 * (e + inverse), std::copysign(.5 * (m + m * inverse), x)};
}
struct Pair { double re, im; };
[[gnu::always_inline]] inline Pair times(Pair a, Pair b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
[[gnu::always_inline]] inline Pair over(Pair a, Pair b) {
  const double inverse = 1 / (b.re * b.re + b.im * b.im);
  return {(a.re * b.re + a.im * b.im) * inverse, (a.im * b.re - a.re * b.im) * inverse};
}
// c + x (c' + x (c'' + ...)).
[[gnu::always_inline]] inline Pair series(Pair, double c) { return {c, 0}; }
template <class... C> [[gnu::always_inline]] inline Pair series(Pair x, double c, C... rest) {
  const Pair r = times(x, series(x, rest...));
  return {c + r.re, r.im};
}
struct Root { double re, im, size; };   // of z, and |z|
[[gnu::always_inline]] inline Root root(double x, double y) {
  const double a = math::abs(x), b = math::abs(y), size = std::sqrt(a * a + b * b), large = std::sqrt(.5 * (a + size)), small = large > 0 ? .5 * b / large : 0;
  return {x < 0 ? small : large, std::copysign(x < 0 ? large : small, y), size};
}
// a b without loss, as math::detail::product. GCC forgets the barrier there when it makes vectors; a sum with 0 is one, too.
[[gnu::always_inline]] inline math::detail::Twofold product(double a, double b) {
  constexpr int64_t upper = ~((int64_t(1) << 27) - 1);
  const double p = a * b + 0., ah = math::from_bits(math::to_bits(a) & upper), bh = math::from_bits(math::to_bits(b) & upper), al = a - ah, bl = b - bh;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}
// log |w| where |w|^2 - 1 = u v + u v_low + b^2, which tells more where w is near the unit circle, and |w|^2 = square.
[[gnu::always_inline]] inline double log_size(double larger, double square, double u, double v, double v_low, double b) {
  const math::detail::Twofold p = product(u, v), q = product(b, b);
  const double sum = p.high + q.high, part = sum - p.high, rest = (p.high - (sum - part)) + (q.high - part);
  const double t = sum + (rest + p.low + q.low + u * v_low);
  const bool near = (larger > .5) & (larger < 2);
  const double w = near ? 1 + t : square;
  const auto [m, e] = math::detail::split(w);
  const double lost = near & (e != 0) ? (t - (w - 1)) / w : 0;
  return .5 * math::detail::log_sum(near & (e == 0) ? t : m - 1, e, lost);
}
// The angle of a point that is not 0, with no extreme parts.
[[gnu::always_inline]] inline double angle(double y, double x) {
  const double quarter = math::detail::atan_quotient(math::abs(y), math::abs(x)), other = math::detail::half_pi * 2 - (quarter - 2 * math::detail::half_pi_low);
  return std::copysign(x < 0 ? other : quarter, y);
}
struct Logarithm { double re, im; };
[[gnu::always_inline]] inline Logarithm logarithm(double x, double y) {
  const double p = math::abs(x), q = math::abs(y), a = p > q ? p : q, b = p > q ? q : p;
  return {log_size(a, a * a + b * b, a - 1, a + 1, a - ((a + 1) - 1), b), angle(y, x)};
}
[[gnu::always_inline]] inline bool has_no_logarithm(double x, double y) { return is_extreme(x, y) | ((x == 0) & (y == 0)); }
struct Sigma { double re, im; };
// e^-|x| is at most 1: of z itself where x < 0, and else of -z.
[[gnu::always_inline]] inline Sigma sigma(double x, double y) {
  const double e = exponential(-math::abs(x));
  const auto [c, s] = circle(y);
  const double re = 1 + e * c, im = e * s, inverse = 1 / (re * re + im * im);
  return {(x < 0 ? e * (c + e) : re) * inverse, (x < 0 ? im : im + 0.) * inverse};
}
// e^-z / (1 + e^-z)^2, even in z.
[[gnu::always_inline]] inline Pair sigma_slope(double x, double y) {
  const double e = exponential(-math::abs(x));
  const auto [c, s] = circle(x < 0 ? y : -y);
  const Pair d{1 + e * c, e * s + 0.};
  return over({e * c, e * s}, times(d, d));
}

// ---- the functions

template <class F> struct Of;

template <> struct Of<functors::Exp> {
  static inline Form at(double x, double y) {
    const double e = exponential(x);
    const auto [c, s] = circle(y);
    return {e * c, e * s, is_long(x) | is_far(y)};
  }
};
template <> struct Of<functors::Exp2> {
  static inline Form at(double x, double y) { return Of<functors::Exp>::at(x * 0.69314718055994531, y * 0.69314718055994531); }
};
template <> struct Of<functors::Expm1> {
  static inline Form at(double x, double y) {
    const auto [e, m] = exponentials(x);
    const auto [c, s] = circle(y);
    const double half = circle(.5 * y).sin;
    return {m * c - 2 * half * half, e * s, is_long(x) | is_far(y)};
  }
};
template <> struct Of<functors::Log> {
  static inline Form at(double x, double y) {
    const auto [re, im] = logarithm(x, y);
    return {re, im, has_no_logarithm(x, y)};
  }
};
template <> struct Of<functors::Log2> {
  static inline Form at(double x, double y) {
    const auto [re, im] = logarithm(x, y);
    return {re * 1.4426950408889634, im * 1.4426950408889634, has_no_logarithm(x, y)};
  }
};
template <> struct Of<functors::Log10> {
  static inline Form at(double x, double y) {
    const auto [re, im] = logarithm(x, y);
    return {re * 0.43429448190325183, im * 0.43429448190325183, has_no_logarithm(x, y)};
  }
};
template <> struct Of<functors::Log1p> {
  static inline Form at(double x, double y) {
    const double w = 1 + x, p = math::abs(w), q = math::abs(y), two = 2 + x;
    const bool wide = p >= q;
    // |w|^2 - 1 is x (2 + x) + y^2.
    const double re = log_size(wide ? p : q, p * p + q * q, wide ? x : q - 1, wide ? two : q + 1, wide ? x - (two - 2) : q - ((q + 1) - 1), wide ? q : p);
    return {re, angle(y, w), is_extreme(w, y) | is_extreme(x, y) | ((w == 0) & (y == 0))};
  }
};
template <> struct Of<functors::Sqrt> {
  static inline Form at(double x, double y) {
    const Root r = root(x, y);
    return {r.re, r.im, is_extreme(x, y)};
  }
};
template <> struct Of<functors::Rsqrt> {
  static inline Form at(double x, double y) {
    const Root r = root(x, y);
    const double inverse = 1 / r.size;
    return {(r.re + 0 * r.im) * inverse, (0 * r.re - r.im) * inverse, is_extreme(x, y) | ((x == 0) & (y == 0))};
  }
};
template <> struct Of<functors::Sinh> {
  static inline Form at(double x, double y) {
    const auto [cosh, sinh] = hyperbola(x);
    const auto [c, s] = circle(y);
    return {sinh * c, cosh * s, is_long(x) | is_far(y)};
  }
};
template <> struct Of<functors::Cosh> {
  static inline Form at(double x, double y) {
    const auto [cosh, sinh] = hyperbola(x);
    const auto [c, s] = circle(y);
    return {cosh * c, sinh * s, is_long(x) | is_far(y)};
  }
};
// sinh x cosh x + i sin y cos y over sinh^2 x + cos^2 y.
template <> struct Of<functors::Tanh> {
  static inline Form at(double x, double y) {
    const auto [cosh, sinh] = hyperbola(x);
    const auto [c, s] = circle(y);
    const double inverse = 1 / (sinh * sinh + c * c);
    return {sinh * cosh * inverse, s * c * inverse, !(math::abs(x) < 340) | is_far(y)};
  }
};
// Functions of i z.
template <class F> struct Turned {
  static inline Form at(double x, double y) {
    const Form f = Of<F>::at(-y, x);
    return {f.im, -f.re, f.hard};
  }
};
template <> struct Of<functors::Sin> : Turned<functors::Sinh> {};
template <> struct Of<functors::Tan> : Turned<functors::Tanh> {};
template <> struct Of<functors::Cos> {
  static inline Form at(double x, double y) { return Of<functors::Cosh>::at(-y, x); }
};

// Beside 1 and -1 a part may be too small for its square.
[[gnu::always_inline]] inline bool is_hard_inverse(double x, double y) {
  const double b = math::abs(y);
  return !(math::abs(x) < 0x1p400) | !(b < 0x1p400) | ((b < 0x1p-400) & (b > 0));
}
template <> struct Of<functors::Asin> {
  static inline Form at(double x, double y) {
    const Root minus = root(1 - x, -y), plus = root(1 + x, y);
    return {angle(x, minus.re * plus.re - minus.im * plus.im), math::asinh(minus.re * plus.im - minus.im * plus.re), is_hard_inverse(x, y)};
  }
};
template <> struct Of<functors::Asinh> : Turned<functors::Asin> {};
template <> struct Of<functors::Acos> {
  static inline Form at(double x, double y) {
    const Root minus = root(1 - x, -y), plus = root(1 + x, y);
    return {2 * angle(minus.re, plus.re), math::asinh(plus.re * minus.im - plus.im * minus.re), is_hard_inverse(x, y)};
  }
};
template <> struct Of<functors::Acosh> {
  static inline Form at(double x, double y) {
    const Root minus = root(x - 1, y), plus = root(x + 1, y);
    return {math::asinh(minus.re * plus.re + minus.im * plus.im), 2 * angle(minus.im, plus.re), is_hard_inverse(x, y)};
  }
};
template <> struct Of<functors::Atanh> {
  static inline Form at(double x, double y) {
    const double a = math::abs(x), from_one = (1 - a) * (1 - a) + y * y;
    const double re = .25 * math::log1p(4 * a / from_one), im = .5 * angle(2 * y, (1 - a) * (1 + a) - y * y);
    return {std::copysign(re, x), im, is_hard_inverse(x, y) | ((a == 1) & (math::abs(y) < 0x1p-100))};
  }
};
template <> struct Of<functors::Atan> : Turned<functors::Atanh> {};

template <> struct Of<functors::Sigmoid> {
  static inline Form at(double x, double y) {
    const auto [re, im] = sigma(x, y);
    return {re, im, is_long(x) | is_far(y)};
  }
};
template <> struct Of<functors::Silu> {
  static inline Form at(double x, double y) {
    const auto [re, im] = sigma(x, y);
    return {x * re - y * im, x * im + y * re, is_long(x) | is_far(y)};
  }
};
template <> struct Of<functors::SigmoidDerivative> {
  static inline Form at(double p, double q, double x, double y) {
    const Pair r = times({p, q}, sigma_slope(x, y));
    return {r.re, r.im, is_long(x) | is_far(y) | is_extreme(p, q)};
  }
};
template <> struct Of<functors::TanhDerivative> {
  static inline Form at(double p, double q, double x, double y) { return Of<functors::SigmoidDerivative>::at(4 * p, 4 * q, 2 * x, 2 * y); }
};
template <> struct Of<functors::SiluDerivative> {
  static inline Form at(double p, double q, double x, double y) {
    const auto [a, b] = sigma(x, y);
    const auto [c, d] = sigma(-x, -y);
    const Pair slope = times({a, b}, {1 + (x * c - y * d), (x * d + y * c) + 0.}), r = times({p, q}, slope);
    return {r.re, r.im, is_long(x) | is_far(y) | is_extreme(p, q)};
  }
};

// Powers that are products or roots are hard, so that they are exact.
template <> struct Of<functors::Pow> {
  static inline Form at(double x, double y, double p, double q) {
    const auto [l, turn] = logarithm(x, y);
    const double re = p * l - q * turn, im = p * turn + q * l, e = exponential(re), a = math::abs(p);
    const auto [c, s] = circle(im);
    const bool simple = (q == 0) & ((a == 0) | (a == .5) | (a == 1) | (a == 2) | (p == 3));
    return {e * c, e * s, has_no_logarithm(x, y) | is_long(re) | is_far(im) | simple};
  }
};

[[gnu::always_inline]] inline bool divides(double x, double y) { return (math::abs(x) + math::abs(y) < math::infinity<double>) & ((x != 0) | (y != 0)); }
template <> struct Of<functors::Reciprocal> {
  static inline Form at(double x, double y) {
    const Pair r = over({1, 0}, {x, y});
    return {r.re, r.im, !divides(x, y)};
  }
};
template <> struct Of<functors::Div> {
  static inline Form at(double p, double q, double x, double y) {
    const Pair r = over({p, q}, {x, y});
    return {r.re, r.im, !divides(x, y) | !(math::abs(p) + math::abs(q) < math::infinity<double>)};
  }
};
// sin w / w, and (sin w / w - cos w) / w, for w = pi z: of the distance to the nearest whole number; series in -w^2 where that is below 1.
template <bool slope> [[gnu::always_inline]] inline Form bessel(double x, double y) {
  constexpr double pi = 3.141592653589793;
  const double shifted = x + math::round_magic<double>, rest = (x - (shifted - math::round_magic<double>)) * pi;
  const auto [c, s] = circle(rest);
  const auto [cosh, sinh] = hyperbola(y * pi);
  const double sign = math::to_bits(shifted) & 1 ? -1 : 1;
  const Pair w{x * pi, y * pi}, square = times(w, {-w.re, -w.im}), first = over({sign * s * cosh, sign * c * sinh}, w);
  Pair far = first, near;
  if constexpr (slope) {
    far = over({first.re - sign * c * cosh, first.im + sign * s * sinh}, w);
    near = times(w, series(square, 1 / 3., 1 / 30., 1 / 840., 1 / 45360., 1 / 3991680., 1 / 518918400., 1 / 93405312000.));
  } else near = series(square, 1, 1 / 6., 1 / 120., 1 / 5040., 1 / 362880., 1 / 39916800., 1 / 6227020800.);
  const bool is_near = w.re * w.re + w.im * w.im < 1;
  return {is_near ? near.re : far.re, is_near ? near.im : far.im, is_long(y * pi) | !(math::abs(x) < 0x1p50)};
}
template <> struct Of<functors::Sinc> {
  static inline Form at(double x, double y) { return bessel<false>(x, y); }
};
template <> struct Of<SincSlope> {
  static inline Form at(double x, double y) { return bessel<true>(x, y); }
};

}  // namespace adjoint::cpu::forms
