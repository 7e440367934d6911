// Factorisations into triangles and an orthogonal matrix: Cholesky, LU, QR.
#include "dense/orthogonal.h"
#include "dense/triangular.h"
#include "families.h"
#include "matrices.h"

namespace adjoint {

using namespace matrices;

namespace {

struct Failure { const char *op, *text, *not_finite = ""; };   // # stands for LAPACK's number, % for the matrix of a batch
constexpr Failure failures[] = {
    {"cholesky", "linalg.cholesky: %The factorization could not be completed because the input is not positive-definite (the leading minor of order # is not positive-definite)."},
    {"eig", "linalg.eig: %The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated eigenvalues (error code: #).", "torch.linalg.eig: input tensor should not contain infs or NaNs."},
    {"eigh", "linalg.eigh: %The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated eigenvalues (error code: #)."},
    {"inv", "linalg.inv: %The diagonal element # is zero, the inversion could not be completed because the input matrix is singular."},
    {"ldl_factor", "torch.linalg.ldl_factor: %Block # of D is zero and using it on ldl_solve would result in a division by zero. If you still want to perform the factorization, consider calling linalg.ldl_factor_ex(A)"},
    {"lu_factor", "torch.linalg.lu_factor: %U[#,#] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"},
    {"solve", "torch.linalg.solve: %The solver failed because the input matrix is singular."},
    {"svd", "linalg.svd: %The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated singular values (error code: #).", "linalg.svd: %The algorithm failed to converge because the input matrix contained non-finite values."},
};

std::string filled(const char* text, const std::string& number, const std::string& element) {
  std::string r;
  for (; *text; text++) {
    if (*text == '#') r += number;
    else if (*text == '%') r += element;
    else r += *text;
  }
  return r;
}

}  // namespace

void check_info(const char* op, std::span<const int32_t> info, bool batched) {
  for (size_t b = 0; b < info.size(); b++) {
    if (info[b] == 0) continue;
    for (const Failure& f : failures)
      if (std::string(f.op) == op) throw LinAlgError(filled(info[b] == not_finite ? f.not_finite : f.text, std::to_string(info[b]), batched ? "(Batch element " + std::to_string(b) + "): " : ""));
  }
}

namespace {

// ---- Cholesky

void cholesky_kernel(const Launch& l) {
  std::vector<int32_t> info;
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    auto a = dense::load<typename decltype(tag)::type>(l.x[0], b);
    info.push_back(dense::cholesky(a));
    dense::store(l.y[0], b, a);
    dense::store_number(l.y[1], b, info.back());
  });
  if (l.attrs.as<Checked>().check) check_info(l.op, info, l.x[0].ndim > 2);
}

Types with_info(Tensors x, const Attrs&) { return {x[0].dtype(), {x[0].dtype(), DType::int32}}; }
void with_info_shape(Tensors x, const Attrs&, Dims* out) {
  out[0] = x[0].sizes();
  out[1] = batch_and(x[0].sizes(), 2, {});
}

// The lower triangle, the diagonal halved: what dL is of L^-1 dA L^-H, from the left of which L is taken.
Tensor lower_half(const Tensor& x) { return tril(x) - diag_embed(diagonals(x)) * 0.5; }

}  // namespace

const Op op_cholesky{.name = "cholesky", .torch = "LinalgCholeskyEx|self|L info", .fields = fields_of<Checked>, .kind = Kind::custom, .outputs = 2, .types = with_info, .shape = with_info_shape,
    .d = {rule([](V v, Y<> l) {
      const Tensor left = solve_triangular(mH(l), hermitian(lower_half(matmul(mH(l), v))), true);
      return solve_triangular(l, left, false, false);
    })},
    .t = {rule([](V v, Y<> l) {
      const Tensor right = solve_triangular(mH(l), hermitian(v), true, false);
      return matmul(l, lower_half(solve_triangular(l, right, false)));
    })},
    .batch = batch::leading, .doc = "The lower triangle L of x = L L^H, and which leading minor is not positive (0: none). Reads the lower triangle.", .reference = cholesky_kernel};
Factored cholesky(const Tensor& x, bool upper, bool check) {
  expect_square(x, "linalg.cholesky");
  Tensor y[max_outputs];
  const Tensor lower = upper ? mH(x) : x;
  apply(op_cholesky, {&lower, 1}, Checked{check}, y);
  return {upper ? mH(y[0]) : y[0], y[1]};
}

