// The graph: nodes, edges, what they save, and the hooks that hang on them.
#pragma once
#include <adjoint/core/observer.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/pool.h>

#include <memory>
#include <string>
#include <vector>

namespace adjoint::engine {

class Node;

struct Edge {
  Ref<Node> node;
  uint32_t nr = 0;       // which output of the node
};

// User code in the graph. The Python layer derives from these. `as_now`: the hook that runs though another one removes it meanwhile.
struct TensorHook : Object {
  virtual Tensor call(const Tensor& grad) = 0;   // empty result: unchanged
  virtual Ref<TensorHook> as_now() { return Ref<TensorHook>(this); }
};
struct PreHook : Object {
  virtual void call(Vector<Tensor>& cotangents) = 0;
  virtual Ref<PreHook> as_now() = 0;
};
struct PostHook : Object {
  virtual void call(Vector<Tensor>& grads, const Vector<Tensor>& cotangents) = 0;
  virtual Ref<PostHook> as_now() = 0;
};
struct AccumulatedHook : Object {
  virtual void call(const Tensor& leaf) = 0;
  virtual Ref<AccumulatedHook> as_now() = 0;
};

struct Hooks {
  void visit_refs(RefVisitor& v) const;
  struct OnTensor { uint32_t nr; Ref<TensorHook> hook; };
  std::vector<OnTensor> tensor;                 // run first, in the order of registration
  std::vector<OnTensor> retain;                 // retain_grad: sees what those made of it
  std::vector<Ref<PreHook>> pre;                // only if the node's function runs
  std::vector<Ref<PostHook>> post;
  std::vector<Ref<AccumulatedHook>> accumulated;
};

template <class H> Ref<H> as_now(const Ref<H>& h) { return h->as_now(); }
inline Hooks::OnTensor as_now(const Hooks::OnTensor& h) { return {h.nr, h.hook->as_now()}; }
// What hooks add and remove while they run counts from the next time on.
template <class Entry> std::vector<Entry> as_now(const std::vector<Entry>& hooks) {
  std::vector<Entry> now;
  for (const Entry& h : hooks) now.push_back(as_now(h));
  return now;
}

// One saved tensor. A node's own output is kept without its history, so that no cycle arises.
class ADJOINT_API Saved {
 public:
  Saved() = default;
  Saved(const Tensor& t, bool own_output);
  explicit operator bool() const { return tensor_ || packed_; }
  Tensor unpack(Node& owner, uint32_t out_nr) const;   // checks the version
  bool own_output() const { return own_output_; }
  const Tensor& raw() const { return tensor_; }
  void visit_refs(RefVisitor& v) const;
  // A packed tensor (saved_tensors_hooks): its values made and unmade by user code; what ties it to the graph stays here.
  struct Packed : Object {
    virtual Tensor unpack() = 0;
    void visit_refs(RefVisitor& v) const override;
    Edge edge;
    Ref<Object> leaf;                           // the leaf's Meta, if it was one
  };
  using Pack = Ref<Packed> (*)(const Tensor& values, void* context);   // null result: not packed
  bool packed() const { return static_cast<bool>(packed_); }
  const Packed* packed_by_user() const { return packed_.get(); }
  void pack(Pack pack, void* context);          // replaces the tensor by what `pack` makes of its values

