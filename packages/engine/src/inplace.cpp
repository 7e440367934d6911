// In-place calls: joining a level, writing values and tangents, giving base and views a new history.
#include <adjoint/core/inference.h>
#include <adjoint/core/shared_memory.h>
#include <adjoint/engine/dispatch.h>

#include "record.h"

namespace adjoint::engine {

constinit thread_local WriteHook before_write = nullptr;

namespace {

// Whether others than self and what it is a view of look at their memory, and would not follow them to that of a batch.
bool stays_behind(const TensorImpl& self) {
  const TensorImpl& root = view_root(const_cast<TensorImpl&>(self));
  const Storage* s = memory_of(root).storage;
  if (!s) return false;
  uint32_t own = 1;
  bool detached = root.flags & flag_detached;
  for (const TensorImpl* x = &self; x->view; x = view_info(*x)->parent.get(), own++) detached = detached || x->flags & flag_detached;
  for (; s->refs <= own && shared_by(s); own = 1) s = shared_by(s);
  const bool borrowed = s->deleter && s->device.type == DeviceType::cpu;
  return borrowed || (detached && s->refs > own);
}

// A tensor written to with an operand of a deeper level joins that level, with its base and all its views. What the base was.
Tensor promote_to(TensorImpl& self, Slot* s) {
  TensorImpl& root = view_root(self);
  Tensor base(&root);
  if (s->kind == LevelKind::batch) {
    const char* const why = root.birth < s->serial ? "self was made outside of vmap" : stays_behind(self) ? "other tensors or arrays look at the memory of self" : nullptr;
    expect(!why, "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more elements than `self`: ", why);
  } else if (s->strict) {
    expect(root.birth >= s->serial, "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call an in-place operation that would mutate a captured Tensor. This is not supported; please rewrite the function being transformed to explicitly accept the mutated Tensor(s) as inputs.");
  }
  Tensor inner = face_copy(base);
  inner->grad_fn = root.grad_fn;
  inner->out_nr = root.out_nr;
  inner->meta = root.meta;
  inner->keys |= root.keys & key_tape;
  inner->birth = root.birth;
  const Tensor former = inner;
  if (s->kind == LevelKind::batch) {
    Dims sizes = root.sizes;
    sizes.insert(0, s->batch);
    inner = clone(expand(inner, sizes));
  }
  Edge history;
  if (root.keys & key_tape && level(base) >= s->floor) history = gradient_edge(base);
  Tensor tangent;
  if (s->kind == LevelKind::dual) tangent = zeros_like(base);
  Tensor lifted = lift(s, inner, tangent, 0);
  const uint32_t epoch = root.epoch;
  adopt(root, lifted);
  static_cast<Face*>(root.face.get())->owns_tangent = true;
  static_cast<Face*>(root.face.get())->viewed = true;
  root.epoch = epoch + 1;
  if (history.node) {
    root.grad_fn = Ref<Object>(history.node.get());
    root.out_nr = history.nr;
    root.keys |= key_tape;
  }
  regenerate(self);
  return former;
}

void put_back(TensorImpl& self, const Tensor& former) {
  TensorImpl& root = view_root(self);
  const uint32_t epoch = root.epoch;
  adopt(root, former);
  root.epoch = epoch + 1;
  regenerate(self);
}

bool has_history(Tensor t) {
  for (;; t = face(t)->value) {
    if (t->keys & key_tape) return true;
    if (!(t->keys & key_lifted)) return false;
  }
}
bool same_storage(const Tensor& a, const Tensor& b) { return bottom(a)->storage == bottom(b)->storage; }

void write_batch(const Op& op, Tensors in, const Attrs& attrs, Slot* s) {
  const int ndim = in[0].dim();
  Vector<Tensor> x;
  for (const Tensor& t : in) {
    expect(t.dim() <= ndim, ErrorKind::shape, op.name, "_: output with shape ", in[0].sizes(), " doesn't match the broadcast shape of an operand with ", t.sizes());
    x.push_back(t);
  }
  if (!op.shape) {
    for (Tensor& t : x) t = front(t, s, ndim);
    return apply_inplace(op, x[0], Tensors(x).subspan(1), attrs);
  }
  Tensor y[max_outputs];
  apply(op, in, attrs, y);
  const Tensor source = front(y[0], s, ndim);
  copy_(front(in[0], s, ndim), source);
}

// The new tangent is built from the old values, all of them, before anything is written: self may be its own operand.
void write_dual(const Op& op, Tensors in, const Attrs& attrs, Slot* s) {
  const size_t n = in.size();
  Vector<Tensor> x(n), t(n);
  bool history = false;
  for (size_t i = 0; i < n; i++) {
    x[i] = value_at(in[i], s);
    t[i] = tangent_at(in[i], s);
    history = history || has_history(x[i]) || (t[i] && has_history(t[i]));
  }
  Vector<Tensor> old = x;
  if (history)  // what faces below save must not be overwritten
    for (size_t i = 0; i < n; i++) {
      if (same_storage(x[i], x[0])) old[i] = clone(x[i]);
      if (t[i] && t[0] && same_storage(t[i], t[0])) t[i] = clone(t[i]);
    }
  Tensor y[max_outputs], dy[max_outputs];
  apply(op, old, attrs, y);
  jvp(op, old, t, {y, static_cast<size_t>(op.outputs)}, attrs, dy);
  apply_inplace(op, x[0], Tensors(x).subspan(1), attrs);
  if (!dy[0]) dy[0] = zeros_like(x[0]);
  TensorImpl& self = *in[0];
  TensorImpl& root = view_root(self);
  Face* f = static_cast<Face*>(root.face.get());
  if (&root == &self && !f->viewed) {  // nobody sees through it: rebind
    f->tangent = dy[0];
    f->owns_tangent = false;
    return;
  }
  if (!f->owns_tangent) {
    f->tangent = f->tangent ? clone(f->tangent) : zeros_like(f->value);
    f->owns_tangent = true;
    root.epoch++;
    regenerate(self);
  }
  const Tensor& tangent = face(in[0])->tangent;
  expect(tangent || is_integral(self.dtype), op.name, "_: a view as ", self.dtype, " of a tensor of type ", root.dtype, " has no room for a tangent");
  if (tangent) copy_(tangent, dy[0]);
}

void write(const Op& op, Tensors in, const Attrs& attrs, Slot* s) {
  if (!s) return run_inplace_or_ask(op, in, attrs);
  if (s->kind == LevelKind::batch) return write_batch(op, in, attrs, s);
  if (s->kind == LevelKind::dual) return write_dual(op, in, attrs, s);
  Vector<Tensor> x;
  for (const Tensor& t : in) x.push_back(value_at(t, s));
  apply_inplace(op, x[0], Tensors(x).subspan(1), attrs);
}

// The history of `base` after n was applied to a view of it.
Ref<Node> through_view(const Op& view, const Attrs& attrs, const Tensor& base, Ref<Node> n) {
  Ref<CopySlices> c(new CopySlices(n, view, attrs, base));
  c->edges = n->edges;
  c->in_place = true;
  c->stream = n->stream;
  c->edges[0] = base->keys & key_tape ? gradient_edge(base) : Edge{};
  c->tainted = n->tainted;
  for (const Edge& e : c->edges) c->tainted = c->tainted || (e.node && e.node->tainted);
  if (c->tainted && expose_node) expose_node(*c);
  return Ref<Node>(c.get());
}

// Does a view on the way to self look at memory rather than at its base, or repeat elements? Then no view of a view is a part of it.
bool sees_memory(const TensorImpl& self) {
  static const Op* const unfold = find_op("unfold");
  if (self.keys & key_lifted) return false;
  for (const TensorImpl* x = &self; x->view; x = view_info(*x)->parent.get())
    if (const Op* op = view_info(*x)->op; op == &as_strided_op() || op == &op_expand || op == unfold) return true;
  return false;
}

// x becomes the farthest base of its type; n was applied to the elements of that one's memory where x lies.
Ref<Node> through_memory(Tensor& x, Ref<Node> n) {
  const Tensor self = x;
  while (x->view && view_info(*x)->parent.dtype() == self.dtype()) {
    view_info(*x)->recorded = true;
    x = Tensor(view_info(*x)->parent);
  }
  const int64_t offset = (static_cast<char*>(self->data) - static_cast<char*>(x->data)) / itemsize(x.dtype());
  int64_t end = offset + 1;
  for (int d = 0; d < self.dim(); d++) end += (self.size(d) - 1) * self->strides[d];
  if (self.numel() == 0) return through_view(as_strided_op(), Strided{self.sizes(), self->strides, 0}, x, std::move(n));
  expect(dense(x) && offset >= 0 && end <= x.numel(), "In-place operations through as_strided, expand and unfold are recorded on bases without gaps, got one of shape ", x.sizes(), " with strides ", x->strides);
  return through_view(as_strided_op(), Strided{self.sizes(), self->strides, offset, x->contiguous() ? Dims{} : x->strides}, x, std::move(n));
}

// Self's history becomes n; if self is a view, its base gets a CopySlices node and self is replayed.
void rebase(TensorImpl& self, Ref<Node> n, uint32_t nr = 0) {
  Tensor x(&self);
  const bool in_memory = sees_memory(self);
  for (nr = x->view ? 0 : nr; x->view;) {
    ViewInfo& v = *view_info(*x);
    v.recorded = true;
    if (in_memory && v.parent.dtype() == x.dtype()) {
      n = through_memory(x, std::move(n));
    } else {
      n = through_view(*v.op, v.attrs, v.parent, std::move(n));
      x = Tensor(v.parent);
    }
  }
  const Ref<Node> before(node(x));
  set_history(x, std::move(n), nr);
  move_retain(*x, before.get());
  x->epoch++;
  regenerate(self);
}

}  // namespace

const char* why_not(Creation c) {
  switch (c) {
    case Creation::normal: return nullptr;
    case Creation::no_grad:
      return "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the no_grad block (if you don't want the "
             "inplace to be tracked) or both outside (if you want the inplace to be tracked).";
    case Creation::inference:
      return "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the inference_mode block (if you don't want "
             "the inplace to be tracked) or both outside (if you want the inplace to be tracked).";
    case Creation::several:
      return "This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.";
    case Creation::custom:
      return "This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle view+inplace would override the custom backward associated with the custom "
             "Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function.";
  }
  return nullptr;
}

namespace {

std::string what_is_written(const Tensor& self, Creation c) {
  const Node* n = node(self);
  std::string of;
  if (n) of = "Output " + std::to_string(self->out_nr) + " of " + n->name().substr(0, n->name().rfind("Backward"));
  if (n && c == Creation::several && dynamic_cast<const OpNode*>(n)) of = "A piece of unbind or split";   // its base was written to: it has a history of its own
  const std::string made = n ? of + " is a view of a view which was created" : "A view was created";
  if (c == Creation::inference) return made + " in inference mode and is being modified inplace in normal mode. ";
  if (c == Creation::no_grad || !n) return made + " in no_grad mode and is being modified inplace with grad mode enabled. ";
  return of + " is a view and is being modified inplace. ";
}

constexpr int deepest_write = 5000;   // a quarter of what a stack of 8 MiB bears

// An in-place call that is about to be recorded on a view.
void check_view(const Tensor& self) {
  if (!self->view) return;
  int depth = 0;   // each view of the chain becomes a node within the next one's, and backward goes as deep
  for (const TensorImpl* x = self.get(); x->view; x = view_info(*x)->parent.get(), depth++) check_form(*view_info(*x));
  expect(depth <= deepest_write, "In-place operations are recorded through at most ", deepest_write, " views of views, got ", depth, " (the last one made by ", view_info(*self)->op->name, "): make the view from its base, or write out of place.");
  expect(!sees_memory(*self) || !overlaps_itself(*self), "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.");
  const Creation c = view_info(*self)->creation;
  if (node(self) && node(self)->outdated) fail_outdated(*node(self));
  if (const char* why = why_not(c)) fail(ErrorKind::runtime, what_is_written(self, c), why);
}

void check_writable(const Op& op, const Tensor& self, uint32_t m) {
  if (!recording(m) || !is_leaf_or_view_of_one(self)) return;
  check_view(self);
  fail(ErrorKind::runtime, self->view ? "a view of a leaf Variable" : "a leaf Variable", " that requires grad is being used in an in-place operation. (", op.name, "_)");
}

}  // namespace

bool is_leaf_or_view_of_one(const Tensor& self) {
  for (const TensorImpl* x = self.get();; x = view_info(*x)->parent.get()) {
    if (x->keys & key_tape && !x->grad_fn) return true;   // a view, too, may have become a leaf
    if (!x->view) return false;
  }
}

// A view of a tensor with history that was made where nothing was recorded, or by a Function: whether a write is meant to be recorded cannot be told.
void check_creation(const Tensor& self, uint32_t m) {
  if (self->view && view_info(*self)->creation != Creation::normal && recording(m) && view_root(*self).keys & key_tape) check_view(self);
}

void written_by(const Tensor& self, Ref<Node> n, uint32_t nr) {
  expect(!is_leaf_or_view_of_one(self), self->view ? "a view of a leaf Variable" : "a leaf Variable", " that requires grad ", self->view ? "is being" : "has been", " used in an in-place operation. (", n->name(), ")");
  check_view(self);
  expect(!self->view || n->outputs() == 1, "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one Tensor. You should either make sure the input is not a "
         "view (using .clone() for example) or make your Function only return one Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single Tensor and a second one that does the "
         "other operations). (", n->name(), ")");
  expect(!self->view || n->edges[0].node.get() == node(self), n->name(), ": a Function that writes to a view in place must take it first.");
  bump_version(*bottom(self));
  n->in_place = true;
  rebase(*self, std::move(n), nr);
}

namespace {

void record_write(const Op& op, const Tensor& self, const Operands& in, const Attrs& attrs) {
  const auto packer = std::exchange(saved_packer, nullptr);   // hooks get what is kept: of self a copy
  Ref<OpNode> n;
  try {
    n = make_node(op, in, attrs, in.level, in.slot);
  } catch (...) {
    saved_packer = packer;
    throw;
  }
  saved_packer = packer;
  if (n) check_view(self);
  if (before_write) before_write(self);
  if (n)  // rules want the old value, and holding self would close a cycle
    for (Saved& s : n->x)
      if (const Tensor t = s.raw(); t && (packer || t.is(self))) s = Saved(t.is(self) ? clone(self) : t, false);
  write(op, in, attrs, in.slot);
  if (!n) {
    if (marks_intermediates) mark_intermediates(op, in, {&self, 1});
    return;
  }
  n->in_place = true;
  rebase(*self, Ref<Node>(n.get()));
  save_outputs(*n, {&self, 1});
}

// Of an operation without derivatives, as comparisons are: what self held before says nothing of what is written.
bool ends_history(const Op& op, const Tensor& self, const Operands& in) {
  if (!recording(in.level) || !(self->keys & (key_tape | key_lifted)) || !is_differentiable(self.dtype())) return false;
  for (size_t i = 0; i < Tensors(in).size(); i++)
    if (op.differentiable(i)) return false;
  return true;
}
}  // namespace

void apply_inplace_recorded(const Op& op, const Tensor& self, Tensors others, const Attrs& attrs) {
  uint32_t keys = self->keys;
  for (const Tensor& t : others) keys |= t->keys;
  if (!keys && !before_write && !dispatch_modes && !is_inference(*self)) return run_inplace(op, self, others, attrs);
  leave_dead_levels(self);
  Vector<Tensor> given{self};
  given.insert(given.end(), others.begin(), others.end());
  const Operands in(given);
  check_inference(*bottom(self));
  check_creation(self, in.level);
  check_writable(op, self, in.level);
  if (ends_history(op, self, in)) {
    Tensor y[max_outputs];
    apply(op, given, attrs, y);
    return apply_inplace_recorded(op_copy, self, {y, 1}, {});
  }
  if (level(self) >= in.level) return record_write(op, self, in, attrs);
  const Tensor former = promote_to(*self, in.slot);
  try {
    record_write(op, self, in, attrs);
  } catch (...) {
    put_back(*self, former);
    throw;
  }
}

}  // namespace adjoint::engine
