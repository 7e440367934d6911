// Reverse mode: what Python asks of tensors, modes, backward.
#include <adjoint/core/inference.h>

#include "callable.h"

namespace adjoint::engine::python {

namespace {

Tensor tensor_of(nb::handle h, const char* what) {
  if (!adjoint::python::is_tensor(h.ptr())) fail(ErrorKind::type, what, ": expected a Tensor, got ", nb::cast<std::string>(nb::str(h.type().attr("__name__"))));
  return nb::cast<Tensor>(h);
}
nb::tuple optional_tensors(const Vector<Tensor>& t) {
  nb::list l;
  for (const Tensor& g : t) l.append(g ? nb::cast(g) : nb::none());
  return nb::tuple(l);
}

// A tensor, or a list or tuple of tensors; false: something else.
bool take_all(PyObject* o, Vector<Tensor>& r, bool or_none = false) {
  const bool list = PyList_CheckExact(o), tuple = PyTuple_CheckExact(o);
  const Py_ssize_t n = list ? PyList_Size(o) : tuple ? PyTuple_Size(o) : 1;
  r.reserve(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* t = list ? PyList_GetItem(o, i) : tuple ? PyTuple_GetItem(o, i) : o;
    if (adjoint::python::is_tensor(t)) r.push_back(adjoint::python::unwrap(t));
    else if (or_none && t == Py_None) r.emplace_back();
    else return false;
  }
  return true;
}
bool take_cotangents(PyObject* o, Vector<Tensor>& r, size_t outputs) { return o == Py_None || (take_all(o, r, true) && r.size() == outputs); }

template <class F> PyObject* guarded(F&& f) noexcept {
  try {
    const HooksAsBefore guard;
    return f();
  } catch (nb::python_error& e) { e.restore(); } catch (...) { adjoint::python::api->raise(); }
  return nullptr;
}
bool is_true(PyObject* o) {
  const int truth = PyObject_IsTrue(o);
  if (truth < 0) throw nb::python_error();
  return truth;
}

void check_used(bool used, size_t index) { expect(used, "The differentiated Tensor at index ", index, " appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior."); }

// (outputs, inputs, cotangents, retain_graph, create_graph, allow_unused, may_ask): a tuple. NotImplemented: it is not about tensors alone, or
// somebody answers. Plain functions of C: what nanobind reads of lists takes as long as a backward of one node.
PyObject* call_grad(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([=]() -> PyObject* {
    expect(n == 7, ErrorKind::type, "grad: expected 7 arguments, got ", n);
    Vector<Tensor> y, x, v;
    if (is_true(args[6]) && adjoint::python::api->answered(args, 2)) return Py_NewRef(Py_NotImplemented);
    if (!take_all(args[0], y) || !take_all(args[1], x) || x.empty() || !take_cotangents(args[2], v, y.size())) return Py_NewRef(Py_NotImplemented);
    const bool create = is_true(args[4]), unused = is_true(args[5]);
    Vector<Tensor> found = grad(y, x, v, args[3] == Py_None ? create : is_true(args[3]), create);
    for (size_t i = 0; i < found.size() && !unused; i++) check_used(bool(found[i]), i);
    PyObject* r = PyTuple_New(static_cast<Py_ssize_t>(found.size()));
    if (!r) throw nb::python_error();
    for (size_t i = 0; i < found.size(); i++) PyTuple_SetItem(r, static_cast<Py_ssize_t>(i), adjoint::python::wrap(std::move(found[i])));
    return r;
  });
}

// (outputs, cotangents, retain_graph, create_graph, inputs); inputs None: all leaves.
PyObject* call_backward(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([=]() -> PyObject* {
    expect(n == 5, ErrorKind::type, "backward: expected 5 arguments, got ", n);
    Vector<Tensor> y, x, v;
    if (!take_all(args[0], y) || !take_cotangents(args[1], v, y.size()) || (args[4] != Py_None && (!take_all(args[4], x) || x.empty()))) return Py_NewRef(Py_NotImplemented);
    const bool create = is_true(args[3]);
    backward(y, v, args[2] == Py_None ? create : is_true(args[2]), create, x);
    return Py_NewRef(Py_None);
  });
}

using FastCall = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);
PyMethodDef fast_calls[] = {{"grad", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(static_cast<FastCall>(call_grad))), METH_FASTCALL, nullptr},
                            {"backward", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(static_cast<FastCall>(call_backward))), METH_FASTCALL, nullptr},
                            {nullptr, nullptr, 0, nullptr}};

// (node, output) pairs: the form in which Python hands over roots and inputs.
Edge edge_of(nb::handle pair) { return {Ref<Node>(nb::cast<NodeRef>(pair[0]).p), nb::cast<uint32_t>(pair[1])}; }

nb::tuple run_from_edges(nb::list edges, nb::list cotangents, nb::list inputs, bool retain_graph, bool create_graph, bool accumulate) {
  const HooksAsBefore guard;
  Vector<Root> roots;
  for (size_t i = 0; i < nb::len(edges); i++) {
    roots.push_back({edge_of(edges[i]), tensor_of(cotangents[i], "grad_outputs")});
    Dims sizes;
    const Root& r = roots.back();
    if (r.edge.node->output_sizes(r.edge.nr, sizes)) check_root(i, r.cotangent.sizes(), sizes);
  }
  Vector<Edge> wanted;
  for (nb::handle h : inputs) wanted.push_back(edge_of(h));
  return optional_tensors(run_backward(std::move(roots), {retain_graph, create_graph, wanted, accumulate}));
}

