// Linear systems, inverses and determinants, by LAPACK.
//
// Row-major memory is, by columns, the transpose: a is factored as it lies, and systems are solved with the transpose of that.
#include <adjoint/core/linalg.h>
#include <adjoint/core/math/log.h>

#include <cmath>

#include "small_batch.h"
#include "small_lu.h"

namespace adjoint::cpu {

namespace {

void triangular_kernel(const Launch& l) {
  const Triangular& t = l.attrs.as<Triangular>();
  for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const auto a = item<T>(l.x[0], b), x = item<T>(l.x[1], b);
    const int64_t n = a.rows, k = x.columns;
    if (n * k == 0) return 0;
    T* y = l.y[0].as<T>() + b * n * k;
    copy_rows(x, y);
    const bool by_rows = (a.right == 1 && a.down >= n) || n == 1, by_columns = a.down == 1 && a.right >= n;
    if (by_rows) blas::trsm(t.upper, false, t.unit, n, k, a.data, std::max(a.down, n), y);
    else if (by_columns) blas::trsm(!t.upper, true, t.unit, n, k, a.data, a.right, y);
    else {
      const Scratch<T> work(n * n);
      copy_rows(a, static_cast<T*>(work));
      blas::trsm(t.upper, false, t.unit, n, k, static_cast<const T*>(work), n, y);
    }
    return 0;
  });
}

// x = a^-1 b, or a^-H b, with the factors of the transpose of a.
template <class T> void solve_with(const T* factors, const int32_t* pivots, const Item<T>& b, T* x, bool adjoint) {
  const int64_t n = b.rows, k = b.columns;
  if (n * k == 0) return;
  const Scratch<T> work(k > 1 ? n * k : 1);
  T* by_columns = k > 1 ? static_cast<T*>(work) : x;
  copy_columns(b, by_columns);
  if (adjoint) conjugate(by_columns, n * k);
  lu_solve(adjoint ? 'N' : 'T', n, k, factors, pivots, by_columns);
  if (adjoint) conjugate(by_columns, n * k);
  if (k > 1) from_columns<T>(by_columns, n, k, n, x);
}

// x (n, k) = a^-1 b, or a^-T b, with factors of the transposes of a group: by columns, `exchanged`(lane, k) their exchanges.
template <class T, class P> void solve_group(const T* factors, P&& exchanged, const View& b, int64_t first, int64_t count, T* x, bool adjoint) {
  constexpr int64_t lanes = small::lanes<T>;
  const int64_t n = b.sizes[b.ndim - 2], k = b.sizes[b.ndim - 1];
  const Scratch<T> given(n * k * lanes), moved(n * k * lanes);
  const auto exchange = [&](const T* from, T* to) {   // rows to their places: before the triangles where the transpose is solved with, else after them
    for (int64_t l = 0; l < lanes; l++) {
      const small::Order order = small::order_of(n, [&](int64_t i) { return exchanged(std::min(l, count - 1), i); });
      for (int64_t j = 0; j < k; j++)
        for (int64_t i = 0; i < n; i++) to[(j * n + (adjoint ? i : order[i])) * lanes + l] = from[(j * n + (adjoint ? order[i] : i)) * lanes + l];
    }
  };
  small::load<T>(b, first, count, given, false);
  if (adjoint) exchange(given, moved);
  T* y = adjoint ? moved : given;
  small::call<small::LUSolve<T>>(!adjoint, n, k, factors, y);
  if (!adjoint) exchange(given, moved);
  small::store<T>(moved, n, k, first, count, x, false);
}
bool solves_groups(const View& a, const View& b) { return small::suits(a) && b.sizes[b.ndim - 1] > 0 && b.sizes[b.ndim - 1] <= 4 * small::limit; }

std::vector<int32_t> solve_groups(const Launch& l) {
  std::vector<int32_t> all(batch_of(l.x[0]));
  small::for_groups(l.x[0], [&](auto tag, int64_t first, int64_t count) {
    using T = typename decltype(tag)::type;
    constexpr int64_t lanes = small::lanes<T>;
    const int64_t n = l.x[0].sizes[l.x[0].ndim - 1];
    const Scratch<T> a(n * n * lanes), exchanged(n * lanes);
    const Scratch<int32_t> info(lanes);
    small::load<T>(l.x[0], first, count, a, true);
    small::call<small::LU<T>>(n, n, static_cast<T*>(a), static_cast<T*>(exchanged), static_cast<int32_t*>(info));
    small::store<T>(a, n, n, first, count, l.y[1].as<T>(), true);
    small::store_exchanges<T>(exchanged, n, first, count, l.y[2].as<int32_t>());
    std::copy_n(static_cast<int32_t*>(info), count, all.begin() + first);
    solve_group<T>(a, [&](int64_t lane, int64_t i) { return static_cast<int64_t>(exchanged[i * lanes + lane]); }, l.x[1], first, count, l.y[0].as<T>(), false);
  });
  return all;
}

