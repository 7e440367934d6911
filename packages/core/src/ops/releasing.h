// Operators that let go of temporaries: a rule written as one expression would keep all of them until its end.
#pragma once
#include <adjoint/core/history.h>
#include <adjoint/core/in_float.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/ops.h>

namespace adjoint {

inline Tensor without(Tensor y, Tensor& temporary) {
  temporary = {};
  return y;
}

// A temporary that nobody else has and that no derivative needs: a result may take its memory, which is in the cache.
inline bool is_free(const Tensor& t) { return !t->keys && !watched() && t->use_count() == 1 && is_floating(t.dtype()); }
// op(t), of the same type.
inline Tensor in_place_of(const Op& op, Tensor t) {
  if (!is_free(t)) return apply(op, {t});
  apply_inplace(op, t, {});
  return t;
}
// Whether it is read as plain memory: no level, no history to be kept.
inline bool is_read_plainly(const Tensor& c) { return !(c->keys & ~uint32_t(key_tape | key_view)) && (!(c->keys & key_tape) || !history_is_kept()); }
// t + c.
inline Tensor added_to(Tensor t, const Tensor& c) {
  if (!is_free(t) || !is_read_plainly(c) || seen_type(c) != t.dtype() || c.dim() > t.dim() || broadcast(c.sizes(), t.sizes(), "add") != t.sizes()) return add(c, t);
  apply_inplace(op_add, t, {&c, 1});
  return t;
}

inline Tensor operator+(Tensor&& a, const Tensor& b) { return without(add(a, b), a); }
inline Tensor operator+(const Tensor& a, Tensor&& b) { return without(add(a, b), b); }
inline Tensor operator+(Tensor&& a, Tensor&& b) { return without(std::move(a) + b, b); }
inline Tensor operator-(Tensor&& a, const Tensor& b) { return without(sub(a, b), a); }
inline Tensor operator-(const Tensor& a, Tensor&& b) { return without(sub(a, b), b); }
inline Tensor operator-(Tensor&& a, Tensor&& b) { return without(std::move(a) - b, b); }
inline Tensor operator*(Tensor&& a, const Tensor& b) { return without(mul(a, b), a); }
inline Tensor operator*(const Tensor& a, Tensor&& b) { return without(mul(a, b), b); }
inline Tensor operator*(Tensor&& a, Tensor&& b) { return without(std::move(a) * b, b); }
inline Tensor operator/(Tensor&& a, const Tensor& b) { return without(div(a, b), a); }
inline Tensor operator/(const Tensor& a, Tensor&& b) { return without(div(a, b), b); }
inline Tensor operator/(Tensor&& a, Tensor&& b) { return without(std::move(a) / b, b); }
inline Tensor operator-(Tensor&& a) { return without(neg(a), a); }
inline Tensor operator+(Tensor&& a, double b) { return without(add(a, wrapped(b)), a); }
inline Tensor operator-(Tensor&& a, double b) { return without(sub(a, wrapped(b)), a); }
inline Tensor operator*(Tensor&& a, double b) { return without(mul(a, wrapped(b)), a); }
inline Tensor operator-(double a, Tensor&& b) { return without(sub(wrapped(a), b), b); }
inline Tensor operator*(double a, Tensor&& b) { return without(mul(wrapped(a), b), b); }

}  // namespace adjoint
