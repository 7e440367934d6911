// The hinge between the classes a row should have and those it should not, and its derivative, which is constant but at the hinges.
#include <adjoint/core/batch.h>
#include <adjoint/core/margin.h>
#include <adjoint/core/parallel.h>
#include <adjoint/core/types.h>

#include "in_double.h"

namespace adjoint {

namespace {

Tensor margin_vjp(const Tensor& v, const Tensor& x, const Tensor& target, const Hinge& a);

// One row: its targets, and the numbers of the other classes.
class Row {
 public:
  void set(const int64_t* target, int64_t n, int64_t classes, bool ended, const char* op) {
    targets.clear(), others.clear();
    is_target_.assign(static_cast<size_t>(classes), 0);
    for (int64_t i = 0; i < n && !(ended && target[i] < 0); i++) {
      expect(target[i] >= 0 && target[i] < classes, ErrorKind::index, op, ": target ", target[i], " is out of bounds for ", classes, " classes");
      targets.push_back(target[i]);
      is_target_[static_cast<size_t>(target[i])] = 1;
    }
    for (int64_t i = 0; i < classes; i++)
      if (!is_target_[static_cast<size_t>(i)]) others.push_back(i);
  }
  std::vector<int64_t> targets, others;

 private:
  std::vector<char> is_target_;
};

// f(row, its number) for all rows.
template <class F> void for_targets(const Launch& l, const View& x, const View& target, F&& f) {
  const int64_t classes = x.sizes[x.ndim - 1], n = target.sizes[target.ndim - 1], rows = classes ? x.numel / classes : 0;
  std::vector<int64_t> all(static_cast<size_t>(target.numel));
  const Dims sizes = positions::dims_of(target.sizes, target.ndim), strides = contiguous_strides(sizes);
  positions::copy(target, {reinterpret_cast<char*>(all.data()), sizes.data(), strides.data(), target.ndim, DType::int64, target.numel});
  Row row;
  for (int64_t r = 0; r < rows; r++) {
    row.set(all.data() + r * n, n, classes, l.attrs.as<Hinge>().ended, l.op);
    f(row, r);
  }
}

void margin_kernel(const Launch& l) {
  const double margin = l.attrs.as<Hinge>().margin;
  const int64_t classes = l.x[0].sizes[l.x[0].ndim - 1];
  Wide x(l.x[0]), y(l.y[0], true);
  std::vector<double> others;
  for_targets(l, l.x[0], l.x[1], [&](const Row& row, int64_t r) {
    const double* at = x.data() + r * classes;
    others.clear();
    for (const int64_t i : row.others) others.push_back(at[i]);
    double sums[4] = {};   // one chain of sums would wait for itself
    for (const int64_t j : row.targets)
      for (size_t i = 0; i < others.size(); i++) {
        const double gap = margin - at[j] + others[i];
        sums[i % 4] += gap < 0 ? 0 : gap;   // NaN stays
      }
    y.data()[r] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) / static_cast<double>(classes);
  });
  y.give(l.y[0]);
}
void margin_vjp_kernel(const Launch& l) {
  const double margin = l.attrs.as<Hinge>().margin;
  const int64_t classes = l.x[1].sizes[l.x[1].ndim - 1];
  Wide v(l.x[0]), x(l.x[1]), y(l.y[0], true);
  for_targets(l, l.x[1], l.x[2], [&](const Row& row, int64_t r) {
    const double *at = x.data() + r * classes, share = v.data()[r] / static_cast<double>(classes);
    double* to = y.data() + r * classes;
    std::fill_n(to, classes, 0.0);
    for (const int64_t j : row.targets) {
      int64_t open = 0;
      for (const int64_t i : row.others)
        if (margin - at[j] + at[i] > 0) to[i] += 1, open++;
      to[j] -= static_cast<double>(open);
    }
    for (int64_t i = 0; i < classes; i++) to[i] *= share;
  });
  y.give(l.y[0]);
}

// What the rows change by where x changes by t.
Tensor along(const Tensor& t, const Tensor& x, const Tensor& target, const Hinge& a) {
  Dims rows = x.sizes();
  rows.resize(rows.size() - 1);
  return sum(mul(t, margin_vjp(ones(rows, x.dtype(), x.device()), x, target, a)), Dims{x.dim() - 1});
}

}  // namespace

const Op op_margin{.name = "margin", .torch = "MultiMarginLoss|self target", .fields = fields_of<Hinge>, .kind = Kind::custom, .indices = 2, .types = types::first,
    .shape = [](Tensors x, const Attrs&, Dims* out) { out[0] = Dims(std::span(x[0].sizes().begin(), x[0].sizes().end() - 1)); },
    .d = {rule([](V v, X<0> x, X<1> target, const Hinge& a) { return margin_vjp(v, x, target, a); })},
    .t = {rule([](V t, X<0> x, X<1> target, const Hinge& a) { return along(t, x, target, a); })},
    .batch = batch::leading,
    .doc = "For each row the mean over classes of the hinges between its targets and the other classes.", .reference = margin_kernel};

const Op op_margin_vjp{.name = "margin_vjp", .fields = fields_of<Hinge>, .kind = Kind::custom, .indices = 4, .types = types::first,
    .shape = [](Tensors x, const Attrs&, Dims* out) { out[0] = x[1].sizes(); },
    .d = {rule([](V u, X<1> x, X<2> target, const Hinge& a) { return along(u, x, target, a); })},
    .t = {rule([](V t, X<1> x, X<2> target, const Hinge& a) { return margin_vjp(t, x, target, a); })},
    .batch = batch::leading,
    .doc = "The cotangent of margin's classes.", .reference = margin_vjp_kernel};

namespace {
Tensor margin_vjp(const Tensor& v, const Tensor& x, const Tensor& target, const Hinge& a) { return apply(op_margin_vjp, {v, x, target}, a); }
}  // namespace

Tensor margin_rows(const Tensor& x, const Tensor& target, double margin, bool ended) {
  expect(x.dim() > 0 && target.dim() == x.dim() && std::equal(x.sizes().begin(), x.sizes().end() - 1, target.sizes().begin()), ErrorKind::shape, "margin: expected targets for each row of ", x.sizes(), ", got ", target.sizes());
  expect(x.size(-1) > 0, "margin: Expected non-empty vector or matrix with optional 0-dim batch size, but got: ", x.sizes());
  expect(is_integral(target.dtype()), "margin: expected scalar type Long but found ", target.dtype());
  expect(is_floating(x.dtype()), ErrorKind::not_implemented, "margin: not implemented for ", x.dtype());
  return apply(op_margin, {x, target}, Hinge{margin, ended});
}

}  // namespace adjoint
