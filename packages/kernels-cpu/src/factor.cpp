// Factorisations, by LAPACK: Cholesky, LU, QR and products of its reflections, and that of symmetric matrices.
#include <adjoint/core/linalg.h>

#include "lu.h"
#include "small_batch.h"

namespace adjoint::cpu {

namespace {

// By columns, row-major memory holds the transpose: of a Hermitian matrix the conjugate, whose upper triangle lies where L does.
template <class T> int32_t cholesky(const Launch& l, int64_t b) {
  const auto a = item<T>(l.x[0], b);
  T* y = l.y[0].as<T>() + b * a.rows * a.rows;
  copy_rows(a, y);
  int info = a.rows ? lapack::potrf(static_cast<int>(a.rows), y) : 0;
  for (int64_t i = 0; i < a.rows && info == 0; i++)
    if (const T d = y[i * a.rows + i]; !(d == d)) info = static_cast<int>(i) + 1;   // OpenBLAS does not look for NaN
  for (int64_t i = 0; i < a.rows; i++) std::fill(y + i * a.rows + i + 1, y + (i + 1) * a.rows, T(0));
  return l.y[1].as<int32_t>()[b] = info;
}

// What is not positive definite goes to LAPACK, which says why.
template <class T> void cholesky_of_group(const Launch& l, int64_t first, int64_t count) {
  constexpr int64_t lanes = small::lanes<T>;
  const int64_t n = l.x[0].sizes[l.x[0].ndim - 1];
  const Scratch<T> a(n * n * lanes);
  small::load<T>(l.x[0], first, count, a, true);
  small::call<small::Cholesky<T>>(n, static_cast<T*>(a));
  for (int64_t j = 0; j < n; j++) std::fill_n(a + (j * n + j + 1) * lanes, (n - 1 - j) * lanes, T(0));
  small::store<T>(a, n, n, first, count, l.y[0].as<T>(), true);
  for (int64_t b = first; b < first + count; b++) {
    const T last = a[(n * n - 1) * lanes + b - first];
    l.y[1].as<int32_t>()[b] = last == last ? 0 : cholesky<T>(l, b);
  }
}

void cholesky_kernel(const Launch& l) {
  if (small::suits(l.x[0])) small::for_groups(l.x[0], [&](auto tag, int64_t first, int64_t count) { cholesky_of_group<typename decltype(tag)::type>(l, first, count); });
  else for_matrices(l.x[0], [&](auto tag, int64_t b) { return cholesky<typename decltype(tag)::type>(l, b); });
  if (l.attrs.as<Checked>().check) expect_success(l, {l.y[1].as<int32_t>(), l.y[1].as<int32_t>() + batch_of(l.x[0])});
}

template <class T> void lu_of_group(const Launch& l, int64_t first, int64_t count) {
  constexpr int64_t lanes = small::lanes<T>;
  const int64_t m = l.x[0].sizes[l.x[0].ndim - 2], n = l.x[0].sizes[l.x[0].ndim - 1], k = std::min(m, n);
  const Scratch<T> a(m * n * lanes), exchanged(k * lanes);
  const Scratch<int32_t> info(lanes);
  small::load<T>(l.x[0], first, count, a, false);
  small::call<small::LU<T>>(m, n, static_cast<T*>(a), static_cast<T*>(exchanged), static_cast<int32_t*>(info));
  small::store<T>(a, m, n, first, count, l.y[0].as<T>(), false);
  small::store_exchanges<T>(exchanged, k, first, count, l.y[1].as<int32_t>());
  std::copy_n(static_cast<int32_t*>(info), count, l.y[2].as<int32_t>() + first);
}

void lu_kernel(const Launch& l) {
  if (small::suits(l.x[0])) small::for_groups(l.x[0], [&](auto tag, int64_t first, int64_t count) { lu_of_group<typename decltype(tag)::type>(l, first, count); });
  else for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const auto a = item<T>(l.x[0], b);
    const int64_t m = a.rows, n = a.columns;
    if (m * n == 0) return l.y[2].as<int32_t>()[b] = 0;
    T* const y = l.y[0].as<T>() + b * m * n;
    copy_rows(a, y);
    const int info = factor_lu<T>({y, n, 1}, m, n, l.y[1].as<int32_t>() + b * std::min(m, n));
    return l.y[2].as<int32_t>()[b] = info;
  });
  if (l.attrs.as<Checked>().check) expect_success(l, {l.y[2].as<int32_t>(), l.y[2].as<int32_t>() + batch_of(l.x[0])});
}

