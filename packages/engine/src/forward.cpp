// Forward mode as the user sees it: dual tensors of eager levels.
#include <adjoint/core/sparse.h>
#include <adjoint/engine/autograd.h>

#include "record.h"

namespace adjoint::engine {

constinit thread_local bool forward_mode = true;

Tensor make_dual(const Tensor& primal, const Tensor& tangent, int64_t number) {
  Slot* s = dual_slot(number);
  const Tensor x = fresh(primal), t = fresh(tangent);
  expect(x.sizes() == t.sizes(), "make_dual: Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of size ", x.sizes(),
         " while the given forward gradient is of size ", t.sizes(), ".");
  expect(x.dtype() == t.dtype(), "make_dual: Trying to set a forward gradient that has a different dtype than that of the original Tensor: ", x.dtype(), " and ", t.dtype());
  expect(is_differentiable(x.dtype()), ErrorKind::value, "make_dual: Expected primal to be floating point or complex, but got: ", x.dtype());
  expect(is_sparse(x) == is_sparse(t), "make_dual: Trying to set a forward gradient of another layout than that of the original Tensor, this is not supported: ", layout_name(memory_of(*x)), " and ", layout_name(memory_of(*t)));
  expect(level(t) < s->serial, "make_dual: Setting a forward grad that itself has a forward gradient at the same level (or inside it) is not supported.");
  expect(level(x) < s->serial, "make_dual: the primal already has a forward gradient at this level or belongs to one inside it");
  const Tensor p = alias(x);
  Tensor r = lift(s, p, t);
  if (Ref<OpNode> n = make_node(op_alias, {&p, 1}, {}, s->serial, s)) set_history(r, std::move(n));
  return r;
}

namespace {

Dual unpack(const Tensor& y, Slot* s) {
  const uint32_t serial = s->serial;
  if (at(y, s)) {
    face(y)->owns_tangent = false;
    return {alias(face(y)->value), face(y)->tangent};
  }
  if (level(y) < serial) return {y, {}};
  // An outer level lies below this face: exchange the order of the two.
  Face* f = face(y);
  const Dual v = unpack(f->value, s), t = f->tangent ? unpack(f->tangent, s) : Dual{};
  Dual r{lift(f->slot, v.primal, t.primal, std::max(f->batch_dim, 0)), {}};
  if (!v.tangent && !t.tangent) return r;
  if (f->slot->kind != LevelKind::dual) {
    r.tangent = v.tangent ? lift(f->slot, v.tangent, {}, std::max(f->batch_dim, 0)) : Tensor{};
    return r;
  }
  r.tangent = lift(f->slot, v.tangent ? v.tangent : zeros_like(v.primal), t.tangent ? t.tangent : zeros_like(v.primal));
  return r;
}

}  // namespace

Dual unpack_dual(const Tensor& t, int64_t number) {
  Dual d = unpack(fresh(t), dual_slot(number));
  if (!forward_mode) d.tangent = {};
  return d;
}

}  // namespace adjoint::engine
