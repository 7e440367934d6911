// Gradients from user code: rules trust that they have the shape of what they belong to.
#include <adjoint/core/op_attrs.h>
#include <adjoint/engine/autograd.h>

#include <string_view>

namespace adjoint::engine {

// From the inputs' shapes alone, by the op's own inference: nodes do not keep the shapes of their outputs.
bool OpNode::output_sizes(uint32_t nr, Dims& out) const {
  if (std::string_view(op.name) == "unique") return false;   // they depend on the values
  Vector<Tensor> x;
  for (const InputMeta& m : inputs) {
    x.push_back(empty({}, m.dtype, m.device));   // memory for one element: shape inference looks at sizes and types
    x.back()->sizes = m.sizes;
    x.back()->set_contiguous_strides();
  }
  Dims sizes[max_outputs];
  if (std::string_view(op.name) == "as_strided") sizes[0] = attrs.as<Strided>().sizes;
  else if (op.alias) {
    const Tensor y = alias_of(x[0]);
    op.alias(*x[0], attrs, *y);
    sizes[0] = y.sizes();
  }
  else if (op.shape) op.shape(x, attrs, sizes);
  else for (const Tensor& t : x) sizes[0] = broadcast(sizes[0], t.sizes(), op.name);
  if (nr >= static_cast<uint32_t>(op.outputs)) return false;
  out = sizes[nr];
  return true;
}

bool CopySlices::output_sizes(uint32_t, Dims& out) const { return out = sizes, true; }
bool AccumulateGrad::output_sizes(uint32_t, Dims& out) const { return out = variable.sizes(), true; }

void check_root(size_t i, const Dims& given, const Dims& output) {
  if (!(given == output)) fail(ErrorKind::shape, "Mismatch in shape: grad_output[", i, "] has a shape of adjoint.Size(", given, ") and output[", i, "] has a shape of adjoint.Size(", output, ").");
}

void check_cotangent(const Node& n, uint32_t nr, const Tensor& g, const char* from) {
  Dims sizes;
  if (!g || !n.output_sizes(nr, sizes)) return;
  if (!(g.sizes() == sizes)) fail(ErrorKind::shape, from, " has changed the size of value: got a gradient of shape ", g.sizes(), " for output ", nr, " of ", n.name(), ", whose shape is ", sizes);
}

}  // namespace adjoint::engine
