// The end of the graph at a leaf: `.grad`, by PyTorch's layout rules.
#include <adjoint/core/sparse.h>
#include <adjoint/engine/autograd.h>

#include <mutex>

#include "record.h"

namespace adjoint::engine {

// Leaves run as soon as they can: their sequence number is the largest.
AccumulateGrad::AccumulateGrad(const Tensor& v) : Node(~uint64_t(0), ensure_meta(v).site), variable(v) {}

namespace {
// The leaf's pointer to its node is weak. Another thread may take a reference through it while the last one goes, so the
// last one goes under this lock.
struct Busy {
  explicit Busy(Meta& m) : flag(m.busy) { while (flag.test_and_set(std::memory_order_acquire)) {} }
  ~Busy() { flag.clear(std::memory_order_release); }
  std::atomic_flag& flag;
};
}  // namespace

Ref<Node> AccumulateGrad::of(const Tensor& leaf) {
  Meta& m = ensure_meta(leaf);
  Busy guard(m);
  if (m.accumulator && m.accumulator->try_inc_ref()) return Ref<Node>::adopt(m.accumulator);
  Ref<AccumulateGrad> a = Ref<AccumulateGrad>::take(new AccumulateGrad(leaf));
  keep_stream(*a, {&leaf, 1});
  m.accumulator = a.get();
  return a;
}

void AccumulateGrad::forget(const Tensor& leaf) {
  if (!leaf->meta) return;
  Busy guard(*meta(leaf));
  meta(leaf)->accumulator = nullptr;
}

// The node may have to wait in Node::destroy: from now on the leaf does not give it out.
void AccumulateGrad::destroy_sole() {
  if (Meta* m = meta(variable)) {   // null: the collector has emptied the leaf
    Busy guard(*m);
    if (!last_ref()) return;
    if (m->accumulator == this) m->accumulator = nullptr;
  }
  Node::destroy();
}
void AccumulateGrad::destroy() {
  if (Meta* m = meta(variable)) {
    Busy guard(*m);
    if (m->accumulator == this) m->accumulator = nullptr;
  }
  Node::destroy();
}

void AccumulateGrad::visit_refs(RefVisitor& v) const {
  Node::visit_refs(v);
  if (variable) v.object(variable.get());
}
std::unique_ptr<Hooks>& AccumulateGrad::hook_slot() { return ensure_meta(variable).hooks; }

constinit thread_local bool grad_layout_policy = true;

bool dense(const Tensor& t) {
  if (t->contiguous()) return true;
  int64_t extent = 1;
  for (int d = 0; d < t.dim(); d++) extent += (t.size(d) - 1) * t->strides[d];
  return extent == t.numel() && !overlaps_itself(*t);
}

namespace {

// Does nobody see the memory but `holding` references to t? A view may keep its parents, if they are kept by nothing else.
bool sole_owner(const Tensor& t, size_t holding = 1) {
  if (!t->storage || t->keys & key_lifted) return false;
  uint32_t tensors = 0;
  for (const TensorImpl* p = t.get(); p; p = p->view ? view_info(*p)->parent.get() : nullptr, holding = 1, tensors++)
    if (references(*p) != holding) return false;
  return t->storage->refs.load() == tensors;
}

// A sparse gradient is taken over with its values if nobody else holds them and they do not overlap.
Tensor first_sparse_gradient(const Tensor& g) {
  const Tensor& values = sparse_of(*g).values;
  return !grad_enabled() && values->contiguous() && sole_owner(g) && sole_owner(values) ? alias_of(g) : clone(g);
}

// A first gradient: taken over if nobody else holds it and it is laid out like the leaf; else copied into that layout.
// Hooks after the node are given it too (`hooked`): they see what was made of it.
Tensor first_gradient(const Tensor& g, const Tensor& variable, bool hooked) {
  if (g->keys & key_sparse) return first_sparse_gradient(g);
  const bool taken = !grad_enabled() && sole_owner(g, hooked ? 2 : 1);   // what is recorded may stand in the graph
  if (!grad_layout_policy) return taken ? alias_of(g) : clone(g);
  const bool lifted = (g->keys | variable->keys) & key_lifted;
  const bool same = lifted || (dense(variable) ? g->strides == variable->strides || (variable->contiguous() && g->contiguous()) : g->contiguous());
  if (same && taken) return alias_of(g);
  if (lifted || (same && dense(g))) return clone(g);
  Tensor r = empty(variable.sizes(), g.dtype(), g.device());
  if (dense(variable)) {
    r->strides = variable->strides;
    r->update_layout();
  }
  copy_(r, g);
  return r;
}

// The table of leaf locks: two threads may run backward into the same leaf, and one thread again, in a finalizer.
std::recursive_mutex& leaf_lock(const TensorImpl* t) {
  static std::recursive_mutex locks[64];
  return locks[(reinterpret_cast<uintptr_t>(t) >> 6) % 64];
}

// Waiting for the lock without the GIL: its holder may need it to finish.
std::unique_lock<std::recursive_mutex> acquire(std::recursive_mutex& m) {
  std::unique_lock lock(m, std::try_to_lock);
  if (lock.owns_lock()) return lock;
  void* gil = python_hooks.release_gil ? python_hooks.release_gil() : nullptr;
  lock.lock();
  if (gil) python_hooks.acquire_gil(gil);
  return lock;
}

// Not frozen or detached since the forward pass?
bool wanted(Tensor t) {
  for (;; t = face(t)->value) {
    if (t->keys & key_tape) return true;
    if (!(t->keys & key_lifted)) return false;
  }
}

}  // namespace

bool AccumulateGrad::runs_user_code() const {
  const Meta* m = meta(variable);
  return m && m->hooks && !m->hooks->accumulated.empty();
}

void AccumulateGrad::apply(Vector<Tensor>& cotangents, Vector<Tensor>&, const Vector<bool>&) {
  Tensor g = std::move(cotangents[0]);
  Hooks* h = hooks_or_null();
  if (g && wanted(variable)) {
    expect(g.sizes() == variable.sizes(), ErrorKind::shape, "AccumulateGrad: got a gradient of shape ", g.sizes(), " for a leaf of shape ", variable.sizes());
    auto lock = acquire(leaf_lock(variable.get()));
    Meta& m = ensure_meta(variable);
    if (m.grad_type == Meta::GradType::given && g.dtype() != m.grad_dtype) g = to_dtype(g, m.grad_dtype);
    if (!m.grad) {
      m.grad = first_gradient(g, variable, h && !h->post.empty());
    } else if (!grad_enabled() && !((m.grad->keys | g->keys) & (key_lifted | key_tape)) && !(m.grad->keys & ~g->keys & key_sparse)) {   // sparse + dense is dense
      const Tensor sum = m.grad, other = g;   // another thread may take it away meanwhile
      apply_inplace(op_add, sum, {&other, 1});
    } else {
      const Tensor before = m.grad;   // a hook on what add saves may replace it meanwhile
      m.grad = add(before, g);
    }
  }
  if (h)
    for (auto& hook : as_now(h->accumulated)) hook->call(variable);
}

}  // namespace adjoint::engine
