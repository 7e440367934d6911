// Reverse mode as the user sees it.
#pragma once
#include <adjoint/core/split_views.h>
#include <adjoint/engine/level.h>
#include <adjoint/engine/mode.h>
#include <adjoint/engine/node.h>

namespace adjoint::engine {

ADJOINT_API bool requires_grad(const Tensor& t);
ADJOINT_API Edge shown_edge(const Tensor& t);             // of the history that makes it require a gradient; empty if it does not
ADJOINT_API void set_requires_grad(const Tensor& t, bool value);
ADJOINT_API bool is_leaf(const Tensor& t);
ADJOINT_API Tensor detach(const Tensor& t);
ADJOINT_API void detach_(const Tensor& t);
ADJOINT_API Tensor gradient(const Tensor& t);             // t.grad; empty if none
ADJOINT_API void set_gradient(const Tensor& t, const Tensor& grad);
ADJOINT_API void retain_grad(const Tensor& t);
ADJOINT_API Tensor data(const Tensor& t);                 // the same memory under a version counter of its own

struct Root { Edge edge; Tensor cotangent; };
struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;
  std::span<const Edge> inputs;   // empty: all leaves
  bool accumulate = true;         // leaves among `inputs` add to their .grad; else cotangents are only returned
};
// The backward that this thread is in, if any.
ADJOINT_API Node* running_node();
ADJOINT_API int64_t current_task();               // -1 outside
ADJOINT_API uint64_t backward_thread();           // a number of the thread that called the backward that runs here, or of this one
ADJOINT_API void keep_stream(Node& n, Tensors x); // of now, on the GPU of its operands: its backward runs there
// While a CUDA graph is captured, nodes of streams that are not part of it run on the one that is. Without it, those of the default
// stream are errors, and other streams are drawn in.
ADJOINT_API extern std::atomic<bool> override_stale_capture_stream;
ADJOINT_API bool keeps_graph();                   // does it keep what was saved?
ADJOINT_API bool inputs_given();                  // does the backward that runs here compute only the gradients of some inputs?
ADJOINT_API std::vector<Node*> execution_order();   // of its nodes
ADJOINT_API bool will_execute(Node* n);           // is n on a path that the current backward wants?
// Runs the graph from the roots. Returns the cotangents of `inputs` (empty where a path does not exist).
ADJOINT_API Vector<Tensor> run_backward(Vector<Root> roots, const BackwardOptions& options);
ADJOINT_API Vector<Tensor> grad(Tensors outputs, Tensors inputs, Tensors cotangents, bool retain_graph, bool create_graph);
ADJOINT_API void backward(Tensors outputs, Tensors cotangents, bool retain_graph, bool create_graph, Tensors inputs = {});
ADJOINT_API Vector<Tensor> grad_of_level(Tensors outputs, Tensors inputs, Tensors cotangents, const Slot* s);   // functional transforms

// Records a call on plain memory whose results are already there: y, without history.
ADJOINT_API void record_results(const Op& op, Tensors x, const Attrs& attrs, Tensors y);

// User code wrote to `self` in place: from now on it is output `nr` of n.
ADJOINT_API void written_by(const Tensor& self, Ref<Node> n, uint32_t nr);

// `self` becomes `view`, a view of itself that was just made: transpose_, squeeze_, ...
ADJOINT_API void become(const Tensor& self, const Tensor& view);

// Called before each in-place write of this thread, if set.
using WriteHook = void (*)(const Tensor&);
ADJOINT_API extern constinit thread_local WriteHook before_write;

// Puts the engine behind core's door. Called once at load.
ADJOINT_API void install();
ADJOINT_API void install_cuts();   // unbind, split
ADJOINT_API const Cut* cut_of(const Node&);   // what their node cuts; null of other nodes
ADJOINT_API void install_random();

}  // namespace adjoint::engine
