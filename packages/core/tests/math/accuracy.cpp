// Prints the largest error of every scalar function in units in the last place, and fails above its bound.
//
// The reference is libquadmath. This file is compiled for a level of instructions (from x86-64-v3 on, products are fused);
// accuracy_main.cpp, which every processor can run, asks the processor first.

#include <adjoint/core/math.h>

#include <quadmath.h>

#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

namespace m = adjoint::math;
using Quad = __float128;

namespace {

constexpr int points_per_range = 20000;
bool failed = false;

// The error of `got` in units in the last place of T at the exact value.
template <class T>
double error_ulp(T got, Quad exact) {
  if (isnanq(exact)) return got != got ? 0 : 1e9;
  const T rounded = static_cast<T>(exact);
  if (got == rounded) return 0;
  if (!std::isfinite(got) || std::isinf(rounded)) {
    // Overflow: the largest number and infinity are neighbours.
    const T largest = std::numeric_limits<T>::max();
    return (std::fabs(got) >= largest && std::fabs(rounded) >= largest && (got < 0) == (rounded < 0)) ? 1 : 1e9;
  }
  int exponent;
  frexpq(exact, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return static_cast<double>(fabsq(got - exact) / scalbnq(1, exponent - std::numeric_limits<T>::digits));
}

struct Range {
  double low, high;
};

// Uniform points, and points uniform in the logarithm, down to the smallest numbers around 0.
template <class T>
std::vector<T> sample(Range range) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  const double low = std::max(range.low, double(std::numeric_limits<T>::lowest()));
  const double high = std::min(range.high, double(std::numeric_limits<T>::max()));
  std::vector<T> x;
  const double largest = std::max(std::fabs(low), std::fabs(high)), top = std::log2(largest);
  const double bottom = sizeof(T) == 4 ? -148 : -1073;
  for (int attempt = 0; static_cast<int>(x.size()) < points_per_range; attempt++) {
    double value = 2 * (low * .5 + (high * .5 - low * .5) * unit(random));
    if (attempt % 2 != 0) {
      const double from = attempt % 4 == 1 ? bottom : std::max(bottom, top - 12);
      value = std::copysign(std::exp2(from + (top - from) * unit(random)), unit(random) - .5);
    }
    if (value >= low && value <= high) x.push_back(static_cast<T>(value));
  }
  return x;
}

template <class T, class F, class R>
void check(const char* name, double bound, Range range, F function, R reference) {
  const std::vector<T> x = sample<T>(range);
  std::vector<T> y(x.size());
  for (size_t i = 0; i < x.size(); i++) y[i] = function(x[i]);
  double worst = 0;
  T where = 0, got = 0;
  for (size_t i = 0; i < x.size(); i++) {
    const double error = error_ulp(y[i], reference(Quad(x[i])));
    if (error > worst) worst = error, where = x[i], got = y[i];
  }
  const bool bad = worst > bound;
  failed |= bad;
  std::printf("%-16s %s [%9.4g, %9.4g] %10.3f ulp (bound %g) at %.9g: %.9g%s\n", name, sizeof(T) == 4 ? "f32" : "f64", range.low,
              range.high, worst, bound, double(where), double(got), bad ? "  <-- FAILED" : "");
}

template <class F, class R>
void both(const char* name, double bound, Range single, Range wide, F function, R reference) {
  check<float>(name, bound, single, function, reference);
  check<double>(name, bound, wide, function, reference);
}
template <class F, class R>
void both(const char* name, double bound, Range range, F function, R reference) {
  both(name, bound, range, range, function, reference);
}

template <class T>
void check_equal(const char* what, T got, T wanted, double bound = 0) {
  const bool same = (got != got && wanted != wanted) || (got == wanted && std::signbit(got) == std::signbit(wanted)) ||
                    (bound > 0 && error_ulp(got, Quad(wanted)) <= bound);
  if (same) return;
  failed = true;
  std::printf("%s: got %.17g, wanted %.17g  <-- FAILED\n", what, double(got), double(wanted));
}

// Against C's function at the values where each is special.
template <class T, class F, class R>
void check_special(const char* name, F function, R reference) {
  using L = std::numeric_limits<T>;
  for (const T x : {T(0), -T(0), L::infinity(), -L::infinity(), L::quiet_NaN(), T(1), T(-1), L::max(), L::lowest(), L::denorm_min(),
                    -L::denorm_min(), L::min(), -L::min(), T(.5), T(2), T(-2), T(-.5), T(1e-10), T(1e10), T(-1e10)}) {
    char what[64];
    std::snprintf(what, sizeof what, "%s(%g) %s", name, double(x), sizeof(T) == 4 ? "f32" : "f64");
    check_equal(what, T(function(x)), T(reference(x)), 4);
  }
}

#define UNARY(name) [](auto x) { return m::name(x); }
#define SPECIAL(name, ...)                                                            \
  check_special<float>(#name, UNARY(name), [](float x) { return __VA_ARGS__(x); });   \
  check_special<double>(#name, UNARY(name), [](double x) { return __VA_ARGS__(x); })

Quad digamma_quad(Quad x) {
  Quad result = 0;
  if (x < 0) {
    if (floorq(x) == x) return nanq("");
    result = -M_PIq / tanq(M_PIq * (x - roundq(x)));
    x = 1 - x;
  }
  for (; x < 40; x += 1) result -= 1 / x;
  const Quad w = 1 / (x * x);
  const Quad b[] = {1 / 12.Q, -1 / 120.Q, 1 / 252.Q, -1 / 240.Q, 1 / 132.Q, -691 / 32760.Q, 1 / 12.Q, -3617 / 8160.Q, 43867 / 14364.Q};
  Quad series = 0, power = w;
  for (const Quad c : b) series += c * power, power *= w;
  return result + logq(x) - .5Q / x - series;
}
Quad trigamma_quad(Quad x) {
  Quad result = 0;
  if (x < 0) {
    const Quad s = sinq(M_PIq * (x - roundq(x))) / M_PIq;
    return 1 / (s * s) - trigamma_quad(1 - x);
  }
  for (; x < 40; x += 1) result += 1 / (x * x);
  const Quad w = 1 / (x * x);
  const Quad b[] = {1 / 6.Q, -1 / 30.Q, 1 / 42.Q, -1 / 30.Q, 5 / 66.Q, -691 / 2730.Q, 7 / 6.Q, -3617 / 510.Q, 43867 / 798.Q};
  Quad series = 0, power = w / x;
  for (const Quad c : b) series += c * power, power *= w;
  return result + 1 / x + .5Q * w + series;
}
Quad erfinv_quad(Quad y) {
  Quad a = fabsq(y), x = m::erfinv(static_cast<double>(a));
  if (!finiteq(x)) return copysignq(x, y);
  for (int i = 0; i < 3; i++) x += (x < .5Q ? a - erfq(x) : erfcq(x) - (1 - a)) * sqrtq(M_PIq) / 2 * expq(x * x);
  return copysignq(x, y);
}
Quad sigmoid_quad(Quad x) { return 1 / (1 + expq(-x)); }
Quad softplus_quad(Quad x) { return x > 0 ? x + log1pq(expq(-x)) : log1pq(expq(x)); }

void exponentials() {
  both("exp", 1.5, {-105, 90}, {-750, 712}, UNARY(exp), expq);
  both("exp2", 1.5, {-152, 130}, {-1080, 1030}, UNARY(exp2), exp2q);
  both("expm1", 2.5, {-30, 90}, {-60, 712}, UNARY(expm1), expm1q);
  both("log", 1, {0, 3e38}, {0, 1e308}, UNARY(log), logq);
  both("log near 1", 1, {.5, 2}, UNARY(log), logq);
  both("log2", 1, {0, 3e38}, {0, 1e308}, UNARY(log2), log2q);
  both("log2 near 1", 1, {.5, 2}, UNARY(log2), log2q);
  both("log10", 1, {0, 3e38}, {0, 1e308}, UNARY(log10), log10q);
  both("log10 near 1", 1, {.5, 2}, UNARY(log10), log10q);
  both("log1p", 1, {-1, 3e38}, {-1, 1e308}, UNARY(log1p), log1pq);
  both("log1p near 0", 1, {-1, 1}, UNARY(log1p), log1pq);
  SPECIAL(exp, std::exp);
  SPECIAL(exp2, std::exp2);
  SPECIAL(expm1, std::expm1);
  SPECIAL(log, std::log);
  SPECIAL(log2, std::log2);
  SPECIAL(log10, std::log10);
  SPECIAL(log1p, std::log1p);
  for (int e = -1074; e < 1024; e++) check_equal("log2 of a power of two", m::log2(std::ldexp(1., e)), double(e));
  for (int e = 0; e < 23; e++) check_equal("log10 of a power of ten", m::log10(std::pow(10., e)), double(e));
}

void trigonometry() {
  for (const double end : {4., 1e5, 3e38}) {
    const Range wide = {-(end > 1e30 ? 1e300 : end), end > 1e30 ? 1e300 : end};
    both("sin", 1, {-end, end}, wide, UNARY(sin), sinq);
    both("cos", 1, {-end, end}, wide, UNARY(cos), cosq);
    both("tan", 3, {-end, end}, wide, UNARY(tan), tanq);
  }
  both("sin moderate", 1, {-0x1p27 + 8, 0x1p27 - 8}, {-0x1p19, 0x1p19}, UNARY(sin_moderate), sinq);
  both("asin", 2, {-1, 1}, UNARY(asin), asinq);
  both("acos", 1.5, {-1, 1}, UNARY(acos), acosq);
  both("atan", 2, {-3, 3}, UNARY(atan), atanq);
  both("atan", 2, {-1e38, 1e38}, UNARY(atan), atanq);
  for (const double y : {-1.5, 0x1p-100, 0x1p99, 0x1p-133}) {
    both("atan2(y, .)", 2, {-1e38, 1e38}, {-1e308, 1e308}, [=](auto x) { return m::atan2(decltype(x)(y), x); },
         [=](Quad x) { return atan2q(y, x); });
  }
  SPECIAL(sin, std::sin);
  SPECIAL(cos, std::cos);
  SPECIAL(tan, std::tan);
  SPECIAL(asin, std::asin);
  SPECIAL(acos, std::acos);
  SPECIAL(atan, std::atan);
  const double inf = m::infinity<double>;
  for (const double y : {0., -0., 1., -1., inf, -inf, 5e-324, 1e308, double(NAN)})
    for (const double x : {0., -0., 1., -1., inf, -inf, 5e-324, 1e308, double(NAN)}) {
      check_equal("atan2 f64", m::atan2(y, x), std::atan2(y, x), 2);
      check_equal("atan2 f32", m::atan2(float(y), float(x)), std::atan2(float(y), float(x)), 2);
    }
}

void hyperbolics() {
  both("sinh", 3, {-90, 90}, {-712, 712}, UNARY(sinh), sinhq);
  both("sinh near 0", 3, {-2, 2}, UNARY(sinh), sinhq);
  both("cosh", 2, {-90, 90}, {-712, 712}, UNARY(cosh), coshq);
  both("tanh", 2, {-20, 20}, UNARY(tanh), tanhq);
  both("tanh near 0", 2, {-1, 1}, UNARY(tanh), tanhq);
  both("asinh", 3, {-4, 4}, UNARY(asinh), asinhq);
  both("asinh", 3, {-3e38, 3e38}, {-1e308, 1e308}, UNARY(asinh), asinhq);
  both("acosh", 3, {1, 4}, UNARY(acosh), acoshq);
  both("acosh", 3, {1, 3e38}, {1, 1e308}, UNARY(acosh), acoshq);
  both("atanh", 3, {-1, 1}, UNARY(atanh), atanhq);
  SPECIAL(sinh, std::sinh);
  SPECIAL(cosh, std::cosh);
  SPECIAL(tanh, std::tanh);
  SPECIAL(asinh, std::asinh);
  SPECIAL(acosh, std::acosh);
  SPECIAL(atanh, std::atanh);
}

void activations() {
  both("sigmoid", 2.5, {-110, 40}, {-760, 60}, UNARY(sigmoid), sigmoid_quad);
  both("log_sigmoid", 2.5, {-110, 110}, {-750, 760}, UNARY(log_sigmoid), [](Quad x) { return -softplus_quad(-x); });
  both("softplus", 2.5, {-110, 19.9}, {-750, 19.9}, UNARY(softplus), softplus_quad);
  both("silu", 3, {-115, 110}, {-760, 760}, UNARY(silu), [](Quad x) { return x * sigmoid_quad(x); });
  const auto gelu = [](Quad x) { return x * erfcq(-x / M_SQRT2q) / 2; };
  both("gelu", 4, {-2, 10}, UNARY(gelu), gelu);
  check<float>("gelu tail", 4, {-14.5, -2}, UNARY(gelu), gelu);
  check<double>("gelu tail", 5, {-39, -2}, UNARY(gelu), gelu);
  const auto gelu_tanh = [](Quad x) { return x * sigmoid_quad(2 * sqrtq(2 / M_PIq) * (x + 0.044715Q * x * x * x)); };
  both("gelu_tanh", 4, {-1, 10}, UNARY(gelu_tanh), gelu_tanh);
  both("elu", 2.5, {-110, 110}, [](auto x) { return m::elu(x, decltype(x)(1), decltype(x)(1), decltype(x)(1)); }, [](Quad x) { return x > 0 ? x : expm1q(x); });
  check_equal("sigmoid(-89)", m::sigmoid(-89.f), 2.2273636e-39f, 1);
  check_equal("gelu(-6)", m::gelu(-6.f), -5.9195271e-09f, 2);
  check_equal("silu(-inf)", m::silu(-m::infinity<float>), -0.f);
  check_equal("silu(inf)", m::silu(m::infinity<double>), m::infinity<double>);
  check_equal("gelu(inf)", m::gelu(m::infinity<float>), m::infinity<float>);
  check_equal("gelu(nan)", m::gelu(m::nan<float>), m::nan<float>);
  check_equal("gelu_tanh(-inf)", m::gelu_tanh(-m::infinity<float>), -0.f);
  check_equal("softplus(inf)", m::softplus(m::infinity<double>), m::infinity<double>);
  check_equal("sigmoid(nan)", m::sigmoid(m::nan<double>), m::nan<double>);
  check_equal("log_sigmoid(-inf)", m::log_sigmoid(-m::infinity<double>), -m::infinity<double>);
}

void error_and_gamma() {
  both("erf", 2, {-7, 7}, UNARY(erf), erfq);
  both("erfc", 4, {-7, 11}, {-7, 27}, UNARY(erfc), erfcq);
  both("erfinv", 3, {-1, 1}, UNARY(erfinv), erfinv_quad);
  check<double>("erfinv to 1", 3, {.999999, 1}, UNARY(erfinv), erfinv_quad);
  both("lgamma", 4, {0, 1e30}, UNARY(lgamma), lgammaq);
  both("lgamma", 4, {.1, 4}, UNARY(lgamma), lgammaq);
  both("digamma", 12, {0, 20}, UNARY(digamma), digamma_quad);
  both("digamma", 12, {20, 1e30}, UNARY(digamma), digamma_quad);
  both("trigamma", 6, {1e-18, 20}, {1e-150, 20}, UNARY(trigamma), trigamma_quad);
  both("trigamma < 0", 6, {-20, -1e-18}, {-20, -1e-150}, UNARY(trigamma), trigamma_quad);
  SPECIAL(erf, std::erf);
  SPECIAL(erfc, std::erfc);
  SPECIAL(lgamma, std::lgamma);
  check_equal("erfinv(1)", m::erfinv(1.), m::infinity<double>);
  check_equal("erfinv(2)", m::erfinv(2.f), m::nan<float>);
  check_equal("erfinv(-0)", m::erfinv(-0.), -0.);
  check_equal("digamma(0)", m::digamma(0.f), -m::infinity<float>);
  check_equal("digamma(-0)", m::digamma(-0.), m::infinity<double>);
  check_equal("digamma(-1)", m::digamma(-1.), m::nan<double>);
  check_equal("polygamma(1, -1)", m::polygamma(1, -1.), m::infinity<double>);
  check_equal("polygamma(2, -.5)", m::polygamma(2, -.5), -0.82879664423431999560, 64);
  check_equal("polygamma(3, 2)", m::polygamma(3, 2.), 0.49393940226682914910, 4);
}

void powers() {
  both("sqrt", .5, {0, 3e38}, {0, 1e308}, UNARY(sqrt), sqrtq);
  both("rsqrt", 1.5, {1e-45, 3e38}, {1e-320, 1e308}, UNARY(rsqrt), [](Quad x) { return 1 / sqrtq(x); });
  for (const double y : {-3., -.5, .296875, 2., 3., 7.25, 100.})
    both("pow(., y)", 1.2, {0, 1e4}, [=](auto x) { return m::pow(x, decltype(x)(y)); },
         [=](Quad x) { return powq(x, y); });
  const float inf = m::infinity<float>;
  const float values[] = {0, -0.f, 1, -1, inf, -inf, NAN, 2, -2, .5f, -.5f, 3, -3, 1e30f, -1e30f, 16777217.f, 1e-40f};
  for (const float x : values)
    for (const float y : values) check_equal("pow f32", m::pow(x, y), std::pow(x, y), 1);
}

void roundings() {
  for (const double x : {0., -0., .5, -.5, 1.5, 2.5, -2.5, .49999999999999994, -.3, .3, 1e15 + .5, 4503599627370497.5, 1e300, -1e300,
                         -4503599627370495.5, double(INFINITY), double(NAN), 0.99, -0.99, 5e-324}) {
    check_equal("round", m::round(x), std::nearbyint(x));
    check_equal("trunc", m::trunc(x), std::trunc(x));
    check_equal("floor", m::floor(x), std::floor(x));
    check_equal("ceil", m::ceil(x), std::ceil(x));
    check_equal("round f32", m::round(float(x)), std::nearbyint(float(x)));
    check_equal("floor f32", m::floor(float(x)), std::floor(float(x)));
    check_equal("ceil f32", m::ceil(float(x)), std::ceil(float(x)));
  }
  const double inf = m::infinity<double>;
  const double x[] = {5, -5, 5, 0., -0., 5, inf, 5, -5, 0}, y[] = {3, 3, -3, -3, 3, 0, 3, inf, inf, 0};
  const double remainders[] = {2, 1, -1, 0, -0., NAN, NAN, 5, inf, NAN}, quotients[] = {1, -2, -2, -0., -0., inf, NAN, 0, -1, NAN};
  for (int i = 0; i < 10; i++) {
    check_equal("remainder", m::remainder(x[i], y[i]), remainders[i]);
    check_equal("floor_divide", m::floor_divide(x[i], y[i]), quotients[i]);
  }
  check_equal("floor_divide int", double(m::floor_divide(-7, 2)), -4.);
  check_equal("remainder int", double(m::remainder(int64_t{-7}, int64_t{2})), 1.);
  check_equal("floor_divide lowest", double(m::floor_divide(INT32_MIN, -1)), double(INT32_MIN));
  check_equal("pow int", double(m::pow(int64_t{-3}, int64_t{5})), -243.);
}

template <class T>
double complex_error(adjoint::Complex<T> got, __complex128 exact) {
  const Quad scale = cabsq(exact);
  __complex128 d;
  __real__ d = got.re - __real__ exact;
  __imag__ d = got.im - __imag__ exact;
  return static_cast<double>(cabsq(d) / scale) / std::numeric_limits<T>::epsilon();
}
template <class T, class F, class R>
void check_complex(const char* name, double bound, double spread, F function, R reference) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  double worst = 0;
  for (int i = 0; i < 20000; i++) {
    // volatile: gcc 12 takes pairs of doubles that become floats and doubles again for what they were (its SLP vectoriser).
    volatile T re = static_cast<T>(normal(random) * std::exp2(spread * normal(random)));
    volatile T im = static_cast<T>(normal(random) * std::exp2(spread * normal(random)));
    const adjoint::Complex<T> z(re, im);
    __complex128 q;
    __real__ q = z.re;
    __imag__ q = z.im;
    const __complex128 exact = reference(q);
    if (cabsq(exact) < std::numeric_limits<T>::min()) continue;  // subnormal numbers have fewer bits
    const double error = complex_error(function(z), exact);
    if (error > worst) worst = error;
  }
  failed |= worst > bound;
  std::printf("%-16s %s %10.3f epsilons (bound %g)%s\n", name, sizeof(T) == 4 ? "c64 " : "c128", worst, bound, worst > bound ? "  <-- FAILED" : "");
}
template <class F, class R>
void both_complex(const char* name, double bound, double spread, F function, R reference) {
  check_complex<float>(name, bound, spread, function, reference);
  check_complex<double>(name, bound, spread, function, reference);
}

// Against C's function where a part is special: zeros of both signs, infinities, NaN, and numbers at the ends.
template <class F, class R>
void check_complex_special(const char* name, F function, R reference) {
  const double values[] = {0., -0., 1, -1, .5, -2, INFINITY, -INFINITY, NAN, 1e308, -1e308, 1e-308, 5e-324, 710, -710, 30};
  for (const double x : values)
    for (const double y : values) {
      const adjoint::Complex<double> got = function(adjoint::Complex<double>(x, y));
      const std::complex<double> wanted = reference(std::complex<double>(x, y));
      char what[96];
      std::snprintf(what, sizeof what, "%s(%g, %g)", name, x, y);
      check_equal(what, got.re, wanted.real(), 8);
      check_equal(what, got.im, wanted.imag(), 8);
    }
}
#define COMPLEX(name, bound, spread)                                                   \
  both_complex(#name, bound, spread, UNARY(name), c##name##q);                         \
  check_complex_special(#name, UNARY(name), [](std::complex<double> z) { return std::name(z); });

void complexes() {
  both_complex("reciprocal", 3, 20, UNARY(reciprocal), [](__complex128 z) { return 1.Q / z; });
  both_complex("divide", 4, 20, [](auto z) { return decltype(z)(3, -7) / z; }, [](__complex128 z) { return (3.Q - 7.0Qi) / z; });
  both_complex("abs", 1, 20, [](auto z) { return decltype(z)(m::abs(z)); }, [](__complex128 z) { return __complex128(cabsq(z)); });
  both_complex("expm1", 4, 1, UNARY(expm1), [](__complex128 z) { return cexpq(z) - 1; });
  both_complex("sigmoid", 64, 1, UNARY(sigmoid), [](__complex128 z) { return 1 / (1 + cexpq(-z)); });
  COMPLEX(exp, 3, 1) COMPLEX(log, 3, 20) COMPLEX(sqrt, 3, 20) COMPLEX(sin, 3, 1) COMPLEX(cos, 3, 1) COMPLEX(tan, 4, 1)
  COMPLEX(sinh, 3, 1) COMPLEX(cosh, 3, 1) COMPLEX(tanh, 4, 1) COMPLEX(asin, 4, 20) COMPLEX(acos, 4, 20) COMPLEX(atan, 4, 20)
  COMPLEX(asinh, 4, 20) COMPLEX(acosh, 4, 20) COMPLEX(atanh, 4, 20)
  both_complex("z ** (.3 + .7i)", 16, 1, [](auto z) { return m::pow(z, decltype(z)(.25, .75)); }, [](__complex128 z) { return cpowq(z, .25Q + .75Qi); });
  const adjoint::Complex<double> z(1.1, 2.3), product = z * adjoint::conj(z), zero(0);
  check_equal("im of z conj(z)", product.im, 0.);
  check_equal("0 ** 0", m::pow(zero, zero).re, 1.);
  check_equal("sigmoid(-800 + i)", m::sigmoid(adjoint::Complex<double>(-800, 1)).re, 0.);
  check_equal("(1e308 (1 + i)) / same", (adjoint::Complex<double>(1e308, 1e308) / adjoint::Complex<double>(1e308, 1e308)).re, 1.);
  check_equal("abs(inf + nan i)", m::abs(adjoint::Complex<float>(INFINITY, NAN)), m::infinity<float>);
}

}  // namespace

int run_accuracy() {
  exponentials();
  trigonometry();
  hyperbolics();
  activations();
  error_and_gamma();
  powers();
  roundings();
  complexes();
  std::puts(failed ? "FAILED" : "passed");
  return failed;
}
