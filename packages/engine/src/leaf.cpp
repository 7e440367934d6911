// What a user asks of a tensor: requires_grad, detach, grad.
#include <adjoint/core/inference.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/shared_memory.h>
#include <adjoint/engine/autograd.h>
#include <adjoint/engine/dispatch.h>

#include <algorithm>

namespace adjoint::engine {

namespace {

// The outermost of the faces that show at this level which has a history.
Tensor taped_face(const Tensor& t) {
  Tensor f = fresh(t);
  const uint32_t floor = f->keys & key_lifted ? face(f)->slot->floor : 0;
  for (;; f = face(f)->value) {
    if (f->keys & key_tape) return level(f) >= floor ? f : Tensor{};
    if (!(f->keys & key_lifted) || level(f) <= floor) return {};
  }
}

}  // namespace

bool requires_grad(const Tensor& t) { return bool(taped_face(t)); }

Edge shown_edge(const Tensor& t) {
  const Tensor f = taped_face(t);
  return f ? gradient_edge(f) : Edge{};
}

bool is_leaf(const Tensor& t) { return !fresh(t)->grad_fn; }

void set_requires_grad(const Tensor& t, bool value) {
  if (value) {
    expect(is_differentiable(t.dtype()), "only Tensors of floating point and complex dtype can require gradients, got ", t.dtype());
    if (t->keys & key_tape) return;
    expect(!is_inference(*bottom(t)) || inference_mode || t->keys & key_lifted, "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
    t->keys |= key_tape;
    t->epoch++;   // views of it that there are take part from now on
    ensure_meta(t).site = python_hooks.site ? python_hooks.site() : 0;
    if (t->keys & key_lifted && face(t)->slot->kind == LevelKind::dual && !face(t)->slot->strict) set_requires_grad(face(t)->value, true);   // eager duals: both faces
    return;
  }
  expect(!t->grad_fn, "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach().");
  t->keys &= ~key_tape;
}

namespace {

// Two tensors that share memory, and know nothing of each other.
Tensor sharing_memory(const Tensor& t, Tensor r) {
  TensorImpl& root = view_root(*t);
  r->birth = root.birth;
  root.flags |= flag_detached;
  r->flags |= flag_detached;
  return r;
}

}  // namespace

Tensor detach(const Tensor& t) {
  const Named named("detach", {&t, 1});
  Tensor f = fresh(t);
  if (level(f) == 0 && is_asked({&f, 1})) return dispatcher->detached(f);
  if (!(f->keys & key_lifted)) return sharing_memory(f, alias_of(f));
  expect(!has_no_memory(f), "detach: a tensor of a class with __torch_dispatch__ has no values here: the class must answer the call");
  Face* c = face(f);
  Tensor v = detach(c->value);
  return sharing_memory(f, c->slot->kind == LevelKind::dual ? v : lift(c->slot, v, {}, std::max(c->batch_dim, 0)));
}

void detach_(const Tensor& t) {
  expect(!t->view, "Can't detach views in-place. Use detach() instead.");
  if (t->keys & key_lifted) return adopt(*t, detach(t));   // its tangent goes too
  t->grad_fn = nullptr;
  t->out_nr = 0;
  t->keys &= ~key_tape;
}

Tensor gradient(const Tensor& t) { return t->meta ? meta(t)->grad : Tensor{}; }

namespace {
void check_dtype(const Tensor& t, DType given) {
  const Meta* m = meta(t);
  if (m && m->grad_type == Meta::GradType::any) return;
  const DType wanted = m && m->grad_type == Meta::GradType::given ? m->grad_dtype : t.dtype();
  expect(given == wanted, "assigned grad has data of a different type: attempting to assign a gradient with dtype '", given, "' to a tensor with grad_dtype '", wanted,
         "'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype).");
}
}  // namespace

void set_gradient(const Tensor& t, const Tensor& grad) {
  if (grad) {
    expect(grad.sizes() == t.sizes(), "assigned grad has data of a different size: attempting to assign a gradient of size '", grad.sizes(), "' to a tensor of size '", t.sizes(), "'. Please ensure that the gradient and the tensor are the same size");
    check_dtype(t, grad.dtype());
    expect(!grad.is(t), "can't assign Variable as its own grad");
  } else if (!t->meta) {
    return;
  }
  ensure_meta(t).grad = grad;
}

namespace {

struct RetainHook final : TensorHook {
  explicit RetainHook(Meta* m) : owner(m) {}
  Tensor call(const Tensor& g) override {
    if (owner && g) owner->grad = owner->grad ? add(owner->grad, g) : clone(g);
    return {};
  }
  Meta* owner;   // weak: it clears this when it goes
};

}  // namespace

Meta::~Meta() {
  if (retain) static_cast<RetainHook*>(retain.get())->owner = nullptr;
}

void retain_grad(const Tensor& t) {
  expect(requires_grad(t), "can't retain_grad on Tensor that has requires_grad=False");
  Meta& m = ensure_meta(t);
  if (!t->grad_fn || m.retain) return;
  m.retain = Ref<TensorHook>(new RetainHook(&m));
  node(t)->hooks().retain.push_back({t->out_nr, m.retain});
}

void move_retain(TensorImpl& t, Node* from) {
  const Tensor x(&t);
  if (!t.meta || !meta(x)->retain || !t.grad_fn) return;
  const Ref<TensorHook> hook = meta(x)->retain;
  if (Hooks* h = from ? from->hooks_or_null() : nullptr) std::erase_if(h->retain, [&](const auto& r) { return r.hook == hook; });
  node(x)->hooks().retain.push_back({t.out_nr, hook});
}

// Writes through it do not count as writes to t. Its memory lives as long as this block of it.
Tensor data(const Tensor& t) {
  Tensor r = detach(t);
  if (r->keys & key_lifted || !r->storage) return r;
  Storage* from = r->storage;
  r->storage = sharing(from);
  from->dec_ref();
  return r;
}

}  // namespace adjoint::engine
