// The stack of levels and the faces that tensors show at them.
#include <adjoint/core/inference.h>
#include <adjoint/engine/autograd.h>
#include <adjoint/engine/dispatch.h>

#include <mutex>

#include "record.h"
#include "thread_state.h"

namespace adjoint::engine {

namespace {

std::atomic<uint32_t> next_serial{1};
thread_local std::vector<Slot*> levels;

Slot* free_slot() {
  static std::mutex mutex;
  static std::vector<Slot*> slots;   // immortal: a face may ask about its slot at any time, from any thread
  std::lock_guard lock(mutex);
  for (Slot* s : slots)
    if (s->serial.load() == 0) return s->serial = next_serial++, s;
  slots.push_back(new Slot);
  slots.back()->serial = next_serial++;
  return slots.back();
}

bool eager_dual(const Slot* s) { return s->kind == LevelKind::dual && !s->strict; }

}  // namespace

void Face::visit_refs(RefVisitor& v) const {
  v.object(value.get());
  if (tangent) v.object(tangent.get());
}
void ViewInfo::visit_refs(RefVisitor& v) const { v.object(parent.get()); }

std::span<Slot* const> level_stack() { return levels; }
std::vector<Slot*>& levels_of_thread() noexcept { return levels; }

Slot* enter_level(LevelKind kind, bool strict, int64_t batch, Randomness randomness) {
  Slot* s = free_slot();
  const uint32_t serial = s->serial;
  s->kind = kind;
  s->strict = strict;
  s->batch = batch;
  s->randomness = randomness;
  s->lo = window.lo;
  s->hi = window.hi;
  // An eager dual level joins the tape below it; functional levels keep apart.
  s->floor = eager_dual(s) ? (levels.empty() ? 0 : levels.back()->floor) : serial;
  // no_grad outside still holds, unless the level is a tape of its own.
  if (kind != LevelKind::tape && window.lo > level_top) window.lo = serial + 1;
  s->entry = window.lo;
  s->inference = inference_mode;
  if (kind == LevelKind::tape) inference_mode = false;
  levels.push_back(s);
  level_top = serial;
  return s;
}

void leave_level() {
  Slot* s = levels.back();
  const bool enabled = grad_enabled();
  levels.pop_back();
  level_top = levels.empty() ? 0 : levels.back()->serial.load();
  window = {s->lo, s->hi};
  if (s->kind != LevelKind::tape && enabled != grad_enabled()) set_grad_enabled(enabled);   // what was set inside holds on
  inference_mode = s->inference;
  s->serial = 0;
}

Slot* dual_slot(int64_t number) {
  Slot* last = nullptr;
  int64_t k = 0;
  for (Slot* s : levels) {
    if (!eager_dual(s)) continue;
    last = s;
    if (k++ == number) return s;
  }
  expect(number < 0 && last, "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.");
  return last;
}

int64_t enter_dual_level() {
  int64_t k = 0;
  for (Slot* s : levels) k += eager_dual(s);
  enter_level(LevelKind::dual, false);
  return k;
}

void exit_dual_level(int64_t number) {
  Slot* s = dual_slot(number);
  expect(levels.back() == s, "exit_dual_level: Trying to exit a forward AD level that was not the last one that was created. This is not supported.");
  leave_level();
}

namespace {

// Calls go down a level at a time, and end for that reason. But who holds a part of a face may write to it with tensors of this level.
const Tensor& part(const Tensor& t, const Slot* s) {
  expect(!t || !(t->keys & (key_lifted | key_view)) || level(fresh(t)) < s->serial, "the primal or tangent of a dual tensor was written to in place with tensors that have a tangent at its level, or inside it: this is not supported");
  return t;
}

}  // namespace

Tensor value_at(const Tensor& t, const Slot* s) { return at(t, s) ? part(face(t)->value, s) : t; }
Tensor tangent_at(const Tensor& t, const Slot* s) { return at(t, s) ? part(face(t)->tangent, s) : Tensor{}; }
Tensor bottom(const Tensor& t) { return Tensor(const_cast<TensorImpl*>(&memory_of(*t))); }

namespace {

void set_face(TensorImpl& t, Slot* s, const Tensor& value, const Tensor& tangent, int batch_dim) {
  auto* f = new Face;
  t.face = Ref<Object>(f);
  f->slot = s;
  f->level = s->serial;
  f->value = value;
  f->tangent = tangent;
  f->batch_dim = s->kind == LevelKind::batch ? batch_dim : -1;
  t.keys |= key_lifted;
}

Tensor blank(const Tensor& like) {
  Tensor r(TensorImpl::make());
  r->sizes = like->sizes;
  r->set_contiguous_strides();
  r->dtype = like->dtype;
  r->device = like->device;
  return r;
}

}  // namespace

Tensor lift(Slot* s, const Tensor& value, const Tensor& tangent, int batch_dim) {
  Tensor r = blank(value);
  r->strides = value->strides;
  if (s->kind == LevelKind::batch) {
    r->sizes.erase(batch_dim);
    r->strides.erase(batch_dim);
  }
  r->update_layout();
  set_face(*r, s, value, tangent, batch_dim);
  return r;
}

Tensor wrapper(const Dims& sizes, const Dims& strides, DType dtype, Device device) {
  Tensor r(TensorImpl::make());
  r->sizes = sizes;
  r->strides = strides;
  r->dtype = dtype;
  r->device = device;
  r->update_layout();
  set_face(*r, &below_all, empty({0}, dtype), {}, -1);   // what counts its writes
  r->keys |= key_dispatch;
  return r;
}

Tensor face_copy(const Tensor& t) {
  if (t->keys & key_dispatch && dispatcher) {
    Tensor r = dispatcher->detached(t);
    expect(!r.is(t), "detach: __torch_dispatch__ must give another tensor than its argument");
    if (has_no_memory(r) && has_no_memory(t)) face(r)->value = face(t)->value;   // writes to one count for both
    return r;
  }
  if (!(t->keys & key_lifted)) return alias_of(t);
  Face* f = face(t);
  Tensor r = blank(t);
  r->strides = t->strides;
  r->update_layout();
  set_face(*r, f->slot, f->value, f->tangent, f->batch_dim);
  face(r)->level = f->level;
  f->owns_tangent = false;
  return r;
}

void adopt(TensorImpl& t, const Tensor& from) {
  TensorImpl& f = *from.get();
  if (f.storage) f.storage->inc_ref();
  if (t.storage) t.storage->dec_ref();
  t.storage = f.storage;
  t.data = f.data;
  t.sizes = f.sizes;
  t.strides = f.strides;
  t.numel = f.numel;
  t.flags = (t.flags & ~flag_contiguous) | (f.flags & flag_contiguous);
  t.grad_fn = f.grad_fn;
  t.out_nr = f.out_nr;
  t.face = f.face;
  t.keys = (t.keys & key_view) | (f.keys & ~key_view);
}

// The root of a view may have become a view of its primal since.
TensorImpl& view_root(TensorImpl& t) {
  TensorImpl* r = &t;
  while (r->view) r = view_info(*r)->root;
  return *r;
}

void check_form(const ViewInfo& v) {
  if (v.form == v.parent->form) return;
  fail(ErrorKind::runtime, v.op->name, ": this view was made before the shape of its base was changed in place (t_, squeeze_, resize_, ...), or was given other memory (x.data = y), and cannot follow the writes "
       "to its base since then. Make the view again from its base, or change the shape out of place.");
}

namespace {

// The history of a view that a Function returned or that was made under no_grad, once its base was written to: replaying it would
// leave out the Function's backward, and not replaying it the write.
class OutdatedView final : public Node {
 public:
  OutdatedView(const Node* n, uint32_t nr, const ViewInfo& v) : Node(1) {
    if (n) what_ = "Output " + std::to_string(nr) + " of " + n->name().substr(0, n->name().rfind("Backward")) + " is a view";
    else what_ = v.creation == Creation::no_grad ? "A view was created in no_grad mode" : v.creation == Creation::inference ? "A view was created in inference mode" : "A tensor is a view";
    what_ += " and its base or another view of its base has been modified inplace";
    what_ += v.creation == Creation::no_grad ? " with grad mode enabled. " : v.creation == Creation::inference ? " in normal mode. " : ". ";
    what_ += why_not(v.creation);
    edges[0] = gradient_edge(v.parent);
    outdated = tainted = true;
  }
  std::string name() const override { return "Invalid"; }
  void apply(Vector<Tensor>&, Vector<Tensor>&, const Vector<bool>&) override { fail(ErrorKind::runtime, what_); }
  [[noreturn]] void refuse() const { fail(ErrorKind::runtime, what_); }

