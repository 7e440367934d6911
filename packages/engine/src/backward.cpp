// Reverse mode: nodes run in one fixed order (newest first, leaves at once), so sums are the same bits every time.
#include <adjoint/core/observer.h>
#include <adjoint/engine/autograd.h>
#include <adjoint/engine/finite.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "device_threads.h"
#include "streams.h"
#include "task.h"
#include "thread_state.h"

namespace adjoint::engine {

namespace {

// Hooks on one output are called as they were when the first of them was; those on another one can still be removed.
void run_tensor_hooks(std::vector<Hooks::OnTensor> hooks, Vector<Tensor>& cotangents) {
  for (size_t i = 0; i < hooks.size(); i++) {
    const uint32_t nr = hooks[i].nr;
    if (i == 0 || hooks[i - 1].nr != nr)
      for (size_t k = i; k < hooks.size() && hooks[k].nr == nr; k++) hooks[k] = as_now(hooks[k]);
    if (Tensor r = hooks[i].hook->call(cotangents[nr])) cotangents[nr] = r;
  }
}

void check_nan(const Node& n, const Vector<Tensor>& grads) {
  for (size_t k = 0; k < grads.size(); k++)
    if (look(grads[k], false).what == Bad::nan) fail(ErrorKind::runtime, "Function '", n.name(), "' returned nan values in its ", k, "th output.");
}

// Whether nobody else has this tensor or its memory, and nobody sees what becomes of it.
bool is_ours(const Tensor& t) {
  const bool alone = !t->keys && t->use_count() == 1 && t->storage && t->storage->refs.load(std::memory_order_relaxed) == 1;
  std::atomic_thread_fence(std::memory_order_acquire);   // another thread may have read it until it let go
  return alone && !t->storage->deleter && t->contiguous() && t.device().type == DeviceType::cpu && !watched();
}
// The sum of two cotangents, in the memory of one if that is ours: the same bits, and less memory.
Tensor sum_of(Tensor a, Tensor b) {
  const bool fit = !(a->keys | b->keys) && a.dtype() == b.dtype() && a.sizes() == b.sizes();
  if (fit && is_ours(a)) return run_inplace(op_add, a, {&b, 1}, {}), a;
  if (fit && is_ours(b)) return run_inplace(op_add, b, {&a, 1}, {}), b;
  return add(a, b);
}

uint64_t number_of_thread() {
  static std::atomic<uint64_t> last{0};
  static thread_local const uint64_t number = ++last;
  return number;
}

// With create_graph what backward does is recorded, in a no_grad block too.
Window recording_window() {
  WindowGuard guard;
  if (!grad_enabled()) set_grad_enabled(true);
  return window;
}

class Backward;
thread_local Backward* current = nullptr;
thread_local Node* running = nullptr;

class Backward {
 public:
  Backward(Vector<Root> roots, const BackwardOptions& o) : options_(o), window_{o.create_graph ? recording_window() : Window{level_top + 1, window.hi}} {
    expect(depth_ < deepest, "backward: called from within ", deepest, " other backwards, one inside the other");
    for (const Root& r : roots) task_.add_root(r.edge);
    task_.discover();
    if (!o.inputs.empty()) task_.restrict_to(o.inputs, o.accumulate);
    task_.count_pending();
    for (const Root& r : roots) put(task_[task_.find(r.edge.node.get())], r.edge.nr, r.cotangent);
    site_ = python_hooks.site ? python_hooks.site() : 0;
    results_.resize(o.inputs.size());
  }

  Vector<Tensor> run() {
    if (depth_ % per_stack) run_here();
    else run_on_new_thread([](void* b) { static_cast<Backward*>(b)->run_here(); }, this);
    return std::move(results_);
  }

