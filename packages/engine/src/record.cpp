// Behind core's door: find the innermost level among the operands, lower the call, record it on that face.
#include <adjoint/core/history.h>
#include <adjoint/core/inference.h>
#include <adjoint/core/layout.h>
#include <adjoint/core/settle.h>
#include <adjoint/engine/autograd.h>
#include <adjoint/engine/dispatch.h>

#include "record.h"
#include "streams.h"

namespace adjoint::engine {

constinit thread_local Window window;
constinit thread_local bool marks_intermediates = false;

bool grad_enabled() { return window.lo <= level_top; }
// The innermost tape stands apart from a no_grad outside of it, and under it; batches and forward mode have no mode of their own.
void set_grad_enabled(bool enabled) {
  uint32_t outside = 0;
  for (const Slot* s : level_stack())
    if (s->kind == LevelKind::tape) outside = s->entry;
  window.lo = enabled ? std::min(outside, level_top) : level_top + 1;
}

Operands::Operands(Tensors given) : count_(given.size()) {
  if (count_ > inline_count) heap_.resize(count_);
  TensorImpl** in = heap_.empty() ? inline_ : heap_.data();
  for (size_t i = 0; i < count_; i++) {
    in[i] = given[i].get();
    if (in[i]->keys & (key_view | key_lifted)) {
      if (Tensor t = fresh(given[i]); t.get() != in[i]) {
        in[i] = t.get();
        replaced_.push_back(std::move(t));
      }
    }
    taped |= (in[i]->keys & (key_tape | key_intermediate)) != 0;
    dispatched |= (in[i]->keys & key_dispatch) != 0;
    if (!(in[i]->keys & key_lifted)) continue;
    const Face* f = static_cast<Face*>(in[i]->face.get());
    if (f->level > level) level = f->level, slot = f->slot;
  }
}

// Nodes that Python sees, or that lead to one: those of outdated views, too.
static void check_and_expose(Node& n) {
  for (const Edge& e : n.edges)
    if (e.node && e.node->outdated) fail_outdated(*e.node);
  if (expose_node) expose_node(n);
}

Ref<OpNode> make_node(const Op& op, Tensors in, const Attrs& attrs, uint32_t m, const Slot* s) {
  if (!recording(m)) return {};
  const uint32_t floor = s ? s->floor : 0;
  uint64_t needs = 0, saves = 0;
  bool many = false;
  const auto wants = [&](const Tensor& t, size_t i) { return t->keys & key_tape && op.differentiable(i) && level(t) >= floor && is_differentiable(t.dtype()); };
  for (size_t i = 0; i < in.size(); i++) {
    if (!wants(in[i], i)) continue;
    if (i < 64) needs |= uint64_t(1) << i;
    many = true;
    saves |= op.rule(i).saves;
  }
  if (!many) return {};
  Ref<OpNode> n = Ref<OpNode>::take(new OpNode(op, attrs, in.size(), saves));
  n->needs = needs;
  for (size_t i = 0; i < in.size(); i++) {
    const Tensor& t = in[i];
    InputMeta& meta = n->inputs[i];
    meta.sizes = t.sizes();
    meta.dtype = t.dtype();
    meta.device = t.device();
    meta.transposed = !t->contiguous() && t.dim() >= 2 && t->strides[t.dim() - 2] == 1;
    if (saves & saves_all_inputs || (i < 32 && saves & saves_input(i))) n->x[i] = Saved(t, false);
    if (!(i < 64 ? needs >> i & 1 : wants(t, i))) continue;
    n->edges[i] = gradient_edge(t);
    n->tainted = n->tainted || n->edges[i].node->tainted;
  }
  if (composition.node) name_in_composition(*n);
  if (n->tainted) check_and_expose(*n);
  if (cuda::side_streams.load(std::memory_order_relaxed)) [[unlikely]] keep_stream(*n, in);
  return n;
}

void save_outputs(OpNode& n, Tensors y) {
  for (int k = 0; k < n.op.outputs; k++)
    if (n.saves & saves_output(k)) {
      if (n.y.empty()) n.y = Array<Saved>(n.op.outputs);
      n.y[k] = Saved(y[k], true);
    }
}

void mark_intermediates(const Op& op, Tensors in, Tensors y) {
  bool depends = false;
  for (size_t i = 0; i < in.size(); i++) depends = depends || (in[i]->keys & (key_tape | key_intermediate) && op.differentiable(static_cast<int>(i)));
  if (!depends) return;
  for (const Tensor& t : y)
    if (is_differentiable(t.dtype())) t->keys |= key_intermediate;
}

void record(Ref<OpNode> n, Tensors y, uint32_t m) {
  save_outputs(*n, y);
  for (size_t k = y.size(); k-- > 0;)
    if (level(y[k]) == m && is_differentiable(y[k].dtype())) set_history(y[k], k ? Ref<Node>(n.get()) : Ref<Node>(std::move(n)), static_cast<uint32_t>(k));
}

size_t references(const TensorImpl& t) {
  PyObject* owner = t.python();
  return owner && python_references ? python_references(owner) : t.use_count();
}

namespace {

// Is y a view of x, made now? A mode may answer with x itself, with a base of it, or with any view that there is.
bool is_new_view(const Tensor& x, const Tensor& y, bool answered) {
  if (y->keys & key_sparse || y->storage != x->storage || has_no_memory(y)) return false;
  if (!answered) return true;
  if (references(*y) > 1 && !(y->view && view_info(*y)->parent.get() == x.get())) return false;   // somebody's
  const TensorImpl* t = x.get();
  while (t != y.get() && t->view) t = view_info(*t)->parent.get();
  return t != y.get();
}

void remember_view(const Op& op, const Tensor& parent, const Attrs& attrs, const Tensor& y) {
  auto* v = new ViewInfo;
  y->view = Ref<Object>::take(v);
  v->parent = parent;
  v->op = &op;
  v->attrs = attrs;
  v->form = parent->form;
  v->recorded = recording(level(y));
  v->creation = inference_mode ? Creation::inference : grad_enabled() ? Creation::normal : Creation::no_grad;
  if (parent->view && v->creation == Creation::normal) v->creation = view_info(*parent)->creation;
  TensorImpl& root = view_root(*parent);
  v->root = &root;
  v->seen = root.epoch;
  if (root.keys & key_lifted) static_cast<Face*>(root.face.get())->viewed = true;
  y->keys |= key_view;
}

[[gnu::always_inline]] inline void record_call(const Op& op, const Operands& in, Tensors x, const Attrs& attrs, Tensors y) {
  if (Ref<OpNode> n = make_node(op, x, attrs, in.level, in.slot)) record(std::move(n), y, in.level);
  else if (marks_intermediates) mark_intermediates(op, x, y);
}

void apply_recorded(const Op& op, Tensors given, const Attrs& attrs, Tensor* y) {
  const Operands in(given);
  const Tensors x = in;
  if (in.level) lower(op, x, attrs, in.slot, y);
  else if (in.dispatched || dispatch_modes) [[unlikely]] run_or_ask(op, x, attrs, y);
  else run(op, x, attrs, y);
  bool here = false;
  for (int k = 0; k < op.outputs; k++) here = here || level(y[k]) == in.level;
  if (!here) return;
  if (op.alias && level(y[0]) == in.level && is_new_view(x[0], y[0], in.dispatched || dispatch_modes)) remember_view(op, x[0], attrs, y[0]);
  if (in.taped) record_call(op, in, x, attrs, {y, static_cast<size_t>(op.outputs)});
}

// The tensors from the view's parent to its root are each known to the next view alone, none was written to since, and the view has no views
// of its own, which would know the root: nobody else has the memory.
bool alone_knows_its_base(const TensorImpl& view) {
  if (view_info(view)->seen != view_info(view)->root->epoch) return false;
  int64_t users = 1;
  for (const TensorImpl* t = &view; t->view; t = view_info(*t)->parent.get(), users++)
    if (references(*view_info(*t)->parent.get()) != 1) return false;
  return !view.storage || static_cast<int64_t>(view.storage->refs) == users;
}

void forget_hidden_base(TensorImpl& t) noexcept {
  if (t.keys & key_lifted || !t.view || t.view->use_count() != 1 || !alone_knows_its_base(t)) return;
  t.keys &= ~key_view;
  t.view = nullptr;   // last: the base goes, and who waits for that may look at t
}

const TensorImpl* memory_below(const TensorImpl& t) {
  const TensorImpl* p = &t;
  for (; p->keys & key_lifted; p = static_cast<Face*>(p->face.get())->value.get())
    if (const Slot* s = static_cast<Face*>(p->face.get())->slot; s->kind == LevelKind::batch || s == &below_all) return nullptr;
  return p;
}

Layout layout_below(const TensorImpl& t) {
  if (!(t.keys & key_lifted)) return {t.strides, t.offset()};
  const Face& f = *static_cast<Face*>(t.face.get());
  if (f.slot == &below_all) return {t.strides, 0};
  Layout l = layout_below(*f.value);
  if (f.batch_dim >= 0) l.strides.erase(f.batch_dim);
  return l;
}

}  // namespace

void record_results(const Op& op, Tensors x, const Attrs& attrs, Tensors y) {
  const Operands in(x);
  if (in.taped) record_call(op, in, in, attrs, y);
}

void install() {
  engine_hooks.apply = apply_recorded;
  engine_hooks.apply_inplace = apply_inplace_recorded;
  engine_hooks.memory = memory_below;
  engine_keeps_history = grad_enabled;
  make_wrapper = wrapper;
  lifted_layout = layout_below;
  settle_view = forget_hidden_base;
}

}  // namespace adjoint::engine
