// Factorisations of matrices, and what is solved with them: adjoint_core.linalg gives them their names and defaults.
#include <adjoint/core/linalg.h>

#include "convert.h"
#include "module.h"

namespace adjoint::python {

namespace {

nb::tuple tuple_of(const Factored& f) { return nb::make_tuple(f.factor, f.info); }
nb::tuple tuple_of(const Eigen& e) { return nb::make_tuple(e.values, e.vectors); }

// One right-hand side for each matrix, without a dimension of its own.
bool is_vector(const Tensor& a, const Tensor& b) {
  const Dims &s = a.sizes(), &t = b.sizes();
  return t.size() == 1 || (s.size() - 1 == t.size() && std::equal(t.begin(), t.end(), s.begin()));
}
// The solution with the factors; `squeezed` says whether the last dimension of the solution goes.
Solved solve_any(const Tensor& a, const Tensor& b, bool left, bool check) {
  const bool vector = b.dim() > 0 && is_vector(a, b);
  expect(left || !vector, "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)");
  const Tensor right = vector ? unsqueeze(b, -1) : b;
  Solved s = left ? solve(a, right, check) : solve(mT(a), mT(right), check);
  s.x = vector ? squeeze(s.x, Dims{-1}) : left ? s.x : mT(s.x);
  return s;
}

}  // namespace

void bind_factor(nb::module_& m) {
  function(m, "_cholesky", [](const Tensor& a, bool upper, bool check) { return tuple_of(cholesky(a, upper, check)); }, "A"_a, "upper"_a, "check"_a);
  function(m, "_lu_factor", [](const Tensor& a, bool check) {
    const LU f = lu_factor(a, check);
    return nb::make_tuple(f.factors, f.pivots, f.info);
  }, "A"_a, "check"_a);
  function(m, "_lu_permutation", [](const Tensor& pivots, int64_t rows) {
    expect(pivots.dim() >= 1 && pivots.dtype() == DType::int32, "lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype, got ", pivots.dtype());
    return lu_permutation(pivots, rows);
  }, "pivots"_a, "rows"_a);
  function(m, "_qr", [](const Tensor& a, bool complete) {
    const QR f = qr(a, complete);
    return nb::make_tuple(f.q, f.r);
  }, "A"_a, "complete"_a);
  function(m, "_ldl_factor", [](const Tensor& a, bool hermitian, bool check) {
    const LDL f = ldl_factor(a, hermitian, check);
    return nb::make_tuple(f.factors, f.pivots, f.info);
  }, "A"_a, "hermitian"_a, "check"_a);
  function(m, "_ldl_solve", [](const Tensor& ld, const Tensor& pivots, const Tensor& b, bool hermitian) { return ldl_solve(ld, pivots, b, hermitian); },
        "LD"_a, "pivots"_a, "B"_a, "hermitian"_a);
  function(m, "_geqrf", [](const Tensor& a) {
    const PackedQR f = geqrf(a);
    return nb::make_tuple(f.a, f.tau);
  }, "A"_a);
  function(m, "_householder_product", [](const Tensor& a, const Tensor& tau) { return householder_product(a, tau); }, "A"_a, "tau"_a);
  function(m, "_ormqr", [](const Tensor& a, const Tensor& tau, const Tensor& c, bool left, bool transpose) { return ormqr(a, tau, c, left, transpose); },
        "input"_a, "tau"_a, "other"_a, "left"_a, "transpose"_a);
  function(m, "_solve_triangular", [](const Tensor& a, const Tensor& b, bool upper, bool left, bool unit) { return solve_triangular(a, b, upper, left, unit); },
        "A"_a, "B"_a, "upper"_a, "left"_a, "unitriangular"_a);
  function(m, "_solve", [](const Tensor& a, const Tensor& b, bool left) { return solve_any(a, b, left, true).x; }, "A"_a, "B"_a, "left"_a);
  function(m, "_solve_unchecked", [](const Tensor& a, const Tensor& b, bool left) {
    const Solved s = solve_any(a, b, left, false);
    return nb::make_tuple(s.x, s.factors);
  }, "A"_a, "B"_a, "left"_a);
  function(m, "_inv", [](const Tensor& a, bool check) { return tuple_of(inverse(a, check)); }, "A"_a, "check"_a);
  function(m, "_det", [](const Tensor& a) { return det(a); }, "A"_a);
  function(m, "_slogdet", [](const Tensor& a) {
    const SignLog s = slogdet(a);
    return nb::make_tuple(s.sign, s.logarithm);
  }, "A"_a);
  function(m, "_eigh", [](const Tensor& a, bool upper) { return tuple_of(eigh(a, upper)); }, "A"_a, "upper"_a);
  function(m, "_eigvalsh", [](const Tensor& a, bool upper) { return eigvalsh(a, upper); }, "A"_a, "upper"_a);
  function(m, "_eig", [](const Tensor& a) { return tuple_of(eig(a)); }, "A"_a);
  function(m, "_eigvals", [](const Tensor& a) { return eigvals(a); }, "A"_a);
  function(m, "_svd", [](const Tensor& a, bool full) {
    const SVD f = svd(a, full);
    return nb::make_tuple(f.u, f.s, f.vh);
  }, "A"_a, "full_matrices"_a);
  both(m, "matrix_exp", [](const Tensor& a) { return matrix_exp(a); });
  function(m, "_pinv", [](const Tensor& a, const Tensor& known) { return pinv(a, known); }, "A"_a, "known"_a);
  function(m, "_svdvals", [](const Tensor& a) { return svdvals(a); }, "A"_a);
}

}  // namespace adjoint::python