 private:
  void run_here() {
    Current c(this);
    WindowGuard guard(window_);
    std::optional<Watch> watch;
    if (watched()) watch.emplace(Span{Span::Kind::backward});
    for (size_t i = 0; i < task_.size(); i++)
      if (task_[i].pending == 0 && (task_[i].needed || task_.is_lone_root(i))) ready_.push({task_[i].node->seq, i});
    while (!ready_.empty()) {
      const int device = next_device();
      if (device < 0) visit_next();
      else run_on_thread_of(device, [](void* b) { static_cast<Backward*>(b)->visit_all_of_device(); }, this);
    }
    if (watch) watch->end();
    streams_.finish();
  }

  // The GPU on whose thread the next node runs: where its cotangents are. -1: on this one.
  int next_device() {
    if (!cuda::in_use.load(std::memory_order_relaxed) || !multithreading) return -1;
    const int device = gpu_of(task_.cotangents(task_[ready_.top().entry]));
    return device >= 0 && on_thread_of(device) ? -1 : device;
  }
  void visit_next() {
    const size_t i = ready_.top().entry;
    ready_.pop();
    visit(task_[i]);
    window = window_;   // whatever user code did to it
  }
  void visit_all_of_device() {
    Current c(this);
    const WindowGuard guard(window_);
    do visit_next();
    while (!ready_.empty() && gpu_of(task_.cotangents(task_[ready_.top().entry])) >= 0 && next_device() < 0);
  }

  void put(const Task::Entry& e, uint32_t nr, Tensor g) {
    if (!g) return;
    if (nr >= e.outputs) fail(ErrorKind::index, "backward: ", e.node->name(), " has ", e.outputs, " outputs, got a gradient edge to output ", nr);
    Tensor& sum = task_.cotangents(e)[nr];
    sum = sum ? sum_of(std::move(sum), std::move(g)) : std::move(g);
  }

  void step(const Task::Entry& e) {
    Node& n = *e.node;
    const std::span<Tensor> arrived = task_.cotangents(e);
    cotangents_.assign(std::make_move_iterator(arrived.begin()), std::make_move_iterator(arrived.end()));
    bool any = false;
    for (const Tensor& g : cotangents_) any = any || g;
    grads_.assign(n.edges.size(), {});
    if (Hooks* h = n.hooks_or_null()) {
      run_tensor_hooks(h->tensor, cotangents_);
      run_tensor_hooks(h->retain, cotangents_);
    }
    if (any && e.captured) capture(e);
    if (cuda::side_streams.load(std::memory_order_relaxed)) [[unlikely]] streams_.enter(n, cotangents_);
    if (e.executed && (any || n.runs_user_code() || n.hooks_or_null())) checked(n, e);
    for (size_t k = 0; k < n.edges.size(); k++) {
      const size_t t = task_.target(e, k);
      if (t == Task::none || !task_[t].needed) continue;
      put(task_[t], n.edges[k].nr, std::move(grads_[k]));
      if (--task_[t].pending == 0) ready_.push({task_[t].node->seq, t});
    }
  }

  void visit(const Task::Entry& e) {
    std::optional<Watch> watch;
    if (watched()) watch.emplace(Span{.kind = Span::Kind::evaluation, .x = task_.cotangents(e), .node = e.node});
    const Running r(e.node);
    step(e);
    if (watch) watch->end(grads_);
  }

  void capture(const Task::Entry& e) {
    for (const Task::Capture& c : task_.captures())
      if (&task_[c.entry] == &e && c.nr < cotangents_.size()) results_[c.result] = cotangents_[c.nr];
  }

  void checked(Node& n, const Task::Entry& e) {
    try {
      evaluate(n, e);
      if (anomaly.enabled && anomaly.check_nan) check_nan(n, grads_);
    } catch (...) {
      if (anomaly.enabled && anomaly_hooks.report) anomaly_hooks.report(n);
      throw;
    }
  }