// By columns: a (m, n) gets r above its diagonal, q (m, wide) the first columns of q.
template <class T> void factor_qr(int m, int n, int wide, T* a, T* q) {
  const int k = std::min(m, n);
  // geqrf goes column by column up to 128, and orgqr too: blocks are 1.6 times faster there. Below they cost more than they save, and
  // above orgqr does half the work.
  if (k < 64 || k > 192) {
    const Scratch<T> tau(k);
    if (k) lapack::geqrf(m, n, a, tau);
    std::copy_n(a, int64_t(m) * std::min(n, wide), q);
    if (wide) lapack::orgqr(m, wide, k, q, tau);
    return;
  }
  constexpr int block = 32;
  const Scratch<T> t(int64_t(block) * k);
  lapack::geqrt(m, n, block, a, t);
  std::fill_n(q, int64_t(m) * wide, T(0));
  for (int i = 0; i < wide; i++) q[int64_t(i) * m + i] = T(1);
  if (wide) lapack::gemqrt(m, wide, k, block, a, t, q);
}

template <class T> void qr_of_group(const Launch& l, int64_t first, int64_t count) {
  constexpr int64_t lanes = small::lanes<T>;
  const View &x = l.x[0], &q = l.y[0], &r = l.y[1];
  const int64_t m = x.sizes[x.ndim - 2], n = x.sizes[x.ndim - 1], wide = q.sizes[q.ndim - 1], tall = r.sizes[r.ndim - 2], k = std::min(m, n);
  const Scratch<T> a(m * n * lanes), tau(k * lanes), result(m * std::max(wide, n) * lanes);
  small::load<T>(x, first, count, a, false);
  small::call<small::QR<T>>(m, n, static_cast<T*>(a), static_cast<T*>(tau));
  small::reflected_columns<T>(m, wide, k, a, tau, result);
  small::store<T>(result, m, wide, first, count, q.as<T>(), false);
  std::fill_n(static_cast<T*>(result), tall * n * lanes, T(0));
  for (int64_t j = 0; j < n; j++) std::copy_n(a + j * m * lanes, std::min(j + 1, k) * lanes, result + j * tall * lanes);
  small::store<T>(result, tall, n, first, count, r.as<T>(), false);
}

void qr_kernel(const Launch& l) {
  if (small::suits(l.x[0])) return small::for_groups(l.x[0], [&](auto tag, int64_t first, int64_t count) { qr_of_group<typename decltype(tag)::type>(l, first, count); });
  for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const auto a = item<T>(l.x[0], b);
    const int64_t m = a.rows, n = a.columns, wide = l.y[0].sizes[l.y[0].ndim - 1], tall = l.y[1].sizes[l.y[1].ndim - 2];
    if (m == 0) return 0;
    const Scratch<T> work(m * n), q(m * wide);
    copy_columns(a, static_cast<T*>(work));
    factor_qr<T>(static_cast<int>(m), static_cast<int>(n), static_cast<int>(wide), work, q);
    T* r = l.y[1].as<T>() + b * tall * n;
    for (int64_t i = 0; i < tall; i++)
      for (int64_t j = 0; j < n; j++) r[i * n + j] = j >= i ? work[i + j * m] : T(0);
    from_columns<T>(q, m, wide, m, l.y[0].as<T>() + b * m * wide);
    return 0;
  });
}

// ---- reflections

template <class T> void geqrf_of_group(const Launch& l, int64_t first, int64_t count) {
  constexpr int64_t lanes = small::lanes<T>;
  const int64_t m = l.x[0].sizes[l.x[0].ndim - 2], n = l.x[0].sizes[l.x[0].ndim - 1], k = std::min(m, n);
  const Scratch<T> a(m * n * lanes), tau(k * lanes);
  small::load<T>(l.x[0], first, count, a, false);
  small::call<small::QR<T>>(m, n, static_cast<T*>(a), static_cast<T*>(tau));
  small::store<T>(a, m, n, first, count, l.y[0].as<T>(), false);
  small::store<T>(tau, k, 1, first, count, l.y[1].as<T>(), false);
}

void geqrf_kernel(const Launch& l) {
  if (small::suits(l.x[0])) return small::for_groups(l.x[0], [&](auto tag, int64_t first, int64_t count) { geqrf_of_group<typename decltype(tag)::type>(l, first, count); });
  for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const auto a = item<T>(l.x[0], b);
    const int64_t m = a.rows, n = a.columns;
    if (m * n == 0) return 0;
    const Scratch<T> work(m * n);
    copy_columns(a, static_cast<T*>(work));
    lapack::geqrf(static_cast<int>(m), static_cast<int>(n), work, l.y[1].as<T>() + b * std::min(m, n));
    from_columns<T>(work, m, n, m, l.y[0].as<T>() + b * m * n);
    return 0;
  });
}

