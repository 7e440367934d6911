// Nodes: running a record's rules, accumulating into leaves, in-place on views.
#include <adjoint/engine/autograd.h>

#include <algorithm>

#include "thread_state.h"

namespace adjoint::engine {

void (*expose_node)(Node&) = nullptr;
size_t (*python_references)(PyObject*) = nullptr;
std::string (*site_text)(uint32_t) = nullptr;
std::string describe_site(uint32_t site) { return site && site_text ? site_text(site) : std::string(); }

namespace {
thread_local uint64_t sequence = 0;
}
uint64_t next_sequence() { return sequence++; }
uint64_t peek_sequence() { return sequence; }
uint64_t& sequence_of_thread() noexcept { return sequence; }

AnomalyHooks anomaly_hooks;
constinit Anomaly anomaly;

void fail_freed(const Node& n) {
  const std::string first = describe_site(n.released_at), op = describe_site(n.site);
  fail(ErrorKind::runtime, "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph are freed when "
       "you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors after calling backward. [",
       n.name(), op.empty() ? "" : ", " + op, first.empty() ? "" : "; freed by the backward at " + first, "]");
}

Node::Node(size_t n) : edges(n), seq(next_sequence()), site(python_hooks.site ? python_hooks.site() : 0) {
  if (!site) site = backward_site();   // no Python below it
  if (anomaly.enabled.load(std::memory_order_relaxed) && anomaly_hooks.trace) trace = anomaly_hooks.trace(running_node());
}
Node::~Node() = default;

Hooks& Node::hooks() {
  auto& slot = hook_slot();
  if (!slot) slot = std::make_unique<Hooks>();
  return *slot;
}

void Hooks::visit_refs(RefVisitor& v) const {
  for (const auto& h : tensor) v.object(h.hook.get());
  for (const auto& h : pre) v.object(h.get());
  for (const auto& h : retain) v.object(h.hook.get());
  for (const auto& h : post) v.object(h.get());
  for (const auto& h : accumulated) v.object(h.get());
}

void Node::visit_refs(RefVisitor& v) const {
  for (const Edge& e : edges)
    if (e.node) v.object(e.node.get());
  if (hooks_) hooks_->visit_refs(v);
  if (trace) v.object(trace.get());
}

void Node::clear_refs() {
  hooks_.reset();
  trace = nullptr;
  const auto dropped = std::move(edges);
}

void run_watched(Node& n, Vector<Tensor>& cotangents, Vector<Tensor>& grads, const Vector<bool>& needed) {
  Watch watch({.kind = Span::Kind::node, .x = cotangents, .node = &n});
  n.apply(cotangents, grads, needed);
  watch.end(grads);
}

// ---- records

namespace {

// The cotangent of an input in the input's shape and type.
Tensor fit(Tensor g, const InputMeta& m) {
  if (!g) return g;
  if (!(g.sizes() == m.sizes)) g = unbroadcast(g, m.sizes);
  if (g.dtype() != m.dtype) g = to_dtype(g, m.dtype);
  return g;
}

bool any_complex(Tensors v) {
  return std::any_of(v.begin(), v.end(), [](const Tensor& t) { return t && is_complex(t.dtype()); });
}
// Whether the coefficients of a rule may be complex: it is made of what was saved and of attributes.
bool is_of_complex(const Op& op, Tensors x, Tensors y) { return op.fields || any_complex(x) || any_complex(y); }

}  // namespace

OpNode::OpNode(const Op& op, const Attrs& attrs, size_t count, uint64_t saves)
    : Node(count), op(op), attrs(attrs), saves(saves), inputs(count), x(saves & (saves_all_inputs | (saves_output(0) - 1)) ? count : 0) {}

void OpNode::apply(Vector<Tensor>& cotangents, Vector<Tensor>& grads, const Vector<bool>& needed) {
  Array<Tensor> saved_x(x.size());
  Tensor saved_y[max_outputs];
  uint64_t wanted = 0;
  for (size_t i = 0; i < edges.size(); i++)
    if (needed[i] && edges[i].node) wanted |= op.rule(i).saves;
  for (size_t i = 0; i < x.size(); i++)
    if (x[i] && (wanted & saves_all_inputs || (i < 32 && wanted & saves_input(i)))) saved_x[i] = x[i].unpack(*this, 0);
  for (size_t k = 0; k < static_cast<size_t>(op.outputs); k++) {
    if (!(wanted & saves_output(k))) continue;
    expect(k < y.size() && y[k], name(), ": its result was not saved: an error (of a pack hook?) ended the call after it had written");
    saved_y[k] = outer ? y[k].unpack(*outer->node, outer->nr) : y[k].unpack(*this, static_cast<uint32_t>(k));
  }
  if (released) fail_freed(*this);   // by another thread, while an unpack hook ran
  const Tensors v = cotangents;
  // PyTorch's convention: the adjoint, not the transpose. A rule is real-analytic, so conj(d(conj v)) is it, and d(v) where all else is real.
  const bool conjugate = (op.kind == Kind::elementwise || op.kind == Kind::multilinear) && is_of_complex(op, saved_x, {saved_y, static_cast<size_t>(op.outputs)});
  if (conjugate)
    for (Tensor& t : cotangents)
      if (t) t = conj(t);
  const bool sees_all = op.outputs > 1;
  Tensor made[max_outputs];
  for (size_t i = 0; i < edges.size(); i++) {
    if (!needed[i] || !edges[i].node) continue;
    if (!v[0] && !sees_all) continue;
    Tensor r[max_outputs];
    if (i < max_outputs && made[i]) {
      r[0] = std::move(made[i]);
    } else {
      const Rule& rule = op.rule(i);
      const Call call{saved_x, {saved_y, static_cast<size_t>(op.outputs)}, v, inputs, attrs, static_cast<int>(i), made};
      if (!(rule.has_steps && op.kind == Kind::elementwise && call_by_tiles(rule, call, r))) rule.f(call, r);
    }
    if (conjugate && r[0]) r[0] = conj(r[0]);
    grads[i] = fit(std::move(r[0]), inputs[i]);
  }
}

void OpNode::release_saved() {
  for (std::span<Saved> all : {std::span<Saved>(x), std::span<Saved>(y)})
    for (Saved& s : all) {
      if (!s || (s.raw() && s.raw()->flags & flag_wrapped)) continue;   // a node that saved nothing, or numbers, may run again
      released = true;
      s = Saved();
    }
}
void OpNode::list_saved(std::vector<SavedEntry>& out) const {
  for (const auto* all : {&x, &y})
    for (uint32_t i = 0; i < all->size(); i++)
      if ((*all)[i]) out.push_back({&(*all)[i], all == &y, i});
}
void OpNode::visit_refs(RefVisitor& v) const {
  Node::visit_refs(v);
  for (const Saved& s : x) s.visit_refs(v);
  for (const Saved& s : y) s.visit_refs(v);
}
void OpNode::clear_refs() {
  release_saved();
  Node::clear_refs();
}

// ---- in-place on a view

CopySlices::CopySlices(Ref<Node> f, const Op& o, const Attrs& a, const Tensor& base) : fn(std::move(f)), view(o), attrs(a), sizes(base.sizes()), order(order_by_strides(base->strides.data(), base.dim())) {}

// g with dimensions that lie in memory in the given order; `fresh` if nothing else may see it.
static Tensor in_order(const Tensor& g, const Dims& order, bool fresh) {
  Dims back(order.size(), 0);
  for (int i = 0; i < order.size(); i++) back[static_cast<int>(order[i])] = i;
  const Tensor dense = permute(g, order);
  return permute(dense->contiguous() && fresh ? clone(dense) : contiguous(dense), back);
}

void CopySlices::apply(Vector<Tensor>& cotangents, Vector<Tensor>& grads, const Vector<bool>& needed) {
  if (!cotangents[0]) return;
  // The base's cotangent passes except in the slice, where it goes through fn. If nobody asks for the base's, only the slice is copied.
  Tensor g = in_order(cotangents[0], order, needed[0]);
  Tensor slice[max_outputs];
  adjoint::apply(view, {&g, 1}, attrs, slice);
  Vector<Tensor> inner{clone(slice[0])};
  Vector<bool> inner_needed = needed;
  inner_needed[0] = needed[0] && fn->edges[0].node;
  Vector<Tensor> inner_grads(grads.size());
  // What fn wrote lies in the base now: its history is the view of this node's output.
  Ref<OpNode> cut = Ref<OpNode>::take(new OpNode(view, this->attrs, 1, 0));
  cut->needs = 1;
  cut->inputs[0] = {sizes, g.dtype(), g.device()};
  cut->edges[0] = outer ? *outer : Edge{Ref<Node>(this), 0};
  const Edge written{std::move(cut), 0};
  struct Outer {
    Node& fn;
    Outer(Node& fn, const Edge* e) : fn(fn) { fn.outer = e; }
    ~Outer() { fn.outer = nullptr; }
  } scope(*fn, &written);
  run_node(*fn, inner, inner_grads, inner_needed);
  for (size_t i = 1; i < grads.size(); i++) grads[i] = inner_grads[i];
  if (!needed[0]) return;
  copy_(slice[0], inner_grads[0] ? inner_grads[0] : zeros_like(slice[0]));
  grads[0] = g;
}
void CopySlices::release_saved() {
  fn->release_saved();
  released = fn->released;
}
void CopySlices::visit_refs(RefVisitor& v) const {
  Node::visit_refs(v);
  v.object(fn.get());
}

// ---- history of a tensor

void Meta::visit_refs(RefVisitor& v) const {
  if (grad) v.object(grad.get());
  if (hooks) hooks->visit_refs(v);
}
Meta& ensure_meta(const Tensor& t) {
  if (!t->meta) t->meta = Ref<Object>(new Meta);
  return *meta(t);
}

Edge gradient_edge(const Tensor& t) {
  if (t->grad_fn) return {Ref<Node>(node(t)), t->out_nr};
  if (!(t->keys & key_tape)) return {};
  return {AccumulateGrad::of(t), 0};
}

void set_history(const Tensor& t, Ref<Node> n, uint32_t nr) {
  if (n->tainted) t->flags |= flag_tracked;
  t->grad_fn = std::move(n);
  t->out_nr = nr;
  t->keys |= key_tape;
}

}  // namespace adjoint::engine
