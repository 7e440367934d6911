// Distances between rows, from their differences: exact for rows that are close to each other, too. The derivative at distance 0 is 0.
#include <adjoint/core/batch.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/distance.h>
#include <adjoint/core/types.h>

#include <algorithm>
#include <cmath>

#include "in_double.h"

namespace adjoint {

namespace {

constexpr int64_t together = 1 << 20;   // differences that are in memory at a time

// f(rows of a, rows of y) for some rows at a time, one after another.
template <class F> Tensor by_rows(const Tensor& a, const Tensor& b, const Tensor& y, F&& f) {
  const int64_t n = a.size(-2), rows = std::max<int64_t>(1, together / std::max<int64_t>(1, b.numel()));
  if (n <= rows) return f(a, y);
  TensorVector parts;
  for (int64_t i = 0; i < n; i += rows) {
    const int64_t count = std::min(rows, n - i);
    parts.push_back(f(narrow(a, -2, i, count), narrow(y, -2, i, count)));
  }
  return cat(parts, -2);
}
Tensor differences(const Tensor& a, const Tensor& b) { return sub(unsqueeze(a, -2), unsqueeze(b, -3)); }
Tensor quotient(const Tensor& v, const Tensor& y) {
  const Tensor none = eq(y, wrapped(0.0));
  return masked_fill(div(v, masked_fill(y, none, wrapped(1.0))), none, wrapped(0.0));
}

// Differences of doubles are taken one by one, those of other types as products of matrices in double: what cancels there is exact in the type.
// Where products are allowed they are of the type itself, of rows less what they have in common, on which nothing depends: the coordinate nearest to zero
// where all are on one side of it. One row that is far from the others moves it nowhere.
bool by_products(const Tensor& y, const Distances& d) { return d.products || y.dtype() != DType::float64; }
struct Apart {
  Tensor a, b;
  Apart(const Tensor& x, const Tensor& y, const Distances& d) {
    if (!d.products) { a = to_dtype(x, DType::float64), b = to_dtype(y, DType::float64); return; }
    a = x, b = y;
    if (y.size(-2) == 0) return;   // nothing in common
    const Dims rows{y.dim() - 2};
    const Tensor low = clamp(amin(y, rows, true), wrapped(0.0), {}), high = clamp(amax(y, rows, true), {}, wrapped(0.0)), nearest = add(low, high);
    const Tensor centre = masked_fill(nearest, ne(sub(nearest, nearest), wrapped(0.0)), wrapped(0.0));   // one row with NaN is none of the others' business
    a = sub(x, centre), b = sub(y, centre);
  }
};

// What each distance grows by, by the differences of its rows: their signs, or Euclid's quotients, of which `weights` has the distance already.
Tensor slopes(const Tensor& some, const Tensor& b, const Distances& d) {
  const Tensor apart = differences(some, b);
  return d.power == 1 ? sign(apart) : apart;
}
// The cotangent of a: the sum over j of v[i, j] / y[i, j] (a[i] - b[j]).
Tensor pulled(const Tensor& v, const Tensor& a, const Tensor& b, const Tensor& y, const Distances& d) {
  if (d.power == 0) return zeros_like(a);
  const Tensor weights = d.power == 1 ? v : quotient(v, y);
  if (d.power == 2 && by_products(y, d)) {
    const Apart x(a, b, d);
    const Tensor w = to_dtype(weights, x.a.dtype());
    return to_dtype(sub(mul(x.a, sum(w, Dims{w.dim() - 1}, true)), matmul(w, x.b)), y.dtype());
  }
  return by_rows(a, b, weights, [&](const Tensor& some, const Tensor& c) { return squeeze(matmul(unsqueeze(c, -2), slopes(some, b, d)), Dims{c.dim() - 1}); });
}
// The tangent by that of a.
Tensor pushed(const Tensor& t, const Tensor& a, const Tensor& b, const Tensor& y, const Distances& d) {
  if (d.power == 0) return zeros_like(y);
  if (d.power == 2 && by_products(y, d)) {
    const Apart x(a, b, d);
    const Tensor wide = to_dtype(t, x.a.dtype());
    return quotient(to_dtype(sub(sum(mul(wide, x.a), Dims{wide.dim() - 1}, true), matmul(wide, transpose(x.b, -1, -2))), y.dtype()), y);
  }
  const Tensor along = by_rows(cat(TensorVector{a, t}, -1), b, y, [&](const Tensor& some, const Tensor& c) {
    const int64_t n = b.size(-1);
    return sum(mul(unsqueeze(narrow(some, -1, n, n), -2), slopes(narrow(some, -1, 0, n), b, d)), Dims{c.dim()});
  });
  return d.power == 1 ? along : quotient(along, y);
}

double part_of(double d, int power) { return power == 2 ? d * d : power == 1 ? std::abs(d) : d != d ? d : d != 0 ? 1. : 0.; }

void distances_kernel(const Launch& l) {
  if (l.y[0].numel == 0) return;
  const auto [above, products, power] = l.attrs.as<Distances>();
  const int64_t d = l.x[0].sizes[l.x[0].ndim - 1], n = l.x[0].sizes[l.x[0].ndim - 2], m = l.x[1].sizes[l.x[1].ndim - 2];
  Wide a(l.x[0]), b(l.x[1]), y(l.y[0], true);
  for (int64_t r = 0; r < l.y[0].numel; r++) {
    const int64_t j = r % m, i = r / m % n, lane = r / m / n;
    const double *p = a.data() + (lane * n + i) * d, *q = b.data() + (lane * m + j) * d;
    double total = 0;
    for (int64_t k = 0; k < d && !(above && j <= i); k++) total += part_of(p[k] - q[k], power);
    y.data()[r] = power == 2 ? std::sqrt(total) : total;
  }
  y.give(l.y[0]);
}

}  // namespace

const Op op_distances{.name = "distances", .torch = "Cdist|x1 x2", .fields = fields_of<Distances>, .kind = Kind::custom, .types = types::promoted,
    .shape = [](Tensors x, const Attrs&, Dims* out) {
      out[0] = x[0].sizes();
      out[0][out[0].size() - 1] = x[1].size(-2);
    },
    .d = {rule([](V v, X<0> a, X<1> b, Y<0> y, const Distances& d) { return pulled(v, a, b, y, d); }),
          rule([](V v, X<0> a, X<1> b, Y<0> y, const Distances& d) { return pulled(transpose(v, -1, -2), b, a, transpose(y, -1, -2), d); })},
    .t = {rule([](V t, X<0> a, X<1> b, Y<0> y, const Distances& d) { return pushed(t, a, b, y, d); }),
          rule([](V t, X<0> a, X<1> b, Y<0> y, const Distances& d) { return transpose(pushed(t, b, a, transpose(y, -1, -2), d), -1, -2); })},
    .batch = batch::leading,
    .doc = "Distances between the rows of two tensors.", .reference = distances_kernel};

// Euclid's as a composition: on devices a product of matrices is far ahead of kernels that go from difference to difference.
static Tensor composed(const Tensor& a, const Tensor& b) {
  const Apart x(a, b, {false, true, 2});
  const auto squares = [](const Tensor& rows) { return sum(mul(rows, rows), Dims{rows.dim() - 1}, true); };
  const Tensor s = sub(add(squares(x.a), transpose(squares(x.b), -1, -2)), mul(matmul(x.a, transpose(x.b, -1, -2)), wrapped(2.0)));
  const Tensor none = le(s, wrapped(0.0));
  return masked_fill(sqrt(masked_fill(s, none, wrapped(1.0))), none, wrapped(0.0));
}

Tensor distances(const Tensor& a, const Tensor& b, bool products, int power) {
  expect(is_floating(a.dtype()) && is_floating(b.dtype()), ErrorKind::not_implemented, "cdist: not implemented for ", a.dtype(), " and ", b.dtype());
  expect(a.dim() >= 2 && b.dim() >= 2 && a.size(-1) == b.size(-1), ErrorKind::shape, "cdist: inputs must be (..., n, d) and (..., m, d), got ", a.sizes(), " and ", b.sizes());
  if (products && power == 2 && a.size(-1) > 16 && a.device().type == DeviceType::cuda) return composed(a, b);
  auto lead = [](const Tensor& t) { return Dims(std::span(t.sizes().begin(), t.sizes().end() - 2)); };
  if (lead(a) == lead(b)) return apply(op_distances, {a, b}, Distances{false, products, power});
  const Dims common = broadcast(lead(a), lead(b), "cdist");
  auto spread = [&](const Tensor& t) {
    Dims sizes = common;
    sizes.push_back(t.size(-2));
    sizes.push_back(t.size(-1));
    return expand(t, sizes);
  };
  return apply(op_distances, {spread(a), spread(b)}, Distances{false, products, power});
}

Tensor pair_distances(const Tensor& x) {
  expect(x.dim() == 2, ErrorKind::shape, "pdist only supports 2D tensors, got: ", x.dim(), "D");
  expect(is_floating(x.dtype()), ErrorKind::not_implemented, "pdist: not implemented for ", x.dtype());
  const int64_t n = x.size(0);
  Tensor at = empty({n * (n - 1) / 2}, DType::int64);
  int64_t* p = at.data<int64_t>();
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i + 1; j < n; j++) *p++ = i * n + j;
  return index_select(reshape(apply(op_distances, {x, x}, Distances{true, false, 2}), {n * n}), 0, cuda::uploaded(at, x.device()));
}

}  // namespace adjoint
