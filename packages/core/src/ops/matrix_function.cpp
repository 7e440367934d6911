// Functions of matrices that have derivatives of their own: the exponential, the pseudo-inverse.
#include <adjoint/core/matrix_exp.h>

#include "dense/triangular.h"
#include "families.h"
#include "in_float.h"
#include "matrices.h"

namespace adjoint {

using namespace matrices;

namespace {

void matrix_exp_kernel(const Launch& l) {
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using C = typename decltype(tag)::type;
    auto a = dense::load<C>(l.x[0], b);
    const int64_t n = a.rows;
    const auto matrix = [n](const std::vector<C>& x) { dense::Matrix<C> m(n, n); m.values = x; return m; };
    matrix_exp(
        a.values, n, [&](const auto& x, const auto& y, auto& out) { out = dense::multiply(matrix(x), matrix(y)).values; },
        [&](const auto& x, auto& y) {
          auto f = matrix(x), right = matrix(y);
          dense::solve_lu(f, dense::lu(f).rows, right, false);
          y = right.values;
        });
    dense::store(l.y[0], b, a);
  });
}

// The derivative at x in the direction v: the upper right block of exp((x, v), (0, x)).
Tensor exp_derivative(const Tensor& x, const Tensor& v) {
  const int64_t n = x.size(-1);
  const Tensor top[] = {x, v}, bottom[] = {zeros_like(x), x};
  const Tensor blocks[] = {cat(top, -1), cat(bottom, -1)};
  return narrow(narrow(matrix_exp(cat(blocks, -2)), -2, 0, n), -1, n, n);
}

void known_kernel(const Launch& l) { op_to_dtype.reference({l.x.subspan(1), l.y, l.attrs, l.op}); }

}  // namespace

const Op op_matrix_exp{.name = "matrix_exp", .torch = "LinalgMatrixExp", .kind = Kind::custom, .types = types::first, .shape = shapes::same,
    .d = {rule([](V v, X<0> x) { return exp_derivative(mH(x), v); })}, .t = {rule([](V v, X<0> x) { return exp_derivative(x, v); })},
    .batch = batch::leading, .doc = "The exponential of square matrices.", .reference = matrix_exp_kernel};
Tensor matrix_exp(const Tensor& x) {
  if (is_half(x.dtype())) return to_dtype(matrix_exp(in_float(x)), x.dtype());
  expect_square(x, "linalg.matrix_exp");
  return apply(op_matrix_exp, {x});
}

// With P the pseudo-inverse of A: dP = -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P.
const Op op_pinv{.name = "pinv", .torch = "LinalgPinv", .kind = Kind::custom, .types = types::first, .shape = [](Tensors x, const Attrs&, Dims* out) { out[0] = x[1].sizes(); },
    .d = {rule([](V v, X<0> a, Y<> p) {
      const Tensor ph = mH(p), vh = mH(v), left = vh - matmul(a, matmul(p, vh)), right = vh - matmul(matmul(vh, p), a);
      return matmul(matmul(left, p), ph) + matmul(ph, matmul(p, right)) - matmul(ph, matmul(v, ph));
    })},
    .t = {rule([](V v, X<0> a, Y<> p) {
      const Tensor ph = mH(p), vh = mH(v), left = vh - matmul(p, matmul(a, vh)), right = vh - matmul(matmul(vh, a), p);
      return matmul(p, matmul(ph, right)) + matmul(matmul(left, ph), p) - matmul(p, matmul(v, p));
    })},
    .batch = batch::leading, .doc = "b, known to be the pseudo-inverse of a: with the derivative that this has where the rank of a stays the same.", .reference = known_kernel};
Tensor pinv(const Tensor& a, const Tensor& known) {
  expect_matrices(a, "linalg.pinv");
  expect(a.dtype() == known.dtype() && known.sizes() == mT(a).sizes(), ErrorKind::shape, "linalg.pinv: a pseudo-inverse of a matrix of shape ", a.sizes(), " has not the shape ", known.sizes());
  return apply(op_pinv, {a, known});
}

const Op* const matrix_function_ops[] = {&op_matrix_exp, &op_pinv};
Ops families::matrix_function() { return matrix_function_ops; }

}  // namespace adjoint
