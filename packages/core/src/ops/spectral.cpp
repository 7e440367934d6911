// Spectra: eigenvalues and singular values with their vectors.
#include <algorithm>

#include "dense/eig.h"
#include "dense/orthogonal.h"
#include "families.h"
#include "matrices.h"

namespace adjoint {

using namespace matrices;

namespace {

bool finite(const View& x, int64_t b) {
  const auto m = dense::load<Complex<double>>(x, b);
  return std::all_of(m.values.begin(), m.values.end(), [](Complex<double> v) { return std::isfinite(v.re) && std::isfinite(v.im); });
}

// Complex vectors have a free phase: a loss that depends on it has no gradient. `phase` is its derivative by each phase.
void expect_no_phase(const Tensor& phase, const char* text) {
  if (!is_complex(phase.dtype())) return;
  const TensorImpl* t = phase->keys & key_lifted && engine_hooks.memory ? engine_hooks.memory(*phase) : phase.get();
  if (!t || t->ndim() == 0 || t->device.type == DeviceType::meta) return;   // under vmap, nobody looks
  const Tensor held = to_device(alias_of(Tensor(const_cast<TensorImpl*>(t))), {});
  const View v{held->data, held->sizes.data(), held->strides.data(), held->ndim(), held->dtype, held->numel};
  for (int64_t b = 0; b < dense::batches(v, 1); b++)
    for (const Complex<double> z : dense::load_vector<Complex<double>>(v, b)) expect(std::fabs(z.im) <= 1e-2, text);
}

// ---- Hermitian matrices

void eigh_kernel(const Launch& l) {
  std::vector<int32_t> info;
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    auto e = dense::eigh(dense::load<typename decltype(tag)::type>(l.x[0], b));
    info.push_back(e.info);
    dense::store_vector(l.y[0], b, e.values);
    if (l.attrs.as<Spectral>().vectors) dense::store(l.y[1], b, e.vectors);
  });
  check_info(l.op, info, l.x[0].ndim > 2);
}
void eigen_shape(Tensors x, const Attrs& a, Dims* out) {
  const int64_t n = x[0].size(-1);
  out[0] = batch_and(x[0].sizes(), 2, {n});
  out[1] = batch_and(x[0].sizes(), 2, {n, a.as<Spectral>().vectors ? n : 0});
}

}  // namespace

// dw = diag(V^H dA V), dV = V (V^H dA V / gaps).
const Op op_eigh{.name = "eigh", .torch = "LinalgEigh|A|eigenvalues eigenvectors", .kind = Kind::custom, .outputs = 2, .types = [](Tensors x, const Attrs&) { return Types{x[0].dtype(), {real_of(x[0].dtype()), x[0].dtype()}}; }, .shape = eigen_shape,
    .d = {rule([](Cotangents c, Y<0> w, Y<1> u) {
      if (!c.v[1]) return matmul(columns_times(u, c.v[0]), mH(u));
      const Tensor g = matmul(mH(u), c.v[1]);
      expect_no_phase(diagonals(g), "linalg_eigh_backward: The eigenvectors in the complex case are specified up to multiplication by e^{i phi}. The specified loss function depends on this quantity, so it is ill-defined.");
      Tensor inner = off_diagonal(g / gaps(w));
      if (c.v[0]) inner = inner + diag_embed(c.v[0]);
      return hermitian(matmul(matmul(u, inner), mH(u)));   // what moves the two triangles apart is no change of a Hermitian matrix
    })},
    .t = {rule([](V v, Y<0> w, Y<1> u) {
      const Tensor m = matmul(mH(u), matmul(v, u));
      return std::array<Tensor, 2>{real(diagonals(m)), matmul(u, off_diagonal(m / gaps(w)))};
    })},
    .batch = batch::leading, .doc = "Eigenvalues, ascending, and orthonormal eigenvectors (columns) of Hermitian matrices, of which the lower triangle is read.", .reference = eigh_kernel};
namespace {
Eigen hermitian_spectrum(const Tensor& x, bool upper, bool vectors) {
  expect_square(x, "linalg.eigh");
  Tensor y[max_outputs];
  const Tensor lower = upper ? mH(x) : x;
  apply(op_eigh, {&lower, 1}, Spectral{vectors}, y);
  return {y[0], y[1]};
}
}  // namespace
Eigen eigh(const Tensor& x, bool upper) { return hermitian_spectrum(x, upper, true); }
Tensor eigvalsh(const Tensor& x, bool upper) { return hermitian_spectrum(x, upper, x->keys != 0).values; }   // derivatives need the vectors