void solve_kernel(const Launch& l) {
  const auto info = solves_groups(l.x[0], l.x[1]) ? solve_groups(l) : for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const auto a = item<T>(l.x[0], b), right = item<T>(l.x[1], b);
    const int64_t n = a.rows, k = right.columns;
    if (n == 0) return 0;
    T* factors = l.y[1].as<T>() + b * n * n;
    int32_t* pivots = l.y[2].as<int32_t>() + b * n;
    copy_rows(a, factors);
    const int info = lu_square(n, factors, pivots);
    solve_with(factors, pivots, right, l.y[0].as<T>() + b * n * k, false);
    return info;
  });
  if (l.attrs.as<Checked>().check) expect_success(l, info);
}

void solve_factored_kernel(const Launch& l) {
  const bool adjoint = l.attrs.as<Solving>().adjoint;
  const Contiguous factors(l.x[1]), pivots(l.x[2]);
  if (solves_groups(l.x[0], l.x[3])) {
    small::for_groups(l.x[0], [&](auto tag, int64_t first, int64_t count) {
      using T = typename decltype(tag)::type;
      const int64_t n = l.x[3].sizes[l.x[3].ndim - 2];
      const Scratch<T> a(n * n * small::lanes<T>);
      small::load<T>(factors.view(), first, count, a, true);
      solve_group<T>(a, [&](int64_t lane, int64_t i) { return int64_t{pivots.as<int32_t>()[(first + lane) * n + i]} - 1; }, l.x[3], first, count, l.y[0].as<T>(), adjoint);
    });
    return;
  }
  for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const auto right = item<T>(l.x[3], b);
    const int64_t n = right.rows;
    solve_with(factors.as<T>() + b * n * n, pivots.as<int32_t>() + b * n, right, l.y[0].as<T>() + b * n * right.columns, adjoint);
    return 0;
  });
}

// Into y, and what is zero; of singular matrices all is NaN.
template <class T> void inv_of_group(const Launch& l, int64_t first, int64_t count) {
  constexpr int64_t lanes = small::lanes<T>;
  const int64_t n = l.x[0].sizes[l.x[0].ndim - 1];
  const Scratch<T> a(n * n * lanes), y(n * n * lanes), exchanged(n * lanes);
  const Scratch<int32_t> info(lanes);
  small::load<T>(l.x[0], first, count, a, false);
  small::call<small::LU<T>>(n, n, static_cast<T*>(a), static_cast<T*>(exchanged), static_cast<int32_t*>(info));
  std::fill_n(static_cast<T*>(y), n * n * lanes, T(0));
  for (int64_t lane = 0; lane < lanes; lane++) {
    const small::Order order = small::order_of(n, [&](int64_t i) { return static_cast<int64_t>(exchanged[i * lanes + lane]); });
    for (int64_t i = 0; i < n; i++) y[(order[i] * n + i) * lanes + lane] = T(1);
  }
  small::call<small::LUSolve<T>>(false, n, n, static_cast<const T*>(a), static_cast<T*>(y));
  small::store<T>(y, n, n, first, count, l.y[0].as<T>(), false);
  for (int64_t b = 0; b < count; b++)
    if ((l.y[1].as<int32_t>()[first + b] = info[b])) std::fill_n(l.y[0].as<T>() + (first + b) * n * n, n * n, T(NAN));
}

void inv_kernel(const Launch& l) {
  if (small::suits(l.x[0])) small::for_groups(l.x[0], [&](auto tag, int64_t first, int64_t count) { inv_of_group<typename decltype(tag)::type>(l, first, count); });
  else for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const auto a = item<T>(l.x[0], b);
    const int n = static_cast<int>(a.rows);
    T* y = l.y[0].as<T>() + b * a.rows * a.rows;
    const Scratch<int32_t> pivots(n);
    copy_rows(a, y);
    int info = n ? lapack::getrf(n, n, y, pivots) : 0;
    if (info) std::fill_n(y, a.rows * a.rows, T(NAN));
    else if (n) lapack::getri(n, y, pivots);
    return l.y[1].as<int32_t>()[b] = info;
  });
  if (l.attrs.as<Checked>().check) expect_success(l, {l.y[1].as<int32_t>(), l.y[1].as<int32_t>() + batch_of(l.x[0])});
}

