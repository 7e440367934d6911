// Products of matrices and vectors: one record, matmul, and what is composed of it.
#include <adjoint/core/batch.h>
#include <adjoint/core/distance.h>
#include <adjoint/core/functors/binary.h>
#include <adjoint/core/linalg.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/one_type.h>
#include <adjoint/core/passing_views.h>
#include <adjoint/core/types.h>

#include <algorithm>
#include <cmath>

#include "families.h"
#include "in_float.h"
#include "positions.h"
#include "releasing.h"

namespace adjoint {

extern const Op op_matmul;

namespace {

// One matrix of a batch, row-major in the type that products are computed in.
template <class T, class C>
void pack(const View& x, int64_t offset, std::vector<C>& out) {
  const int64_t rows = x.sizes[x.ndim - 2], columns = x.sizes[x.ndim - 1], down = x.strides[x.ndim - 2], right = x.strides[x.ndim - 1];
  const T* p = x.as<T>() + offset;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) out[i * columns + j] = convert<C>(p[i * down + j * right]);
}

// Where matrix number `batch` of the result's batch begins in x, whose batch dimensions broadcast.
int64_t matrix_offset(const View& x, const View& y, int64_t batch) {
  int64_t offset = 0;
  for (int d = y.ndim - 3; d >= 0; d--) {
    const int own = d - (y.ndim - x.ndim);
    if (own >= 0 && x.sizes[own] != 1) offset += batch % y.sizes[d] * x.strides[own];
    batch /= y.sizes[d];
  }
  return offset;
}

template <class C>
void multiply(const C* a, const C* b, C* row, int64_t inner, int64_t columns) {
  std::fill_n(row, columns, C(0));
  for (int64_t k = 0; k < inner; k++) {
    const C factor = a[k];
    for (int64_t j = 0; j < columns; j++) row[j] = functors::Add{}(row[j], functors::Mul{}(factor, b[k * columns + j]));
  }
}

void matmul_kernel(const Launch& l) {
  const View &a = l.x[0], &b = l.x[1], &y = l.y[0];
  if (y.numel == 0) return;
  const int64_t rows = y.sizes[y.ndim - 2], columns = y.sizes[y.ndim - 1], inner = a.sizes[a.ndim - 1];
  const bool rounds = y.dtype == a.dtype;   // half types are asked for float too
  with_type(a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = std::conditional_t<std::is_same_v<T, bool>, uint8_t, compute_t<T>>;  // bool never comes here
    std::vector<C> left(rows * inner), right(inner * columns), row(columns);
    int64_t packed = -1;
    T* out = y.as<T>();
    C* wide = y.as<C>();
    for (int64_t batch = 0; batch < y.numel / (rows * columns); batch++) {
      pack<T>(a, matrix_offset(a, y, batch), left);
      const int64_t offset = matrix_offset(b, y, batch);
      if (offset != packed) pack<T>(b, packed = offset, right);
      for (int64_t i = 0; i < rows; i++) {
        multiply(left.data() + i * inner, right.data(), row.data(), inner, columns);
        if (rounds) for (C v : row) *out++ = convert<T>(v);
        else wide = std::copy(row.begin(), row.end(), wide);
      }
    }
  });
}

Types matmul_types(Tensors x, const Attrs& attrs) {
  expect(x[0].dtype() == x[1].dtype(), "matmul: expected m1 and m2 to have the same dtype, but got: ", x[0].dtype(), " != ", x[1].dtype());
  expect(x[0].dtype() != DType::bool_, ErrorKind::not_implemented, "matmul: \"addmm_impl_cpu_\" not implemented for 'Bool'");
  const DType out = attrs.as<Cast>().dtype;
  return {x[0].dtype(), {out == DType::float32 && is_half(x[0].dtype()) ? out : x[0].dtype()}};
}
void matmul_shape(Tensors x, const Attrs&, Dims* out) {
  const Dims &a = x[0].sizes(), &b = x[1].sizes();
  const int n = a.size(), m = b.size();
  expect(a[n - 1] == b[m - 2], ErrorKind::shape, "matmul: mat1 and mat2 shapes cannot be multiplied (", a[n - 2], "x", a[n - 1], " and ", b[m - 2], "x", b[m - 1], ")");
  out[0] = broadcast(Dims(std::span(a.data(), n - 2)), Dims(std::span(b.data(), m - 2)), "matmul");
  out[0].push_back(a[n - 2]);
  out[0].push_back(b[m - 1]);
}

