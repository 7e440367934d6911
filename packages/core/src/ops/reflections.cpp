// Products of reflections, packed as LAPACK packs the orthogonal factor of a QR factorisation.
#include "dense/orthogonal.h"
#include "families.h"
#include "matrices.h"

namespace adjoint {

using namespace matrices;

namespace {

// ---- kernels

void geqrf_kernel(const Launch& l) {
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    auto a = dense::load<typename decltype(tag)::type>(l.x[0], b);
    const auto factors = dense::packed_qr(a);
    dense::store(l.y[0], b, a);
    dense::store_vector(l.y[1], b, factors);
  });
}
void product_kernel(const Launch& l) {
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using C = typename decltype(tag)::type;
    auto q = dense::Matrix<C>::identity(l.y[0].sizes[l.y[0].ndim - 2], l.y[0].sizes[l.y[0].ndim - 1]);
    dense::reflect(dense::load<C>(l.x[0], b), dense::load_vector<C>(l.x[1], b), q, false);
    dense::store(l.y[0], b, q);
  });
}
void ormqr_kernel(const Launch& l) {
  const Reflecting& r = l.attrs.as<Reflecting>();
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    using C = typename decltype(tag)::type;
    auto x = dense::load<C>(l.x[2], b);
    if (!r.left) x = dense::adjoint(x);
    dense::reflect(dense::load<C>(l.x[0], b), dense::load_vector<C>(l.x[1], b), x, r.left == r.transpose);
    dense::store(l.y[0], b, r.left ? x : dense::adjoint(x));
  });
}

// ---- derivatives
//
// H_1 H_2 ... H_k = 1 - V T V^H with a triangular T (R. Schreiber and C. Van Loan, A storage-efficient WY representation for products of
// Householder transformations, 1989): T = (1 + D S)^-1 D = D (1 + S D)^-1, where D has tau on its diagonal and S is what V^H V has above it.
// So dT = (1 + D S)^-1 dD (1 + S D)^-1 - T dS T.
struct Reflections {
  Tensor v, tau, ds, sd;
  Reflections(const Tensor& a, const Tensor& tau) : v(vectors(a, tau.size(-1)) + eye(a.size(-2), tau.size(-1), a.dtype(), a.device())), tau(tau) {
    const Tensor products = matmul(mH(v), v);
    ds = rows_times(products, tau);
    sd = columns_times(products, tau);
  }
  static Tensor vectors(const Tensor& a, int64_t k) { return tril(narrow(a, -1, 0, k), -1); }
  // The product with T = first D second, or with its adjoint.
  Tensor first(const Tensor& x, bool adjoint) const { return solve(adjoint ? sd : ds, x, adjoint); }
  Tensor second(const Tensor& x, bool adjoint) const { return solve(adjoint ? ds : sd, x, adjoint); }
  Tensor middle(const Tensor& x, bool adjoint) const { return rows_times(x, adjoint ? conj(tau) : tau); }
  Tensor t(const Tensor& x, bool adjoint) const { return middle(second(x, adjoint), adjoint); }
  // c is null for the first columns of 1.
  Tensor projected(const Tensor& c, int64_t columns) const { return c ? matmul(mH(v), c) : mH(narrow(v, -2, 0, columns)); }

 private:
  static Tensor solve(const Tensor& of, const Tensor& x, bool adjoint) { return solve_triangular(adjoint ? mH(of) : of, x, !adjoint, true, true); }
};
// With zeros behind, up to a size.
Tensor padded(const Tensor& x, int64_t dim, int64_t size) {
  if (x.size(dim) == size) return x;
  Dims before(x.dim(), 0), behind(x.dim(), 0);
  behind[x.dim() + static_cast<int>(dim)] = size - x.size(dim);
  return pad(x, before, behind);
}