Tensor base(const Tensor& t) {
  if (!t->view) return {};
  return Tensor(&view_root(*t));
}

Tensor get_grad(const Tensor& t) {
  Tensor g = gradient(t);
  if (g || !t->grad_fn || !(t->keys & key_tape) || (t->meta && meta(t)->retain)) return g;
  if (PyErr_WarnEx(PyExc_UserWarning, "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated during autograd.backward(). If you indeed want the .grad "
                   "field to be populated for a non-leaf Tensor, use .retain_grad() on it. If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead.", 1) < 0)
    throw nb::python_error();
  return g;
}

void set_grad(const Tensor& t, nb::object g) {
  if (!g.is_none() && !adjoint::python::is_tensor(g.ptr())) fail(ErrorKind::type, "assigned grad expected to be a Tensor or None but got grad of type ", kind_of(g));
  set_gradient(t, g.is_none() ? Tensor{} : nb::cast<Tensor>(g));
  if (!g.is_none()) adjoint::python::api->track(*t.get());
}

// The type that `.grad` must have; None: any.
nb::object grad_dtype(const Tensor& t) {
  expect(is_leaf(t), "grad_dtype can only be accessed on leaf tensors.");
  const Meta* m = t->meta ? meta(t) : nullptr;
  if (m && m->grad_type == Meta::GradType::any) return nb::none();
  return nb::cast(m && m->grad_type == Meta::GradType::given ? m->grad_dtype : t.dtype());
}
void set_grad_dtype(const Tensor& t, nb::handle dtype) {
  expect(is_leaf(t), "grad_dtype can only be set on leaf tensors.");
  Meta& m = ensure_meta(t);
  const auto type = dtype.is_none() ? Meta::GradType::any : Meta::GradType::given;
  const DType wanted = dtype.is_none() ? t.dtype() : nb::cast<DType>(dtype);
  expect(!m.grad || dtype.is_none() || m.grad.dtype() == wanted, "Cannot set grad_dtype to '", wanted, "' because there is already a gradient of dtype '", m.grad ? m.grad.dtype() : wanted, "'. Set .grad to None first.");
  m.grad_type = type;
  m.grad_dtype = wanted;
}

}  // namespace

void bind_autograd(nb::module_& m) {
  m.def("requires_grad", [](const Tensor& t) { return requires_grad(t); });
  m.def("set_requires_grad", [](const Tensor& t, bool v) {
    if (v && has_refused_history(t)) detach_(t);
    set_requires_grad(t, v);
  });
  m.def("is_leaf", [](const Tensor& t) { return is_leaf(t); });
  m.def("get_grad", get_grad);
  m.def("set_grad", set_grad, nb::arg("t"), nb::arg("g").none());
  m.def("grad_fn", [](const Tensor& t) {
    Node* n = node(fresh(t));
    if (n && n->outdated) fail_outdated(*n);
    if (n) adjoint::python::api->track(*t.get());   // what the user hangs on the node may lead back here
    return NodeRef{n};
  });
  m.def("output_nr", [](const Tensor& t) { return t->out_nr; });
  m.def("gradient_edge", [](const Tensor& t) { Edge e = gradient_edge(fresh(t)); return nb::make_tuple(nb::steal(wrap_node(e.node.get())), e.nr); });
  m.def("retain_grad", [](const Tensor& t) { retain_grad(t); });
  m.def("retains_grad", [](const Tensor& t) { return t->meta && meta(t)->retain; });
  m.def("forget_accumulator", AccumulateGrad::forget);
  m.def("replaced", [](const Tensor& t, const Tensor& before) { replaced(t, *before); }, nb::arg("t"), nb::arg("before"), "t was given other memory; before it looked like this.");
  m.def("detach", [](const Tensor& t) { return detach(t); });
  m.def("argument", [](const Tensor& t) {
    const Tensor own = detach(t);
    own->birth = level_top;
    return own;
  }, nb::arg("t"), "The same memory without history, which a function transform gave: a tensor of the level that is open, which may write to it.");
  m.def("detach_", [](const Tensor& t) { detach_(t); });
  m.def("become", [](const Tensor& t, const Tensor& view) { become(t, view); });
  m.def("base", base);
  m.def("is_view", [](const Tensor& t) { return bool(t->view); });
  m.def("bump_version", [](const Tensor& t) { bump_version(*bottom(t).get()); });
  m.def("set_version", [](const Tensor& t, int64_t version) {
    expect(version >= 0, "Cannot set a version_counter to a value below 0: ", version);
    if (const Tensor b = bottom(t); b->storage) b->storage->version = static_cast<uint32_t>(version);
  });
  m.def("data", [](const Tensor& t) { return data(t); });
  m.def("get_grad_dtype", grad_dtype);
  m.def("set_grad_dtype", set_grad_dtype, nb::arg("t"), nb::arg("dtype").none());
  m.def("is_inference", [](const Tensor& t) { return is_inference(*bottom(fresh(t))); });
  if (PyModule_AddFunctions(m.ptr(), fast_calls) < 0) throw nb::python_error();
  m.def("check_used", [](nb::tuple found) { for (size_t i = 0; i < nb::len(found); i++) check_used(!found[i].is_none(), i); });
  m.def("run_from_edges", run_from_edges);
}

}  // namespace adjoint::engine::python
