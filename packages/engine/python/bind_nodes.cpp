// What Python asks of nodes, and nodes whose backward is Python code.
#include "node_type.h"

namespace adjoint::engine::python {

namespace {

nb::object node_object(Node* n) { return nb::steal(wrap_node(n)); }
nb::object none_or(const Tensor& t) { return t ? nb::cast(t) : nb::none(); }

nb::tuple next_functions(NodeRef n) {
  nb::list r;
  for (const Edge& e : n.p->edges) r.append(nb::make_tuple(node_object(e.node.get()), e.nr));
  return nb::tuple(r);
}

// The saved tensor `index` of a record's node: inputs first, then outputs. None where nothing was saved.
nb::object saved_tensor(NodeRef n, bool output, size_t index) {
  auto* op = dynamic_cast<OpNode*>(n.p);
  if (!op) throw nb::attribute_error("not the node of a record");
  expect(!op->released, "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph are freed when "
         "you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors after calling backward.");
  if (output) return index < max_outputs && op->y[index] ? none_or(op->y[index].unpack(*op, static_cast<uint32_t>(index))) : nb::none();
  return index < op->x.size() && op->x[index] ? none_or(op->x[index].unpack(*op, 0)) : nb::none();
}

FunctionNode& function_node(NodeRef n) {
  auto* f = dynamic_cast<FunctionNode*>(n.p);
  if (!f) throw nb::type_error("expected the context of a custom Function");
  return *f;
}

// Connects a Function's context to its inputs.
void connect_inputs(NodeRef ctx, const std::vector<Tensor>& inputs) {
  FunctionNode& f = function_node(ctx);
  f.edges.clear();
  for (const Tensor& t : inputs) f.edges.push_back(t && t->keys & key_tape ? gradient_edge(t) : Edge{});
}

void connect_output(NodeRef ctx, const Tensor& y, uint32_t nr) {
  FunctionNode& f = function_node(ctx);
  f.output_count = std::max(f.output_count, nr + 1);
  set_history(y, Ref<Node>(&f), nr);
  adjoint::python::api->track(*y.get());
}

nb::object call_method(PyObject* self, const char* method, nb::handle argument) {
  return nb::handle(self).attr(method)(argument);
}

// A tensor saved by a Function; output_nr >= 0 if it is one of the Function's own outputs.
struct SavedTensor {
  SavedTensor(const Tensor& t, int output_nr) : saved(t, output_nr >= 0), nr(output_nr) {}
  Saved saved;
  int nr;
};

bool sums_to(const Dims& from, const Dims& to) {
  if (from.size() < to.size()) return false;
  for (int i = 1; i <= to.size(); i++)
    if (to[to.size() - i] != from[from.size() - i] && to[to.size() - i] != 1) return false;
  return true;
}

}  // namespace

std::string FunctionNode::name() const { return nb::cast<std::string>(nb::handle(python()).type().attr("__name__")); }

void FunctionNode::apply(std::vector<Tensor>& cotangents, std::vector<Tensor>& grads, const std::vector<bool>& needed) {
  nb::list given, wanted;
  for (const Tensor& g : cotangents) given.append(none_or(g));
  for (bool b : needed) wanted.append(b);
  nb::object r = nb::handle(python()).attr("_run_backward")(given, wanted);
  size_t i = 0;
  for (nb::handle g : r) {
    if (i >= grads.size()) break;
    if (!g.is_none()) grads[i] = nb::cast<Tensor>(g);
    i++;
  }
}

void FunctionNode::release_saved() { call_method(python(), "_release_saved", nb::none()); }

void bind_nodes(nb::module_& m) {
  m.def("node_name", [](NodeRef n) { return n.p->name(); });
  m.def("next_functions", next_functions);
  m.def("sequence_nr", [](NodeRef n) { return n.p->seq; });
  m.def("node_site", [](NodeRef n) { return n.p->site; });
  m.def("node_released", [](NodeRef n) { return n.p->released; });
  m.def("saved_tensor", saved_tensor, nb::arg("node"), nb::arg("output"), nb::arg("index"));
  m.def("node_op", [](NodeRef n) -> const char* { auto* op = dynamic_cast<OpNode*>(n.p); return op ? op->op.name : nullptr; });
  m.def("node_variable", [](NodeRef n) { auto* a = dynamic_cast<AccumulateGrad*>(n.p); return a ? a->variable : Tensor{}; });
  m.def("connect_inputs", [](NodeRef ctx, nb::list inputs) {
    std::vector<Tensor> t;
    for (nb::handle h : inputs) t.push_back(h.is_none() ? Tensor{} : nb::cast<Tensor>(h));
    connect_inputs(ctx, t);
  });
  m.def("connect_output", connect_output);
  nb::class_<SavedTensor>(m, "SavedTensor")
      .def(nb::init<const Tensor&, int>())
      .def("unpack", [](const SavedTensor& s, NodeRef owner) { return s.saved.unpack(*owner.p, static_cast<uint32_t>(std::max(s.nr, 0))); });
  m.def("sums_to", sums_to);
  m.def("unbroadcast", [](const Tensor& g, const Dims& sizes) { return unbroadcast(g, sizes); });
  m.def("peek_sequence", peek_sequence);
}

}  // namespace adjoint::engine::python
