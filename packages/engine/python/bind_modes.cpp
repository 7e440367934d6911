// Modes of the thread: recording, inference, anomaly detection, layout of gradients; the backward that runs.
#include <adjoint/core/inference.h>
#include <adjoint/engine/carried.h>

#include "callable.h"

namespace adjoint::engine::python {

namespace {

// What a node remembers of its birth: the stack as Python formats it, and the node whose backward made it.
struct Trace final : Object {
  Trace(nb::handle stack, Node* parent) : stack(stack), parent(parent) {}
  void visit_refs(RefVisitor& v) const override { if (parent) v.object(parent.get()); }
  Callable stack;
  Ref<Node> parent;
};

PyObject *make_trace = nullptr, *report_node = nullptr;   // for ever

Ref<Object> trace(Node* running) {
  nb::gil_scoped_acquire gil;
  return Ref<Object>(new Trace(nb::handle(make_trace)(), running));
}

// The error that is on its way out is more important than one in the report.
void report(Node& n) {
  nb::gil_scoped_acquire gil;
  try {
    nb::borrow(report_node)(NodeRef{&n});
  } catch (nb::python_error& e) {
    e.discard_as_unraisable("anomaly detection");
  }
}

void set_anomaly_hooks(nb::object trace_stack, nb::object report_function) {
  make_trace = trace_stack.release().ptr();
  report_node = report_function.release().ptr();
  anomaly_hooks = {trace, report};
}

// (stack, the node whose backward made this one or None); None if the node was not made in anomaly mode.
nb::object node_trace(NodeRef n) {
  const auto* t = static_cast<const Trace*>(n.p->trace.get());
  if (!t) return nb::none();
  return nb::make_tuple(nb::borrow(t->stack.get()), nb::steal(wrap_node(t->parent.get())));
}

// What our own code in Python keeps for a thread: one dictionary in the interpreter's own for extensions.
constexpr const char* locals_key = "adjoint";
void* dictionary_of_thread() noexcept { return PyThreadState_GetDict(); }
nb::object locals_of_thread() {
  const nb::dict all = nb::borrow<nb::dict>(PyThreadState_GetDict());
  if (!all.contains(locals_key)) all[locals_key] = nb::dict();
  return all[locals_key];
}
void swap_locals(void* there) noexcept {
  PyObject *const here = PyThreadState_GetDict(), *const other = static_cast<PyObject*>(there);
  if (!here || !other || here == other) return;
  PyObject *const mine = PyDict_GetItemString(here, locals_key), *const theirs = PyDict_GetItemString(other, locals_key);
  Py_XINCREF(mine), Py_XINCREF(theirs);
  auto put = [](PyObject* into, PyObject* locals) {
    if (locals) PyDict_SetItemString(into, locals_key, locals);
    else if (PyDict_GetItemString(into, locals_key)) PyDict_DelItemString(into, locals_key);
  };
  put(here, theirs), put(other, mine);
  Py_XDECREF(mine), Py_XDECREF(theirs);
}

}  // namespace

void bind_modes(nb::module_& m) {
  carry({dictionary_of_thread, swap_locals});
  m.def("locals_of_thread", locals_of_thread);
  m.def("grad_enabled", grad_enabled, "Whether operations of this thread are recorded.");
  m.def("set_grad_enabled", set_grad_enabled);
  m.def("set_override_stale_capture_stream", [](bool enabled) { override_stale_capture_stream = enabled; });
  // Whether it recorded, and the window before.
  m.def("pause_recording", [] {
    const Window before = window;
    const bool enabled = grad_enabled();
    set_grad_enabled(false);
    return nb::make_tuple(enabled, before.lo, before.hi, std::exchange(marks_intermediates, marks_intermediates || enabled));
  });
  m.def("resume_recording", [](nb::tuple paused) {
    window = {nb::cast<uint32_t>(paused[1]), nb::cast<uint32_t>(paused[2])};
    marks_intermediates = nb::cast<bool>(paused[3]);
  });
  m.def("window", [] { return nb::make_tuple(window.lo, window.hi); });
  m.def("set_window", [](uint32_t lo, uint32_t hi) { window = {lo, hi}; });
  m.def("inference_enabled", [] { return inference_mode; });
  m.def("set_inference", [](bool on) { inference_mode = on; });
  m.def("anomaly", [] { return nb::make_tuple(anomaly.enabled.load(), anomaly.check_nan.load()); });
  m.def("set_anomaly", [](bool enabled, bool check_nan) { anomaly.enabled = enabled, anomaly.check_nan = check_nan; });
  m.def("set_anomaly_hooks", set_anomaly_hooks);
  m.def("node_trace", node_trace);
  m.def("grad_layout_policy", [] { return grad_layout_policy; });
  m.def("set_grad_layout_policy", [](bool on) { grad_layout_policy = on; });
  m.def("current_task", current_task);
  m.def("current_node", [] { return NodeRef{running_node()}; });
  m.def("backward_thread", backward_thread);
  m.def("multithreading", [] { return multithreading; });
  m.def("set_multithreading", [](bool enabled) { multithreading = enabled; });
  m.def("inputs_given", inputs_given);
  m.def("keeps_graph", keeps_graph);
  m.def("execution_order", [] {
    nb::list nodes;
    for (Node* n : execution_order()) nodes.append(nb::steal(wrap_node(n)));
    return nodes;
  });
  m.def("forward_mode", [] { return forward_mode; });
  m.def("set_forward_mode", [](bool on) { forward_mode = on; });
  m.def("will_execute", [](NodeRef n) { return will_execute(n.p); });
  m.def("running_node", [] { return nb::steal(wrap_node(running_node())); });
}

}  // namespace adjoint::engine::python
