// Batches of matrices so small that a call of LAPACK costs more than its work: as many at a time as a vector has lanes, one in each.
//
// Element (i, j) of all of them lies at (i + j * rows) * lanes: by columns.
#pragma once
#include <cmath>
#include <cstdint>
#include <utility>

#include "compilers.h"
#include "isa.h"

namespace adjoint::cpu::small {

constexpr int64_t limit = 16;  // rows and columns
template <class T> constexpr int64_t lanes = 64 / static_cast<int64_t>(sizeof(T));

// Compiled once on x86: AVX-512 is no faster, as most of the time goes into loading and storing, and what has no AVX2 has LAPACK.
#if defined(__x86_64__) && defined(__GNUC__)
inline bool runs() { return isa::level != isa::baseline; }
template <class K, class... A> void call(A... args) { isa::run_avx2<K, A...>(args...); }
#else
inline bool runs() { return true; }
template <class K, class... A> void call(A... args) { isa::call<K, A...>(args...); }
#endif

// For each lane: y[l] = f(l), in one vector instruction or a few.
template <class T, class F> [[gnu::always_inline]] inline void each(F&& f) {
  ADJOINT_INDEPENDENT
  for (int64_t l = 0; l < lanes<T>; l++) f(l);
}

// a (m, n) = p l u: row k was exchanged with row `exchanged`[k]. info: which pivot is zero (from 1), or 0.
template <class T> struct LU {
  template <int W> [[gnu::always_inline]] static inline void run(int64_t m, int64_t n, T* a, T* exchanged, int32_t* info) {
    constexpr int64_t L = lanes<T>;
    each<T>([&](int64_t l) { info[l] = 0; });
    for (int64_t k = 0; k < (m < n ? m : n); k++) {
      T *column = a + k * m * L, *pivot = column + k * L, *at = exchanged + k * L;
      alignas(64) T best[L];
      each<T>([&](int64_t l) { best[l] = std::fabs(pivot[l]), at[l] = static_cast<T>(k); });
      for (int64_t i = k + 1; i < m; i++)
        each<T>([&](int64_t l) {
          const T size = std::fabs(column[i * L + l]);
          const bool more = size > best[l];
          best[l] = more ? size : best[l];
          at[l] = more ? static_cast<T>(i) : at[l];
        });
      for (int64_t i = k + 1; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
          T *upper = a + (j * m + k) * L, *lower = a + (j * m + i) * L;
          each<T>([&](int64_t l) {
            const bool here = at[l] == static_cast<T>(i);
            const T x = upper[l], y = lower[l];
            upper[l] = here ? y : x;
            lower[l] = here ? x : y;
          });
        }
      alignas(64) T divisor[L];   // 1 for a pivot of zero, below which all is zero
      each<T>([&](int64_t l) {
        divisor[l] = pivot[l] == 0 ? T(1) : pivot[l];
        info[l] = info[l] == 0 && pivot[l] == 0 ? static_cast<int32_t>(k + 1) : info[l];
      });
      for (int64_t i = k + 1; i < m; i++) each<T>([&](int64_t l) { column[i * L + l] /= divisor[l]; });
      for (int64_t j = k + 1; j < n; j++) {
        const T* factor = a + (j * m + k) * L;
        for (int64_t i = k + 1; i < m; i++) each<T>([&](int64_t l) { a[(j * m + i) * L + l] -= column[i * L + l] * factor[l]; });
      }
    }
  }
};

// b (n, k) = (l u)^-1 b, with the exchanges already made; or b = (u^T, l^T)^-1 b, with the exchanges still to be made.
template <class T> struct LUSolve {
  template <int W> [[gnu::always_inline]] static inline void run(bool transposed, int64_t n, int64_t k, const T* a, T* b) {
    constexpr int64_t L = lanes<T>;
    // x[i] -= (a or a^T)(i, j) x[j]
    const int64_t down = transposed ? n : 1, right = transposed ? 1 : n;
    const auto subtract = [&](T* x, int64_t i, int64_t j) __attribute__((always_inline)) {
      const T* factor = a + (i * down + j * right) * L;
      each<T>([&](int64_t l) { x[i * L + l] -= factor[l] * x[j * L + l]; });
    };
    const auto divide = [&](T* x, int64_t i) __attribute__((always_inline)) { each<T>([&](int64_t l) { x[i * L + l] /= a[i * (n + 1) * L + l]; }); };
    for (T* x = b; x < b + n * k * L; x += n * L) {
      for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) subtract(x, i, j);
        if (transposed) divide(x, i);
      }
      for (int64_t i = n; i-- > 0;) {
        for (int64_t j = i + 1; j < n; j++) subtract(x, i, j);
        if (!transposed) divide(x, i);
      }
    }
  }
};

