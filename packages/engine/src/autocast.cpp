// Which operations autocast casts for, after the lists in PyTorch's documentation (Automatic Mixed Precision, op reference).
#include <adjoint/core/op_attrs.h>
#include <adjoint/core/ops.h>
#include <adjoint/engine/autocast.h>
#include <adjoint/engine/autograd.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace adjoint::engine {

namespace {

using enum Precision;
struct Entry { std::string_view name; Precision cpu, cuda; };

// Records, and functions made of them, by name in order.
constexpr Entry entries[] = {
    {"acos", as_is, full}, {"addbmm", low, low}, {"addcdiv", as_is, widest}, {"addcmul", as_is, widest}, {"addmm", low, low}, {"addmv", as_is, low},
    {"addr", as_is, low}, {"asin", as_is, full}, {"atan2", as_is, widest}, {"attention", low, low}, {"baddbmm", low, low},
    {"binary_cross_entropy", full, refused}, {"binary_cross_entropy_with_logits", full, full}, {"cat", widest, widest}, {"complex", full, as_is},
    {"conv", low, low}, {"conv_transpose", low, low}, {"cosh", as_is, full}, {"cross_entropy_loss", full, full},
    {"cumprod", as_is, full}, {"cumsum", as_is, full}, {"dot", as_is, widest}, {"erfinv", as_is, full}, {"exp", as_is, full}, {"expm1", as_is, full},
    {"fft", full, as_is}, {"huber_loss", full, as_is}, {"irfft", full, as_is}, {"kl_div", full, full}, {"l1_loss", full, full},
    {"layer_norm", as_is, full}, {"linear", low, low}, {"log", as_is, full}, {"log10", as_is, full}, {"log1p", as_is, full}, {"log2", as_is, full},
    {"log_softmax", as_is, full}, {"matmul", low, low}, {"max_pool3d", full, as_is}, {"mse_loss", full, full}, {"mv", as_is, low},
    {"nll_loss_nd", full, full}, {"pow", as_is, full}, {"prod", full, full}, {"reciprocal", as_is, full}, {"rfft", full, as_is},
    {"rsqrt", as_is, full}, {"scatter_add", as_is, widest}, {"sinh", as_is, full}, {"smooth_l1_loss", full, full}, {"softmax", as_is, full},
    {"softplus", as_is, full}, {"stack", widest, widest}, {"sum", as_is, full}, {"tan", as_is, full}, {"tensordot", as_is, widest},
    {"trace", full, as_is}, {"vector_norm", as_is, full}, {"view_as_complex", full, as_is},
};  // one line an entry would be two screens
static_assert(std::is_sorted(std::begin(entries), std::end(entries), [](const Entry& a, const Entry& b) { return a.name < b.name; }));

const Entry* find(std::string_view name) noexcept {
  const Entry* e = std::lower_bound(std::begin(entries), std::end(entries), name, [](const Entry& a, std::string_view n) { return a.name < n; });
  return e != std::end(entries) && e->name == name ? e : nullptr;
}

}  // namespace

Precision precision_of(std::string_view name, DeviceType where) noexcept {
  const Entry* e = find(name);
  return !e ? as_is : where == DeviceType::cpu ? e->cpu : e->cuda;
}

Autocast& Autocast::here() {
  static thread_local Autocast own;
  return own;
}

void Autocast::enable(DeviceType d, bool on) {
  const auto stands_here = [] { return std::any_of(std::begin(autocast_on), std::end(autocast_on), [](bool on) { return on; }); };
  const bool stood = stands_here();
  autocast_on[index(d)] = on;
  const bool stands = stands_here();
  if (stands && !stood) add_observer(*this);
  if (stood && !stands) remove_observer(*this);
}

void Autocast::begin(const Span& s) noexcept {
  if (s.kind == Span::Kind::function && !function_ && find(s.name)) function_ = &s;
}

DType Autocast::target(const Span& s, Precision p, Tensors x, DeviceType where) const noexcept {
  if (p == low) return dtype_[index(where)];
  if (p == full) return DType::float32;
  DType widest_type = dtype_[index(where)];
  for (const Tensor& t : function_ && !function_->x.empty() ? function_->x : s.x)
    if (may_autocast(t) && t.dtype() != widest_type) widest_type = DType::float32;
  for (const Tensor& t : x)
    if (may_autocast(t) && t.dtype() != widest_type) widest_type = DType::float32;
  return widest_type;
}

// Only what is recorded is kept: a cast without history would cut later uses off from the parameter.
Tensor Autocast::cast(const Tensor& t, DType to) {
  const bool keeps = caches_ && nesting_ && t.dtype() == DType::float32 && to != DType::float32 && !(t->keys & key_lifted) && grad_enabled() && requires_grad(t) && is_leaf(t) && !t->view;
  if (keeps)
    for (const Cast& c : cache_)
      if (c.leaf.is(t) && c.version == t->storage->version && c.value.dtype() == to) return c.value;
  const Tensor value = to_dtype(t, to);
  if (keeps) cache_.push_back({t, value, t->storage->version});
  return value;
}

bool Autocast::supply(const Span& s, Tensor* y) {
  if (s.kind != Span::Kind::op) return false;
  if (s.op == &op_to_dtype) {
    // A function of full precision keeps what it would round to the half type of its operands.
    if (!function_ || !may_autocast(s.x[0]) || !is_half(s.attrs->as<adjoint::Cast>().dtype) || precision_of(function_->name, s.x[0].device().type) != full) return false;
    y[0] = s.x[0];
    return true;
  }
  const auto decides = std::find_if(s.x.begin(), s.x.end(), may_autocast);
  if (decides == s.x.end()) return false;
  const DeviceType where = decides->device().type;
  const std::string_view name = function_ ? function_->name : s.op->name;
  const Precision p = precision_of(name, where);
  expect(p != refused, "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast: their gradient overflows in half types. "
                       "Leave the sigmoid out and use binary_cross_entropy_with_logits or BCEWithLogitsLoss, which are safe");
  if (p == as_is) return false;
  const DType to = target(s, p, s.x, where);
  if (std::none_of(s.x.begin(), s.x.end(), [&](const Tensor& t) { return may_autocast(t) && t.dtype() != to; })) return false;
  Vector<Tensor> x(s.x.begin(), s.x.end());
  for (Tensor& t : x)
    if (may_autocast(t) && t.dtype() != to) t = cast(t, to);
  apply(*s.op, x, *s.attrs, y);
  return true;
}

}  // namespace adjoint::engine
