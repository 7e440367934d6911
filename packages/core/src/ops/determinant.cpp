// Determinants. Their derivatives of every order come from the adjugate, composed so that it divides by nothing that may vanish.
#include <adjoint/core/history.h>
#include <adjoint/core/math/log.h>

#include "dense/triangular.h"
#include "families.h"
#include "matrices.h"

namespace adjoint {

using namespace matrices;

namespace {

// The determinant as a sign (a phase) and the logarithm of its size.
template <class C> struct Factors { C sign{1}, product{1}; double logarithm = 0; };
template <class C> Factors<C> factors(dense::Matrix<C> a) {
  const dense::Pivoting p = dense::lu(a);
  Factors<C> f;
  for (int64_t k = 0; k < a.rows; k++) {
    const C pivot = p.rows[k] == k ? a(k, k) : -a(k, k);
    const double size = dense::magnitude(pivot);
    f.product = f.product * pivot;
    f.sign = size == 0 ? C(0) : f.sign * pivot / C(size);
    f.logarithm += math::log(size);
  }
  return f;
}

void det_kernel(const Launch& l) {
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) { dense::store_number(l.y[0], b, factors(dense::load<typename decltype(tag)::type>(l.x[0], b)).product); });
}
void slogdet_kernel(const Launch& l) {
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    const auto f = factors(dense::load<typename decltype(tag)::type>(l.x[0], b));
    dense::store_number(l.y[0], b, f.sign);
    dense::store_number(l.y[1], b, f.logarithm);
  });
}

// ---- the adjugate

constexpr int64_t held_back = 3;   // rows and columns that may be dependent

// An order in which the leading n - 3 rows and columns are well conditioned, if the rank is that large; else `sign` is 0.
template <class C> void find_rank_order(const Launch& l, int64_t b, double precision) {
  const dense::Matrix<C> a = dense::load<C>(l.x[0], b);
  dense::Matrix<C> f = a;
  const double least = precision * static_cast<double>(a.rows);
  const dense::FullPivoting p = dense::full_lu(f, least);
  const int64_t last = a.rows - held_back - 1;
  const bool full = dense::size(f(last, last)) > least * dense::size(f(0, 0));
  dense::store_vector(l.y[0], b, p.rows);
  dense::store_vector(l.y[1], b, p.columns);
  dense::store_number(l.y[2], b, !full ? 0. : p.odd ? -1. : 1.);
}
void rank_order_kernel(const Launch& l) {
  const double precision = itemsize(real_of(l.x[0].dtype)) == 4 ? 0x1p-23 : 0x1p-52;
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) { find_rank_order<typename decltype(tag)::type>(l, b, precision); });
}

struct RankOrder { Tensor rows, columns, sign; };
RankOrder rank_order(const Tensor& x);

// Of 3 x 3 matrices, by products only.
struct Small {
  Tensor adjugate, det;
  explicit Small(const Tensor& x) {
    const TensorVector row = unbind(x, -2);
    const Tensor columns[] = {cross(row[1], row[2]), cross(row[2], row[0]), cross(row[0], row[1])};
    adjugate = stack(columns, -1);
    det = sum(row[0] * columns[0], Dims{-1});
  }
};

Tensor as_matrices(const Tensor& x) { return unsqueeze(unsqueeze(x, -1), -1); }
Tensor trace_of_product(const Tensor& a, const Tensor& b) { return sum(mT(a) * b, Dims{-2, -1}); }
Tensor small_adjugate(const Tensor& x) {
  const int64_t n = x.size(-1), more = held_back - n;
  if (more == 0) return Small(x).adjugate;
  // Bordered with ones on the diagonal, whose block of the adjugate is the one wanted.
  Dims none(x.dim(), 0), behind(x.dim(), 0);
  behind[x.dim() - 2] = behind[x.dim() - 1] = more;
  const Tensor whole = Small(pad(x, none, behind) + pad(eye(more, more, x.dtype(), x.device()), {n, n}, {0, 0})).adjugate;
  return narrow(narrow(whole, -2, 0, n), -1, 0, n);
}

constexpr int64_t searched = 16;   // the largest matrices whose zeros are searched for

// The transpose of the adjugate by the inverse, where nobody asks for higher derivatives; else none. What an inverse loses where a pivot is small, its
// product with the determinant has not lost, if that is made of the same pivots. So a pivot that is 0 may be as large as what rounding leaves.
Tensor cofactors_of_inverse(const Tensor& x) {
  if (x->keys & key_lifted || x.device().type != DeviceType::cpu || x.numel() == 0 || history_is_kept()) return {};
  const int64_t n = x.size(-1);
  const Tensor a = mT(x), one = expand(eye(n, n, x.dtype(), x.device()), x.sizes());
  Solved s = solve(a, one, false);
  Tensor pivots = diagonals(s.factors);
  const Tensor sizes = abs(pivots), none = eq(sizes, wrapped(0.));
  if (item(any(none)).to<bool>()) {
    // Of several only a full search for pivots knows whether the answer is 0, which large matrices are left without: about 0 to rounding.
    if (n <= searched && item(amax(sum(none, Dims{-1}), Dims{}, false)).to<int64_t>() > 1) return {};
    const Tensor largest = amax(sizes, Dims{-1}, true), unit = where(eq(largest, wrapped(0.)), wrapped(1.), largest);
    const Tensor more = to_dtype(where(none, unit * (itemsize(sizes.dtype()) == 4 ? 0x1p-23 : 0x1p-52), wrapped(0.)), x.dtype());
    pivots = pivots + more;
    s.x = apply(*find_op("solve_factored"), {a, s.factors + diag_embed(more), s.pivots, one}, Solving{false});
  }
  const Tensor exchanges = sum(ne(s.pivots, arange(1, n + 1, 1, DType::int32)), Dims{-1});
  return s.x * as_matrices(prod(pivots, -1) * (1.0 - remainder(exchanges, wrapped(2)) * 2.0));
}

