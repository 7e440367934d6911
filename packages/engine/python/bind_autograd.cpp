// Reverse mode: what Python asks of tensors, modes, backward.
#include <adjoint/core/inference.h>

#include "callable.h"

namespace adjoint::engine::python {

namespace {

Tensor tensor_of(nb::handle h, const char* what) {
  if (!adjoint::python::is_tensor(h.ptr())) fail(ErrorKind::type, what, ": expected a Tensor, got ", nb::cast<std::string>(nb::str(h.type().attr("__name__"))));
  return nb::cast<Tensor>(h);
}
std::vector<Tensor> tensors(nb::handle sequence, const char* what) {
  std::vector<Tensor> r;
  for (nb::handle h : sequence) r.push_back(tensor_of(h, what));
  return r;
}
std::vector<Tensor> cotangents_of(nb::handle sequence) {
  std::vector<Tensor> r;
  for (nb::handle h : sequence) r.push_back(h.is_none() ? Tensor{} : tensor_of(h, "grad_outputs"));
  return r;
}

nb::list optional_list(const std::vector<Tensor>& t) {
  nb::list l;
  for (const Tensor& g : t) l.append(g ? nb::cast(g) : nb::none());
  return l;
}

// (node, output) pairs: the form in which Python hands over roots and inputs.
Edge edge_of(nb::handle pair) { return {Ref<Node>(nb::cast<NodeRef>(pair[0]).p), nb::cast<uint32_t>(pair[1])}; }

nb::list run_from_edges(nb::list edges, nb::list cotangents, nb::list inputs, bool retain_graph, bool create_graph, bool accumulate) {
  const HooksAsBefore guard;
  std::vector<Root> roots;
  for (size_t i = 0; i < nb::len(edges); i++) {
    roots.push_back({edge_of(edges[i]), tensor_of(cotangents[i], "grad_outputs")});
    Dims sizes;
    const Root& r = roots.back();
    if (r.edge.node->output_sizes(r.edge.nr, sizes)) check_root(i, r.cotangent.sizes(), sizes);
  }
  std::vector<Edge> wanted;
  for (nb::handle h : inputs) wanted.push_back(edge_of(h));
  return optional_list(run_backward(std::move(roots), {retain_graph, create_graph, wanted, accumulate}));
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
  m.def("set_requires_grad", [](const Tensor& t, bool v) { set_requires_grad(t, v); });
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
  m.def("detach", [](const Tensor& t) { return detach(t); });
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
  m.def("backward", [](nb::list outputs, nb::list cotangents, bool retain_graph, bool create_graph, nb::list inputs) {
    const HooksAsBefore guard;
    backward(tensors(outputs, "outputs"), cotangents_of(cotangents), retain_graph, create_graph, tensors(inputs, "inputs"));
  });
  m.def("grad", [](nb::list outputs, nb::list inputs, nb::list cotangents, bool retain_graph, bool create_graph) {
    const HooksAsBefore guard;
    return optional_list(grad(tensors(outputs, "outputs"), tensors(inputs, "inputs"), cotangents_of(cotangents), retain_graph, create_graph));
  });
  m.def("run_from_edges", run_from_edges);
}

}  // namespace adjoint::engine::python