// What is multiplied from the left, c, and the cotangent g of the result, as if of the product itself: <g, Q^H c> = <c, Q g>*.
struct Pair { Tensor c, g; };
bool adjoint_of_left(const Reflecting& r) { return r.left == r.transpose; }
Pair of_product(const Tensor& c, const Tensor& v, const Reflecting& r) {
  const Pair p{r.left ? c : mH(c), r.left ? v : mH(v)};
  return adjoint_of_left(r) ? Pair{p.g, p.c} : p;
}
Tensor vectors_cotangent(const Tensor& a, const Tensor& tau, const Pair& pair) {
  const Reflections p(a, tau);
  const Tensor c = p.t(p.projected(pair.c, a.size(-1)), false), g = p.t(matmul(mH(p.v), pair.g), true);
  const Tensor s = triu(matmul(g, mH(c)), 1), other = pair.c ? matmul(pair.c, mH(g)) : padded(mH(g), -2, a.size(-2));
  return padded(tril(matmul(p.v, s + mH(s)) - matmul(pair.g, mH(c)) - other, -1), -1, a.size(-1));
}
Tensor factors_cotangent(const Tensor& a, const Tensor& tau, const Pair& pair) {
  const Reflections p(a, tau);
  return -sum(p.second(matmul(mH(p.v), pair.g), true) * conj(p.second(p.projected(pair.c, a.size(-1)), false)), Dims{-1});
}
Tensor vectors_tangent(const Tensor& da, const Tensor& a, const Tensor& tau, const Tensor& c, bool adjoint) {
  const Reflections p(a, tau);
  const Tensor dv = Reflections::vectors(da, tau.size(-1)), ds = triu(matmul(mH(dv), p.v) + matmul(mH(p.v), dv), 1);
  const Tensor inner = p.t(p.projected(c, a.size(-1)), adjoint), own = c ? matmul(mH(dv), c) : mH(narrow(dv, -2, 0, a.size(-1)));
  return -(matmul(dv, inner) + matmul(p.v, p.t(own - matmul(adjoint ? mH(ds) : ds, inner), adjoint)));
}
Tensor factors_tangent(const Tensor& dtau, const Tensor& a, const Tensor& tau, const Tensor& c, bool adjoint) {
  const Reflections p(a, tau);
  return -matmul(p.v, p.first(rows_times(p.second(p.projected(c, a.size(-1)), adjoint), adjoint ? conj(dtau) : dtau), adjoint));
}

// Products of matrices, where a GPU has kernels of those.
bool has_products(const Tensor& a) { return a.device().type != DeviceType::cpu; }
Tensor of_matrices(const Tensor& a, const Tensor& tau, const Tensor& c, bool adjoint) {
  const Reflections p(a, tau);
  return c - matmul(p.v, p.t(matmul(mH(p.v), c), adjoint));
}

void expect_packed(const Tensor& a, const Tensor& tau, const char* op) {
  expect(a.dim() >= 2, ErrorKind::shape, op, ": input must have at least 2 dimensions.");
  expect_type(a, op);
  expect(tau.dtype() == a.dtype(), op, ": tau dtype ", tau.dtype(), " does not match input dtype ", a.dtype());
  expect(tau.dim() == a.dim() - 1, ErrorKind::shape, op, ": Expected tau to have one dimension less than input, but got tau.ndim equal to ", tau.dim(), " and input.ndim is equal to ", a.dim());
  const Dims batch = batch_and(tau.sizes(), 1, {});
  expect(batch == batch_and(a.sizes(), 2, {}), ErrorKind::shape, op, ": Expected batch dimensions of tau to be equal to input.shape[:-2], but got ", batch);
}

Tensor no_derivative() { fail(ErrorKind::not_implemented, "the derivative for 'geqrf' is not implemented."); }

}  // namespace

const Op op_geqrf{.name = "geqrf", .torch = "Geqrf", .kind = Kind::custom, .outputs = 2, .types = types::first,
    .shape = [](Tensors x, const Attrs&, Dims* out) {
      out[0] = x[0].sizes();
      out[1] = batch_and(x[0].sizes(), 2, {std::min(x[0].size(-1), x[0].size(-2))});
    },
    .d = {rule([](Cotangents) { return no_derivative(); })}, .t = {rule([](V) { return no_derivative(); })},
    .batch = batch::leading, .doc = "x = Q R: R on and above the diagonal, below it the vectors of the reflections whose product is Q, and their factors.", .reference = geqrf_kernel};
PackedQR geqrf(const Tensor& x) {
  expect(x.dim() >= 2, ErrorKind::shape, "torch.geqrf: input must have at least 2 dimensions.");
  expect_type(x, "geqrf");
  Tensor y[max_outputs];
  apply(op_geqrf, {&x, 1}, {}, y);
  return {y[0], y[1]};
}

const Op op_householder_product{.name = "householder_product", .torch = "LinalgHouseholderProduct|input tau|result", .kind = Kind::custom, .types = types::first,
    .shape = [](Tensors x, const Attrs&, Dims* out) { out[0] = x[0].sizes(); },
    .d = {rule([](V v, X<0> a, X<1> tau) { return vectors_cotangent(a, tau, {{}, v}); }),
          rule([](V v, X<0> a, X<1> tau) { return factors_cotangent(a, tau, {{}, v}); })},
    .t = {rule([](V v, X<0> a, X<1> tau) { return vectors_tangent(v, a, tau, {}, false); }),
          rule([](V v, X<0> a, X<1> tau) { return factors_tangent(v, a, tau, {}, false); })},
    .batch = batch::leading, .doc = "The first columns of a product of reflections that are packed as in `geqrf`.", .reference = product_kernel};