 private:
  void pack(Pack pack, void* context, const Tensor& given);
  Tensor tensor_;
  Ref<Packed> packed_;
  uint32_t stamp_ = 0;
  bool own_output_ = false, had_history_ = false;
};
ADJOINT_API extern constinit thread_local Saved::Pack saved_packer;   // the hooks that are active in this thread
struct SavedEntry { const Saved* saved; bool output; uint32_t index; };   // input `index` of the call, or output

class ADJOINT_API Node : public Object {
 public:
  explicit Node(size_t edges = 0);              // made now: the next sequence number, the user's line
  Node(uint64_t seq, uint32_t site) : seq(seq), site(site) {}
  ~Node() override;
  virtual std::string name() const = 0;
  // cotangents: one per output, absent ones empty; grads: one per edge; needed: which edges are wanted.
  virtual void apply(Vector<Tensor>& cotangents, Vector<Tensor>& grads, const Vector<bool>& needed) = 0;
  virtual void release_saved() {}               // after backward without retain_graph
  virtual uint32_t outputs() const { return 1; }
  virtual bool output_sizes(uint32_t, Dims&) const { return false; }   // false: not known
  virtual const InputMeta* input_meta(size_t) const { return nullptr; }  // what the edge carries, where it is known
  virtual void list_saved(std::vector<SavedEntry>&) const {}
  virtual bool runs_user_code() const { return false; }   // then also when all its cotangents are absent
  void visit_refs(RefVisitor& v) const override;
  void clear_refs() override;
  void destroy() override { destroy_in_turn(); }   // graphs may be a million nodes deep
  Hooks& hooks();
  Hooks* hooks_or_null() const { return const_cast<Node*>(this)->hook_slot().get(); }

  Array<Edge> edges;
  uint64_t seq;
  uint32_t site = 0;                            // the user's line
  uint32_t released_at = 0;                     // the line of the backward that freed it
  Ref<Object> trace;                            // anomaly mode: the forward stack
  bool tainted = false;                         // Python objects hang on it or upstream: visible to the collector
  bool released = false;
  bool in_place = false;                        // its output is its first input, written to
  bool outdated = false;                        // of a view that lost its history: it can no more be used than run
  uint8_t stream = 0;                           // on a GPU: the stream that was current at its forward call
  const char* composed = nullptr;               // of the result of a function made of several records: what the node is called
  const Edge* outer = nullptr;                  // while a CopySlices runs it: the history of its output

 protected:
  virtual std::unique_ptr<Hooks>& hook_slot() { return hooks_; }

 private:
  std::unique_ptr<Hooks> hooks_;
};

// n.apply, seen by the observers of this thread.
ADJOINT_API void run_watched(Node& n, Vector<Tensor>& cotangents, Vector<Tensor>& grads, const Vector<bool>& needed);
inline void run_node(Node& n, Vector<Tensor>& cotangents, Vector<Tensor>& grads, const Vector<bool>& needed) {
  watched() ? run_watched(n, cotangents, grads, needed) : n.apply(cotangents, grads, needed);
}

// Installed by the Python layer.
struct AnomalyHooks {
  Ref<Object> (*trace)(Node* running) = nullptr;   // the stack of now; `running`: the node that backward is in
  void (*report)(Node&) = nullptr;                 // an error came out of the node
};
ADJOINT_API extern AnomalyHooks anomaly_hooks;
[[noreturn]] ADJOINT_API void fail_freed(const Node& n);
[[noreturn]] ADJOINT_API void fail_outdated(const Node& n);
ADJOINT_API void check_root(size_t i, const Dims& given, const Dims& output);   // the cotangent of output i
ADJOINT_API void check_cotangent(const Node& n, uint32_t nr, const Tensor& g, const char* from);   // of user code: has it the output's shape?

ADJOINT_API uint64_t next_sequence();
ADJOINT_API uint64_t peek_sequence();

// The application of a record.
class ADJOINT_API OpNode final : public Node {
 public:
  OpNode(const Op& op, const Attrs& attrs, size_t inputs, uint64_t saves);   // saves: what the rules in use want
  std::string name() const override;
  void apply(Vector<Tensor>& cotangents, Vector<Tensor>& grads, const Vector<bool>& needed) override;
  void release_saved() override;
  uint32_t outputs() const override { return op.outputs; }
  bool output_sizes(uint32_t nr, Dims& out) const override;
  const InputMeta* input_meta(size_t k) const override { return k < inputs.size() ? &inputs[k] : nullptr; }
  void list_saved(std::vector<SavedEntry>& out) const override;
  void visit_refs(RefVisitor& v) const override;
  void clear_refs() override;

