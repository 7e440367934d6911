// Names of record nodes: MulBackward0, ...; where PyTorch splits one of our records over several of its own, its names.
#include <adjoint/core/op_attrs.h>
#include <adjoint/engine/node.h>

#include <cctype>

namespace adjoint::engine {

namespace {

// "masked_fill" becomes "MaskedFill".
std::string camel(const char* name) {
  std::string r;
  bool upper = true;
  for (const char* p = name; *p; p++) {
    if (*p == '_') { upper = true; continue; }
    r += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(*p))) : *p;
    upper = false;
  }
  return r;
}

bool over_some(const OpNode& n) { return n.attrs.as<Reduce>().dims.size() < n.inputs[0].sizes.size(); }

}  // namespace

std::string OpNode::name() const {
  const std::string_view o = op.name;
  const auto dims = [&](size_t i) { return inputs[i].sizes.size(); };
  if (o == "matmul" && dims(0) == dims(1)) {
    if (dims(0) <= 3) return dims(0) == 1 ? "DotBackward0" : dims(0) == 2 ? "MmBackward0" : "BmmBackward0";
  }
  if (o == "sum" || o == "mean") return camel(op.name) + (over_some(*this) ? "Backward1" : "Backward0");
  if (o == "pow") return edges[1].node ? edges[0].node ? "PowBackward1" : "PowBackward2" : "PowBackward0";
  if (o == "to_dtype") return "ToCopyBackward0";
  if (o == "vector_norm") return "LinalgVectorNormBackward0";
  if (o == "contiguous") return "CloneBackward0";
  if (o == "sparse_coo_tensor") return "SparseCooTensorWithDimsAndTensorsBackward0";
  if (o == "sparse_values") return "ValuesBackward0";
  return camel(op.name) + "Backward0";
}

}  // namespace adjoint::engine
