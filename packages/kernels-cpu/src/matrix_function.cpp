// The exponential of matrices, on products and LU factors.
#include <adjoint/core/matrix_exp.h>

#include "lu.h"
#include "matmul.h"
#include "matrices.h"

namespace adjoint::cpu {

namespace {

void matrix_exp_kernel(const Launch& l) {
  for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using T = typename decltype(tag)::type;
    const auto a = item<T>(l.x[0], b);
    const int64_t n = a.rows;
    if (n == 0) return 0;
    std::vector<T> values(n * n);
    copy_rows(a, values.data());
    matrix_exp(
        values, n, [n](const auto& x, const auto& y, auto& out) { multiply<T>({x.data(), n, 1}, {y.data(), n, 1}, {out.data(), n, 1}, n, n, n); },
        [n](auto& x, auto& y) {
          const Scratch<int32_t> pivots(n);
          factor_lu<T>({x.data(), n, 1}, n, n, pivots);
          solve_lu<T>({x.data(), n, 1}, pivots, {y.data(), n, 1}, n, n);
        });
    std::copy(values.begin(), values.end(), l.y[0].as<T>() + b * n * n);
    return 0;
  });
}

constexpr Entry entries[] = {{"matrix_exp", matrix_exp_kernel}};

}  // namespace

Entries matrix_function_kernels() { return entries; }

}  // namespace adjoint::cpu