  const Op& op;
  Attrs attrs;
  const uint64_t saves;
  uint64_t needs = 0;                           // bit i: input i has a rule and history
  Array<InputMeta> inputs;
  Array<Saved> x;                               // both empty if no rule wants one
  Array<Saved> y;
};

// The end of the graph at a leaf.
class ADJOINT_API AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& variable);
  static Ref<Node> of(const Tensor& leaf);      // the one node of a leaf, made when it is asked for
  static void forget(const Tensor& leaf);       // graphs made from now on get another one: the leaf's memory is a new one
  std::string name() const override { return "AccumulateGrad"; }
  bool runs_user_code() const override;
  bool output_sizes(uint32_t nr, Dims& out) const override;
  void apply(Vector<Tensor>& cotangents, Vector<Tensor>& grads, const Vector<bool>& needed) override;
  void visit_refs(RefVisitor& v) const override;
  void destroy() override;
  void destroy_sole() override;
  Tensor variable;

 protected:
  std::unique_ptr<Hooks>& hook_slot() override;   // a leaf's hooks live with the leaf: they outlast every graph
};

// In-place on a view, seen from its base: `fn` acted on the slice that `view` cuts out.
class ADJOINT_API CopySlices final : public Node {
 public:
  CopySlices(Ref<Node> fn, const Op& view, const Attrs& attrs, const Tensor& base);
  std::string name() const override { return "CopySlices"; }
  bool output_sizes(uint32_t nr, Dims& out) const override;
  void apply(Vector<Tensor>& cotangents, Vector<Tensor>& grads, const Vector<bool>& needed) override;
  void release_saved() override;
  const InputMeta* input_meta(size_t k) const override { return k ? fn->input_meta(k) : nullptr; }
  void list_saved(std::vector<SavedEntry>& out) const override { fn->list_saved(out); }
  void visit_refs(RefVisitor& v) const override;
  Ref<Node> fn;
  const Op& view;
  Attrs attrs;
  Dims sizes;                                   // of the base: `view` trusts them
  Dims order;                                   // its dimensions, the one with the largest stride first: `view` trusts that too
};

// What the engine hangs on a tensor when asked for.
struct ADJOINT_API Meta final : Object {
  Tensor grad;
  AccumulateGrad* accumulator = nullptr;        // weak: it clears this when it goes
  std::atomic_flag busy;                        // guards `accumulator`, for a few instructions
  enum class GradType : uint8_t { same, given, any } grad_type = GradType::same;
  DType grad_dtype{};                           // of `.grad`, where given
  std::unique_ptr<Hooks> hooks;                 // of a leaf
  Ref<TensorHook> retain;                       // set by retain_grad
  uint32_t site = 0;                            // where requires_grad was set
  ~Meta() override;
  void destroy() override { destroy_in_turn(); }   // x.grad.grad...
  void visit_refs(RefVisitor& v) const override;
};
inline Meta* meta(const Tensor& t) { return static_cast<Meta*>(t->meta.get()); }
ADJOINT_API Meta& ensure_meta(const Tensor& t);

inline Node* node(const Tensor& t) { return static_cast<Node*>(t->grad_fn.get()); }
ADJOINT_API Edge gradient_edge(const Tensor& t);   // grad_fn and its output, or the leaf's AccumulateGrad
ADJOINT_API void move_retain(TensorImpl& t, Node* from);   // retain_grad follows a tensor to its new history
// After t was given other memory or another shape, without a record of it: gradients are to fit the result that it was.
ADJOINT_API void keep_history_of(const InputMeta& before, const Tensor& t);
ADJOINT_API void replaced(const Tensor& t, const TensorImpl& before);
ADJOINT_API void set_history(const Tensor& t, Ref<Node> n, uint32_t nr = 0);

// Python's view of a node, when it must be visible to the collector. Null without Python.
ADJOINT_API extern void (*expose_node)(Node&);
ADJOINT_API extern size_t (*python_references)(PyObject*);   // to an object that Python owns
ADJOINT_API std::string describe_site(uint32_t site);
ADJOINT_API extern std::string (*site_text)(uint32_t);

}  // namespace adjoint::engine
