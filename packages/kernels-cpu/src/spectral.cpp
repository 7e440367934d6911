// Eigenvalues and singular values with their vectors, by LAPACK.
#include <adjoint/core/linalg.h>

#include <cmath>

#include "flushed.h"
#include "small_batch.h"
#include "small_spectra.h"

namespace adjoint::cpu {

namespace {

bool finite(float x) { return std::isfinite(x); }
bool finite(double x) { return std::isfinite(x); }
template <class R> bool finite(Complex<R> x) { return finite(x.re) && finite(x.im); }
template <class T> bool all_finite(const T* x, int64_t n) { return std::all_of(x, x + n, [](T v) { return finite(v); }); }

// Whether an element is so far above the least normal number that numbers below that one are nothing beside rounding errors.
template <class T> bool has_room(const T* x, int64_t n) {
  using R = real_t<T>;
  const auto* parts = reinterpret_cast<const R*>(x);
  return std::any_of(parts, parts + n * static_cast<int64_t>(sizeof(T) / sizeof(R)), [](R v) { return std::fabs(v) > least_with_room<R>; });
}

// ---- groups of small matrices

// Vectors by rotations have other signs than LAPACK's, which other programs know: where a few matrices are compared with each of them
// alone, both are LAPACK's. What many gain is more (2 x 2: 2 us to 0.1).
bool as_group(const View& x, bool vectors) { return small::suits(x) && (!vectors || batch_of(x) >= 64); }

// Brings each lane of a (size elements) to a largest element about 1, by a power of two, which is exact; 0 for what is not finite.
template <class T> std::array<T, small::lanes<T>> normalise(T* a, int64_t size) {
  constexpr int64_t lanes = small::lanes<T>;
  std::array<T, lanes> scale;
  for (int64_t l = 0; l < lanes; l++) {
    T largest = 0;
    bool good = true;
    for (int64_t i = 0; i < size; i++) {
      good = good && finite(a[i * lanes + l]);
      largest = std::max(largest, std::fabs(a[i * lanes + l]));
    }
    const int exponent = good && largest > 0 ? std::ilogb(largest) : 0;
    for (int64_t i = 0; i < size; i++) a[i * lanes + l] = good ? std::ldexp(a[i * lanes + l], -exponent) : T(i == 0);
    scale[l] = good ? std::ldexp(T(1), exponent) : T(0);
  }
  return scale;
}
template <class T> void identity(T* v, int64_t n) {
  std::fill_n(v, n * n * small::lanes<T>, T(0));
  for (int64_t i = 0; i < n; i++) std::fill_n(v + i * (n + 1) * small::lanes<T>, small::lanes<T>, T(1));
}
// Positions of `n` values, `step` apart: the least first, or the greatest.
template <class T> small::Order sorted(const T* values, int64_t n, int64_t step, bool descending) {
  small::Order order{};
  for (int64_t i = 0; i < n; i++) {
    int64_t at = i;
    for (; at > 0 && (values[i * step] < values[order[at - 1] * step]) != descending && values[i * step] != values[order[at - 1] * step]; at--) order[at] = order[at - 1];
    order[at] = i;
  }
  return order;
}

template <class T> int32_t eigh_alone(const Launch& l, int64_t b) {
  const bool vectors = l.attrs.as<Spectral>().vectors;
  const auto a = item<T>(l.x[0], b);
  const int64_t n = a.rows;
  if (n == 0) return 0;
  const Scratch<T> work(n * n);
  copy_columns(a, static_cast<T*>(work));
  const Flushed flushed(has_room<T>(work, n * n));
  const int info = lapack::eigh(vectors ? 'V' : 'N', static_cast<int>(n), work, l.y[0].as<real_t<T>>() + b * n);
  if (vectors) from_columns<T>(work, n, n, n, l.y[1].as<T>() + b * n * n);
  return info;
}
// What has no end or is not finite goes to LAPACK, which says so.
template <class T> void eigh_of_group(const Launch& l, int64_t first, int64_t count, int32_t* info) {
  constexpr int64_t lanes = small::lanes<T>;
  const bool vectors = l.attrs.as<Spectral>().vectors;
  const int64_t n = l.x[0].sizes[l.x[0].ndim - 1];
  const Scratch<T> a(n * n * lanes), v(vectors ? n * n * lanes : 1);
  small::load<T>(l.x[0], first, count, a, false);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < j; i++) std::copy_n(a + (i * n + j) * lanes, lanes, a + (j * n + i) * lanes);
  const auto scale = normalise<T>(a, n * n);
  identity<T>(v, vectors ? n : 0);
  small::call<small::SymmetricSpectrum<T>>(n, static_cast<T*>(a), vectors ? static_cast<T*>(v) : nullptr);
  for (int64_t lane = 0; lane < count; lane++) {
    const int64_t b = first + lane, step = (n + 1) * lanes;
    if (scale[lane] == 0 || !finite(a[lane])) {
      info[b] = eigh_alone<T>(l, b);
      continue;
    }
    const small::Order order = sorted<T>(a + lane, n, step, false);
    for (int64_t k = 0; k < n; k++) {
      l.y[0].as<T>()[b * n + k] = a[order[k] * step + lane] * scale[lane];
      for (int64_t i = 0; vectors && i < n; i++) l.y[1].as<T>()[(b * n + i) * n + k] = v[(order[k] * n + i) * lanes + lane];
    }
  }
}

void eigh_kernel(const Launch& l) {
  if (!as_group(l.x[0], l.attrs.as<Spectral>().vectors)) return expect_success(l, for_matrices(l.x[0], [&](auto tag, int64_t b) { return eigh_alone<typename decltype(tag)::type>(l, b); }));
  std::vector<int32_t> info(batch_of(l.x[0]));
  small::for_groups(l.x[0], [&](auto tag, int64_t first, int64_t count) { eigh_of_group<typename decltype(tag)::type>(l, first, count, info.data()); });
  expect_success(l, info);
}

template <class T> int32_t svd_alone(const Launch& l, int64_t b) {
  const Singular& how = l.attrs.as<Singular>();
  const char code = !how.vectors ? 'N' : how.full ? 'A' : 'S';
  const auto a = item<T>(l.x[0], b);
  const int64_t m = a.rows, n = a.columns, k = std::min(m, n), wide = l.y[0].sizes[l.y[0].ndim - 1], tall = l.y[2].sizes[l.y[2].ndim - 2];
  const Scratch<T> work(m * n), u(m * std::max<int64_t>(wide, 1)), vh(std::max<int64_t>(tall, 1) * n);
  copy_columns(a, static_cast<T*>(work));
  if (!all_finite<T>(work, m * n)) return not_finite;
  int32_t info = 0;
  const Flushed flushed(has_room<T>(work, m * n));
  if (k) info = lapack::gesdd(code, static_cast<int>(m), static_cast<int>(n), work, l.y[1].as<real_t<T>>() + b * k, u, vh, static_cast<int>(std::max<int64_t>(tall, 1)));
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
}
// Of a wide matrix the transpose is turned. Where a singular value vanishes its vector is no column over it: LAPACK finds one.
template <class T> void svd_of_group(const Launch& l, int64_t first, int64_t count, int32_t* info) {
  constexpr int64_t lanes = small::lanes<T>;
  constexpr T vanishing = sizeof(T) == 4 ? T(1e-15) : T(1e-140);
  const bool vectors = l.attrs.as<Singular>().vectors;
  const int64_t m = l.x[0].sizes[l.x[0].ndim - 2], n = l.x[0].sizes[l.x[0].ndim - 1], rows = std::max(m, n), k = std::min(m, n);
  const Scratch<T> a(m * n * lanes), v(vectors ? k * k * lanes : 1), values(k * lanes);
  small::load<T>(l.x[0], first, count, a, m < n);
  const auto scale = normalise<T>(a, m * n);
  identity<T>(v, vectors ? k : 0);
  small::call<small::SingularSpectrum<T>>(rows, k, static_cast<T*>(a), vectors ? static_cast<T*>(v) : nullptr, static_cast<T*>(values));
  for (int64_t lane = 0; lane < count; lane++) {
    const int64_t b = first + lane;
    const bool found = scale[lane] != 0 && finite(values[lane]);
    const small::Order order = found ? sorted<T>(values + lane, k, lanes, true) : small::Order{};
    if (!found || values[order[k - 1] * lanes + lane] <= vanishing) {
      info[b] = svd_alone<T>(l, b);
      continue;
    }
    T *u = l.y[0].as<T>() + b * m * k, *vh = l.y[2].as<T>() + b * k * n;
    for (int64_t c = 0; c < k; c++) {
      const T value = values[order[c] * lanes + lane];
      l.y[1].as<T>()[b * k + c] = value * scale[lane];
      if (!vectors) continue;
      for (int64_t i = 0; i < rows; i++) (m < n ? vh[c * n + i] : u[i * k + c]) = a[(order[c] * rows + i) * lanes + lane] / value;
      for (int64_t i = 0; i < k; i++) (m < n ? u[i * k + c] : vh[c * n + i]) = v[(order[c] * k + i) * lanes + lane];
    }
  }
}

void svd_kernel(const Launch& l) {
  const bool square = l.x[0].sizes[l.x[0].ndim - 2] == l.x[0].sizes[l.x[0].ndim - 1];
  const Singular& how = l.attrs.as<Singular>();
  if (!as_group(l.x[0], how.vectors) || (how.full && !square)) return expect_success(l, for_matrices(l.x[0], [&](auto tag, int64_t b) { return svd_alone<typename decltype(tag)::type>(l, b); }));
  std::vector<int32_t> info(batch_of(l.x[0]));
  small::for_groups(l.x[0], [&](auto tag, int64_t first, int64_t count) { svd_of_group<typename decltype(tag)::type>(l, first, count, info.data()); });
  expect_success(l, info);
}

// v: null where no vectors are wanted.
template <class R> int eig(int64_t n, R* a, Complex<R>* w, Complex<R>* v) {
  const Scratch<R> re(n), im(n), packed(v ? n * n : 1);
  const int info = lapack::geev(static_cast<int>(n), a, re, im, v ? static_cast<R*>(packed) : nullptr);
  for (int64_t j = 0; j < n; j++) {
    w[j] = {re[j], im[j]};
    for (int64_t i = 0; v && i < n; i++) {   // a pair of conjugate vectors: real parts, then imaginary parts
      if (im[j] == 0) v[i * n + j] = {packed[j * n + i], 0};
      else if (im[j] > 0) v[i * n + j] = {packed[j * n + i], packed[(j + 1) * n + i]};
      else v[i * n + j] = {packed[(j - 1) * n + i], -packed[j * n + i]};
    }
  }
  return info;
}
template <class R> int eig(int64_t n, Complex<R>* a, Complex<R>* w, Complex<R>* v) {
  if (!v) return lapack::geev(static_cast<int>(n), a, w, v);
  const Scratch<Complex<R>> vectors(n * n);
  const int info = lapack::geev(static_cast<int>(n), a, w, static_cast<Complex<R>*>(vectors));
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
    const Flushed flushed(has_room<T>(work, n * n));
    return eig(n, static_cast<T*>(work), l.y[0].as<Z>() + b * n, l.attrs.as<Spectral>().vectors ? l.y[1].as<Z>() + b * n * n : nullptr);
  }));
}

constexpr Entry entries[] = {{"eig", eig_kernel}, {"eigh", eigh_kernel}, {"svd", svd_kernel}};

}  // namespace

Entries spectral_kernels() { return entries; }

}  // namespace adjoint::cpu
