// The regularised incomplete gamma functions of floats: the power series and the continued fraction as quotients of two recurrences,
// a tile of elements at a time, for as many steps as the slowest of them takes.
#include <adjoint/core/math/exp.h>
#include <adjoint/core/math/log.h>

#include <algorithm>
#include <cstring>

#include "compilers.h"
#include "elementwise.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t gamma_tile = 128;
constexpr double enough = 0x1p-40;  // of a sum: what is less changes no float

struct GammaTile {
  template <int W> [[gnu::always_inline]] static inline void run(char* to, const char* const* from, const void* upper, int64_t n) {
    float* y = reinterpret_cast<float*>(to);
    const float *a = reinterpret_cast<const float*>(from[0]), *x = reinterpret_cast<const float*>(from[1]);
    for (int64_t i = 0; i < n; i += gamma_tile) tile(y + i, a + i, x + i, std::min(gamma_tile, n - i), *static_cast<const bool*>(upper));
  }

 private:
  // Where the recurrences take too many steps or leave the range of double, and Q of orders so small that 1 - P has few digits.
  [[gnu::always_inline]] static inline bool hard(float a, float x, bool upper) {
    return (a > 64) | (x > 1000) | (upper & (a > 0) & (a < .01f) & (x < 1.01f));
  }
  [[gnu::always_inline]] static inline bool valid(float a, float x) { return (a > 0) & (x > 0); }