// matmul, for operands of any number of dimensions.
Tensor product(const Tensor& a, const Tensor& b, const Attrs& out) {
  expect(a.dim() > 0 && b.dim() > 0, ErrorKind::shape, "matmul: both arguments to matmul need to be at least 1D, but they are ", a.dim(), "D and ", b.dim(), "D");
  if (a.dim() == 1) {
    const Tensor row = unsqueeze(a, 0);
    return as_result(b.dim() == 1 ? reshape(product(row, unsqueeze(b, 1), out), {}) : squeeze(product(row, b, out), Dims{-2}));
  }
  if (b.dim() == 1) return as_result(squeeze(product(a, unsqueeze(b, 1), out), Dims{-1}));
  if (a.dim() > 2 && b.dim() == 2) {
    // Many matrices by one is one taller matrix by it; so is the derivative.
    Dims sizes = a.sizes();
    int64_t rows = 1;
    for (int i = 0; i < a.dim() - 1; i++) rows *= sizes[i];
    sizes[a.dim() - 1] = b.size(1);
    return as_result(reshape(apply(op_matmul, {reshape(a, {rows, a.size(-1)}), b}, out), sizes));
  }
  return apply(op_matmul, {a, b}, out);
}

// Batched operands get singleton dimensions behind the lanes, so that the batch dimensions of both stay aligned.
void batch_matmul(const BatchCall& c, Tensor* out) {
  Tensor x[2] = {batch::front(c, 0), batch::front(c, 1)};
  int ndim[2];
  for (int i = 0; i < 2; i++) ndim[i] = x[i].dim() - (c.dims[i] >= 0);
  for (int i = 0; i < 2; i++)
    for (int k = ndim[i]; c.dims[i] >= 0 && k < std::max(ndim[0], ndim[1]); k++) x[i] = unsqueeze(x[i], 1);
  out[0] = product(x[0], x[1], c.attrs);
}

}  // namespace

// The product a b as a gradient of `like`, with its type and layout: a leaf need not copy it then.
static Tensor product_like(const auto& like, const Tensor& a, const Tensor& b) {
  const Tensor left = to_dtype(a, like.dtype), right = to_dtype(b, like.dtype);
  return like.transposed ? mT(matmul(mT(right), mT(left))) : matmul(left, right);
}

const Op op_matmul{.name = "matmul", .torch = "|self mat2", .kind = Kind::multilinear, .types = matmul_types, .shape = matmul_shape,
    .d = {rule([](V v, X<1> b, XShape<0> a) { return product_like(a, v, mT(b)); }), rule([](V v, X<0> a, XShape<1> b) { return product_like(b, mT(a), v); })},
    .batch = batch_matmul,
    .doc = "The product of matrices, or of batches of matrices that broadcast against each other.", .reference = matmul_kernel};

namespace {
// Of half types, a product that more is added to is not rounded yet.
Attrs kept(bool in_float) { return in_float ? Attrs(Cast{DType::float32}) : Attrs(); }
Tensor rounded(const Tensor& sum, const Tensor& like) { return to_dtype(sum, like.dtype()); }
}  // namespace

namespace {
// The last of the steps in which PyTorch takes products of tensors that are no matrices.
const char* matmul_node(const Tensor& a, const Tensor& b) {
  const int n = a.dim(), m = b.dim();
  if (n == 1 && m == 1) return "DotBackward0";
  if (n == 2 && m == 1) return "MvBackward0";
  if (n == 1 && m == 2) return "SqueezeBackward4";
  return (n > 2 || m > 2) && n > 0 && m > 0 ? "UnsafeViewBackward0" : nullptr;
}
const char* linear_node(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!bias || weight.dim() != 2) return nullptr;
  return x.dim() == 2 ? "AddmmBackward0" : x.dim() > 2 ? "ViewBackward0" : nullptr;
}
}  // namespace
Tensor matmul(const Tensor& a, const Tensor& b, bool in_float) {
  const Given given(a, b);
  const Named named("matmul", given, matmul_node(a, b));
  const PassingViews passing(given);
  return product(a, b, kept(in_float));
}
Tensor matmul(const Tensor& a, const Tensor& b) { return matmul(a, b, false); }

