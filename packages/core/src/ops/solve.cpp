// Linear systems: with a triangle, with any square matrix, and inverses.
#include "dense/triangular.h"
#include "families.h"
#include "matrices.h"

namespace adjoint {

using namespace matrices;

namespace {

void triangular_kernel(const Launch& l) {
  const Triangular& t = l.attrs.as<Triangular>();
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using C = typename decltype(tag)::type;
    auto x = dense::load<C>(l.x[1], b);
    dense::solve_triangular(dense::load<C>(l.x[0], b), x, t.upper, t.unit);
    dense::store(l.y[0], b, x);
  });
}
Tensor solve_triangle(const Tensor& a, const Tensor& b, const Triangular& t);
Tensor triangle_of(const Tensor& x, const Triangular& t) { return t.upper ? triu(x, t.unit ? 1 : 0) : tril(x, t.unit ? -1 : 0); }

}  // namespace

const Op op_solve_triangular{.name = "solve_triangular", .torch = "LinalgSolveTriangular|self B", .fields = fields_of<Triangular>, .kind = Kind::custom, .types = types::first,
    .shape = [](Tensors x, const Attrs&, Dims* out) { out[0] = x[1].sizes(); },
    .d = {rule([](V v, X<0> a, Y<> x, const Triangular& t) { return triangle_of(-matmul(solve_triangle(mH(a), v, {!t.upper, t.unit}), mH(x)), t); }),
          rule([](V v, X<0> a, const Triangular& t) { return solve_triangle(mH(a), v, {!t.upper, t.unit}); })},
    .t = {rule([](V v, X<0> a, Y<> x, const Triangular& t) { return -solve_triangle(a, matmul(triangle_of(v, t), x), t); }),
          rule([](V v, X<0> a, const Triangular& t) { return solve_triangle(a, v, t); })},
    .batch = batch::leading, .doc = "The solution x of a x = b, of which one triangle of a is read; `unit`: with ones on the diagonal.", .reference = triangular_kernel};

namespace { Tensor solve_triangle(const Tensor& a, const Tensor& b, const Triangular& t) { return apply(op_solve_triangular, {a, b}, t); } }

Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left, bool unit) {
  constexpr const char* name = "linalg.solve_triangular";
  expect_square(a, name);
  expect_matrices(b, name, "B");
  expect(a.dtype() == b.dtype(), name, ": Expected A and B to have the same dtype, but found A of type ", a.dtype(), " and B of type ", b.dtype(), " instead");
  expect(b.size(left ? -2 : -1) == a.size(-1), ErrorKind::shape, name, ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (", a.size(-2), "x", a.size(-1), " and ", b.size(-2), "x",
         b.size(-1), ")");
  Tensor p = left ? a : mT(a), q = left ? b : mT(b);
  align(p, q, name);
  const Tensor x = solve_triangle(p, q, {upper == left, unit});
  return left ? x : mT(x);
}

namespace {

// ---- a x = b. The factors are those of the transpose, transposed: LAPACK reads columns.

template <class C> dense::Matrix<C> transposed(const dense::Matrix<C>& a) {
  dense::Matrix<C> b = dense::adjoint(a);
  for (C& x : b.values) x = dense::conjugate(x);
  return b;
}
// x = a^-1 x, or a^-H x, with the factors of the transpose of a.
template <class C> void solve_with(const dense::Matrix<C>& factors, const std::vector<int64_t>& rows, dense::Matrix<C>& x, bool adjoint) {
  for (C& v : x.values) v = dense::conjugate(v);
  dense::solve_lu(factors, rows, x, !adjoint);
  for (C& v : x.values) v = dense::conjugate(v);
}

void solve_kernel(const Launch& l) {
  std::vector<int32_t> info;
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using C = typename decltype(tag)::type;
    auto a = transposed(dense::load<C>(l.x[0], b)), x = dense::load<C>(l.x[1], b);
    const dense::Pivoting p = dense::lu(a);
    info.push_back(p.info);
    solve_with(a, p.rows, x, false);
    dense::store(l.y[0], b, x);
    dense::store(l.y[1], b, transposed(a));
    std::vector<int64_t> pivots;
    for (int64_t row : p.rows) pivots.push_back(row + 1);
    dense::store_vector(l.y[2], b, pivots);
  });
  if (l.attrs.as<Checked>().check) check_info(l.op, info, l.x[0].ndim > 2);
}
void solve_factored_kernel(const Launch& l) {
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using C = typename decltype(tag)::type;
    auto rows = dense::load_vector<int64_t>(l.x[2], b);
    for (int64_t& row : rows) row--;
    auto x = dense::load<C>(l.x[3], b);
    solve_with(transposed(dense::load<C>(l.x[1], b)), rows, x, l.attrs.as<Solving>().adjoint);
    dense::store(l.y[0], b, x);
  });
}

Tensor solve_again(const Tensor& a, const Tensor& factors, const Tensor& pivots, const Tensor& b, bool adjoint);

}  // namespace