  [[gnu::always_inline]] static inline void tile(float* y, const float* from_a, const float* from_x, int64_t n, bool upper) {
    float given_a[gamma_tile], given_x[gamma_tile], found[gamma_tile];   // whole, so that no loop has other ends
    double a[gamma_tile], x[gamma_tile], series[gamma_tile], fraction[gamma_tile];
    int32_t any = 0;
    for (int64_t j = 0; j < gamma_tile; j++) given_a[j] = given_x[j] = 1;
    std::memcpy(given_a, from_a, static_cast<size_t>(n) * sizeof(float));
    std::memcpy(given_x, from_x, static_cast<size_t>(n) * sizeof(float));
    for (int64_t j = 0; j < gamma_tile; j++) {
      const bool usable = valid(given_a[j], given_x[j]);
      a[j] = usable ? given_a[j] : 1.f;
      x[j] = usable ? given_x[j] : 1.f;
      any |= hard(given_a[j], given_x[j], upper) ? 1 : 0;
    }
    if (any || !sum_series(a, x, series) || !sum_fraction(a, x, fraction)) return exactly(y, from_a, from_x, n, upper);
    for (int64_t j = 0; j < gamma_tile; j++) {
      const bool below = x[j] < a[j] + 1;
      const double part = term(a[j], x[j]) * (below ? series[j] : a[j] * fraction[j]);
      const float value = static_cast<float>(below == upper ? 1 - part : part), at_edge = edge(given_a[j], given_x[j], upper);
      found[j] = valid(given_a[j], given_x[j]) ? value : at_edge;
    }
    std::memcpy(y, found, static_cast<size_t>(n) * sizeof(float));
  }
  // Of an order or an argument that is 0, below 0 or NaN.
  [[gnu::always_inline]] static inline float edge(float a, float x, bool upper) {
    const float one = upper ? 1.f : 0.f, at_zero = (a > 0) & (x == 0) ? one : math::nan<float>;
    return (a == 0) & (x > 0) ? 1 - one : at_zero;
  }
  // x^a e^-x / Gamma(a + 1), by Stirling's series for a + 9.
  [[gnu::always_inline]] static inline double term(double a, double x) {
    double product = a + 1;
#pragma GCC unroll 7
    for (int k = 2; k < 9; k++) product *= a + k;
    const double large = a + 9, w = 1 / large;
    const double stirling = ((large - .5) * math::detail::log_positive(large) - large) + (.91893853320467274 + w * math::poly(w * w, 1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188));
    return product * math::exp((a * math::detail::log_positive(x) - x) - stirling);
  }
  // The sum of x^k / ((a + 1) ... (a + k)), as top / bottom, for x < a + 1; whether the steps were enough.
  [[gnu::always_inline]] static inline bool sum_series(const double* a, const double* x, double* sum) {
    double top[gamma_tile], bottom[gamma_tile], power[gamma_tile];
    for (int64_t j = 0; j < gamma_tile; j++) top[j] = bottom[j] = power[j] = 1;
    for (double k = 1; k < 97; k += 2) {
      int64_t left = 0;
      for (int64_t j = 0; j < gamma_tile; j++) {
        const double z = x[j] < a[j] + 1 ? x[j] : 0;
        double t = top[j], b = bottom[j], p = power[j];
#pragma GCC unroll 2
        for (int i = 0; i < 2; i++) {
          p *= z;
          t = t * (a[j] + (k + i)) + p;
          b *= a[j] + (k + i);
        }
        top[j] = t, bottom[j] = b, power[j] = p;
        left |= p > enough * t ? 1 : 0;
      }
      if (left) continue;
      for (int64_t j = 0; j < gamma_tile; j++) sum[j] = top[j] / bottom[j];
      return true;
    }
    return false;
  }
  // 1 / (x + 1 - a + (a - 1) / (x + 3 - a + 2 (a - 2) / (x + 5 - a + ...))) for x >= a + 1.
  [[gnu::always_inline]] static inline bool sum_fraction(const double* a, const double* x, double* value) {
    double top[gamma_tile], bottom[gamma_tile], top_before[gamma_tile], bottom_before[gamma_tile];
    for (int64_t j = 0; j < gamma_tile; j++) {
      top[j] = 1, top_before[j] = bottom_before[j] = 0;
      bottom[j] = x[j] < a[j] + 1 ? 1 : x[j] + 1 - a[j];
      bottom_before[j] = 1;
    }
    for (double k = 1; k < 97; k += 2) {
      int64_t left = 0;
      for (int64_t j = 0; j < gamma_tile; j++) {
        const bool idle = x[j] < a[j] + 1;
        const double order = idle ? 1 : a[j], b = idle ? 1 : x[j] + 1 - a[j];
        double t = top[j], d = bottom[j], t1 = top_before[j], d1 = bottom_before[j];
#pragma GCC unroll 2
        for (int i = 0; i < 2; i++) {
          const double n = k + i, c = n * (order - n), step = b + 2 * n, t2 = step * t + c * t1, d2 = step * d + c * d1;
          t1 = t, d1 = d, t = t2, d = d2;
        }
        top[j] = t, bottom[j] = d, top_before[j] = t1, bottom_before[j] = d1;
        left |= !idle & (math::abs(t * d1 - t1 * d) > enough * math::abs(t * d1)) ? 1 : 0;
      }
      if (left) continue;
      for (int64_t j = 0; j < gamma_tile; j++) value[j] = top[j] / bottom[j];
      return true;
    }
    return false;
  }
  static void exactly(float* y, const float* a, const float* x, int64_t n, bool upper) {
    const int64_t step = 1;
    auto view = [&](const float* p) { return View{reinterpret_cast<char*>(const_cast<float*>(p)), &n, &step, 1, DType::float32, n}; };
    const View in[] = {view(a), view(x)}, out[] = {view(y)};
    reference({in, out, Attrs{}, upper ? "igammac" : "igamma"});
  }
};

void run_tiles(const Launch& l, bool upper) {
  const DType type = l.x[0].dtype;
  if (type != DType::float32 && !is_half(type)) return reference(l);
  run_functor(l, {isa::at_level<GammaTile, char*, const char* const*, const void*, int64_t>()}, &upper, 1024);
}

}  // namespace

void igamma_kernel(const Launch& l) { run_tiles(l, false); }
void igammac_kernel(const Launch& l) { run_tiles(l, true); }

}  // namespace adjoint::cpu
