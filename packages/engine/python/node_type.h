// The Python face of graph nodes.
#pragma once
#include <adjoint/python/caster.h>

#include <adjoint/core/observer.h>
#include <adjoint/engine/autograd.h>

#include <optional>

namespace adjoint::engine::python {

namespace nb = nanobind;

struct NodeObject {
  PyObject_HEAD
  PyObject* dict;
  PyObject* weakrefs;
  Node* node;
};

extern PyTypeObject* node_type;
void make_node_type(nb::module_& m);
PyObject* wrap_node(Node* n);                 // a new reference; None for null
inline bool is_node(PyObject* o) { return PyObject_TypeCheck(o, node_type); }
inline Node* unwrap_node(PyObject* o) { return reinterpret_cast<NodeObject*>(o)->node; }

// A node whose backward is Python code; the object is the `ctx` of a custom Function and owned by Python from birth.
class FunctionNode final : public Node {
 public:
  FunctionNode();
  ~FunctionNode() override;
  std::string name() const override;
  void apply(Vector<Tensor>& cotangents, Vector<Tensor>& grads, const Vector<bool>& needed) override;
  void release_saved() override;
  uint32_t outputs() const override { return output_count; }
  const InputMeta* input_meta(size_t k) const override { return k < inputs.size() && inputs[k].is_tensor ? &inputs[k].meta : nullptr; }
  void list_saved(std::vector<SavedEntry>& out) const override;
  bool runs_user_code() const override { return true; }   // user code may make gradients out of None
  void visit_refs(RefVisitor& v) const override;
  void clear_refs() override;

  // An argument or a result of the call; only tensors have a meta.
  struct Slot { bool is_tensor = false, wants = false; InputMeta meta; };
  Vector<Slot> inputs, results;
  Vector<Saved> saved;                          // None is kept as an empty one
  Vector<uint32_t> saved_nr;                    // which output it is, if it is one
  static constexpr uint32_t intermediate = ~uint32_t(0);   // or: computed in forward from inputs with history
  uint32_t output_count = 1;
  bool materialize = true;                      // absent cotangents reach backward as zeros
  bool clears_on_access = false, boxed = false;
  bool freed = false;                           // an error only for a backward that asks for what was saved
  std::optional<Vector<bool>> told;        // needs_input_grad that was assigned
  struct Call;
  std::unique_ptr<Call> call;                   // while forward runs and is watched

 private:
  nb::object call_backward(Vector<Tensor>& cotangents);
  Tensor checked(size_t i, nb::handle g) const;
};

struct NodeRef { Node* p; };                  // a borrowed argument

Tensor with_refused_history(const Tensor& t, const FunctionNode& f, size_t index);   // saved tensor `index` while backward is recorded
bool has_refused_history(const Tensor& t);   // as above, until requires_grad_ makes a leaf of it: whoever asks for that wants no more

// Hooks on saved tensors that a backward enters and does not leave, or leaves too often, end with it.
class HooksAsBefore {
 public:
  HooksAsBefore();
  ~HooksAsBefore();
  HooksAsBefore(const HooksAsBefore&) = delete;

 private:
  struct Stack;
  std::unique_ptr<Stack> stack_;   // none: no hooks
};
nb::object packed_value(const Saved& s);     // what a pack hook made of a saved tensor; None

void bind_nodes(nb::module_& m);
void bind_walk(nb::module_& m);
void bind_functions(nb::module_& m);
void bind_hooks(nb::module_& m);
void bind_autograd(nb::module_& m);
void bind_levels(nb::module_& m);
void bind_modes(nb::module_& m);
void bind_autocast(nb::module_& m);
void bind_finite(nb::module_& m);
void bind_observers(nb::module_& m);
void bind_saved(nb::module_& m);
void bind_supply(nb::module_& m);
void bind_attributes(nb::module_& m);

}  // namespace adjoint::engine::python

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)
template <> struct type_caster<adjoint::engine::python::NodeRef> {
  NB_TYPE_CASTER(adjoint::engine::python::NodeRef, const_name("Node"))
  bool from_python(handle h, uint32_t, cleanup_list*) noexcept {
    if (!adjoint::engine::python::is_node(h.ptr())) return false;
    value.p = adjoint::engine::python::unwrap_node(h.ptr());
    return value.p != nullptr;
  }
  static handle from_cpp(adjoint::engine::python::NodeRef n, rv_policy, cleanup_list*) noexcept { return adjoint::engine::python::wrap_node(n.p); }
};
NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)