namespace {

// ---- LU

void lu_kernel(const Launch& l) {
  std::vector<int32_t> info;
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    auto a = dense::load<typename decltype(tag)::type>(l.x[0], b);
    dense::Pivoting p = dense::lu(a);
    for (int64_t& row : p.rows) row++;
    info.push_back(p.info);
    dense::store(l.y[0], b, a);
    dense::store_vector(l.y[1], b, p.rows);
    dense::store_number(l.y[2], b, p.info);
  });
  if (l.attrs.as<Checked>().check) check_info(l.op, info, l.x[0].ndim > 2);
}
void lu_shape(Tensors x, const Attrs&, Dims* out) {
  out[0] = x[0].sizes();
  out[1] = batch_and(x[0].sizes(), 2, {std::min(x[0].size(-1), x[0].size(-2))});
  out[2] = batch_and(x[0].sizes(), 2, {});
}
Types lu_types(Tensors x, const Attrs&) { return {x[0].dtype(), {x[0].dtype(), DType::int32, DType::int32}}; }

void permutation_kernel(const Launch& l) {
  const View &pivots = l.x[0], &y = l.y[0];
  const int64_t rows = y.sizes[y.ndim - 1];
  for (int64_t b = 0; b < dense::batches(pivots, 1); b++) {
    const auto p = dense::load_vector<int64_t>(pivots, b);
    std::vector<int64_t> order(rows);
    for (int64_t i = 0; i < rows; i++) order[i] = i;
    for (size_t k = 0; k < p.size(); k++) {
      expect(p[k] >= 1 && p[k] <= rows && static_cast<int64_t>(k) < rows, ErrorKind::index, "lu_permutation: pivots must be in [1, ", rows, "], got ", p[k]);
      std::swap(order[k], order[p[k] - 1]);
    }
    dense::store_vector(y, b, order);
  }
}

// The four blocks of a factored matrix of m rows and n columns: k = min(m, n) rows and columns are square.
struct Blocks {
  int64_t m, n, k;
  explicit Blocks(const Tensor& x) : m(x.size(-2)), n(x.size(-1)), k(std::min(m, n)) {}
  Tensor square(const Tensor& x) const { return narrow(narrow(x, -2, 0, k), -1, 0, k); }
  Tensor right(const Tensor& x) const { return narrow(x, -1, k, n - k); }
  Tensor below(const Tensor& x) const { return narrow(x, -2, k, m - k); }
  Tensor with_rest(const Tensor& square, const Tensor& rest) const {
    const Tensor parts[] = {square, rest};
    return n > k ? cat(parts, -1) : m > k ? cat(parts, -2) : square;
  }
};
Tensor by_lower(const Tensor& lu, const Tensor& b) { return solve_triangular(lu, b, false, true, true); }
Tensor by_lower_adjoint(const Tensor& lu, const Tensor& b) { return solve_triangular(mH(lu), b, true, true, true); }

// With B = P^T A, of a square block: dL = L tril(M, -1), dU = triu(M) U where M = L^-1 dB U^-1. What stands beside it is
// U2 = L^-1 B2, or below it L2 = B2 U^-1.
Tensor lu_jvp(const Tensor& v, const Tensor& lu, const Tensor& pivots) {
  const Blocks at(lu);
  const Tensor dx = permuted_rows(v, lu_permutation(pivots, at.m)), f = at.square(lu);
  const Tensor m = solve_triangular(f, by_lower(f, at.square(dx)), true, false);
  const Tensor strict = tril(m, -1), square = matmul(tril(f, -1), strict) + strict + matmul(triu(m), triu(f));
  if (at.n > at.k) return at.with_rest(square, by_lower(f, at.right(dx)) - matmul(strict, at.right(lu)));
  if (at.m > at.k) return at.with_rest(square, solve_triangular(f, at.below(dx), true, false) - matmul(at.below(lu), triu(m)));
  return square;
}
Tensor lu_vjp(const Tensor& v, const Tensor& lu, const Tensor& pivots) {
  const Blocks at(lu);
  const Tensor f = at.square(lu), g = at.square(v), lower = tril(g, -1), upper = triu(g);
  Tensor strict = matmul(mH(tril(f, -1)), lower) + lower, rest, u = matmul(upper, mH(triu(f)));
  if (at.n > at.k) {
    rest = by_lower_adjoint(f, at.right(v));
    strict = strict - matmul(at.right(v), mH(at.right(lu)));
  } else if (at.m > at.k) {
    rest = solve_triangular(mH(f), at.below(v), false, false);
    u = u - matmul(mH(at.below(lu)), at.below(v));
  }
  const Tensor square = solve_triangular(mH(f), by_lower_adjoint(f, tril(strict, -1) + triu(u)), false, false);
  const Tensor order = lu_permutation(pivots, at.m);
  return permuted_rows(at.with_rest(square, rest), inverse_order(order));
}

}  // namespace

