// What Python asks of nodes.
#include "callable.h"

#include <algorithm>
#include <string_view>

namespace adjoint::engine::python {

namespace {

nb::object node_object(Node* n) { return nb::steal(wrap_node(n)); }
Tensor tensor_or_none(nb::handle h) { return adjoint::python::is_tensor(h.ptr()) ? nb::cast<Tensor>(h) : Tensor{}; }

nb::tuple next_functions(NodeRef n) {
  nb::list r;
  for (const size_t k : shown_edges(*n.p)) r.append(nb::make_tuple(node_object(n.p->edges[k].node.get()), n.p->edges[k].nr));
  return nb::tuple(r);
}

// node(*cotangents): its function alone, without hooks.
nb::object call_node(NodeRef n, nb::list given) {
  Vector<Tensor> cotangents, grads(n.p->edges.size());
  expect(nb::len(given) == n.p->outputs(), ErrorKind::type, n.p->name(), ": expected ", n.p->outputs(), " arguments, got ", nb::len(given), " instead");
  for (nb::handle h : given) {
    expect(h.is_none() || adjoint::python::is_tensor(h.ptr()), ErrorKind::type, n.p->name(), ": argument ", cotangents.size(), " is not a Variable");
    cotangents.push_back(tensor_or_none(h));
  }
  for (size_t k = 0; k < cotangents.size(); k++) check_cotangent(*n.p, static_cast<uint32_t>(k), cotangents[k], "call");
  if (n.p->released) fail_freed(*n.p);
  Vector<bool> needed;
  for (const Edge& e : n.p->edges) needed.push_back(static_cast<bool>(e.node));
  run_node(*n.p, cotangents, grads, needed);
  nb::list r;
  for (const size_t k : shown_edges(*n.p)) r.append(none_or(grads[k]));
  return nb::len(r) == 1 ? nb::object(r[0]) : nb::object(nb::tuple(r));
}

DType output_type(const OpNode& n, uint32_t nr) {
  if (!n.op.types) return n.inputs[0].dtype;
  Vector<Tensor> x;
  for (const InputMeta& m : n.inputs) {
    x.push_back(empty({}, m.dtype, m.device));   // type inference looks at types, and at whether there are dimensions
    x.back()->sizes = m.sizes;
    x.back()->set_contiguous_strides();
  }
  return n.op.types(x, n.attrs).out[nr];
}

// (sizes, dtype, device) of each output that has a shape of its own: what its cotangent looks like.
nb::tuple node_outputs(NodeRef n) {
  nb::list r;
  for (uint32_t k = 0; k < n.p->outputs(); k++) {
    InputMeta m{};
    if (const auto* f = dynamic_cast<FunctionNode*>(n.p)) {
      if (k >= f->results.size()) break;   // forward has not returned yet
      m = f->results[k].meta;
    }
    else if (const auto* leaf = dynamic_cast<AccumulateGrad*>(n.p)) m = {leaf->variable.sizes(), leaf->variable.dtype(), leaf->variable.device()};
    else if (const auto* op = dynamic_cast<OpNode*>(n.p)) m.dtype = output_type(*op, k), m.device = op->inputs[0].device;
    else if (const InputMeta* in = n.p->input_meta(0)) m = *in;
    n.p->output_sizes(k, m.sizes);
    r.append(nb::make_tuple(nb::steal(adjoint::python::api->size(m.sizes)), m.dtype, nb::steal(adjoint::python::api->device_object(m.device))));
  }
  return nb::tuple(r);
}

}  // namespace

std::vector<size_t> shown_edges(const Node& n) {
  constexpr std::string_view with_numbers[] = {"clamp", "clamp_max", "clamp_min", "fmod", "lerp", "masked_fill", "pow", "remainder"};
  const auto* slices = dynamic_cast<const CopySlices*>(&n);
  const auto* op = dynamic_cast<const OpNode*>(slices ? slices->fn.get() : &n);
  const auto* function = dynamic_cast<const FunctionNode*>(&n);
  const bool numbers = op && std::find(std::begin(with_numbers), std::end(with_numbers), op->op.name) != std::end(with_numbers);
  std::vector<size_t> shown;
  for (size_t k = 0; k < n.edges.size(); k++) {
    const bool hidden = function ? !function->inputs[k].is_tensor : op && !n.edges[k].node && (!op->op.differentiable(static_cast<int>(k)) || (numbers && op->inputs[k].sizes.empty()));
    if (!hidden || (slices && !k)) shown.push_back(k);
  }
  return shown;
}

void bind_nodes(nb::module_& m) {
  m.def("node_name", [](NodeRef n) {
    const std::string name = n.p->name();   // PyTorch's nodes without a name of their own have that of their C++ class
    return name == "AccumulateGrad" || name == "CopySlices" || name == "CopyBackwards" ? "torch::autograd::" + name : name;
  });
  m.def("next_functions", next_functions);
  m.def("sequence_nr", [](NodeRef n) { return n.p->seq; });
  m.def("set_sequence_nr", [](NodeRef n, uint64_t nr) { n.p->seq = nr; });
  m.def("node_site", [](NodeRef n) { return n.p->site; });
  m.def("node_released", [](NodeRef n) { return n.p->released; });
  m.def("node_op", [](NodeRef n) -> const char* { auto* op = dynamic_cast<OpNode*>(n.p); return op ? op->op.name : nullptr; });
  m.def("node_variable", [](NodeRef n) { auto* a = dynamic_cast<AccumulateGrad*>(n.p); return a ? a->variable : Tensor{}; });
  m.def("call_node", call_node);
  m.def("node_outputs", node_outputs);
  m.def("peek_sequence", peek_sequence);
}

}  // namespace adjoint::engine::python
