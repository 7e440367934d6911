// The graph as plain data, for pictures and ledgers: looking at nodes makes no Python objects of them.
#include <adjoint/core/books.h>

#include <unordered_map>

#include "node_type.h"

namespace adjoint::engine::python {

namespace {

using Index = std::unordered_map<const Node*, size_t>;

nb::object text_or_none(const char* s) { return s ? nb::cast(s) : nb::none(); }

// The memory of a tensor: its own, or that of the values and tangents below its level.
void list_blocks(const Tensor& t, nb::list& out) {
  if (!t) return;
  if (t->keys & key_lifted) {
    list_blocks(face(t)->value, out);
    return list_blocks(face(t)->tangent, out);
  }
  if (const Storage* s = t->storage) out.append(nb::make_tuple(reinterpret_cast<uintptr_t>(s), s->nbytes, booked_bytes(*s), s->refs.load()));
}
nb::list blocks(const Tensor& t) {
  nb::list all;
  list_blocks(t, all);
  return all;
}

// A tensor and those that it is a view of, each with the number of references to it.
nb::list chain(const TensorImpl* t) {
  nb::list all;
  for (; t; t = t->view ? view_info(*t)->parent.get() : nullptr) {
    const PyObject* p = t->python();
    all.append(nb::make_tuple(reinterpret_cast<uintptr_t>(t), p ? static_cast<size_t>(Py_REFCNT(const_cast<PyObject*>(p))) : t->use_count()));
  }
  return all;
}

nb::dict describe(const SavedEntry& e) {
  const Tensor& t = e.saved->raw();
  nb::dict d;
  d["output"] = e.output;
  d["index"] = e.index;
  d["shape"] = t ? nb::cast(t.sizes()) : nb::none();
  d["dtype"] = t ? nb::cast(t.dtype()) : nb::none();
  d["blocks"] = blocks(t);
  d["chain"] = chain(t.get());
  d["number"] = t && t->flags & flag_wrapped;
  d["packed"] = packed_value(*e.saved);
  return d;
}

nb::list saved_of(const Node& n) {
  std::vector<SavedEntry> entries;
  n.list_saved(entries);
  nb::list all;
  for (const SavedEntry& e : entries) all.append(describe(e));
  return all;
}

// (tensor hooks, prehooks, hooks after the node, hooks after accumulation, retain_grad)
nb::tuple hooks_of(const Node& n) {
  const Hooks* h = n.hooks_or_null();
  if (!h) return nb::make_tuple(0, 0, 0, 0, 0);
  return nb::make_tuple(h->tensor.size(), h->pre.size(), h->post.size(), h->accumulated.size(), h->retain.size());
}

const char* kind_of(const Node& n) {
  if (dynamic_cast<const AccumulateGrad*>(&n)) return "leaf";
  if (dynamic_cast<const FunctionNode*>(&n)) return "function";
  if (dynamic_cast<const CopySlices*>(&n)) return "write";
  const auto* op = dynamic_cast<const OpNode*>(&n);
  return !op || op->op.alias ? "view" : "op";
}

nb::list inputs_of(const Node& n, const Index& index) {
  nb::list all;
  for (size_t k = 0; k < n.edges.size(); k++) {
    const Edge& e = n.edges[k];
    if (!e.node) continue;
    const auto* write = dynamic_cast<const CopySlices*>(&n);   // of its base it knows the shape; the slice has the type
    const InputMeta *meta = n.input_meta(k), *typed = write ? write->fn->input_meta(0) : meta;
    Dims sizes;
    const bool known = meta ? (sizes = meta->sizes, true) : e.node->output_sizes(e.nr, sizes);
    all.append(nb::make_tuple(index.at(e.node.get()), e.nr, k, known ? nb::cast(sizes) : nb::none(), typed ? nb::cast(typed->dtype) : nb::none(), meta ? meta->device : Device{}));
  }
  return all;
}

nb::dict describe(const Node& n, const Index& index) {
  const auto* leaf = dynamic_cast<const AccumulateGrad*>(&n);
  const auto* write = dynamic_cast<const CopySlices*>(&n);
  const auto* op = dynamic_cast<const OpNode*>(write ? write->fn.get() : &n);
  nb::dict d;
  d["key"] = reinterpret_cast<uintptr_t>(&n);
  d["name"] = n.name();
  d["kind"] = kind_of(n);
  d["op"] = text_or_none(op ? op->op.name : nullptr);
  d["seq"] = leaf ? nb::none() : nb::cast(n.seq);
  d["site"] = n.site;
  d["in_place"] = n.in_place;
  d["released"] = n.released;
  d["hooks"] = hooks_of(n);
  d["inputs"] = inputs_of(n, index);
  d["saved"] = saved_of(n);
  d["variable"] = leaf ? nb::cast(leaf->variable) : nb::none();
  d["context"] = dynamic_cast<const FunctionNode*>(&n) ? nb::borrow(n.python()) : nb::none();
  return d;
}

// All nodes behind the roots, tensors or nodes, each once, without recursion; and for each root its node and which output it is.
nb::tuple graph_nodes(nb::list given) {
  std::vector<Ref<Node>> nodes;
  Index index;
  auto add = [&](const Ref<Node>& n) {
    if (n && index.try_emplace(n.get(), nodes.size()).second) nodes.push_back(n);
  };
  nb::list roots;
  for (nb::handle h : given) {
    const Edge e = is_node(h.ptr()) ? Edge{Ref<Node>(unwrap_node(h.ptr())), 0} : gradient_edge(fresh(nb::cast<Tensor>(h)));
    expect(static_cast<bool>(e.node), "graph_nodes: expected tensors that require grad");
    add(e.node);
    roots.append(nb::make_tuple(index.at(e.node.get()), e.nr));
  }
  for (size_t i = 0; i < nodes.size(); i++) {
    const Ref<Node> n = nodes[i];
    for (const Edge& e : n->edges) add(e.node);
  }
  nb::list all;
  for (const auto& n : nodes) all.append(describe(*n, index));
  return nb::make_tuple(all, roots);
}

}  // namespace

void bind_walk(nb::module_& m) {
  m.def("graph_nodes", graph_nodes, nb::arg("roots"), "The nodes behind tensors (or nodes) as dicts (`inputs`: node, its output, edge, shape, dtype, device), and for each tensor its node and which output it is.");
  m.def("edge_key", [](const Tensor& t) {
    const Edge e = gradient_edge(fresh(t));
    return nb::make_tuple(reinterpret_cast<uintptr_t>(e.node.get()), e.nr);
  }, nb::arg("t"), "Which node made a tensor, as `key` of graph_nodes, and which of its outputs it is.");
  m.def("memory_blocks", blocks, nb::arg("t"), "(identity, bytes, bytes in the allocator's books, tensors on it) of each block of memory that a tensor keeps.");
}

}  // namespace adjoint::engine::python
