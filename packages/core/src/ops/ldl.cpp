// Factors of symmetric and Hermitian matrices that need not be positive, and systems solved with them.
#include "dense/symmetric.h"
#include "families.h"
#include "matrices.h"

namespace adjoint {

using namespace matrices;

extern const Op op_ldl_solve;

void expect_blocks(std::span<const int32_t> pivots) {
  const auto n = static_cast<int64_t>(pivots.size());
  for (int64_t k = 0; k < n; k++) {
    expect(std::abs(int64_t{pivots[k]}) >= 1, "Pivots given to ldl_solve must all satisfy |pivot| >= 1. Did you properly pass the result of ldl_factor?");
    expect(std::abs(int64_t{pivots[k]}) <= n, "Pivots given to ldl_solve must all satisfy |pivot| <= LD.size(-2). Did you properly pass the result of ldl_factor?");
    if (pivots[k] > 0) continue;
    expect(k + 1 < n && pivots[k + 1] == pivots[k], "Pivots given to ldl_solve must be negative in pairs of equal ones, got ", pivots[k], " at ", k, ". Did you properly pass the result of ldl_factor?");
    k++;
  }
}

namespace {

void ldl_factor_kernel(const Launch& l) {
  const Symmetric& s = l.attrs.as<Symmetric>();
  std::vector<int32_t> info;
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    auto a = dense::load<typename decltype(tag)::type>(l.x[0], b);
    dense::BunchKaufman<typename decltype(tag)::type> f{a, s.hermitian};
    f.run();
    info.push_back(f.info);
    dense::store(l.y[0], b, a);
    dense::store_vector(l.y[1], b, f.pivots);
    dense::store_number(l.y[2], b, f.info);
  });
  if (s.check) check_info(l.op, info, l.x[0].ndim > 2);
}
void ldl_solve_kernel(const Launch& l) {
  dense::for_matrices(l.x[2], [&](auto tag, int64_t b) {
    using C = typename decltype(tag)::type;
    expect_blocks(dense::load_vector<int32_t>(l.x[1], b));
    auto x = dense::load<C>(l.x[2], b);
    dense::solve_ldl(dense::load<C>(l.x[0], b), dense::load_vector<int64_t>(l.x[1], b), x, l.attrs.as<Symmetric>().hermitian);
    dense::store(l.y[0], b, x);
  });
}

Tensor no_ldl_derivative() { fail(ErrorKind::not_implemented, "the derivative for 'linalg_ldl_factor_ex: A' is not implemented."); }
Tensor solve_packed(const Tensor& ld, const Tensor& pivots, const Tensor& b, const Symmetric& s) { return apply(op_ldl_solve, {ld, pivots, b}, s); }

}  // namespace

const Op op_ldl_factor{.name = "ldl_factor", .torch = "LinalgLdlFactorEx|A|LD pivots info", .fields = fields_of<Symmetric>, .kind = Kind::custom, .outputs = 3,
    .types = [](Tensors x, const Attrs&) { return Types{x[0].dtype(), {x[0].dtype(), DType::int32, DType::int32}}; },
    .shape = [](Tensors x, const Attrs&, Dims* out) {
      out[0] = x[0].sizes();
      out[1] = batch_and(x[0].sizes(), 1, {});
      out[2] = batch_and(x[0].sizes(), 2, {});
    },
    .d = {rule([](Cotangents) { return no_ldl_derivative(); })}, .t = {rule([](V) { return no_ldl_derivative(); })},
    .batch = batch::leading, .doc = "x = P L D L^T P^T, of which the lower triangle is read: L below the blocks of D, the rows exchanged (from 1; negative: of a block of two), and which block is zero (0: none).", .reference = ldl_factor_kernel};
LDL ldl_factor(const Tensor& x, bool hermitian, bool check) {
  expect_square(x, "torch.linalg.ldl_factor_ex");
  Tensor y[max_outputs];
  apply(op_ldl_factor, {&x, 1}, Symmetric{hermitian, check}, y);
  return {y[0], y[1], y[2]};
}

const Op op_ldl_solve{.name = "ldl_solve", .torch = "LinalgLdlSolve|LD pivots B|result", .fields = fields_of<Symmetric>, .kind = Kind::custom, .indices = 2, .types = types::first,
    .shape = [](Tensors x, const Attrs&, Dims* out) { out[0] = x[2].sizes(); },
    .d = {rule([](V) { return no_ldl_derivative(); }), {},
          rule([](V v, X<0> ld, X<1> pivots, const Symmetric& s) { return s.hermitian ? solve_packed(ld, pivots, v, s) : conj(solve_packed(ld, pivots, conj(v), s)); })},
    .t = {rule([](V) { return no_ldl_derivative(); }), {}, rule([](V v, X<0> ld, X<1> pivots, const Symmetric& s) { return solve_packed(ld, pivots, v, s); })},
    .batch = batch::leading, .doc = "The solution of a x = b with the factors that `ldl_factor` found of a.", .reference = ldl_solve_kernel};
Tensor ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b, bool hermitian) {
  constexpr const char* name = "torch.linalg.ldl_solve";
  expect_square(ld, name);
  expect_matrices(b, name, "B");
  expect(b.size(-2) == ld.size(-1), ErrorKind::shape, "Incompatible matrix sizes for ", name, ": each A matrix is ", ld.size(-1), " by ", ld.size(-1), " but each b matrix is ", b.size(-2), " by ", b.size(-1));
  expect(b.dtype() == ld.dtype(), "Expected b and A to have the same dtype, but found b of type ", b.dtype(), " and A of type ", ld.dtype(), " instead.");
  expect(is_integral(pivots.dtype()) && pivots.dtype() != DType::bool_, name, ": Expected pivots to be integers. Got ", pivots.dtype());
  expect(pivots.sizes() == batch_and(ld.sizes(), 1, {}), ErrorKind::shape, name, ": Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape ", pivots.sizes(), " instead");
  Tensor f = ld, x = b;
  align(f, x, name);
  return solve_packed(f, expand(to_dtype(pivots, DType::int32), batch_and(f.sizes(), 1, {})), x, {hermitian, false});
}

const Op* const ldl_ops[] = {&op_ldl_factor, &op_ldl_solve};
Ops families::ldl() { return ldl_ops; }

}  // namespace adjoint