// The upper triangle u of a = u^T u, of which a holds the upper triangle; where it fails, NaN.
template <class T> struct Cholesky {
  template <int W> [[gnu::always_inline]] static inline void run(int64_t n, T* a) {
    constexpr int64_t L = lanes<T>;
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i <= j; i++) {
        T *y = a + (j * n + i) * L, *left = a + i * n * L, *right = a + j * n * L;
        for (int64_t q = 0; q < i; q++) each<T>([&](int64_t l) { y[l] -= left[q * L + l] * right[q * L + l]; });
        if (i < j) each<T>([&](int64_t l) { y[l] /= left[i * L + l]; });
        else each<T>([&](int64_t l) { y[l] = y[l] > 0 ? std::sqrt(y[l]) : T(NAN); });
      }
  }
};

// Reflections H = 1 - tau v v^T, in LAPACK's form: of a (m, n) = q r, v lies below the diagonal and r above.
template <class T> struct QR {
  template <int W> [[gnu::always_inline]] static inline void run(int64_t m, int64_t n, T* a, T* tau) {
    constexpr int64_t L = lanes<T>;
    alignas(64) T largest[L], square[L], head[L];
    for (int64_t k = 0; k < (m < n ? m : n); k++) {
      T *column = a + k * m * L, *diagonal = column + k * L, *factor = tau + k * L;
      // In units of the largest element, so that no square overflows.
      each<T>([&](int64_t l) { largest[l] = square[l] = 0; });
      for (int64_t i = k; i < m; i++) each<T>([&](int64_t l) { largest[l] = std::fabs(column[i * L + l]) > largest[l] ? std::fabs(column[i * L + l]) : largest[l]; });
      each<T>([&](int64_t l) { largest[l] = largest[l] > 0 ? largest[l] : T(1); });
      for (int64_t i = k + 1; i < m; i++) each<T>([&](int64_t l) {
        column[i * L + l] /= largest[l];
        square[l] += column[i * L + l] * column[i * L + l];
      });
      each<T>([&](int64_t l) {
        const T alpha = diagonal[l] / largest[l], length = std::sqrt(alpha * alpha + square[l]), beta = -std::copysign(length, alpha);
        const bool done = square[l] == 0;   // nothing to reflect
        factor[l] = done ? T(0) : (beta - alpha) / beta;
        head[l] = done ? T(1) : alpha - beta;
        diagonal[l] = done ? diagonal[l] : beta * largest[l];
      });
      for (int64_t i = k + 1; i < m; i++) each<T>([&](int64_t l) { column[i * L + l] /= head[l]; });
      for (int64_t j = k + 1; j < n; j++) reflect(m, k, column, factor, a + j * m * L);
    }
  }
  // x = H x, in rows from k on.
  [[gnu::always_inline]] static inline void reflect(int64_t m, int64_t k, const T* v, const T* factor, T* x) {
    constexpr int64_t L = lanes<T>;
    alignas(64) T sum[L];
    each<T>([&](int64_t l) { sum[l] = x[k * L + l]; });
    for (int64_t i = k + 1; i < m; i++) each<T>([&](int64_t l) { sum[l] += v[i * L + l] * x[i * L + l]; });
    each<T>([&](int64_t l) { x[k * L + l] -= (sum[l] *= factor[l]); });
    for (int64_t i = k + 1; i < m; i++) each<T>([&](int64_t l) { x[i * L + l] -= sum[l] * v[i * L + l]; });
  }
};

// The first `wide` columns of the product of `k` reflections, into q, which is the identity.
template <class T> struct Reflected {
  template <int W> [[gnu::always_inline]] static inline void run(int64_t m, int64_t wide, int64_t k, const T* a, const T* tau, T* q) {
    constexpr int64_t L = lanes<T>;
    while (k-- > 0)
      for (int64_t j = k; j < wide; j++) QR<T>::reflect(m, k, a + k * m * L, tau + k * L, q + j * m * L);
  }
};

}  // namespace adjoint::cpu::small
