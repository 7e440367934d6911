// Saved tensors: hooks that pack them, looking at them, telling of writes to them.
#include <adjoint/engine/carried.h>

#include <optional>

#include "callable.h"

namespace adjoint::engine::python {

namespace {

struct PackHooks {
  PyObject *pack, *unpack;
  void hold() const { Py_INCREF(pack); Py_INCREF(unpack); }
  void drop() const { Py_DECREF(pack); Py_DECREF(unpack); }
};
thread_local std::vector<PackHooks> pack_stack;          // holds its hooks; what a thread leaves here is never freed
thread_local bool packing = false;                       // pack hooks do not see what they save themselves
thread_local std::optional<std::string> disabled;        // why hooks may not be set

struct PythonPacked final : Saved::Packed {
  PythonPacked(nb::handle value, PyObject* unpack) : value(value), unpack_hook(unpack) {}
  Tensor unpack() override {
    nb::object r = unpack_hook(nb::borrow(value.get()));
    if (!adjoint::python::is_tensor(r.ptr())) fail(ErrorKind::type, "Output of saved tensor unpack_hook expected to be a Tensor but got result of type ", kind_of(r));
    return nb::cast<Tensor>(r);
  }
  void visit_refs(RefVisitor& v) const override {
    Saved::Packed::visit_refs(v);
    if (value) v.python(value.get());
    if (unpack_hook) v.python(unpack_hook.get());
  }
  void clear_refs() override { value.drop(); unpack_hook.drop(); }
  Callable value, unpack_hook;
};

Ref<Saved::Packed> pack_with(const Tensor& t, void* hooks) {
  struct Guard { Guard() { packing = true; } ~Guard() { packing = false; } } guard;
  const PackHooks& h = *static_cast<PackHooks*>(hooks);
  return Ref<Saved::Packed>(new PythonPacked(nb::handle(h.pack)(t), h.unpack));
}
Ref<Saved::Packed> pack_if_asked(const Tensor& t, void*) {
  if (packing) return {};
  PackHooks h = pack_stack.back();
  const Callable pack{nb::handle(h.pack)}, unpack{nb::handle(h.unpack)};   // the hook may leave its block
  return pack_with(t, &h);
}

void push_hooks(nb::handle pack, nb::handle unpack) {
  if (disabled) fail(ErrorKind::runtime, *disabled);
  pack_stack.push_back({pack.ptr(), unpack.ptr()});
  pack_stack.back().hold();
  saved_packer = pack_if_asked;
}

void pop_hooks() {
  expect(!pack_stack.empty(), "saved_tensors_hooks: exited without having been entered in this thread");
  const PackHooks last = pack_stack.back();
  pack_stack.pop_back();
  if (pack_stack.empty()) saved_packer = nullptr;
  last.drop();
}

nb::object set_disabled(std::optional<std::string> message) {
  expect(!message || pack_stack.empty(), message.value_or(""));
  std::swap(disabled, message);
  return message ? nb::cast(*message) : nb::none();
}

// A saved tensor, looked at where it lies in its node.
class SavedTensor {
 public:
  SavedTensor(Node& n, Saved& s, uint32_t nr, bool none = false) : node_(&n), saved_(&s), nr_(nr), none_(none) {}
  void register_hooks(nb::object pack, nb::object unpack) {
    expect(PyCallable_Check(pack.ptr()) && PyCallable_Check(unpack.ptr()), ErrorKind::type, "register_hooks: incompatible function arguments: expected two callables, got ", kind_of(pack), " and ", kind_of(unpack));
    Saved& s = *saved_;
    expect(!none_, "Calling register_hooks on a saved tensor with value None is forbidden");
    expect(static_cast<bool>(s), "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when you call .backward() or autograd.grad().");
    expect(!s.packed(), "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is allowed at a time.");
    PackHooks h{pack.ptr(), unpack.ptr()};
    s.pack(pack_with, &h);
    taint(*node_);
  }
  // What is kept: what the pack hook gave, else the tensor itself (of an output and of a leaf without its history).
  nb::object data() const {
    if (const PythonPacked* p = packed()) return nb::borrow(p->value.get());
    const Tensor& t = saved_->raw();
    return !t ? nb::none() : nb::cast(t->grad_fn || saved_->own_output() ? t : detach(t));
  }
  nb::object unpack_hook() const {
    const PythonPacked* p = packed();
    return p ? nb::borrow(p->unpack_hook.get()) : nb::none();
  }
  nb::object unpack() const {
    if (none_) return nb::none();
    if (!*saved_) fail_freed(*node_);
    return nb::cast(saved_->unpack(*node_, nr_));
  }

 private:
  const PythonPacked* packed() const { return saved_->packed() ? dynamic_cast<const PythonPacked*>(saved_->packed_by_user()) : nullptr; }