  void evaluate(Node& n, const Task::Entry& e) {
    if (n.released) fail_freed(n);
    needed_.assign(n.edges.size(), false);
    for (size_t k = 0; k < needed_.size(); k++) {
      const size_t t = task_.target(e, k);
      needed_[k] = t != Task::none && task_[t].needed;
    }
    if (Hooks* h = n.hooks_or_null()) apply_with_hooks(n, *h);
    else run_node(n, cotangents_, grads_, needed_);
    if (Hooks* now = n.hooks_or_null(); now && !now->post.empty()) call_hooks_after(n, *now);   // those, too, that were added while it ran
    given_.clear();
    if (options_.retain_graph) return;
    n.release_saved();
    if (n.released) n.released_at = site_;   // never a leaf's node, which other threads run too
  }

  void apply_with_hooks(Node& n, Hooks& h) {
    const bool before = !h.pre.empty();
    for (auto& p : as_now(h.pre)) p->call(cotangents_);
    if (before)
      for (size_t k = 0; k < cotangents_.size(); k++) check_cotangent(n, static_cast<uint32_t>(k), cotangents_[k], "prehook");
    if (!h.post.empty()) given_ = cotangents_;
    const bool any = std::any_of(cotangents_.begin(), cotangents_.end(), [](const Tensor& g) { return bool(g); });
    if (any || n.runs_user_code()) run_node(n, cotangents_, grads_, needed_);
  }

  void call_hooks_after(Node& n, Hooks& h) {
    given_.resize(cotangents_.size());
    for (auto& p : as_now(h.post)) p->call(grads_, given_);
    for (size_t k = 0; k < n.edges.size(); k++)
      if (n.edges[k].node) check_cotangent(*n.edges[k].node, n.edges[k].nr, grads_[k], "hook");
  }

  struct Running {
    explicit Running(Node* n) : outer(std::exchange(running, n)) {}
    ~Running() { running = outer; }
    Node* const outer;
  };
  // Backward may run inside backward (in hooks): the innermost is the current one.
  struct Current {
    explicit Current(Backward* b) : outer(std::exchange(current, b)) {}
    ~Current() { current = outer; }
    Backward* const outer;
  };

  const BackwardOptions& options_;
  const Window window_;
  Task task_;
  ReadyQueue ready_;
  Vector<Tensor> results_;
  Vector<Tensor> cotangents_, grads_;   // of the node that runs
  Vector<Tensor> given_;                // its cotangents as hooks after it see them: absent if there were none before it ran
  Vector<bool> needed_;
  Streams streams_;
  uint32_t site_ = 0;
  // Every so many backwards inside one another go on on another stack: Python's, too, bears about a thousand calls.
  static constexpr int per_stack = 40, deepest = 20'000;
  const int depth_ = current ? current->depth_ + 1 : 1;
  static inline std::atomic<int64_t> next_id{0};

