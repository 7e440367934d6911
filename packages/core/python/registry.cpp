// The table of records, for documentation and tests.
#include <adjoint/core/isa.h>

#include "module.h"

namespace adjoint::python {

namespace {

const char* name_of(Kind k) {
  switch (k) {
    case Kind::elementwise: return "elementwise";
    case Kind::linear: return "linear";
    case Kind::multilinear: return "multilinear";
    case Kind::custom: return "custom";
  }
  return "";
}

nb::dict describe(const std::string& name) {
  const Op* op = find_op(name.c_str());
  if (!op) throw nb::key_error(("no record named '" + name + "'").c_str());
  nb::list differentiable, kernels;
  const nb::tuple attributes(attribute_names(name));
  for (int i = 0; i < 4; i++) if (op->d[i]) differentiable.append(i);
  if (op->reference) kernels.append("reference");
  for (int d = 0; d < device_types; d++) if (op->kernel[d]) kernels.append(d == 0 ? "cpu" : "cuda");
  nb::dict r;
  r["name"] = op->name;
  r["doc"] = op->doc;
  r["kind"] = name_of(op->kind);
  r["outputs"] = op->outputs;
  r["variadic"] = op->variadic;
  r["view"] = op->alias != nullptr;
  r["differentiable"] = nb::tuple(differentiable);
  r["batched"] = op->batch != nullptr || (!op->shape && !op->alias);
  r["kernels"] = nb::tuple(kernels);
  r["attributes"] = attributes;
  return r;
}

}  // namespace

void bind_registry(nb::module_& m) {
  m.def("_op_names", [] {
    nb::list l;
    for (const Op* op : all_ops()) l.append(op->name);
    return l;
  });
  m.def("_op_record", &describe, "name"_a);
  m.def("_instruction_set", [] { return isa::name(isa::chosen()); }, "The instruction set that kernels run at: ADJOINT_ISA, or the best of this processor.");
  m.def("_instruction_sets", [] {
    nb::list l;
    for (int i = 0; i <= isa::best(); i++) l.append(isa::name(static_cast<isa::Level>(i)));
    return l;
  }, "The instruction sets of this processor that kernels are compiled for.");
  m.def("_element_types", [] {
    nb::list l;
    for (const DTypeInfo& t : dtype_table) l.append(nb::make_tuple(t.name, static_cast<int>(t.itemsize)));
    return l;
  });
}

}  // namespace adjoint::python
