// Looking for nan and inf, and watching for them.
#include <adjoint/core/op_attrs.h>
#include <adjoint/engine/autograd.h>
#include <adjoint/engine/finite.h>

#include <algorithm>

namespace adjoint::engine {

namespace {

// Below the door: nobody watches, nothing is recorded.
Tensor reduced(const Op& op, const Tensor& x) {
  Dims all(x.dim(), 0);
  for (int i = 0; i < all.size(); i++) all[i] = i;
  Tensor y[max_outputs];
  run(op, {&x, 1}, Reduce{all, false}, y);
  return y[0];
}
bool any_of(const char* predicate, const Tensor& x) {
  Tensor y[max_outputs];
  run(*find_op(predicate), {&x, 1}, {}, y);
  return item(reduced(*find_op("any"), y[0])).to<bool>();
}

bool is_nan(Complex<double> z) { return z.re != z.re || z.im != z.im; }
bool is_finite(Complex<double> z) { return z.re - z.re == 0 && z.im - z.im == 0; }

constexpr int64_t small = 256;   // elements: below, a loop here is done before a kernel would start

Complex<double> sum_of(const Tensor& x) {
  if (x.numel() > small || !x->contiguous() || x.device().type != DeviceType::cpu) {
    static const Op& sum = *find_op("sum");
    return item(reduced(sum, x)).to<Complex<double>>();
  }
  double re = 0, im = 0;
  with_type(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < x.numel(); i++) {
      const T v = x.data<T>()[i];
      if constexpr (is_complex_v<T>) re += v.re, im += v.im;
      else re += convert<double>(v);
    }
  });
  return {re, im};
}

// One nan makes the sum nan, at the speed of memory; only a sum that is not finite is looked at more closely.
Bad look_plain(const Tensor& t, bool inf) {
  if (!is_differentiable(t.dtype()) || !t.numel() || !t->storage) return Bad::none;
  const auto sum = sum_of(t);
  if (is_finite(sum)) return Bad::none;
  const Tensor x = alias_of(t);
  if (is_nan(sum) && any_of("isnan", x)) return Bad::nan;
  if (inf && any_of("isinf", x)) return Bad::inf;
  return Bad::none;
}

}  // namespace

Finding look(const Tensor& t, bool inf) {
  if (!t) return {};
  if (!(t->keys & key_lifted)) {
    const Bad what = look_plain(t, inf);
    return what == Bad::none ? Finding{} : Finding{what, alias_of(t)};
  }
  Finding value = look(face(t)->value, inf);
  return value.what == Bad::none ? look(face(t)->tangent, inf) : value;
}

// ---- the watch

namespace {
bool is_call(const Span& s) { return s.kind == Span::Kind::op || s.kind == Span::Kind::in_place; }
bool is_view(const Span& s) { return s.op && s.op->alias; }   // nothing new
}  // namespace

void FiniteWatch::begin(const Span& s) noexcept {
  const bool node = s.kind == Span::Kind::node;
  if (node || is_call(s)) open_.push_back({&s, node && static_cast<const Node*>(s.node)->runs_user_code()});
}

bool FiniteWatch::close(const Span& s) noexcept {
  const auto it = std::find_if(open_.rbegin(), open_.rend(), [&](const Open& o) { return o.span == &s; });
  if (it == open_.rend()) return false;
  open_.erase(it.base() - 1, open_.end());
  return true;
}

// An operand that was handed on, or a result of an operation inside.
bool FiniteWatch::seen(const Span& s, const Tensor& t) const noexcept {
  if (!t || t->keys & key_lifted) return false;
  if (std::find(clean_.begin(), clean_.end(), t->storage) != clean_.end()) return true;
  return s.kind == Span::Kind::node && std::any_of(s.x.begin(), s.x.end(), [&](const Tensor& x) { return x && x->storage == t->storage; });
}

const Op* FiniteWatch::pushed(const Op* running) const noexcept {
  for (auto o = open_.rbegin(); o != open_.rend() && o->span->op; ++o)
    if (o->span->op != running && std::any_of(o->span->x.begin(), o->span->x.end(), [](const Tensor& x) { return x && x->keys & key_lifted && face(x)->slot->kind == LevelKind::dual; }))
      return o->span->op;
  return nullptr;
}

void FiniteWatch::end(const Span& s, Tensors y) {
  if (!close(s)) return;
  bool bad = false;
  for (size_t nr = 0; nr < y.size() && !is_view(s); nr++) {
    if (seen(s, y[nr])) continue;
    const Finding found = look(y[nr], inf_);
    if (found.what == Bad::none) {
      if (inside() && y[nr] && s.kind == Span::Kind::op) clean_.push_back(y[nr]->storage);
      continue;
    }
    bad = suspects() || suspect(s, found) || bad;
  }
  if (inside()) return;
  clean_.clear();
  if (bad) accuse();
  forget();
}

void FiniteWatch::fail(const Span& s) noexcept {
  if (!close(s) || inside()) return;
  clean_.clear();
  forget();
}

}  // namespace adjoint::engine
