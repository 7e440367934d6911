// Names of record nodes: MulBackward0, ...; where PyTorch splits one of our records over several of its own, its names.
#include <adjoint/core/observer.h>
#include <adjoint/core/op_attrs.h>
#include <adjoint/engine/node.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace adjoint::engine {

namespace {

// "masked_fill" becomes "MaskedFill", "log1p" "Log1P".
std::string camel(std::string_view name) {
  std::string r;
  bool upper = true;
  for (const char c : name) {
    if (c != '_') r += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_' || std::isdigit(static_cast<unsigned char>(c));
  }
  return r;
}

// PyTorch's forms with a tensor where the first form has a number.
constexpr std::string_view second_with_tensor[] = {"clamp_max", "clamp_min", "fmod", "lerp", "masked_fill", "remainder"};

bool over_some(const OpNode& n) { return n.attrs.as<Reduce>().dims.size() < n.inputs[0].sizes.size(); }

}  // namespace

// The nodes that lead to another one of the same function are not those of its results.
void name_in_composition(Node& n) {
  if (!composition.first) composition.first = n.seq + 1;   // 0: none yet
  n.composed = composition.node;
  for (const Edge& e : n.edges)
    if (e.node && e.node->seq + 1 >= composition.first && e.node->composed == composition.node) e.node->composed = nullptr;
}

std::string OpNode::name() const {
  if (composed) return composed;
  const std::string_view o = op.name;
  const auto dims = [&](size_t i) { return inputs[i].sizes.size(); };
  const auto number = [&](size_t i) { return dims(i) == 0 && !edges[i].node; };
  if (o == "matmul" && dims(0) == dims(1) && dims(0) <= 3) return dims(0) == 1 ? "DotBackward0" : dims(0) == 2 ? "MmBackward0" : "BmmBackward0";
  if (o == "sum" || o == "mean") return camel(o) + (over_some(*this) ? "Backward1" : "Backward0");
  if (o == "pow") return edges[1].node ? edges[0].node ? "PowBackward1" : "PowBackward2" : "PowBackward0";
  if (o == "clamp") return number(1) && number(2) ? "ClampBackward1" : "ClampBackward0";
  if (o == "median") return "MedianBackward1";
  if (o == "nanmedian") return "NanmedianBackward1";
  if (o == "copy") return "CopyBackwards";
  if (o == "fft" && !is_complex(inputs[0].dtype)) return "FftR2CBackward0";
  if (o == "avg_pool" || o == "max_pool") return camel(o) + std::to_string(dims(0) - 2) + (o == "avg_pool" ? "DBackward0" : "DWithIndicesBackward0");
  if (std::ranges::find(second_with_tensor, o) != std::end(second_with_tensor)) return camel(o) + (number(inputs.size() - 1) ? "Backward0" : "Backward1");
  const std::string_view theirs = op.torch, node = theirs.substr(0, theirs.find('|'));
  if (!node.empty() && std::isdigit(static_cast<unsigned char>(node.back()))) return std::string(node);   // all of it
  return (node.empty() ? camel(o) : std::string(node)) + "Backward0";
}

}  // namespace adjoint::engine
