// What Python asks of nodes.
#include "node_type.h"

namespace adjoint::engine::python {

namespace {

nb::object node_object(Node* n) { return nb::steal(wrap_node(n)); }
nb::object none_or(const Tensor& t) { return t ? nb::cast(t) : nb::none(); }
Tensor tensor_or_none(nb::handle h) { return adjoint::python::is_tensor(h.ptr()) ? nb::cast<Tensor>(h) : Tensor{}; }

nb::tuple next_functions(NodeRef n) {
  nb::list r;
  for (const Edge& e : n.p->edges) r.append(nb::make_tuple(node_object(e.node.get()), e.nr));
  return nb::tuple(r);
}

// node(*cotangents): its function alone, without hooks.
nb::tuple call_node(NodeRef n, nb::list given) {
  std::vector<Tensor> cotangents, grads(n.p->edges.size());
  for (nb::handle h : given) cotangents.push_back(tensor_or_none(h));
  expect(cotangents.size() <= n.p->outputs(), ErrorKind::type, n.p->name(), ": expected ", n.p->outputs(), " gradients, got ", cotangents.size());
  cotangents.resize(n.p->outputs());
  for (size_t k = 0; k < cotangents.size(); k++) check_cotangent(*n.p, static_cast<uint32_t>(k), cotangents[k], "call");
  if (n.p->released) fail_freed(*n.p);
  std::vector<bool> needed;
  for (const Edge& e : n.p->edges) needed.push_back(static_cast<bool>(e.node));
  run_node(*n.p, cotangents, grads, needed);
  nb::list r;
  for (const Tensor& g : grads) r.append(none_or(g));
  return nb::tuple(r);
}

}  // namespace

void bind_nodes(nb::module_& m) {
  m.def("node_name", [](NodeRef n) { return n.p->name(); });
  m.def("next_functions", next_functions);
  m.def("sequence_nr", [](NodeRef n) { return n.p->seq; });
  m.def("node_site", [](NodeRef n) { return n.p->site; });
  m.def("node_released", [](NodeRef n) { return n.p->released; });
  m.def("node_op", [](NodeRef n) -> const char* { auto* op = dynamic_cast<OpNode*>(n.p); return op ? op->op.name : nullptr; });
  m.def("node_variable", [](NodeRef n) { auto* a = dynamic_cast<AccumulateGrad*>(n.p); return a ? a->variable : Tensor{}; });
  m.def("call_node", call_node);
  m.def("peek_sequence", peek_sequence);
}

}  // namespace adjoint::engine::python