namespace {

// ---- general matrices

void eig_kernel(const Launch& l) {
  std::vector<int32_t> info;
  dense::for_matrices(l.x[0], [&](auto, int64_t b) {
    if (!finite(l.x[0], b)) return info.push_back(not_finite);
    const dense::Spectrum e = dense::eig(dense::load<Complex<double>>(l.x[0], b));
    info.push_back(e.info);
    dense::store_vector(l.y[0], b, e.values);
    if (l.attrs.as<Spectral>().vectors) dense::store(l.y[1], b, e.vectors);
  });
  check_info(l.op, info, l.x[0].ndim > 2);
}
Tensor real_diagonal(const Tensor& x) { const Tensor d = diagonals(x); return d - imaginary(d); }

}  // namespace

// M = V^-1 dA V: dw = diag(M), dV = V (M / gaps), less what changes the length of each vector.
const Op op_eig{.name = "eig", .torch = "LinalgEig|self|eigenvalues eigenvectors", .kind = Kind::custom, .outputs = 2, .types = [](Tensors x, const Attrs&) { return Types{x[0].dtype(), {complex_of(x[0].dtype()), complex_of(x[0].dtype())}}; }, .shape = eigen_shape,
    .d = {rule([](Cotangents c, Y<0> w, Y<1> u, XShape<0> x) {
      Tensor inner;
      if (c.v[1]) {
        const Tensor g = matmul(mH(u), c.v[1]);
        expect_no_phase(diagonals(g), "linalg_eig_backward: The eigenvectors in the complex case are specified up to multiplication by e^{i phi}. The specified loss function depends on this quantity, so it is ill-defined.");
        inner = off_diagonal((g - columns_times(matmul(mH(u), u), real_diagonal(g))) / conj(gaps(w)));
      }
      if (c.v[0]) add_to(inner, diag_embed(c.v[0]));
      const Tensor g = solve(mH(u), matmul(inner, mH(u))).x;
      return is_complex(x.dtype) ? g : real(g);
    })},
    .t = {rule([](V v, Y<0> w, Y<1> u) {
      const Tensor m = solve(u, matmul(to_dtype(v, u.dtype()), u)).x, turned = matmul(u, off_diagonal(m / gaps(w)));
      return std::array<Tensor, 2>{diagonals(m), turned - columns_times(u, real_diagonal(matmul(mH(u), turned)))};
    })},
    .batch = batch::leading, .doc = "Eigenvalues and eigenvectors (columns of norm 1) of square matrices, complex in any case.", .reference = eig_kernel};
namespace {
Eigen spectrum(const Tensor& x, bool vectors) {
  expect_square(x, "linalg.eig");
  Tensor y[max_outputs];
  apply(op_eig, {&x, 1}, Spectral{vectors}, y);
  return {y[0], y[1]};
}
}  // namespace
Eigen eig(const Tensor& x) { return spectrum(x, true); }
Tensor eigvals(const Tensor& x) { return spectrum(x, x->keys != 0).values; }   // derivatives need the vectors