  Ref<Node> node_;
  Saved* saved_;
  uint32_t nr_;
  bool none_;
};

nb::tuple raw_saved_tensors(NodeRef ref) {
  auto* f = dynamic_cast<FunctionNode*>(ref.p);
  if (!f) throw nb::attribute_error("not the node of a Function");
  if (f->freed) fail_freed(*f);
  nb::list all;
  for (size_t i = 0; i < f->saved.size(); i++) all.append(SavedTensor(*f, f->saved[i], f->saved_nr[i], !f->saved[i]));
  return nb::tuple(all);
}

// Output `index` of a node that keeps all inputs instead.
nb::object computed_again(OpNode& n, size_t index) {
  Vector<Tensor> x(n.x.size());
  for (size_t i = 0; i < x.size(); i++) {
    if (!n.x[i]) return nb::none();
    x[i] = n.x[i].unpack(n, static_cast<uint32_t>(i));
  }
  if (x.size() != n.inputs.size() || index >= n.outputs()) return nb::none();
  const NoGrad guard;
  Tensor y[max_outputs];
  adjoint::apply(n.op, x, n.attrs, y);
  return nb::cast(y[index]);
}

// The saved tensor `index` of a record's node: inputs first, then outputs. None where nothing was saved.
nb::object saved_tensor(NodeRef n, bool output, size_t index, bool raw) {
  auto* op = dynamic_cast<OpNode*>(n.p);
  if (!op) throw nb::attribute_error("not the node of a record");
  if (op->released && !raw) fail_freed(*op);
  static Saved nothing;
  Saved& s = index >= (output ? op->y.size() : op->x.size()) ? nothing : output ? op->y[index] : op->x[index];
  if (raw) return nb::cast(SavedTensor(*op, s, static_cast<uint32_t>(index), !s && !op->released));
  if (!s) return output ? computed_again(*op, index) : nb::none();
  return nb::cast(s.unpack(*op, static_cast<uint32_t>(index)));
}

// ---- writes

thread_local PyObject* write_listener = nullptr;   // a reference of this thread's

void tell_write(const Tensor& t) {
  nb::gil_scoped_acquire gil;
  nb::borrow(write_listener)(t);
}

void set_write_listener(nb::object f) {
  PyObject* before = std::exchange(write_listener, f.is_none() ? nullptr : f.release().ptr());
  before_write = write_listener ? tell_write : nullptr;
  Py_XDECREF(before);
}

}  // namespace

struct HooksAsBefore::Stack { std::vector<PackHooks> hooks; };

HooksAsBefore::HooksAsBefore() {
  if (pack_stack.empty()) return;
  stack_ = std::make_unique<Stack>(pack_stack);
  for (const PackHooks& h : stack_->hooks) h.hold();
}
HooksAsBefore::~HooksAsBefore() {
  if (!stack_ && pack_stack.empty()) return;
  std::vector<PackHooks> now;
  if (stack_) now.swap(stack_->hooks);
  now.swap(pack_stack);
  saved_packer = pack_stack.empty() ? nullptr : pack_if_asked;
  for (const PackHooks& h : now) h.drop();
}

nb::object packed_value(const Saved& s) {
  const auto* p = s.packed() ? dynamic_cast<const PythonPacked*>(s.packed_by_user()) : nullptr;
  return p && p->value ? nb::borrow(p->value.get()) : nb::none();
}

void bind_saved(nb::module_& m) {
  carry(carried<[]() -> auto& { return pack_stack; }>());
  carry(carried<[]() -> auto& { return packing; }>());
  carry(carried<[]() -> auto& { return disabled; }>());
  carry(carried<[]() -> auto& { return write_listener; }>());
  m.def("push_saved_hooks", push_hooks);
  m.def("pop_saved_hooks", pop_hooks);
  m.def("set_saved_hooks_disabled", set_disabled, nb::arg("message").none());
  nb::class_<SavedTensor>(m, "SavedTensor")
      .def("__init__", [](SavedTensor*) { fail(ErrorKind::runtime, "Trying to create a SavedTensor object from Python is forbidden."); })
      .def("register_hooks", &SavedTensor::register_hooks, nb::arg("pack_hook"), nb::arg("unpack_hook"))
      .def("unpack", &SavedTensor::unpack, "The saved tensor, its version checked and its hook run.")
      .def_prop_ro("data", &SavedTensor::data, "What is kept: what the pack hook gave, else the tensor.")
      .def_prop_ro("unpack_hook", &SavedTensor::unpack_hook, "The unpack hook; None without.");
  m.def("raw_saved_tensors", raw_saved_tensors);
  m.def("saved_tensor", saved_tensor, nb::arg("node"), nb::arg("output"), nb::arg("index"), nb::arg("raw") = false);
  m.def("set_write_listener", set_write_listener, nb::arg("f").none());
  m.def("memory_id", [](const Tensor& t) { return reinterpret_cast<uintptr_t>(bottom(fresh(t))->storage->data); });
}

}  // namespace adjoint::engine::python