Tensor mm(const Tensor& a, const Tensor& b, bool in_float) {
  expect(a.dim() == 2, ErrorKind::shape, "mm: self must be a matrix, got shape ", a.sizes());
  expect(b.dim() == 2, ErrorKind::shape, "mm: mat2 must be a matrix, got shape ", b.sizes());
  return apply(op_matmul, {a, b}, kept(in_float));
}
Tensor mm(const Tensor& a, const Tensor& b) { return mm(a, b, false); }
Tensor bmm(const Tensor& a, const Tensor& b, bool in_float) {
  expect(a.dim() == 3, ErrorKind::shape, "bmm: batch1 must be a 3D tensor, got shape ", a.sizes());
  expect(b.dim() == 3, ErrorKind::shape, "bmm: batch2 must be a 3D tensor, got shape ", b.sizes());
  expect(a.size(0) == b.size(0) && a.size(2) == b.size(1), ErrorKind::shape, "bmm: Expected size for first two dimensions of batch2 tensor to be: [", a.size(0), ", ", a.size(2), "] but got: [",
         b.size(0), ", ", b.size(1), "].");
  return apply(op_matmul, {a, b}, kept(in_float));
}
Tensor bmm(const Tensor& a, const Tensor& b) { return bmm(a, b, false); }
Tensor mv(const Tensor& a, const Tensor& b, bool in_float) {
  const Given given(a, b);
  const Named named("mv", given, "MvBackward0");
  const PassingViews passing(given);
  expect(a.dim() == 2 && b.dim() == 1, ErrorKind::shape, "mv: vector + matrix @ vector expected, got ", a.dim(), ", ", b.dim());
  expect(a.size(1) == b.size(0), ErrorKind::shape, "mv: size mismatch, got input (", a.size(0), "), mat (", a.size(0), "x", a.size(1), "), vec (", b.size(0), ")");
  return product(a, b, kept(in_float));
}
Tensor mv(const Tensor& a, const Tensor& b) { return mv(a, b, false); }
Tensor dot(const Tensor& a, const Tensor& b) {
  const Given given(a, b);
  const Named named("dot", given, "DotBackward0");
  const PassingViews passing(given);
  expect(a.dim() == 1 && b.dim() == 1, ErrorKind::shape, "dot: 1D tensors expected, but got ", a.dim(), "D and ", b.dim(), "D tensors");
  expect(a.numel() == b.numel(), ErrorKind::shape, "dot: inconsistent tensor size, expected tensor ", a.sizes(), " and src ", b.sizes(), " to have the same number of elements, but got ", a.numel(),
         " and ", b.numel(), " elements respectively");
  return matmul(a, b);
}

namespace {
bool is_one(const Scalar& s) { return !is_complex(s.dtype()) && s.to<double>() == 1; }
void expect_vectors(const Tensor& a, const Tensor& b) {
  expect(a.dim() == 1, ErrorKind::shape, "outer: Expected 1-D argument self, but got ", a.dim(), "-D");
  expect(b.dim() == 1, ErrorKind::shape, "outer: Expected 1-D argument vec2, but got ", b.dim(), "-D");
}
}  // namespace