namespace {

// ---- singular values

void svd_kernel(const Launch& l) {
  std::vector<int32_t> info;
  const Singular& a = l.attrs.as<Singular>();
  dense::for_matrices(l.x[0], [&](auto tag, int64_t b) {
    if (!finite(l.x[0], b)) return info.push_back(not_finite);
    const auto s = dense::svd(dense::load<typename decltype(tag)::type>(l.x[0], b), a.full);
    info.push_back(s.info);
    dense::store_vector(l.y[1], b, s.values);
    if (!a.vectors) return;
    dense::store(l.y[0], b, s.u);
    dense::store(l.y[2], b, dense::adjoint(s.v));
  });
  check_info(l.op, info, l.x[0].ndim > 2);
}
void svd_shape(Tensors x, const Attrs& attrs, Dims* out) {
  const Singular& a = attrs.as<Singular>();
  const int64_t m = x[0].size(-2), n = x[0].size(-1), k = std::min(m, n);
  out[0] = batch_and(x[0].sizes(), 2, {m, !a.vectors ? 0 : a.full ? m : k});
  out[1] = batch_and(x[0].sizes(), 2, {k});
  out[2] = batch_and(x[0].sizes(), 2, {!a.vectors ? 0 : a.full ? n : k, n});
}

// A = U S V^H, of which only the first min(m, n) vectors are differentiated.
struct Thin {
  int64_t m, n, k;
  Tensor u, s, v;
  Thin(const Tensor& u, const Tensor& s, const Tensor& vh) : m(u.size(-2)), n(vh.size(-1)), k(s.size(-1)), u(narrow(u, -1, 0, k)), s(s), v(mH(narrow(vh, -2, 0, k))) {}
  Tensor gaps_of_squares() const { return gaps(s * s); }
  static Tensor beyond(const Tensor& u, const Tensor& x) { return x - matmul(u, matmul(mH(u), x)); }   // (1 - U U^H) x
};

// U^H dU and V^H dV, skew, from P = U^H dA V: off the diagonal (P S + S P^H) / gaps and (S P + P^H S) / gaps.
std::array<Tensor, 3> svd_jvp(const Tensor& t, const Tensor& full_u, const Tensor& s, const Tensor& full_vh) {
  const Thin f(full_u, s, full_vh);
  const Tensor av = matmul(t, f.v), p = matmul(mH(f.u), av), ph = mH(p), e = f.gaps_of_squares();
  Tensor left = off_diagonal((columns_times(p, s) + rows_times(ph, s)) / e), right = off_diagonal((rows_times(p, s) + columns_times(ph, s)) / e);
  if (is_complex(p.dtype())) {
    const Tensor turn = diag_embed(imaginary(diagonals(p)) / (s * 2.0));
    left = left + turn;
    right = right - turn;
  }
  Tensor du = matmul(f.u, left), dv = matmul(f.v, right);
  if (f.m > f.k) du = du + columns_over(Thin::beyond(f.u, av), s);
  if (f.n > f.k) dv = dv + columns_over(Thin::beyond(f.v, matmul(mH(t), f.u)), s);
  const auto widened = [](const Tensor& x, int64_t columns) {   // nothing is said of the vectors that only fill up
    Dims none(x.dim(), 0), more(x.dim(), 0);
    more[x.dim() - 1] = columns - x.size(-1);
    return more[x.dim() - 1] ? pad(x, none, more) : x;
  };
  return {widened(du, full_u.size(-1)), real(diagonals(p)), mH(widened(dv, full_vh.size(-2)))};
}

Tensor svd_vjp(Tensors c, const Tensor& full_u, const Tensor& s, const Tensor& full_vh) {
  const Thin f(full_u, s, full_vh);
  Tensor inner = c[1] ? diag_embed(to_dtype(c[1], f.u.dtype())) : Tensor(), phase, turn, sum;
  const auto skew = [](const Tensor& x) { return x - mH(x); };
  if (c[0]) {
    const Tensor g = narrow(c[0], -1, 0, f.k), x = matmul(mH(f.u), g);
    add_to(inner, columns_times(off_diagonal(skew(x) / f.gaps_of_squares()), s));
    phase = diagonals(x);
    turn = imaginary(phase);
    if (f.m > f.k) add_to(sum, matmul(columns_over(Thin::beyond(f.u, g), s), mH(f.v)));
  }
  if (c[2]) {
    const Tensor g = mH(narrow(c[2], -2, 0, f.k)), y = matmul(mH(f.v), g);
    add_to(inner, rows_times(off_diagonal(skew(y) / f.gaps_of_squares()), s));
    add_to(phase, diagonals(y));
    add_to(turn, -imaginary(diagonals(y)));
    if (f.n > f.k) add_to(sum, matmul(f.u, mH(columns_over(Thin::beyond(f.v, g), s))));
  }
  if (phase) expect_no_phase(phase, "svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i phi}. The specified loss function depends on this phase term, making it ill-defined.");
  if (turn && is_complex(turn.dtype())) inner = inner + diag_embed(turn / (s * 2.0));
  add_to(sum, matmul(matmul(f.u, inner), mH(f.v)));
  return sum;
}

}  // namespace

const Op op_svd{.name = "svd", .torch = "LinalgSvd|A|U S Vh", .kind = Kind::custom, .outputs = 3, .types = [](Tensors x, const Attrs&) { return Types{x[0].dtype(), {x[0].dtype(), real_of(x[0].dtype()), x[0].dtype()}}; }, .shape = svd_shape,
    .d = {rule([](Cotangents c, Y<0> u, Y<1> s, Y<2> vh) { return svd_vjp(c.v, u, s, vh); })},
    .t = {rule([](V v, Y<0> u, Y<1> s, Y<2> vh) { return svd_jvp(v, u, s, vh); })},
    .batch = batch::leading, .doc = "x = U diag(S) Vh with orthonormal columns in U and rows in Vh; S descending.", .reference = svd_kernel};
namespace {
SVD singular_spectrum(const Tensor& x, const Singular& a) {
  expect_matrices(x, "linalg.svd");
  Tensor y[max_outputs];
  apply(op_svd, {&x, 1}, a, y);
  return {y[0], y[1], y[2]};
}
}  // namespace
SVD svd(const Tensor& x, bool full) { return singular_spectrum(x, {true, full}); }
Tensor svdvals(const Tensor& x) { return singular_spectrum(x, {x->keys != 0, false}).s; }   // derivatives need the vectors

const Op* const spectral_ops[] = {&op_eig, &op_eigh, &op_svd};
Ops families::spectral() { return spectral_ops; }

}  // namespace adjoint
