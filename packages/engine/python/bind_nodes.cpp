// What Python asks of nodes, and nodes whose backward is Python code.
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
  set_history(y, Ref<Node>(&f), nr);
  adjoint::python::api->track(*y.get());
}

void connect_written(NodeRef ctx, const Tensor& y, uint32_t nr) {
  written_by(y, Ref<Node>(&function_node(ctx)), nr);
  adjoint::python::api->track(*y.get());
}

// Writes through such a view would bypass the Function's backward.
void mark_custom_view(const Tensor& y) {
  if (y->view) view_info(*y)->creation = Creation::custom;
}

// node(*cotangents): its function alone, without hooks.
nb::tuple call_node(NodeRef n, nb::list given) {
  std::vector<Tensor> cotangents, grads(n.p->edges.size());
  for (nb::handle h : given) cotangents.push_back(tensor_or_none(h));
  expect(cotangents.size() <= n.p->outputs(), ErrorKind::type, n.p->name(), ": expected ", n.p->outputs(), " gradients, got ", cotangents.size());
  cotangents.resize(n.p->outputs());
  if (n.p->released) fail_freed(*n.p);
  std::vector<bool> needed;
  for (const Edge& e : n.p->edges) needed.push_back(static_cast<bool>(e.node));
  n.p->apply(cotangents, grads, needed);
  nb::list r;
  for (const Tensor& g : grads) r.append(none_or(g));
  return nb::tuple(r);
}

bool sums_to(const Dims& from, const Dims& to) {
  if (from.size() < to.size()) return false;
  for (int i = 1; i <= to.size(); i++)
    if (to[to.size() - i] != from[from.size() - i] && to[to.size() - i] != 1) return false;
  return true;
}

}  // namespace

std::string FunctionNode::name() const { return nb::cast<std::string>(nb::handle(python()).type().attr("__name__")); }

void FunctionNode::apply(std::vector<Tensor>& cotangents, std::vector<Tensor>& grads, const std::vector<bool>&) {
  nb::list given;
  for (const Tensor& g : cotangents) given.append(none_or(g));
  nb::object r = nb::handle(python()).attr("_run_backward")(given);
  size_t i = 0;
  for (nb::handle g : r) {
    if (i >= grads.size()) break;
    grads[i++] = tensor_or_none(g);
  }
}

void FunctionNode::release_saved() { nb::handle(python()).attr("_release_saved")(); }

void bind_nodes(nb::module_& m) {
  m.def("node_name", [](NodeRef n) { return n.p->name(); });
  m.def("next_functions", next_functions);
  m.def("sequence_nr", [](NodeRef n) { return n.p->seq; });
  m.def("node_site", [](NodeRef n) { return n.p->site; });
  m.def("node_released", [](NodeRef n) { return n.p->released; });
  m.def("node_op", [](NodeRef n) -> const char* { auto* op = dynamic_cast<OpNode*>(n.p); return op ? op->op.name : nullptr; });
  m.def("node_variable", [](NodeRef n) { auto* a = dynamic_cast<AccumulateGrad*>(n.p); return a ? a->variable : Tensor{}; });
  m.def("connect_inputs", [](NodeRef ctx, nb::list inputs) {
    std::vector<Tensor> t;
    for (nb::handle h : inputs) t.push_back(tensor_or_none(h));
    connect_inputs(ctx, t);
  });
  m.def("connect_output", connect_output);
  m.def("connect_written", connect_written);
  m.def("set_output_count", [](NodeRef ctx, uint32_t n) { function_node(ctx).output_count = n; });
  m.def("mark_custom_view", mark_custom_view);
  m.def("call_node", call_node);
  m.def("sums_to", sums_to);
  m.def("unbroadcast", [](const Tensor& g, const Dims& sizes) { return unbroadcast(g, sizes); });
  m.def("peek_sequence", peek_sequence);
}

}  // namespace adjoint::engine::python
