// Losses: compositions, but for binary cross-entropy.
#include <adjoint/core/elementwise.h>
#include <adjoint/core/functors/activation.h>
#include <adjoint/core/margin.h>
#include <adjoint/core/math/log.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/passing_views.h>
#include <adjoint/core/types.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "families.h"
#include "in_float.h"
#include "lanes.h"
#include "releasing.h"

namespace adjoint {

namespace {

Tensor reduce(const Tensor& loss, Reduction r) { return r == Reduction::none ? loss : r == Reduction::sum ? sum(loss) : mean(loss); }

// As if it were written where numbers of a floating type lie.
Tensor written_as(DType t, const Tensor& loss) {
  expect(!is_complex(loss.dtype()) || !is_floating(t), "result type ", loss.dtype(), " can't be cast to the desired output type ", t);
  return is_floating(t) ? to_dtype(loss, t) : loss;
}

// What weights, of whatever type, made of losses: of the type and the shape as before.
Tensor weighed_as(const Tensor& before, const Tensor& loss) {
  expect(loss.sizes() == before.sizes(), "output with shape ", before.sizes(), " doesn't match the broadcast shape ", loss.sizes());
  return written_as(seen_type(before), loss);
}
Tensor weighed(const Tensor& loss, const Tensor& weight) { return weight ? weighed_as(loss, loss * weight) : loss; }

std::string size_text(const Dims& d) {
  std::ostringstream s;
  s << "torch.Size(" << d << ')';
  return s.str();
}

// ---- class targets

bool readable(const Tensor& t) { return !(t->keys & (key_lifted | key_sparse)) && t.device().type == DeviceType::cpu; }

// Checks class targets where their memory can be read; says whether some may have to be ignored.
bool check_classes(const Tensor& target, int64_t classes, int64_t ignore_index) {
  if (!readable(target)) return true;
  bool ignored = false;
  with_type(target.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const View v{target->data, target->sizes.data(), target->strides.data(), target.dim(), target.dtype(), target.numel()};
    for_rows<1>({&v}, [&](char* const* p, const int64_t* s, int64_t n) {
      bool usual = true;
      for (int64_t i = 0; i < n; i++) {
        const int64_t t = convert<int64_t>(at<T>(p[0] + i * s[0]));
        usual &= (t >= 0) & (t < classes) & (t != ignore_index);
      }
      if (usual) return;
      for (int64_t i = 0; i < n; i++) {
        const int64_t t = convert<int64_t>(at<T>(p[0] + i * s[0]));
        if (t == ignore_index) ignored = true;
        else expect(t >= 0 && t < classes, ErrorKind::index, "Target ", t, " is out of bounds.");
      }
    });
  });
  return ignored;
}

int class_dim(const Tensor& x) { return x.dim() == 1 ? 0 : 1; }

// Class targets made safe to index with, and the weight of each (0 where ignored; empty if all count as 1).
struct Classes {
  Tensor index, weight, valid;
  Tensor mask(const Tensor& t) const { return valid ? where(valid, t, zero_of(t)) : t; }
  Tensor weigh(const Tensor& loss) const { return mask(weight ? loss * weight : loss); }
};
Classes classes_of(const Tensor& x, const Tensor& target, const Tensor& weight, int64_t ignore_index) {
  Classes c{to_dtype(target, DType::int64), {}, {}};
  if (check_classes(target, x.size(class_dim(x)), ignore_index)) {
    c.valid = ne(c.index, wrapped(ignore_index));
    c.index = where(c.valid, c.index, zero_of(c.index));
  }
  if (weight) c.weight = c.mask(reshape(index_select(weight, 0, reshape(c.index, {-1})), c.index.sizes()));
  return c;
}

// What a mean divides by: the weights of the targets that count.
Tensor total_weight(const Classes& c, const Tensor& loss) { return c.weight ? sum(c.weight) : to_dtype(sum(c.valid), loss.dtype()); }
Tensor reduce_classes(const Tensor& loss, const Classes& c, Reduction r) {
  return r == Reduction::mean && (c.weight || c.valid) ? sum(loss) / total_weight(c, loss) : reduce(loss, r);
}

// Half types become float when they are gathered: few of them are read.
Tensor class_losses(const Tensor& x, const Classes& c) {
  const int d = class_dim(x);
  return c.weigh(-in_float(squeeze(gather(x, d, unsqueeze(c.index, d)), Dims{d})));
}

// Whether one kernel reads the scores: plain tensors on a GPU. Levels see the composition, whose derivatives they know.
bool takes_classes(const Tensor& x, const Tensor& target) {
  return x.device().type == DeviceType::cuda && !((x->keys | target->keys) & key_lifted) && x.size(class_dim(x)) > 0;
}
Tensor reduced_entropy(const Tensor& x, const Tensor& target, const Tensor& weight, Reduction r, int64_t ignore_index) {
  const Tensor index = to_dtype(target, DType::int64);
  const auto [loss, counts] = class_entropy(x, index, class_dim(x), ignore_index);
  if (weight) {
    const Classes c = classes_of(x, index, weight, ignore_index);
    return reduce_classes(loss * c.weight, c, r);
  }
  return r == Reduction::mean ? sum(loss) / sum(counts) : reduce(loss, r);
}

void check_class_shapes(const Tensor& x, const Tensor& target, const Tensor& weight, const char* op) {
  expect(x.dim() > 0, ErrorKind::shape, op, ": input.dim() > 0, got a 0-d tensor");
  Dims sizes = x.sizes();
  sizes.erase(class_dim(x));
  if (x.dim() > 1 && target.dim() > 0)
    expect(x.size(0) == target.size(0), ErrorKind::value, "Expected input batch_size (", x.size(0), ") to match target batch_size (", target.size(0), ").");
  expect(!is_differentiable(target.dtype()) && target.dtype() != DType::bool_, op, ": expected scalar type Long but found ", target.dtype());
  expect(x.dim() > 2 || target.dim() <= 1, op, ": 0D or 1D target tensor expected, multi-target not supported");
  expect(target.sizes() == sizes, ErrorKind::shape, op, ": size mismatch (got input: ", x.sizes(), ", target: ", target.sizes(), ")");
  const int64_t classes = x.size(class_dim(x));
  expect(!weight || (weight.dim() == 1 && weight.numel() == classes), op, ": weight tensor should be defined either for all ", classes,
         " classes or no classes but got weight tensor of shape: ", weight ? weight.sizes() : Dims{});
}

// A per-class weight in the rank of x.
Tensor per_class(const Tensor& weight, const Tensor& x) {
  Dims sizes(x.dim(), 1);
  sizes[class_dim(x)] = weight.numel();
  return reshape(weight, sizes);
}

Tensor probability_loss(const Tensor& log_p, const Tensor& target, const Tensor& weight, Reduction r, double smoothing) {
  const int d = class_dim(log_p);
  const double classes = static_cast<double>(log_p.size(d));
  const Tensor t = smoothing > 0 ? target * (1 - smoothing) + smoothing / classes : target;
  Tensor loss = -sum(weight ? log_p * t * per_class(weight, log_p) : log_p * t, Dims{d});
  return r == Reduction::mean ? sum(loss) / (static_cast<double>(log_p.numel()) / classes) : reduce(loss, r);
}

const char* nll_node(const Tensor& x) { return x.dim() > 2 ? "NllLoss2DBackward0" : "NllLossBackward0"; }

}  // namespace

