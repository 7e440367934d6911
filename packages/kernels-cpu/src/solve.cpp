// Linear systems, inverses and determinants, by triangles and products.
#include <adjoint/core/linalg.h>
#include <adjoint/core/math/log.h>

#include <cmath>

#include "lu.h"
#include "small_batch.h"
#include "triangle.h"

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
    if (by_rows || by_columns) {
      solve_triangle<T>({a.data, by_rows ? std::max(a.down, n) : 1, by_rows ? 1 : a.right}, t.upper, t.unit, {y, k, 1}, n, k);
    } else {
      const Scratch<T> work(n * n);
      copy_rows(a, static_cast<T*>(work));
      solve_triangle<T>({work, n, 1}, t.upper, t.unit, {y, k, 1}, n, k);
    }
    return 0;
  });
}

// The factors p l u of the transpose of a, by columns.
template <class T> int factor_transpose(const Item<T>& a, T* factors, int32_t* pivots) {
  const int64_t n = a.rows;
  if (n <= lu_panel) {
    copy_rows(a, factors);
    return factor_lu<T>({factors, 1, n}, n, n, pivots);
  }
  const Scratch<T> work(n * n);
  copy_columns(a, static_cast<T*>(work));
  const int info = factor_lu<T>({work, n, 1}, n, n, pivots);
  copy_columns(Item<T>{work, n, n, n, 1}, factors);
  return info;
}

// x = a^-1 b, or a^-H b, with the factors p l u of the transpose of a: in rows, as they lie, u^T below and l^T above.
template <class T> void solve_with(const T* factors, const int32_t* pivots, const Item<T>& b, T* x, bool adjoint) {
  const int64_t n = b.rows, k = b.columns;
  if (n * k == 0) return;
  copy_rows(b, x);
  const Matrix<T> y = {x, k, 1};
  if (adjoint) {
    conjugate(x, n * k);
    exchange(y, k, pivots, n);
    solve_triangle<T>({factors, 1, n}, false, true, y, n, k);
    solve_triangle<T>({factors, 1, n}, true, false, y, n, k);
    conjugate(x, n * k);
  } else {
    solve_triangle<T>({factors, n, 1}, false, false, y, n, k);
    solve_triangle<T>({factors, n, 1}, true, true, y, n, k);
    for (int64_t i = n; i-- > 0;) std::swap_ranges(x + i * k, x + (i + 1) * k, x + (pivots[i] - 1) * k);
  }
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
    const int info = factor_transpose(a, factors, pivots);
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
    const int64_t n = a.rows;
    if (n == 0) return l.y[1].as<int32_t>()[b] = 0;
    T* y = l.y[0].as<T>() + b * n * n;
    const Scratch<T> factors(n * n);
    const Scratch<int32_t> pivots(n);
    copy_rows(a, static_cast<T*>(factors));
    const int info = factor_lu<T>({factors, n, 1}, n, n, pivots);
    std::fill_n(y, n * n, info ? T(NAN) : T(0));
    if (info == 0) {
      for (int64_t i = 0; i < n; i++) y[i * (n + 1)] = T(1);
      solve_lu<T>({factors, n, 1}, pivots, {y, n, 1}, n, n);
    }
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
    if (n) factor_lu<T>({lu, n, 1}, n, n, pivots);
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
