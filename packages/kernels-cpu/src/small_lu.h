// LU factorisation and solution for matrices so small that a call of LAPACK costs more than its work. By columns, in LAPACK's form.
#pragma once
#include "lapack.h"

#include <cmath>
#include <utility>

namespace adjoint::cpu {

constexpr int64_t small_lu_limit = 12;

template <class T> inline auto pivot_size(T x) {
  if constexpr (is_complex_v<T>) return std::fabs(x.re) + std::fabs(x.im);
  else return std::fabs(x);
}

// a (n, n) = p l u; which pivot is zero, or 0.
template <class T> int lu_square(int64_t n, T* a, int32_t* p) {
  if (n > small_lu_limit) return lapack::getrf(static_cast<int>(n), static_cast<int>(n), a, p);
  int info = 0;
  for (int64_t k = 0; k < n; k++) {
    T* column = a + k * n;
    int64_t best = k;
    for (int64_t i = k + 1; i < n; i++)
      if (pivot_size(column[i]) > pivot_size(column[best])) best = i;
    p[k] = static_cast<int32_t>(best + 1);
    if (column[best] == T(0)) {
      info = info ? info : static_cast<int>(k + 1);
      continue;
    }
    for (int64_t j = 0; best != k && j < n; j++) std::swap(a[k + j * n], a[best + j * n]);
    for (int64_t i = k + 1; i < n; i++) column[i] = column[i] / column[k];
    for (int64_t j = k + 1; j < n; j++) {
      const T factor = a[k + j * n];
      for (int64_t i = k + 1; i < n; i++) a[i + j * n] = a[i + j * n] - column[i] * factor;
    }
  }
  return info;
}

// b (n, k) = op(p l u)^-1 b; `how`: N or T.
template <class T> void lu_solve(char how, int64_t n, int64_t k, const T* a, const int32_t* p, T* b) {
  if (n > small_lu_limit) {
    lapack::getrs(how, static_cast<int>(n), static_cast<int>(k), a, p, b);
    return;
  }
  for (T* x = b; x < b + n * k; x += n) {
    if (how == 'N') {
      for (int64_t i = 0; i < n; i++) std::swap(x[i], x[p[i] - 1]);
      for (int64_t j = 0; j < n; j++)
        for (int64_t i = j + 1; i < n; i++) x[i] = x[i] - a[i + j * n] * x[j];
      for (int64_t j = n; j-- > 0;) {
        x[j] = x[j] / a[j + j * n];
        for (int64_t i = 0; i < j; i++) x[i] = x[i] - a[i + j * n] * x[j];
      }
    } else {
      for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) x[i] = x[i] - a[j + i * n] * x[j];
        x[i] = x[i] / a[i + i * n];
      }
      for (int64_t i = n; i-- > 0;)
        for (int64_t j = i + 1; j < n; j++) x[i] = x[i] - a[j + i * n] * x[j];
      for (int64_t i = n; i-- > 0;) std::swap(x[i], x[p[i] - 1]);
    }
  }
}

}  // namespace adjoint::cpu