 public:
  const int64_t id = next_id++;
  const uint64_t caller = current ? current->caller : number_of_thread();
  uint32_t site() const noexcept { return site_; }
  bool keeps() const { return options_.retain_graph; }
  bool restricted() const { return !options_.inputs.empty(); }
  std::vector<Node*> order() const { return task_.order(); }
  bool wants(Node* n) {
    const size_t i = task_.find(n);
    return i != Task::none && task_[i].needed;
  }
};

Tensor initial_cotangent(const Tensor& y, const Tensor& given, size_t i) {
  if (given) {
    check_root(i, given.sizes(), y.sizes());
    expect(is_complex(given.dtype()) == is_complex(y.dtype()), "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: grad_output[", i, "] has a dtype of ", given.dtype(), " and output[", i, "] has a dtype of ", y.dtype(), ".");
    expect(given.device() == y.device() || given.dim() == 0, "invalid gradient at index ", i, " - expected device ", y.device(), " but got ", given.device());
    return to_device(to_dtype(given, y.dtype()), y.device());
  }
  expect(y.numel() == 1, "grad can be implicitly created only for scalar outputs, got an output of shape ", y.sizes());
  expect(!is_complex(y.dtype()), "grad can be implicitly created only for real scalar outputs but got ", y.dtype());
  return ones_like(y);
}

Vector<Root> make_roots(Tensors outputs, Tensors cotangents) {
  Vector<Root> roots;
  for (size_t i = 0; i < outputs.size(); i++) {
    const Tensor y = fresh(outputs[i]);
    expect(y->keys & key_tape, "element ", i, " of tensors does not require grad and does not have a grad_fn");
    roots.push_back({gradient_edge(y), initial_cotangent(y, i < cotangents.size() ? cotangents[i] : Tensor{}, i)});
  }
  return roots;
}

// Inputs stand on the face of the output, or on a deeper one whose values do.
Vector<Edge> input_edges(Tensors inputs, uint32_t at_most) {
  Vector<Edge> edges;
  for (const Tensor& given : inputs) {
    Tensor x = fresh(given);
    while (level(x) > at_most) x = face(x)->value;
    expect(x->keys & key_tape, "One of the differentiated Tensors does not require grad");
    edges.push_back(gradient_edge(x));
  }
  return edges;
}

uint32_t highest_level(Tensors t) {
  uint32_t m = 0;
  for (const Tensor& y : t) m = std::max(m, level(fresh(y)));
  return m;
}

}  // namespace

Node* running_node() { return running; }
uint32_t backward_site() noexcept { return current ? current->site() : 0; }
bool keeps_graph() { return current && current->keeps(); }
bool inputs_given() { return current && current->restricted(); }
int64_t current_task() { return current ? current->id : -1; }
uint64_t backward_thread() { return current ? current->caller : number_of_thread(); }
std::vector<Node*> execution_order() {
  expect(current, "_current_graph_task_execution_order should only be called during the backward pass");
  return current->order();
}
bool will_execute(Node* n) {
  expect(current, "_will_engine_execute_node should only be called during the backward pass");
  return current->wants(n);
}

Vector<Tensor> run_backward(Vector<Root> roots, const BackwardOptions& options) { return Backward(std::move(roots), options).run(); }

Vector<Tensor> grad(Tensors outputs, Tensors inputs, Tensors cotangents, bool retain_graph, bool create_graph) {
  const Vector<Edge> edges = input_edges(inputs, highest_level(outputs));
  return run_backward(make_roots(outputs, cotangents), {retain_graph, create_graph, edges, false});
}

void backward(Tensors outputs, Tensors cotangents, bool retain_graph, bool create_graph, Tensors inputs) {
  const Vector<Edge> edges = input_edges(inputs, highest_level(outputs));
  for (const Tensor& x : inputs)   // from now on; a leaf accumulates in its own node
    if (x->grad_fn && !(x->keys & key_lifted)) retain_grad(x);
  const Vector<Tensor> grads = run_backward(make_roots(outputs, cotangents), {retain_graph, create_graph, edges});
  // What stands on a level may have been computed on a face below.
  WindowGuard guard(create_graph ? window : Window{level_top + 1, window.hi});
  for (size_t i = 0; i < grads.size(); i++) {
    const Tensor x = fresh(inputs[i]);
    if (!grads[i] || !x->grad_fn || !(x->keys & key_lifted)) continue;
    Meta& m = ensure_meta(x);
    m.grad = m.grad ? add(m.grad, grads[i]) : clone(grads[i]);
  }
}

// A functional level's tape is only read; the faces below still record if they have history. Without a slot the level
// has been left: its graph lives on in the tensors and is used as any other.
Vector<Tensor> grad_of_level(Tensors outputs, Tensors inputs, Tensors cotangents, const Slot* s) {
  WindowGuard guard;
  if (s) window.hi = s->serial - 1;
  Vector<Root> roots;
  for (size_t i = 0; i < outputs.size(); i++)
    if (const Tensor y = s ? fresh(outputs[i]) : outputs[i]; y->keys & key_tape) roots.push_back({gradient_edge(y), initial_cotangent(y, cotangents[i], i)});
  Vector<Edge> edges;
  for (const Tensor& x : inputs) edges.push_back(gradient_edge(x));
  if (roots.empty()) return Vector<Tensor>(inputs.size());
  return run_backward(std::move(roots), {true, s || grad_enabled(), edges, false});
}

}  // namespace adjoint::engine