template <class T> void householder_of_group(const Launch& l, const T* factors, int64_t first, int64_t count) {
  constexpr int64_t lanes = small::lanes<T>;
  const int64_t m = l.x[0].sizes[l.x[0].ndim - 2], n = l.x[0].sizes[l.x[0].ndim - 1], k = l.x[1].sizes[l.x[1].ndim - 1];
  const Scratch<T> a(m * n * lanes), tau(k * lanes), q(m * n * lanes);
  small::load<T>(l.x[0], first, count, a, false);
  for (int64_t i = 0; i < k; i++)
    for (int64_t lane = 0; lane < lanes; lane++) tau[i * lanes + lane] = factors[(first + std::min(lane, count - 1)) * k + i];
  small::reflected_columns<T>(m, n, k, a, tau, q);
  small::store<T>(q, m, n, first, count, l.y[0].as<T>(), false);
}

void householder_kernel(const Launch& l) {
  const Contiguous tau(l.x[1]);
  if (small::suits(l.x[0])) return small::for_groups(l.x[0], [&](auto tag, int64_t first, int64_t count) {
    using T = typename decltype(tag)::type;
    householder_of_group<T>(l, tau.as<T>(), first, count);
  });
  for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const auto a = item<T>(l.x[0], b);
    const int64_t m = a.rows, n = a.columns, k = l.x[1].sizes[l.x[1].ndim - 1];
    if (m * n == 0) return 0;
    const Scratch<T> q(m * n);
    copy_columns(a, static_cast<T*>(q));
    lapack::orgqr(static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), q, tau.as<T>() + b * k);
    from_columns<T>(q, m, n, m, l.y[0].as<T>() + b * m * n);
    return 0;
  });
}

// Row-major memory is, by columns, the transpose: for q c it is c^T q^T, and q^T the adjoint of what the conjugate vectors and factors make.
void ormqr_kernel(const Launch& l) {
  const Reflecting& r = l.attrs.as<Reflecting>();
  const Contiguous factors(l.x[1]);
  for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const auto a = item<T>(l.x[0], b), c = item<T>(l.x[2], b);
    const int64_t k = l.x[1].sizes[l.x[1].ndim - 1];
    T* y = l.y[0].as<T>() + b * c.rows * c.columns;
    copy_rows(c, y);
    if (c.rows * c.columns * k == 0) return 0;
    const Scratch<T> packed(a.rows * a.columns), tau(k);
    copy_columns(a, static_cast<T*>(packed));
    std::copy_n(factors.as<T>() + b * k, k, static_cast<T*>(tau));
    conjugate<T>(packed, a.rows * k);
    conjugate<T>(tau, k);
    return lapack::ormqr(r.left ? 'R' : 'L', r.transpose ? 'N' : 'T', static_cast<int>(c.columns), static_cast<int>(c.rows), static_cast<int>(k), packed, tau, y);
  });
}

// ---- symmetric and Hermitian matrices that need not be positive

void ldl_factor_kernel(const Launch& l) {
  const Symmetric& s = l.attrs.as<Symmetric>();
  for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const auto a = item<T>(l.x[0], b);
    const int64_t n = a.rows;
    const Scratch<T> work(n * n);
    copy_columns(a, static_cast<T*>(work));
    for (int64_t j = 1; j < n; j++) std::fill_n(work + j * n, j, T(0));
    const int info = n ? lapack::ldl(s.hermitian, static_cast<int>(n), work, l.y[1].as<int32_t>() + b * n) : 0;
    from_columns<T>(work, n, n, n, l.y[0].as<T>() + b * n * n);
    return l.y[2].as<int32_t>()[b] = info;
  });
  if (s.check) expect_success(l, {l.y[2].as<int32_t>(), l.y[2].as<int32_t>() + batch_of(l.x[0])});
}

void ldl_solve_kernel(const Launch& l) {
  const Contiguous pivots(l.x[1]);
  for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const auto right = item<T>(l.x[2], b);
    const int64_t n = right.rows, k = right.columns;
    if (n * k == 0) return 0;
    const int32_t* rows = pivots.as<int32_t>() + b * n;
    expect_blocks({rows, static_cast<size_t>(n)});
    const Scratch<T> factors(n * n), x(n * k);
    copy_columns(item<T>(l.x[0], b), static_cast<T*>(factors));
    copy_columns(right, static_cast<T*>(x));
    lapack::ldl_solve(l.attrs.as<Symmetric>().hermitian, static_cast<int>(n), static_cast<int>(k), factors, rows, x);
    from_columns<T>(x, n, k, n, l.y[0].as<T>() + b * n * k);
    return 0;
  });
}

constexpr Entry entries[] = {{"cholesky", cholesky_kernel}, {"geqrf", geqrf_kernel}, {"householder_product", householder_kernel}, {"ldl_factor", ldl_factor_kernel},
                             {"ldl_solve", ldl_solve_kernel}, {"lu_factor", lu_kernel}, {"ormqr", ormqr_kernel}, {"qr", qr_kernel}};

}  // namespace

Entries factor_kernels() { return entries; }

}  // namespace adjoint::cpu