Tensor nll_loss(const Tensor& x, const Tensor& target, const Tensor& weight, Reduction r, int64_t ignore_index) {
  const Given given(x, target);
  const Named named("nll_loss_nd", given, nll_node(x));
  const PassingViews passing(given);
  check_class_shapes(x, target, weight, "nll_loss");
  const Classes c = classes_of(x, target, in_float(weight), ignore_index);
  return to_dtype(reduce_classes(class_losses(x, c), c, r), x.dtype());
}

Tensor cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight, Reduction r, int64_t ignore_index, double label_smoothing) {
  const Given given(x, target);
  const Named named("cross_entropy_loss", given, x.sizes() == target.sizes() || label_smoothing > 0 ? nullptr : nll_node(x));
  const PassingViews passing(given);
  if (const Tensor y = rounded_once(cross_entropy, x, target, weight, r, ignore_index, label_smoothing)) return y;
  expect(label_smoothing >= 0 && label_smoothing <= 1, "cross_entropy: label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  expect(x.dim() > 0, "cross_entropy: input.dim() > 0, got a 0-d tensor");
  const int d = class_dim(x);
  if (x.sizes() == target.sizes()) {
    expect(is_floating(target.dtype()), "cross_entropy: Expected floating point type for target with class probabilities, got ", target.dtype());
    expect(ignore_index < 0, "cross_entropy: ignore_index is not supported for floating point target");
    return probability_loss(log_softmax(x, d), target, weight, r, label_smoothing);
  }
  check_class_shapes(x, target, weight, "cross_entropy");
  if (label_smoothing == 0 && takes_classes(x, target)) return reduced_entropy(x, target, weight, r, ignore_index);
  const Classes c = classes_of(x, target, weight, ignore_index);
  const Tensor log_p = log_softmax(x, d);
  const Tensor loss = reduce_classes(class_losses(log_p, c), c, r);
  if (label_smoothing == 0) return loss;
  Tensor smooth = c.mask(-sum(weight ? log_p * per_class(weight, x) : log_p, Dims{d}));
  return loss * (1 - label_smoothing) + reduce_classes(smooth, c, r) * (label_smoothing / static_cast<double>(x.size(d)));
}

// ---- elementwise

namespace {
Tensor huber_derivative(const Tensor& v, const Tensor& x, const Tensor& target, const Factors& a) { return apply(*find_op("huber_derivative"), {v, x, target}, a); }
Tensor huber_bend(const Tensor& v, const Tensor& d, const Factors& a) { return where(lt(abs(d), wrapped(a.a)), v, zero_of(v)) * (a.b / a.a); }
}  // namespace

Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction r) {
  const Given given(x, target);
  const Named named("mse_loss", given, "MseLossBackward0");
  if (const Tensor y = rounded_once(mse_loss, x, target, r)) return y;
  static const Op* const op = find_op("square");
  return reduce(in_place_of(*op, x - target), r);
}
Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction r) {
  const Given given(x, target);
  const Named named("l1_loss", given);
  if (const Tensor y = rounded_once(l1_loss, x, target, r)) return y;
  static const Op* const op = find_op("abs");
  return reduce(in_place_of(*op, x - target), r);
}