const Op op_solve_factored{.name = "solve_factored", .fields = fields_of<Solving>, .kind = Kind::custom, .indices = 4, .types = types::first,
    .shape = [](Tensors x, const Attrs&, Dims* out) { out[0] = x[3].sizes(); },
    .d = {rule([](V v, X<0> a, X<1> f, X<2> p, Y<> x, const Solving& s) {
            const Tensor b = solve_again(a, f, p, v, !s.adjoint);
            return s.adjoint ? -matmul(x, mH(b)) : -matmul(b, mH(x));
          }), {}, {},
          rule([](V v, X<0> a, X<1> f, X<2> p, const Solving& s) { return solve_again(a, f, p, v, !s.adjoint); })},
    .t = {rule([](V v, X<0> a, X<1> f, X<2> p, Y<> x, const Solving& s) { return -solve_again(a, f, p, matmul(s.adjoint ? mH(v) : Tensor(v), x), s.adjoint); }), {}, {},
          rule([](V v, X<0> a, X<1> f, X<2> p, const Solving& s) { return solve_again(a, f, p, v, s.adjoint); })},
    .batch = batch::leading, .doc = "The solution of a x = b, or of a^H x = b, with the factors that `solve` found of a.", .reference = solve_factored_kernel};

const Op op_solve{.name = "solve", .torch = "LinalgSolveEx|A B|result LU pivots", .fields = fields_of<Checked>, .kind = Kind::custom, .outputs = 3,
    .types = [](Tensors x, const Attrs&) { return Types{x[0].dtype(), {x[0].dtype(), x[0].dtype(), DType::int32}}; },
    .shape = [](Tensors x, const Attrs&, Dims* out) {
      out[0] = x[1].sizes();
      out[1] = x[0].sizes();
      out[2] = batch_and(x[0].sizes(), 2, {x[0].size(-1)});
    },
    .d = {rule([](V v, X<0> a, Y<0> x, Y<1> f, Y<2> p) { return -matmul(solve_again(a, f, p, v, true), mH(x)); }),
          rule([](V v, X<0> a, Y<1> f, Y<2> p) { return solve_again(a, f, p, v, true); })},
    .t = {rule([](V v, X<0> a, Y<0> x, Y<1> f, Y<2> p) { return -solve_again(a, f, p, matmul(v, x), false); }),
          rule([](V v, X<0> a, Y<1> f, Y<2> p) { return solve_again(a, f, p, v, false); })},
    .batch = batch::leading, .doc = "The solution x of a x = b, and a factorisation of a that has no derivative.", .reference = solve_kernel};

namespace {
Tensor solve_again(const Tensor& a, const Tensor& factors, const Tensor& pivots, const Tensor& b, bool adjoint) { return apply(op_solve_factored, {a, factors, pivots, b}, Solving{adjoint}); }
}  // namespace

Solved solve(const Tensor& a, const Tensor& b, bool check) {
  constexpr const char* name = "linalg.solve";
  expect_square(a, name);
  expect(a.dtype() == b.dtype(), name, ": Expected A and B to have the same dtype, but found A of type ", a.dtype(), " and B of type ", b.dtype(), " instead");
  expect(b.dim() >= 2 && b.size(-2) == a.size(-1), ErrorKind::shape, name, ": Incompatible shapes of A and B for the equation AX = B (", a.size(-2), "x", a.size(-1), " and ", b.sizes(), ")");
  Tensor x[2] = {a, b}, y[max_outputs];
  align(x[0], x[1], name);
  apply(op_solve, x, Checked{check}, y);
  return {y[0], y[1], y[2]};
}

namespace {

void inv_kernel(const Launch& l) {
  std::vector<int32_t> info;
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using C = typename decltype(tag)::type;
    auto a = dense::load<C>(l.x[0], b), x = dense::Matrix<C>::identity(a.rows, a.rows);
    const dense::Pivoting p = dense::lu(a);
    dense::solve_lu(a, p.rows, x, false);
    info.push_back(p.info);
    dense::store(l.y[0], b, x);
    dense::store_number(l.y[1], b, p.info);
  });
  if (l.attrs.as<Checked>().check) check_info(l.op, info, l.x[0].ndim > 2);
}

}  // namespace

const Op op_inv{.name = "inv", .torch = "LinalgInvEx", .fields = fields_of<Checked>, .kind = Kind::custom, .outputs = 2, .types = [](Tensors x, const Attrs&) { return Types{x[0].dtype(), {x[0].dtype(), DType::int32}}; },
    .shape = [](Tensors x, const Attrs&, Dims* out) {
      out[0] = x[0].sizes();
      out[1] = batch_and(x[0].sizes(), 2, {});
    },
    .d = {rule([](V v, Y<> y) { return -matmul(mH(y), matmul(v, mH(y))); })},
    .t = {rule([](V v, Y<> y) { return -matmul(y, matmul(v, y)); })},
    .batch = batch::leading, .doc = "The inverse of x, and which pivot is zero (0: none).", .reference = inv_kernel};
Factored inverse(const Tensor& x, bool check) {
  expect_square(x, "linalg.inv");
  Tensor y[max_outputs];
  apply(op_inv, {&x, 1}, Checked{check}, y);
  return {y[0], y[1]};
}

const Op* const solve_ops[] = {&op_inv, &op_solve, &op_solve_factored, &op_solve_triangular};
Ops families::solve() { return solve_ops; }

}  // namespace adjoint
