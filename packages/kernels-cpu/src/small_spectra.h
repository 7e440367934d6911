// Spectra of small matrices by rotations (Jacobi), in the form of small_lanes.h: a turn makes two columns, or rows and columns, orthogonal,
// and sweeps over all pairs go on until no lane has anything to turn; what does not come to an end is NaN. The largest element must be
// about 1.
#pragma once
#include <limits>

#include "small_lanes.h"

namespace adjoint::cpu::small {

constexpr int most_sweeps = 40;

// Columns p and q of x (m, any) turned by cosines and sines.
template <class T> [[gnu::always_inline]] inline void turn(T* p, T* q, int64_t count, int64_t step, const T* c, const T* s) {
  for (int64_t i = 0; i < count; i++, p += step, q += step)
    each<T>([&](int64_t l) {
      const T x = p[l], y = q[l];
      p[l] = c[l] * x - s[l] * y;
      q[l] = s[l] * x + c[l] * y;
    });
}
// The tangent of the turn for ((alpha, gamma), (gamma, beta)), or 0 where `small` says that gamma is; whether any lane turns.
template <class T, class Small> [[gnu::always_inline]] inline bool angle(const T* alpha, const T* gamma, const T* beta, T* t, T* c, T* s, Small&& small) {
  alignas(64) T turns[lanes<T>];
  each<T>([&](int64_t l) {
    const bool done = small(l);
    const T theta = (beta[l] - alpha[l]) / (2 * (done ? T(1) : gamma[l]));
    const T tangent = std::copysign(T(1), theta) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
    t[l] = done ? T(0) : tangent;
    c[l] = 1 / std::sqrt(t[l] * t[l] + 1);
    s[l] = t[l] * c[l];
    turns[l] = done ? T(0) : T(1);
  });
  T any = 0;
  for (int64_t l = 0; l < lanes<T>; l++) any += turns[l];
  return any > 0;
}

// a (n, n) symmetric: its diagonal becomes the eigenvalues; the columns of v, which is the identity or nothing, the vectors.
template <class T> struct SymmetricSpectrum {
  template <int W> [[gnu::always_inline]] static inline void run(int64_t n, T* a, T* v) {
    constexpr int64_t L = lanes<T>;
    alignas(64) T least[L], t[L], c[L], s[L];
    each<T>([&](int64_t l) { least[l] = 0; });
    for (int64_t i = 0; i < n * n; i++) each<T>([&](int64_t l) { least[l] += a[i * L + l] * a[i * L + l]; });
    each<T>([&](int64_t l) { least[l] = std::sqrt(least[l]) * (std::numeric_limits<T>::epsilon() / 16); });
    bool turned = true;
    for (int sweep = 0; turned && sweep < most_sweeps; sweep++) {
      turned = false;
      for (int64_t p = 0; p < n; p++)
        for (int64_t q = p + 1; q < n; q++) {
          T *own = a + p * n * L, *other = a + q * n * L, *alpha = own + p * L, *gamma = other + p * L, *beta = other + q * L;
          if (!angle(alpha, gamma, beta, t, c, s, [&](int64_t l) { return !(std::fabs(gamma[l]) > least[l]); })) continue;
          turned = true;
          alignas(64) T first[L], last[L];
          each<T>([&](int64_t l) {
            first[l] = alpha[l] - t[l] * gamma[l];
            last[l] = beta[l] + t[l] * gamma[l];
            t[l] = t[l] == 0 ? gamma[l] : T(0);
          });
          turn(own, other, n, L, c, s);
          turn(a + p * L, a + q * L, n, n * L, c, s);
          each<T>([&](int64_t l) {
            alpha[l] = first[l];
            beta[l] = last[l];
            gamma[l] = own[q * L + l] = t[l];
          });
          if (v) turn(v + p * n * L, v + q * n * L, n, L, c, s);
        }
    }
    if (turned) each<T>([&](int64_t l) { a[l] = T(NAN); });
  }
};

// a (m, n), m >= n: its columns become those of u times the singular values, which go to `values`; v as above.
template <class T> struct SingularSpectrum {
  template <int W> [[gnu::always_inline]] static inline void run(int64_t m, int64_t n, T* a, T* v, T* values) {
    constexpr int64_t L = lanes<T>;
    alignas(64) T alpha[L], beta[L], gamma[L], t[L], c[L], s[L];
    bool turned = true;
    for (int sweep = 0; turned && sweep < most_sweeps; sweep++) {
      turned = false;
      for (int64_t p = 0; p < n; p++)
        for (int64_t q = p + 1; q < n; q++) {
          T *own = a + p * m * L, *other = a + q * m * L;
          each<T>([&](int64_t l) { alpha[l] = beta[l] = gamma[l] = 0; });
          for (int64_t i = 0; i < m; i++)
            each<T>([&](int64_t l) {
              const T x = own[i * L + l], y = other[i * L + l];
              alpha[l] += x * x;
              beta[l] += y * y;
              gamma[l] += x * y;
            });
          if (!angle(alpha, gamma, beta, t, c, s, [&](int64_t l) { return !(std::fabs(gamma[l]) > 2 * std::numeric_limits<T>::epsilon() * std::sqrt(alpha[l]) * std::sqrt(beta[l])); })) continue;
          turned = true;
          turn(own, other, m, L, c, s);
          if (v) turn(v + p * n * L, v + q * n * L, n, L, c, s);
        }
    }
    for (int64_t j = 0; j < n; j++) {
      T* length = values + j * L;
      each<T>([&](int64_t l) { length[l] = 0; });
      for (int64_t i = 0; i < m; i++) each<T>([&](int64_t l) { length[l] += a[(j * m + i) * L + l] * a[(j * m + i) * L + l]; });
      each<T>([&](int64_t l) { length[l] = turned ? T(NAN) : std::sqrt(length[l]); });
    }
  }
};

}  // namespace adjoint::cpu::small