Tensor outer(const Tensor& a, const Tensor& b) {
  expect_vectors(a, b);
  const PassingViews passing(Given(a, b));
  return mul(unsqueeze(a, 1), b);
}
namespace {
Tensor sum_of(const Tensor& own, Tensor product, const Scalar& beta, const Scalar& alpha) {
  const DType t = seen_type(own) == product.dtype() ? product.dtype() : result_type(std::initializer_list<Tensor>{own, product});
  const Tensor c = seen_type(own) == t ? own : to_dtype(own, t);
  product = to_dtype(std::move(product), t);
  if (alpha.is_zero()) product = masked_fill(product, ones({}, DType::bool_, product.device()), zeros({}, product.dtype(), product.device()));  // what is multiplied, even NaN, does not matter
  if (beta.is_zero()) return is_one(alpha) ? product : mul(product, wrapped(alpha));  // what c holds, even NaN, does not matter
  if (product.dtype() == DType::bool_) return add(mul(c, wrapped(beta)), mul(product, wrapped(alpha)));
  if (is_one(alpha)) return is_one(beta) ? added_to(std::move(product), c) : addcmul(product, c, wrapped(beta), 1);
  return addcmul(is_one(beta) ? c : mul(c, wrapped(beta)), product, wrapped(alpha), 1);
}
}  // namespace
Tensor scaled_sum(const Tensor& c, Tensor product, const Scalar& beta, const Scalar& alpha) {
  if (!is_half(c.dtype()) || product.dtype() != DType::float32) return sum_of(c, std::move(product), beta, alpha);
  if (!InFloat::serves(Given(c, product))) return rounded(sum_of(in_float(c), std::move(product), beta, alpha), c);
  Tensor sum;
  { const InFloat here; sum = sum_of(c, std::move(product), beta, alpha); }
  return rounded(sum, c);
}
// Without a history, what is added to it is all; with one, its gradients are zeros.
bool is_product_of_nothing(const Tensor& a, const Tensor& b, const Tensor& c) {
  const auto plain = [&](const Tensor& t) { return t.dim() == 2 && t.dtype() == c.dtype() && t.device() == c.device() && !(t->keys & ~uint32_t(key_view)); };
  return plain(a) && plain(b) && plain(c) && is_differentiable(c.dtype()) && a.size(1) == 0 && b.size(0) == 0 && c.size(0) == a.size(0) && c.size(1) == b.size(1);
}
Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  const Given given(c, a, b);
  const Named named("addmm", given, "AddmmBackward0");
  const PassingViews passing(given);
  expect_type("addmm", "input", c, "mat1", a);
  const bool half = half_type(c, a, b).has_value();
  if (is_product_of_nothing(a, b, c) && !beta.is_zero()) return mul(c, wrapped(beta));
  Tensor product = mm(a, b, half);
  expect(broadcast(c.sizes(), product.sizes(), "addmm") == product.sizes(), ErrorKind::shape, "addmm: The expanded size of the tensor ", product.sizes(), " must match the existing size ", c.sizes());
  return scaled_sum(c, std::move(product), beta, alpha);
}
Tensor addr(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  const Given given(c, a, b);
  const Named named("addr", given);
  const PassingViews passing(given);
  if (const Tensor y = rounded_once(addr, c, a, b, beta, alpha)) return y;
  const Tensor x[] = {c, a, b};
  if (beta.is_zero() || !is_differentiable(result_type(x))) return scaled_sum(c, outer(a, b), beta, alpha);
  expect_vectors(a, b);
  return addcmul(is_one(beta) ? c : mul(c, wrapped(beta)), unsqueeze(a, 1), b, alpha);
}
namespace {
// A bias never makes the result larger.
Tensor fitting_bias(const Tensor& y, const Tensor& bias) {
  Tensor b = bias;
  while (b.dim() > y.dim() && b.size(0) == 1) b = select(b, 0, 0);
  bool fits = b.dim() <= y.dim();
  for (int i = 1; fits && i <= b.dim(); i++) fits = b.size(-i) == 1 || b.size(-i) == y.size(-i);
  expect(fits, ErrorKind::shape, "linear: a bias of shape ", bias.sizes(), " does not broadcast to the product of shape ", y.sizes());
  return b;
}
}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Given given(x, weight, bias);
  const Named named("linear", given, linear_node(x, weight, bias));
  const PassingViews passing(given);
  expect(weight.dim() == 1 || weight.dim() == 2, ErrorKind::shape, "linear: weight must be 1-d or 2-d, got shape ", weight.sizes());
  const Tensor w = weight.dim() == 2 ? mT(weight) : weight;
  if (!bias) return matmul(x, w);
  expect_type("linear", "bias", bias, "weight", weight);
  if (half_type(x, weight, bias)) {
    Tensor y = product(x, w, kept(true));
    const Tensor b = in_float(fitting_bias(y, bias));
    return rounded(added_to(std::move(y), b), x);
  }
  const Tensor y = matmul(x, w);
  return add(y, fitting_bias(y, bias));
}

Tensor tensordot(const Tensor& first, const Tensor& second, const Dims& dims_a, const Dims& dims_b) {
  const Given given(first, second);
  const Named named("tensordot", given);
  const PassingViews passing(given);
  Tensor a = first, b = second;
  expect(dims_a.size() == dims_b.size(), "tensordot: both dimension lists should have same length, got ", dims_a.size(), " and ", dims_b.size());
  Dims in_a, in_b, order_a, order_b, sizes;
  int64_t rows = 1, columns = 1, inner = 1;
  for (int i = 0; i < dims_a.size(); i++) {
    const int p = wrap_dim(dims_a[i], a.dim(), "tensordot"), q = wrap_dim(dims_b[i], b.dim(), "tensordot");
    expect(!in_a.contains(p) && !in_b.contains(q), "tensordot: a dimension appears multiple times in the lists of dims ", dims_a, " and ", dims_b);
    if (a.size(p) == 1) b = sum(b, Dims{q}, true, b.dtype());   // a dimension of size 1 broadcasts
    else if (b.size(q) == 1) a = sum(a, Dims{p}, true, a.dtype());
    expect(a.size(p) == b.size(q), ErrorKind::shape, "tensordot: contracted dimensions need to match, but first has size ", a.size(p), " in dim ", p, " and second has size ", b.size(q), " in dim ", q);
    in_a.push_back(p);
    in_b.push_back(q);
    inner *= a.size(p);
  }
  for (int i = 0; i < a.dim(); i++)
    if (!in_a.contains(i)) { order_a.push_back(i); sizes.push_back(a.size(i)); rows *= a.size(i); }
  order_b = in_b;
  for (int64_t d : in_a) order_a.push_back(d);
  for (int i = 0; i < b.dim(); i++)
    if (!in_b.contains(i)) { order_b.push_back(i); sizes.push_back(b.size(i)); columns *= b.size(i); }
  return as_result(reshape(mm(reshape(permute(a, order_a), {rows, inner}), reshape(permute(b, order_b), {inner, columns})), sizes));
}

