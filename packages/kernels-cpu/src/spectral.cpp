// Eigenvalues and singular values with their vectors, by LAPACK.
#include <adjoint/core/linalg.h>

#include <cmath>

#include "matrices.h"

namespace adjoint::cpu {

namespace {

bool finite(float x) { return std::isfinite(x); }
bool finite(double x) { return std::isfinite(x); }
template <class R> bool finite(Complex<R> x) { return finite(x.re) && finite(x.im); }
template <class T> bool all_finite(const T* x, int64_t n) { return std::all_of(x, x + n, [](T v) { return finite(v); }); }

void eigh_kernel(const Launch& l) {
  const bool vectors = l.attrs.as<Spectral>().vectors;
  expect_success(l, for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const auto a = item<T>(l.x[0], b);
    const int64_t n = a.rows;
    if (n == 0) return 0;
    const Scratch<T> work(n * n);
    copy_columns(a, static_cast<T*>(work));
    const int info = lapack::eigh(vectors ? 'V' : 'N', static_cast<int>(n), work, l.y[0].as<real_t<T>>() + b * n);
    if (vectors) from_columns<T>(work, n, n, n, l.y[1].as<T>() + b * n * n);
    return info;
  }));
}

void svd_kernel(const Launch& l) {
  const Singular& how = l.attrs.as<Singular>();
  const auto code = [&] { return !how.vectors ? 'N' : how.full ? 'A' : 'S'; };
  expect_success(l, for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const auto a = item<T>(l.x[0], b);
    const int64_t m = a.rows, n = a.columns, k = std::min(m, n), wide = l.y[0].sizes[l.y[0].ndim - 1], tall = l.y[2].sizes[l.y[2].ndim - 2];
    const Scratch<T> work(m * n), u(m * std::max<int64_t>(wide, 1)), vh(std::max<int64_t>(tall, 1) * n);
    copy_columns(a, static_cast<T*>(work));
    if (!all_finite<T>(work, m * n)) return not_finite;
    int32_t info = 0;
    if (k) info = lapack::gesdd(code(), static_cast<int>(m), static_cast<int>(n), work, l.y[1].as<real_t<T>>() + b * k, u, vh, static_cast<int>(std::max<int64_t>(tall, 1)));
    else {   // nothing to factor: any basis
      std::fill_n(static_cast<T*>(u), m * wide, T(0));
      std::fill_n(static_cast<T*>(vh), tall * n, T(0));
      for (int64_t i = 0; i < wide; i++) u[i * m + i] = T(1);
      for (int64_t i = 0; i < tall; i++) vh[i * tall + i] = T(1);
    }
    if (!how.vectors) return info;
    from_columns<T>(u, m, wide, m, l.y[0].as<T>() + b * m * wide);
    from_columns<T>(vh, tall, n, tall, l.y[2].as<T>() + b * tall * n);
    return info;
  }));
}

template <class R> int eig(int64_t n, R* a, Complex<R>* w, Complex<R>* v) {
  const Scratch<R> re(n), im(n), packed(n * n);
  const int info = lapack::geev(static_cast<int>(n), a, re, im, packed);
  for (int64_t j = 0; j < n; j++) {
    w[j] = {re[j], im[j]};
    for (int64_t i = 0; i < n; i++) {   // a pair of conjugate vectors: real parts, then imaginary parts
      if (im[j] == 0) v[i * n + j] = {packed[j * n + i], 0};
      else if (im[j] > 0) v[i * n + j] = {packed[j * n + i], packed[(j + 1) * n + i]};
      else v[i * n + j] = {packed[(j - 1) * n + i], -packed[j * n + i]};
    }
  }
  return info;
}
template <class R> int eig(int64_t n, Complex<R>* a, Complex<R>* w, Complex<R>* v) {
  const Scratch<Complex<R>> vectors(n * n);
  const int info = lapack::geev(static_cast<int>(n), a, w, vectors);
  from_columns<Complex<R>>(vectors, n, n, n, v);
  return info;
}

void eig_kernel(const Launch& l) {
  expect_success(l, for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    using Z = Complex<real_t<T>>;
    const auto a = item<T>(l.x[0], b);
    const int64_t n = a.rows;
    if (n == 0) return 0;
    const Scratch<T> work(n * n);
    copy_columns(a, static_cast<T*>(work));
    if (!all_finite<T>(work, n * n)) return not_finite;
    return eig(n, static_cast<T*>(work), l.y[0].as<Z>() + b * n, l.y[1].as<Z>() + b * n * n);
  }));
}

constexpr Entry entries[] = {{"eig", eig_kernel}, {"eigh", eigh_kernel}, {"svd", svd_kernel}};

}  // namespace

Entries spectral_kernels() { return entries; }

}  // namespace adjoint::cpu