 private:
  std::string what_;
};

// A view that is brought up to date is no call of the user's: no mode is asked for it.
struct Unasked {
  const int modes = std::exchange(dispatch_modes, 0);
  ~Unasked() { dispatch_modes = modes; }
};

bool loses_history(const ViewInfo& v) {
  return !v.recorded && (v.creation == Creation::custom || v.creation == Creation::several || v.creation == Creation::no_grad ||
                         v.creation == Creation::inference);
}

}  // namespace

void fail_outdated(const Node& n) { static_cast<const OutdatedView&>(n).refuse(); }

// From the base outwards, without recursion: views of views may go deep.
void regenerate(TensorImpl& t) {
  if (!t.view) return;
  const uint32_t epoch = view_root(t).epoch;
  std::vector<TensorImpl*> stale;
  for (TensorImpl* x = &t; x->view && view_info(*x)->seen != epoch; x = view_info(*x)->parent.get()) stale.push_back(x);
  for (; !stale.empty(); stale.pop_back()) {
    ViewInfo* v = view_info(*stale.back());
    check_form(*v);
    const WindowGuard guard(Window{v->recorded ? 0 : ~0u, ~0u});
    const Unasked unasked;
    Tensor y[max_outputs];
    apply(*v->op, {&v->parent, 1}, v->attrs, y);
    expect(y[0].sizes() == stale.back()->sizes, v->op->name, ": expected a view of shape ", stale.back()->sizes, " from the __torch_dispatch__ of its base, which was written to, got ", y[0].sizes());
    v->seen = epoch;
    const Ref<Object> before = stale.back()->grad_fn;
    const uint32_t nr = stale.back()->out_nr;
    adopt(*stale.back(), y[0]);
    if (loses_history(*v) && view_root(t).grad_fn) {   // a leaf has no writes that it could miss
      Ref<Node> lost(new OutdatedView(static_cast<Node*>(before.get()), nr, *v));
      if (expose_node) expose_node(*lost);
      set_history(Tensor(stale.back()), std::move(lost));
    }
    move_retain(*stale.back(), static_cast<Node*>(before.get()));
  }
}

bool leave_dead_levels(const Tensor& self) {
  const Tensor root(&view_root(*self)), primal = fresh(root);
  if (primal.is(root)) {
    regenerate(*self);
    return false;
  }
  const Unasked unasked;
  const WindowGuard guard(Window{0, ~0u});
  const Tensor alias = apply(op_alias, {primal});
  TensorImpl& below = view_root(*alias);
  below.epoch = std::max(below.epoch, root->epoch) + 1;   // that of no view of either
  if (alias->view) view_info(*alias)->seen = below.epoch;
  adopt(*root, alias);
  root->view = alias->view;
  root->keys |= alias->keys & key_view;
  regenerate(*self);
  return true;
}

Tensor fresh(Tensor t) {
  for (;;) {
    if (t->keys & key_view) regenerate(*t);
    if (!(t->keys & key_lifted)) return t;
    Face* f = face(t);
    if (f->slot->serial.load(std::memory_order_relaxed) == f->level) return t;
    expect(f->batch_dim < 0, "vmap: a tensor escaped the vmap that it belongs to: return it from the function instead of storing it outside");
    Tensor below = f->value;
    t = below;
  }
}

}  // namespace adjoint::engine