namespace {
// Matrices [i, j) of a chain, split where `split`(i, j) says.
Tensor chain(Tensors x, size_t i, size_t j, const auto& split) {
  return j - i == 1 ? x[i] : matmul(chain(x, i, split(i, j), split), chain(x, split(i, j), j, split));
}
}  // namespace

Tensor multi_dot(Tensors x) {
  const size_t n = x.size();
  expect(n >= 2, "multi_dot(): expected at least 2 tensors but got ", n);
  TensorVector matrices(x.begin(), x.end());
  const bool row = x[0].dim() == 1, column = x[n - 1].dim() == 1;
  if (row) matrices[0] = unsqueeze(x[0], 0);
  if (column) matrices[n - 1] = unsqueeze(x[n - 1], 1);
  for (size_t i = 0; i + 1 < n; i++)
    expect(matrices[i].dim() == 2 && matrices[i + 1].dim() == 2 && matrices[i].size(1) == matrices[i + 1].size(0), ErrorKind::shape, "multi_dot(): tensors ", i, " and ", i + 1, " with shapes ", x[i].sizes(), " and ", x[i + 1].sizes(), " cannot be multiplied");
  // The least cost of each part, and where it is split, from short parts to long ones.
  std::vector<double> cost((n + 1) * (n + 1));
  std::vector<size_t> splits(cost.size());
  for (size_t length = 2; length <= n; length++)
    for (size_t i = 0; i + length <= n; i++) {
      const size_t j = i + length, at = i * (n + 1) + j;
      cost[at] = INFINITY;
      for (size_t k = i + 1; k < j; k++) {
        const double own = cost[i * (n + 1) + k] + cost[k * (n + 1) + j] + static_cast<double>(matrices[i].size(0)) * static_cast<double>(matrices[k].size(0)) * static_cast<double>(matrices[j - 1].size(1));
        if (own < cost[at]) cost[at] = own, splits[at] = k;
      }
    }
  const Tensor y = chain(matrices, 0, n, [&](size_t i, size_t j) { return splits[i * (n + 1) + j]; });
  Dims out;
  if (!row) out.push_back(y.size(0));
  if (!column) out.push_back(y.size(1));
  return row || column ? reshape(y, out) : y;
}

Tensor trace(const Tensor& x) {
  const Named named("trace", {&x, 1});
  const PassingViews passing({&x, 1});
  expect(x.dim() == 2, ErrorKind::shape, "trace: expected a matrix, but got tensor with dim ", x.dim());
  return sum(diagonal(x));
}

// Every product of an element of a and one of b, laid out in blocks of the size of b.
Tensor kron(const Tensor& a, const Tensor& b) {
  const PassingViews passing(Given(a, b));
  const int n = std::max(a.dim(), b.dim());
  Dims left, right, sizes;
  for (int i = 0; i < n; i++) {
    const int p = i - (n - a.dim()), q = i - (n - b.dim());
    const int64_t rows = p < 0 ? 1 : a.size(p), columns = q < 0 ? 1 : b.size(q);
    for (int64_t s : {rows, int64_t(1)}) left.push_back(s);
    for (int64_t s : {int64_t(1), columns}) right.push_back(s);
    sizes.push_back(rows * columns);
  }
  return as_result(reshape(mul(reshape(a, left), reshape(b, right)), sizes));
}

Tensor cross(const Tensor& a, const Tensor& b, int64_t dim) {
  expect(a.dim() == b.dim(), ErrorKind::shape, "linalg.cross: inputs must have the same number of dimensions, got ", a.dim(), " and ", b.dim());
  const int d = wrap_dim(dim, a.dim(), "linalg.cross");
  expect(a.dim() > 0 && a.size(d) == 3 && b.size(d) == 3, ErrorKind::shape, "linalg.cross: inputs dimension ", dim, " must have length 3, got ", a.sizes(), " and ", b.sizes());
  const auto next = [d](const Tensor& x) { return roll(x, {-1}, {d}); };  // element i + 1
  return next(mul(a, next(b)) - mul(next(a), b));
}

const Op* const linalg_ops[] = {&op_distances, &op_matmul};
Ops families::linalg() { return linalg_ops; }

}  // namespace adjoint
