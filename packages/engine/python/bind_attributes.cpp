// What a record's node keeps besides tensors, as the record describes it; the names are PyTorch's by Op::torch.
#include "fields.h"
#include "node_type.h"

namespace adjoint::engine::python {

namespace {

const OpNode& of_record(NodeRef n) {
  const auto* op = dynamic_cast<const OpNode*>(n.p);
  if (!op) throw nb::attribute_error("not the node of a record");
  return *op;
}

// What split and unbind keep, by PyTorch's names; None of other nodes.
nb::object of_cut(NodeRef ref) {
  const Cut* cut = cut_of(*ref.p);
  if (!cut) return nb::none();
  nb::dict found;
  found["dim"] = cut->dim;
  if (cut->stacked) return found;
  found["self_sym_sizes"] = ref.p->input_meta(0)->sizes;
  nb::list pieces;
  Dims sizes;
  for (uint32_t k = 0; k < ref.p->outputs(); k++) if (ref.p->output_sizes(k, sizes)) pieces.append(sizes[static_cast<size_t>(cut->dim)]);
  if (std::string_view(cut->name) == "Split") found["split_size"] = pieces[0];
  else found["split_sizes"] = nb::tuple(pieces);
  return found;
}

}  // namespace

void bind_attributes(nb::module_& m) {
  m.def("node_cut", of_cut);
  m.def("node_torch", [](NodeRef n) { return of_record(n).op.torch; });
  m.def("node_fields", [](NodeRef ref) {
    const OpNode& n = of_record(ref);
    return attributes(n.op, n.attrs);
  });
  m.def("node_input_sizes", [](NodeRef n) {
    nb::list all;
    for (const InputMeta& m : of_record(n).inputs) all.append(m.sizes);
    return all;
  });
}

}  // namespace adjoint::engine::python
