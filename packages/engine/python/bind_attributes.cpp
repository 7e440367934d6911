// What a record's node keeps besides tensors, by PyTorch's names: node._saved_dim, ._saved_keepdim, ...
#include <adjoint/core/op_attrs.h>

#include <string_view>

#include "node_type.h"

namespace adjoint::engine::python {

namespace {

using Fields = nb::dict (*)(const OpNode&);

nb::dict reduce(const OpNode& n) {
  const auto& a = n.attrs.as<Reduce>();
  nb::dict d;
  d["dim"] = a.dims;
  d["keepdim"] = a.keepdim;
  return d;
}
nb::dict dim_keep(const OpNode& n) {
  const auto& a = n.attrs.as<DimKeep>();
  nb::dict d;
  d["dim"] = a.dim;
  d["keepdim"] = a.keepdim;
  return d;
}
nb::dict one_dim(const OpNode& n) {
  nb::dict d;
  d["dim"] = n.attrs.as<Dim>().dim;
  return d;
}
nb::dict two_dims(const OpNode& n) {
  nb::dict d;
  d["dim0"] = n.attrs.as<Dims2>().a;
  d["dim1"] = n.attrs.as<Dims2>().b;
  return d;
}
nb::dict selected(const OpNode& n) {
  nb::dict d;
  d["dim"] = n.attrs.as<At>().dim;
  d["index"] = n.attrs.as<At>().index;
  return d;
}
nb::dict sliced(const OpNode& n) {
  const auto& a = n.attrs.as<Slice>();
  nb::dict d;
  d["dim"] = a.dim;
  d["start"] = a.start;
  d["end"] = a.stop;
  d["step"] = a.step;
  return d;
}
nb::dict scanned(const OpNode& n) {
  nb::dict d;
  d["dim"] = n.attrs.as<Scan>().dim;
  return d;
}
nb::dict permuted(const OpNode& n) {
  nb::dict d;
  d["dims"] = n.attrs.as<Sizes>().sizes;
  return d;
}

nb::dict strided(const OpNode& n) {
  const auto& a = n.attrs.as<Strided>();
  nb::dict d;
  d["size"] = a.sizes;
  d["stride"] = a.strides;
  d["storage_offset"] = a.offset;
  return d;
}
nb::dict windows(const OpNode& n) {
  const auto& a = n.attrs.as<Windows>();
  nb::dict d;
  d["dim"] = a.dim;
  d["size"] = a.size;
  d["step"] = a.step;
  return d;
}
nb::dict indexed(const OpNode& n) {
  nb::dict d;
  d["dims"] = n.attrs.as<Indexed>().dims;
  return d;
}

struct Entry { std::string_view op; Fields fields; };
constexpr Entry table[] = {
    {"as_strided", strided}, {"index", indexed}, {"unfold", windows}, {"amax", reduce}, {"amin", reduce}, {"mean", reduce}, {"sum", reduce}, {"max", dim_keep}, {"min", dim_keep}, {"cat", one_dim}, {"log_softmax", one_dim},
    {"softmax", one_dim}, {"cumprod", scanned}, {"cumsum", scanned}, {"permute", permuted}, {"select", selected}, {"slice", sliced}, {"transpose", two_dims},
};

nb::dict attributes(NodeRef n) {
  const auto* op = dynamic_cast<OpNode*>(n.p);
  nb::dict d;
  if (!op) return d;
  for (const Entry& e : table)
    if (e.op == op->op.name) d = e.fields(*op);
  if (!op->inputs.empty()) d["self_sym_sizes"] = op->inputs[0].sizes;
  return d;
}

}  // namespace

void bind_attributes(nb::module_& m) {
  m.def("node_attributes", attributes);
}

}  // namespace adjoint::engine::python