const Op op_huber{.name = "huber", .fields = fields_of<Factors>, .types = types::floating,
    .d = {rule([](V v, X<0> x, X<1> target, const Factors& a) { return huber_derivative(v, x, target, a); }),
          rule([](V v, X<0> x, X<1> target, const Factors& a) { return huber_derivative(v, target, x, a); })},
    .doc = "With d = `x - target`: `slope d^2 / (2 bound)` where |d| is below the bound, else `slope (|d| - bound / 2)`.", .reference = elementwise<functors::Huber, 2>};

// Its own derivative is 0 at the bound.
const Op op_huber_derivative{.name = "huber_derivative", .fields = fields_of<Factors>, .types = types::floating,
    .d = {rule([](V v, X<1> x, X<2> target, const Factors& a) { return huber_derivative(v, x, target, a); }),
          wide_rule([](V v, X<0> u, X<1> x, X<2> target, const Factors& a) { return huber_bend(v * u, x - target, a); }),
          wide_rule([](V v, X<0> u, X<1> x, X<2> target, const Factors& a) { return -huber_bend(v * u, x - target, a); })},
    .doc = "`v` times the derivative of huber in `x`.", .reference = elementwise<functors::HuberDerivative, 3>};

Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, Reduction r, double beta) {
  const Given given(x, target);
  const Named named("smooth_l1_loss", given, "SmoothL1LossBackward0");
  if (const Tensor y = rounded_once(smooth_l1_loss, x, target, r, beta)) return y;
  expect(beta >= 0, "smooth_l1_loss: smooth_l1_loss does not support negative values for beta, got ", beta);
  if (beta == 0) return l1_loss(x, target, r);
  return reduce(apply(op_huber, {x, target}, Factors{beta, 1}), r);
}

Tensor huber_loss(const Tensor& x, const Tensor& target, Reduction r, double delta) {
  const Given given(x, target);
  const Named named("huber_loss", given, "HuberLossBackward0");
  if (const Tensor y = rounded_once(huber_loss, x, target, r, delta)) return y;
  expect(delta > 0, "huber_loss: huber_loss does not support non-positive values for delta, got ", delta);
  if (std::isinf(delta)) return mse_loss(x, target, r) * 0.5;   // nothing is beyond it
  return reduce(written_as(seen_type(x), apply(op_huber, {x, target}, Factors{delta, delta})), r);
}

