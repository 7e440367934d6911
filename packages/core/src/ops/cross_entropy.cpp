// Cross-entropy of classes as one operation: a row's loss is log(sum(exp(x - top))) - (x[class] - top), with top its largest element. The
// cotangent of x, v (softmax(x) - 1[class]), is had again from x, top and that logarithm: nothing of x's size is kept or read but x.
#include <adjoint/core/attention.h>
#include <adjoint/core/op_fields.h>
#include <adjoint/core/types.h>

#include <algorithm>
#include <cmath>

#include "families.h"
#include "lanes.h"

namespace adjoint {

namespace {

constexpr uint32_t classes = 1u << 1;

// f(type, memory of the operands and results at a line, steps in bytes, length) for each line of scores, the first operand.
template <int N, class F> void for_scores(const Launch& l, const View* const (&v)[N], F&& f) {
  with_type(l.x[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> || is_complex_v<T>) fail(ErrorKind::not_implemented, l.op, ": not implemented for ", l.x[0].dtype);
    else for_lines<N>(v, l.attrs.as<Dim>().dim, [&](char* const* p, const int64_t* s, int64_t n) { f(tag, p, s, n); });
  });
}
void entropy_kernel(const Launch& l) {
  for_scores<5>(l, {&l.x[0], &l.x[1], &l.y[0], &l.y[1], &l.y[2]}, [](auto tag, char* const* p, const int64_t* s, int64_t n) {
    using T = typename decltype(tag)::type;
    auto score = [&](int64_t i) { return convert<double>(at<T>(p[0] + i * s[0])); };
    const int64_t wanted = at<int64_t>(p[1]);
    double top = -math::infinity<double>;
    for (int64_t i = 0; i < n; i++) top = std::max(top, score(i));
    PairwiseSum<double> sum;
    for (int64_t i = 0; i < n; i++) sum.add(std::exp(score(i) - top));
    const double logarithm = std::log(sum.total());
    at<T>(p[2]) = convert<T>(wanted >= 0 && wanted < n ? logarithm - (score(wanted) - top) : math::nan<double>);
    at<T>(p[3]) = convert<T>(top);
    at<T>(p[4]) = convert<T>(logarithm);
  });
}
void vjp_kernel(const Launch& l) {
  for_scores<6>(l, {&l.x[0], &l.x[1], &l.x[2], &l.x[3], &l.x[4], &l.y[0]}, [](auto tag, char* const* p, const int64_t* s, int64_t n) {
    using T = typename decltype(tag)::type;
    const int64_t wanted = at<int64_t>(p[1]);
    const double top = convert<double>(at<T>(p[2])), logarithm = convert<double>(at<T>(p[3])), v = convert<double>(at<T>(p[4]));
    for (int64_t i = 0; i < n; i++) {
      const double share = std::exp(convert<double>(at<T>(p[0] + i * s[0])) - top - logarithm);
      at<T>(p[5] + i * s[5]) = convert<T>(v * (i == wanted ? share - 1 : share));
    }
  });
}

// Where the derivative is itself recorded.
Tensor composed_vjp(const Tensor& v, const Tensor& x, const Tensor& index, int dim) {
  const Tensor w = unsqueeze(v, dim);
  return scatter_add(softmax(x, dim) * w, dim, unsqueeze(index, dim), -w);
}

}  // namespace

const Op op_cross_entropy_vjp{.name = "cross_entropy_vjp", .fields = fields_of<Dim>, .kind = Kind::custom, .indices = classes, .types = types::first, .shape = shapes::same,
    .doc = "The cotangent of cross_entropy's scores.", .reference = vjp_kernel};

const Op op_cross_entropy{.name = "cross_entropy", .fields = fields_of<Dim>, .kind = Kind::custom, .outputs = 3, .indices = classes,
    .types = [](Tensors x, const Attrs&) -> Types { const DType t = x[0].dtype(); return {t, {t, t, t}}; },
    .shape = [](Tensors x, const Attrs& a, Dims* out) { out[0] = out[1] = out[2] = reduced(x[0].sizes(), {a.as<Dim>().dim}, false); },
    .d = {rule([](V v, X<0> x, X<1> index, Y<1> top, Y<2> logarithm, const Dim& a) -> Tensor {
      if (v->keys & key_lifted || (history_is_kept && history_is_kept())) return composed_vjp(v, x, index, a.dim);
      return apply(op_cross_entropy_vjp, {x, index, top, logarithm, v}, a);
    })},
    .doc = "`-log_softmax(x)` at one class of each row along a dimension; also its largest element, and the logarithm of the sum of exponentials beside that.", .reference = entropy_kernel};

Tensor class_entropy(const Tensor& x, const Tensor& index, int dim) {
  expect(is_floating(x.dtype()) && dim >= 0 && dim < x.dim(), "cross_entropy: expected floating-point scores with classes along dimension ", dim, ", got ", x.dtype(), " of ", x.sizes());
  expect(index.dtype() == DType::int64 && index.sizes() == reduced(x.sizes(), {dim}, false), "cross_entropy: expected classes of int64, one for each row, got ", index.dtype(), " of ", index.sizes());
  const Tensor operands[] = {x, index};
  Tensor y[max_outputs];
  apply(op_cross_entropy, operands, Dim{dim}, y);
  return y[0];
}

const Op* const cross_entropy_ops[] = {&op_cross_entropy, &op_cross_entropy_vjp};
Ops families::cross_entropy() { return cross_entropy_ops; }

}  // namespace adjoint
