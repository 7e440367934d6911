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

}  // namespace

void bind_attributes(nb::module_& m) {
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