Tensor kl_div(const Tensor& x, const Tensor& target, Reduction r, bool log_target) {
  const Given given(x, target);
  const Named named("kl_div", given);
  const PassingViews passing(given);
  if (const Tensor y = rounded_once(kl_div, x, target, r, log_target)) return y;
  return reduce(log_target ? exp(target) * (target - x) : xlogy(target, target) - target * x, r);
}

namespace {

// Logarithms stop at -100, so that a sure mistake costs a finite amount.
struct BinaryCrossEntropy {
  template <std::floating_point T> T operator()(T x, T target) const {
    expect(x >= 0 && x <= 1, "binary_cross_entropy: all elements of input should be between 0 and 1");
    expect(target >= 0 && target <= 1, "binary_cross_entropy: all elements of target should be between 0 and 1");
    return (target - 1) * std::max(math::log1p(-x), T(-100)) - target * std::max(math::log(x), T(-100));
  }
};

Tensor bounded_log(const Tensor& log_x) { return clamp(log_x, wrapped(-100.0), {}); }

}  // namespace

const Op op_binary_cross_entropy{.name = "binary_cross_entropy", .types = types::promoted,
    .d = {wide_rule([](V v, X<0> x, X<1> target) { return v * (x - target) / clamp(x * (1.0 - x), wrapped(1e-12), {}); }),
          wide_rule([](V v, X<0> x) { return v * (bounded_log(log1p(-x)) - bounded_log(log(x))); })},
    .doc = "-(target log x + (1 - target) log(1 - x)), with logarithms of at least -100.", .reference = elementwise<BinaryCrossEntropy, 2>};
Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight, Reduction r) {
  const Given given(x, target);
  const Named named("binary_cross_entropy", given, "BinaryCrossEntropyBackward0");
  if (const Tensor y = rounded_once(binary_cross_entropy, x, target, weight, r)) return y;
  expect(x.sizes() == target.sizes(), ErrorKind::value, "Using a target size (", size_text(target.sizes()), ") that is different to the input size (", size_text(x.sizes()),
         ") is deprecated. Please ensure they have the same size.");
  return reduce(weighed(apply(op_binary_cross_entropy, {x, target}), weight), r);
}

const Op op_binary_cross_entropy_with_logits{.name = "binary_cross_entropy_with_logits", .types = types::promoted,
    .d = {wide_rule([](V v, X<0> x, X<1> target) { return v * (sigmoid(x) - target); }), rule([](V v, X<0> x) { return v * -x; })},
    .doc = "`-target log(sigmoid(x)) - (1 - target) log(sigmoid(-x))`, elementwise.", .reference = elementwise<functors::LogisticEntropy, 2>};

namespace {
// By logarithms of both sides, whose differences do not cancel: the record's form, which takes no weight of true ones, is for equal ones alone.
Tensor weighed_entropy(const Tensor& x, const Tensor& target, const Tensor& pos_weight) {
  return (target - 1.0) * logsigmoid(-x) - (pos_weight ? pos_weight * target : target) * logsigmoid(x);
}
}  // namespace

Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target, const Tensor& weight, const Tensor& pos_weight, Reduction r) {
  const Given given(x, target);
  const Named named("binary_cross_entropy_with_logits", given, "BinaryCrossEntropyWithLogitsBackward0");
  if (const Tensor y = rounded_once(binary_cross_entropy_with_logits, x, target, weight, pos_weight, r)) return y;
  expect(x.sizes() == target.sizes(), ErrorKind::value, "Target size (", size_text(target.sizes()), ") must be the same as input size (", size_text(x.sizes()), ")");
  const bool composed = pos_weight || is_complex(target.dtype());
  const Tensor loss = composed ? weighed_entropy(x, target, pos_weight) : apply(op_binary_cross_entropy_with_logits, {x, target});
  return reduce(weighed(weighed_as(target, loss), weight), r);
}

const Op* const loss_ops[] = {&op_binary_cross_entropy, &op_binary_cross_entropy_with_logits, &op_huber, &op_huber_derivative, &op_margin, &op_margin_vjp};
Ops families::loss() { return loss_ops; }

}  // namespace adjoint