// With rows and columns in an order in which x = ((a, b), (c, d)) has an invertible a: det x = det a det s, s = d - c a^-1 b, and s
// is 3 x 3. Where the rank is so small that a is singular too, all derivatives of det up to the third are 0: `sign` is.
Tensor adjugate(const Tensor& given) {
  const int64_t n = given.size(-1), k = n - held_back;
  if (n == 0) return given;
  if (k <= 0) return small_adjugate(given);
  const RankOrder order = rank_order(given);
  const Tensor x = permuted_columns(permuted_rows(given, order.rows), order.columns);
  const Tensor top = narrow(x, -2, 0, k), bottom = narrow(x, -2, k, held_back), c = narrow(bottom, -1, 0, k);
  const Tensor a = where(as_matrices(eq(order.sign, wrapped(0.))), eye(k, k, x.dtype(), x.device()), narrow(top, -1, 0, k));
  const Tensor inverse = adjoint::inverse(a, false).factor, right = matmul(inverse, narrow(top, -1, k, held_back)), left = matmul(c, inverse);
  const Small s(narrow(bottom, -1, k, held_back) - matmul(c, right));
  const Tensor corner = matmul(right, s.adjugate);
  const Tensor upper[] = {as_matrices(s.det) * inverse + matmul(corner, left), -corner}, lower[] = {-matmul(s.adjugate, left), s.adjugate};
  const Tensor blocks[] = {cat(upper, -1), cat(lower, -1)};
  const Tensor y = as_matrices(det(a) * order.sign) * cat(blocks, -2);
  return permuted_columns(permuted_rows(y, inverse_order(order.columns)), inverse_order(order.rows));
}

Tensor cofactors(const Tensor& x) {
  const Tensor y = x.size(-1) > held_back ? cofactors_of_inverse(x) : Tensor();
  return y ? y : mT(adjugate(x));
}

void batch_shape(Tensors x, const Attrs&, Dims* out) { out[0] = out[1] = batch_and(x[0].sizes(), 2, {}); }

}  // namespace

const Op op_rank_order{.name = "rank_order", .outputs = 3,
    .types = [](Tensors x, const Attrs&) { return Types{x[0].dtype(), {DType::int64, DType::int64, real_of(x[0].dtype())}}; },
    .shape = [](Tensors x, const Attrs&, Dims* out) {
      out[0] = out[1] = batch_and(x[0].sizes(), 1, {});
      out[2] = batch_and(x[0].sizes(), 2, {});
    },
    .batch = batch::leading, .doc = "Rows and columns by decreasing pivots, and the sign of both orders; 0 where the rank is below n - 3.", .reference = rank_order_kernel};

namespace {
RankOrder rank_order(const Tensor& x) {
  Tensor y[max_outputs];
  apply(op_rank_order, {&x, 1}, {}, y);
  return {y[0], y[1], y[2]};
}
}  // namespace

const Op op_det{.name = "det", .torch = "LinalgDet|A|result", .kind = Kind::custom, .types = types::first, .shape = batch_shape,
    .d = {rule([](V v, X<0> x) { return as_matrices(v) * conj(cofactors(x)); })}, .t = {rule([](V v, X<0> x) { return sum(cofactors(x) * v, Dims{-2, -1}); })},
    .batch = batch::leading, .doc = "The determinant; its derivatives are right at singular matrices too.", .reference = det_kernel};
Tensor det(const Tensor& x) {
  expect_square(x, "linalg.det");
  return apply(op_det, {x});
}

const Op op_slogdet{.name = "slogdet", .torch = "LinalgSlogdet|A|sign logabsdet", .kind = Kind::custom, .outputs = 2, .types = [](Tensors x, const Attrs&) { return Types{x[0].dtype(), {x[0].dtype(), real_of(x[0].dtype())}}; }, .shape = batch_shape,
    .d = {rule([](Cotangents c, X<0> x, Y<0> sign) {
      Tensor w = c.v[1];
      if (c.v[0]) add_to(w, imaginary(c.v[0] * conj(sign)));
      return as_matrices(w) * mH(inverse(x, false).factor);
    })},
    .t = {rule([](V v, X<0> x, Y<0> sign) {
      const Tensor w = trace_of_product(inverse(x, false).factor, v);
      return std::array<Tensor, 2>{sign * imaginary(w), real(w)};
    })},
    .batch = batch::leading, .doc = "The sign (the phase) of the determinant, and the logarithm of its absolute value.", .reference = slogdet_kernel};
SignLog slogdet(const Tensor& x) {
  expect_square(x, "linalg.slogdet");
  Tensor y[max_outputs];
  apply(op_slogdet, {&x, 1}, {}, y);
  return {y[0], y[1]};
}

const Op* const determinant_ops[] = {&op_det, &op_rank_order, &op_slogdet};
Ops families::determinant() { return determinant_ops; }

}  // namespace adjoint