// ---- determinants

template <class T> struct Factored {
  int64_t n;
  Scratch<T> lu;
  Scratch<int32_t> pivots;
  explicit Factored(const Item<T>& a) : n(a.rows), lu(n * n), pivots(n) {
    copy_rows(a, static_cast<T*>(lu));
    if (n) lu_square<T>(n, lu, pivots);
  }
  // The pivot with the sign of its exchange.
  T pivot(int64_t k) const { return pivots[k] == k + 1 ? lu[k * n + k] : -lu[k * n + k]; }
};

// use(tag, matrix, n, pivot) for each matrix of x, pivot(k) being as above.
template <class F> void for_pivots(const View& x, F&& use) {
  if (!small::suits(x)) {
    for_matrices(x, [&](auto tag, int64_t b) {
      using T = typename decltype(tag)::type;
      const Factored<T> f(item<T>(x, b));
      use(tag, b, f.n, [&](int64_t k) { return f.pivot(k); });
      return 0;
    });
    return;
  }
  small::for_groups(x, [&](auto tag, int64_t first, int64_t count) {
    using T = typename decltype(tag)::type;
    constexpr int64_t lanes = small::lanes<T>;
    const int64_t n = x.sizes[x.ndim - 1];
    const Scratch<T> a(n * n * lanes), exchanged(n * lanes);
    const Scratch<int32_t> info(lanes);
    small::load<T>(x, first, count, a, true);
    small::call<small::LU<T>>(n, n, static_cast<T*>(a), static_cast<T*>(exchanged), static_cast<int32_t*>(info));
    for (int64_t l = 0; l < count; l++)
      use(tag, first + l, n, [&](int64_t k) {
        const T pivot = a[k * (n + 1) * lanes + l];
        return exchanged[k * lanes + l] == static_cast<T>(k) ? pivot : -pivot;
      });
  });
}

void det_kernel(const Launch& l) {
  for_pivots(l.x[0], [&](auto tag, int64_t b, int64_t n, auto&& pivot) {
    using T = typename decltype(tag)::type;
    T product(1);
    for (int64_t k = 0; k < n; k++) product = product * pivot(k);
    l.y[0].as<T>()[b] = product;
  });
}

double size(double x) { return std::fabs(x); }
template <class R> double size(Complex<R> x) { return std::hypot(static_cast<double>(x.re), static_cast<double>(x.im)); }

void slogdet_kernel(const Launch& l) {
  for_pivots(l.x[0], [&](auto tag, int64_t b, int64_t n, auto&& pivot) {
    using T = typename decltype(tag)::type;
    using R = real_t<T>;
    T sign(1);
    double logarithm = 0;
    for (int64_t k = 0; k < n; k++) {
      const double length = size(pivot(k));
      sign = length == 0 ? T(0) : sign * (pivot(k) / static_cast<R>(length));
      logarithm += math::log(length);
    }
    l.y[0].as<T>()[b] = sign;
    l.y[1].as<R>()[b] = static_cast<R>(logarithm);
  });
}

// Exchanges of rows alone do for well conditioned matrices, and LAPACK finds those; the rest is left to the reference.
void rank_order_kernel(const Launch& l) {
  constexpr double far_from_singular = 0x1p-20;
  const auto doubtful = for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const Factored<T> f(transposed(item<T>(l.x[0], b)));
    int64_t *rows = l.y[0].as<int64_t>() + b * f.n, *columns = l.y[1].as<int64_t>() + b * f.n;
    double least = INFINITY, largest = 0, sign = 1;
    for (int64_t k = 0; k < f.n; k++) rows[k] = columns[k] = k;
    for (int64_t k = 0; k < f.n; k++) {
      least = std::min(least, size(f.pivot(k)));
      largest = std::max(largest, size(f.pivot(k)));
      std::swap(rows[k], rows[f.pivots[k] - 1]);
      if (f.pivots[k] != k + 1) sign = -sign;
    }
    l.y[2].as<real_t<T>>()[b] = static_cast<real_t<T>>(sign);
    return !(least > largest * far_from_singular);
  });
  if (std::find(doubtful.begin(), doubtful.end(), 1) != doubtful.end()) reference(l);
}

constexpr Entry entries[] = {{"det", det_kernel}, {"inv", inv_kernel}, {"rank_order", rank_order_kernel}, {"slogdet", slogdet_kernel},
                             {"solve", solve_kernel}, {"solve_factored", solve_factored_kernel}, {"solve_triangular", triangular_kernel}};

}  // namespace

Entries solve_kernels() { return entries; }

}  // namespace adjoint::cpu