Tensor householder_product(const Tensor& a, const Tensor& tau) {
  constexpr const char* name = "torch.linalg.householder_product";
  expect_packed(a, tau, name);
  expect(a.size(-2) >= a.size(-1), ErrorKind::shape, name, ": input.shape[-2] must be greater than or equal to input.shape[-1]");
  expect(a.size(-1) >= tau.size(-1), ErrorKind::shape, name, ": input.shape[-1] must be greater than or equal to tau.shape[-1]");
  return has_products(a) ? of_matrices(a, tau, eye(a.size(-2), a.size(-1), a.dtype(), a.device()), false) : apply(op_householder_product, {a, tau});
}

const Op op_ormqr{.name = "ormqr", .torch = "Ormqr|self input2 input3", .fields = fields_of<Reflecting>, .kind = Kind::custom, .types = types::first,
    .shape = [](Tensors x, const Attrs&, Dims* out) { out[0] = x[2].sizes(); },
    .d = {rule([](V v, X<0> a, X<1> tau, X<2> c, const Reflecting& r) { return vectors_cotangent(a, tau, of_product(c, v, r)); }),
          rule([](V v, X<0> a, X<1> tau, X<2> c, const Reflecting& r) { return factors_cotangent(a, tau, of_product(c, v, r)); }),
          rule([](V v, X<0> a, X<1> tau, const Reflecting& r) { return ormqr(a, tau, v, r.left, !r.transpose); })},
    .t = {rule([](V v, X<0> a, X<1> tau, X<2> c, const Reflecting& r) {
            const Tensor y = vectors_tangent(v, a, tau, r.left ? Tensor(c) : mH(c), adjoint_of_left(r));
            return r.left ? y : mH(y);
          }),
          rule([](V v, X<0> a, X<1> tau, X<2> c, const Reflecting& r) {
            const Tensor y = factors_tangent(v, a, tau, r.left ? Tensor(c) : mH(c), adjoint_of_left(r));
            return r.left ? y : mH(y);
          }),
          rule([](V v, X<0> a, X<1> tau, const Reflecting& r) { return ormqr(a, tau, v, r.left, r.transpose); })},
    .batch = batch::leading, .doc = "Q c, or c Q if not `left`, where Q (or Q^H if `transpose`) is the whole product of reflections that are packed as in `geqrf`.", .reference = ormqr_kernel};
Tensor ormqr(const Tensor& a, const Tensor& tau, const Tensor& c, bool left, bool transpose) {
  constexpr const char* name = "torch.ormqr";
  expect_packed(a, tau, name);
  expect(c.dim() >= 2, ErrorKind::shape, name, ": other must have at least 2 dimensions.");
  expect(c.dtype() == a.dtype(), name, ": Expected input and other to have the same dtype, but input has dtype ", a.dtype(), " and other has dtype ", c.dtype());
  expect(c.dim() == a.dim(), ErrorKind::shape, name, ": Expected other to have the same number of dimensions as input, but got other.ndim equal to ", c.dim(), " and input.ndim is equal to ", a.dim());
  const Dims batch = batch_and(c.sizes(), 2, {});
  expect(batch == batch_and(a.sizes(), 2, {}), ErrorKind::shape, name, ": Expected batch dimensions of other to be equal to input.shape[:-2], but got ", batch);
  const int64_t side = left ? -2 : -1;
  expect(c.size(side) == a.size(-2), ErrorKind::shape, name, ": other.shape[", side, "] must be equal to input.shape[-2]");
  expect(tau.size(-1) == std::min(a.size(-2), a.size(-1)), ErrorKind::shape, name, ": tau.shape[-1] must be equal to min(other.shape[", side, "], input.shape[-1])");
  if (!has_products(a)) return apply(op_ormqr, {a, tau, c}, Reflecting{left, transpose});
  return left ? of_matrices(a, tau, c, transpose) : mH(of_matrices(a, tau, mH(c), !transpose));
}

const Op* const reflections_ops[] = {&op_geqrf, &op_householder_product, &op_ormqr};
Ops families::reflections() { return reflections_ops; }

}  // namespace adjoint