const Op op_lu_factor{.name = "lu_factor", .torch = "LinalgLuFactorEx|A|LU pivots info", .fields = fields_of<Checked>, .kind = Kind::custom, .outputs = 3, .types = lu_types, .shape = lu_shape,
    .d = {rule([](V v, Y<0> lu, Y<1> pivots) { return lu_vjp(v, lu, pivots); })},
    .t = {rule([](V v, Y<0> lu, Y<1> pivots) { return lu_jvp(v, lu, pivots); })},
    .batch = batch::leading, .doc = "x = P L U: L below the diagonal and U on and above it, the rows exchanged (from 1), and which pivot is zero (0: none).", .reference = lu_kernel};
LU lu_factor(const Tensor& x, bool check) {
  expect_matrices(x, "linalg.lu_factor");
  Tensor y[max_outputs];
  apply(op_lu_factor, {&x, 1}, Checked{check}, y);
  return {y[0], y[1], y[2]};
}

const Op op_lu_permutation{.name = "lu_permutation", .fields = fields_of<Order>, .indices = 1, .types = types::positions,
    .shape = [](Tensors x, const Attrs& a, Dims* out) { out[0] = batch_and(x[0].sizes(), 1, {a.as<Order>().n}); },
    .batch = batch::leading, .doc = "The rows of x in the order in which L U has them, from the exchanges of `lu_factor`.", .reference = permutation_kernel};
Tensor lu_permutation(const Tensor& pivots, int64_t rows) { return apply(op_lu_permutation, {pivots}, Order{rows}); }

namespace {

// ---- QR

void qr_kernel(const Launch& l) {
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    auto a = dense::load<typename decltype(tag)::type>(l.x[0], b);
    dense::store(l.y[0], b, dense::qr(a, l.y[0].sizes[l.y[0].ndim - 1]));
    dense::store(l.y[1], b, a);
  });
}
void qr_shape(Tensors x, const Attrs& a, Dims* out) {
  const int64_t m = x[0].size(-2), n = x[0].size(-1), k = a.as<Orthogonal>().complete ? m : std::min(m, n);
  out[0] = batch_and(x[0].sizes(), 2, {m, k});
  out[1] = batch_and(x[0].sizes(), 2, {k, n});
}

// dQ = dA R^-1 - Q T and dR = T R, where T is upper triangular with a real diagonal: Q^H dA R^-1 less its skew part.
Tensor triangle_part(const Tensor& m) { return triu(m) + mH(tril(m, -1)) - diag_embed(imaginary(diagonals(m))); }
Tensor triangle_part_adjoint(const Tensor& g) {
  const Tensor strict = triu(g, 1), d = diagonals(g);
  return strict + mH(strict) + diag_embed(d - imaginary(d));
}
void expect_tall(const Tensor& q, const Tensor& r) {
  expect(q.size(-1) == r.size(-1), "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
}

}  // namespace

const Op op_qr{.name = "qr", .torch = "LinalgQr|A|Q R", .fields = fields_of<Orthogonal>, .kind = Kind::custom, .outputs = 2, .types = types::first, .shape = qr_shape,
    .d = {rule([](Cotangents c, Y<0> q, Y<1> r) {
      expect_tall(q, r);
      Tensor g, x = c.v[0];
      if (c.v[1]) add_to(g, matmul(c.v[1], mH(r)));
      if (c.v[0]) add_to(g, -matmul(mH(q), c.v[0]));
      add_to(x, matmul(q, triangle_part_adjoint(g)));
      return solve_triangular(mH(r), x, false, false);
    })},
    .t = {rule([](V v, Y<0> q, Y<1> r) {
      expect_tall(q, r);
      const Tensor w = solve_triangular(r, v, true, false), t = triangle_part(matmul(mH(q), w));
      return std::array<Tensor, 2>{w - matmul(q, t), matmul(t, r)};
    })},
    .batch = batch::leading, .doc = "x = Q R with orthonormal columns in Q and an upper triangle R, for x with at least as many rows as columns.", .reference = qr_kernel};
QR qr(const Tensor& x, bool complete) {
  expect_matrices(x, "linalg.qr");
  const int64_t m = x.size(-2), n = x.size(-1);
  Tensor y[max_outputs];
  const Tensor tall = m < n ? narrow(x, -1, 0, m) : x;
  apply(op_qr, {&tall, 1}, Orthogonal{complete}, y);
  if (m >= n) return {y[0], y[1]};
  const Tensor parts[] = {y[1], matmul(mH(y[0]), narrow(x, -1, m, n - m))};
  return {y[0], cat(parts, -1)};
}

const Op* const factor_ops[] = {&op_cholesky, &op_lu_factor, &op_lu_permutation, &op_qr};
Ops families::factor() { return factor_ops; }

}  // namespace adjoint
