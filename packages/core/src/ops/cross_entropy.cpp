// Cross-entropy of classes as one operation: a row's loss is log(sum(exp(x - top))) - (x[class] - top), with top its largest element, and 0 where
// its class is one to ignore. The cotangent of x, v (softmax(x) - 1[class]), is had again from x, top and that logarithm: nothing of x's size is
// kept or read but x.
#include <adjoint/core/history.h>
#include <adjoint/core/op_fields.h>
#include <adjoint/core/types.h>

#include <algorithm>
#include <cmath>

#include "families.h"
#include "lanes.h"

namespace adjoint {

namespace {

constexpr uint32_t classes = 1u << 1;

struct Entropy { int dim; int64_t ignore_index; };
void describe(const Entropy& a, FieldList& f) { f.add("dim", a.dim); f.add("ignore_index", a.ignore_index); }

// Tops or logarithms of (2, rows).
View half_of(const View& v, int64_t i) { return {v.data + i * v.strides[0] * itemsize(v.dtype), v.sizes + 1, v.strides + 1, v.ndim - 1, v.dtype, v.numel / 2}; }

// f(type, memory of the operands and results at a line, steps in bytes, length) for each line of scores, the first operand.
template <int N, class F> void for_scores(const Launch& l, const View* const (&v)[N], F&& f) {
  with_type(l.x[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> || is_complex_v<T>) fail(ErrorKind::not_implemented, l.op, ": not implemented for ", l.x[0].dtype);
    else for_lines<N>(v, l.attrs.as<Entropy>().dim, [&](char* const* p, const int64_t* s, int64_t n) { f(tag, p, s, n); });
  });
}
void entropy_kernel(const Launch& l) {
  const int64_t ignored = l.attrs.as<Entropy>().ignore_index;
  const View tops = half_of(l.y[1], 0), logarithms = half_of(l.y[1], 1);
  for_scores<6>(l, {&l.x[0], &l.x[1], &l.y[0], &tops, &logarithms, &l.y[2]}, [&](auto tag, char* const* p, const int64_t* s, int64_t n) {
    using T = typename decltype(tag)::type;
    auto score = [&](int64_t i) { return convert<double>(at<T>(p[0] + i * s[0])); };
    const int64_t wanted = at<int64_t>(p[1]);
    double top = -math::infinity<double>;
    for (int64_t i = 0; i < n; i++) top = std::max(top, score(i));
    PairwiseSum<double> sum;
    for (int64_t i = 0; i < n; i++) sum.add(std::exp(score(i) - top));
    const double logarithm = std::log(sum.total());
    at<T>(p[2]) = convert<T>(wanted == ignored ? 0 : wanted >= 0 && wanted < n ? logarithm - (score(wanted) - top) : math::nan<double>);
    at<T>(p[3]) = convert<T>(top);
    at<T>(p[4]) = convert<T>(logarithm);
    at<T>(p[5]) = convert<T>(static_cast<double>(wanted != ignored));
  });
}
void cross_entropy_vjp_kernel(const Launch& l) {
  const int64_t ignored = l.attrs.as<Entropy>().ignore_index;
  const View tops = half_of(l.x[2], 0), logarithms = half_of(l.x[2], 1);
  const Dims none(tops.ndim, 0);
  const View v = l.x[3].ndim ? l.x[3] : View{l.x[3].data, tops.sizes, none.data(), tops.ndim, l.x[3].dtype, tops.numel};
  for_scores<6>(l, {&l.x[0], &l.x[1], &tops, &logarithms, &v, &l.y[0]}, [&](auto tag, char* const* p, const int64_t* s, int64_t n) {
    using T = typename decltype(tag)::type;
    const int64_t wanted = at<int64_t>(p[1]);
    const double top = convert<double>(at<T>(p[2])), logarithm = convert<double>(at<T>(p[3])), v = wanted == ignored ? 0 : convert<double>(at<T>(p[4]));
    for (int64_t i = 0; i < n; i++) {
      const double share = std::exp(convert<double>(at<T>(p[0] + i * s[0])) - top - logarithm);
      at<T>(p[5] + i * s[5]) = convert<T>(v * (i == wanted ? share - 1 : share));
    }
  });
}

// Where the derivative is itself recorded.
Tensor composed_vjp(const Tensor& v, const Tensor& x, const Tensor& index, const Entropy& a) {
  const Tensor counts = ne(index, wrapped(a.ignore_index)), w = unsqueeze(where(counts, v, zero_of(v)), a.dim);
  return scatter_add(softmax(x, a.dim) * w, a.dim, unsqueeze(where(counts, index, zero_of(index)), a.dim), -w);
}

// The same number for all rows, as a sum's derivative is, as that number.
Tensor one_number(const Tensor& v) {
  const bool same = std::all_of(v->strides.begin(), v->strides.end(), [](int64_t s) { return s == 0; });
  return same && v.numel() ? as_strided(v, {}, {}) : v;
}

}  // namespace

const Op op_cross_entropy_vjp{.name = "cross_entropy_vjp", .fields = fields_of<Entropy>, .kind = Kind::custom, .indices = classes, .types = types::first, .shape = shapes::same,
    .doc = "The cotangent of cross_entropy's scores.", .reference = cross_entropy_vjp_kernel};

const Op op_cross_entropy{.name = "cross_entropy", .fields = fields_of<Entropy>, .kind = Kind::custom, .outputs = 3, .indices = classes,
    .types = [](Tensors x, const Attrs&) -> Types { const DType t = x[0].dtype(); return {t, {t, t, t}}; },
    .shape = [](Tensors x, const Attrs& a, Dims* out) {
      out[0] = out[2] = reduced(x[0].sizes(), {a.as<Entropy>().dim}, false);
      out[1] = out[0];
      out[1].insert(0, 2);
    },
    .d = {rule([](V v, X<0> x, X<1> index, Y<1> parts, const Entropy& a) -> Tensor {
      if (v->keys & key_lifted || history_is_kept()) return composed_vjp(v, x, index, a);
      return apply(op_cross_entropy_vjp, {x, index, parts, one_number(v)}, a);
    })},
    .doc = "`-log_softmax(x)` at one class of each row along a dimension, 0 where that is one to ignore; also its largest element and the logarithm of the sum of exponentials beside that, and whether it counts.", .reference = entropy_kernel};

std::pair<Tensor, Tensor> class_entropy(const Tensor& x, const Tensor& index, int dim, int64_t ignore_index) {
  expect(is_floating(x.dtype()) && dim >= 0 && dim < x.dim(), "cross_entropy: expected floating-point scores with classes along dimension ", dim, ", got ", x.dtype(), " of ", x.sizes());
  expect(index.dtype() == DType::int64 && index.sizes() == reduced(x.sizes(), {dim}, false), "cross_entropy: expected classes of int64, one for each row, got ", index.dtype(), " of ", index.sizes());
  const Tensor operands[] = {x, index};
  Tensor y[max_outputs];
  apply(op_cross_entropy, operands, Entropy{dim, ignore_index}, y);
  return {y[0], alias_of(y[2])};
}

const Op* const cross_entropy_ops[] = {&op_cross_entropy, &op_cross_entropy_vjp};
Ops families::cross_entropy() { return cross_entropy_ops; }

}  // namespace adjoint
