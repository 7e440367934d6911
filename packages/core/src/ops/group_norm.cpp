// Normalisation of groups of channels: layer_norm of the groups, then weight and bias of the channels.
#include <adjoint/core/norms.h>
#include <adjoint/core/op_attrs.h>

#include "in_float.h"

namespace adjoint {

namespace {

Tensor of_channels(const Tensor& t, const Tensor& x, const char* what) {
  expect(t.dim() == 1 && x.dim() > 1 && t.size(0) == x.size(1), "Expected ", what, " to be a vector of size equal to the number of channels in input, but got ", what, " of shape ", t.sizes(), " and input of shape ", x.sizes());
  Dims sizes(x.dim(), 1);
  sizes[1] = x.size(1);
  return reshape(t, sizes);
}

Normalised grouped(const Tensor& x, int64_t groups, int64_t size, const Tensor& weight, const Tensor& bias, double eps) {
  const Tensor w = weight ? of_channels(weight, x, "weight") : weight, b = bias ? of_channels(bias, x, "bias") : bias;
  const Tensor lines = reshape(x, {groups, size});
  Tensor s[max_outputs];
  static const Op& op = *find_op("layer_norm");
  apply(op, {&lines, 1}, Normalize{{1}, eps}, s);
  const Tensor y = reshape(s[0], x.sizes());
  return {!w ? b ? y + b : y : b ? addcmul(b, y, w, 1) : y * w, s[1], s[2]};
}

}  // namespace

Normalised grouped_norm(const Tensor& x, int64_t groups, int64_t size, const Tensor& weight, const Tensor& bias, double eps, bool statistics) {
  const auto half = half_type(x, weight, bias);
  Normalised r = half ? grouped(in_float(x), groups, size, in_float(weight), in_float(bias), eps) : grouped(x, groups, size, weight, bias, eps);
  if (half) r.y = to_dtype(r.y, *half);
  if (!statistics) return {r.y, {}, {}};
  return {r.y, to_dtype(r.mean, x.dtype()), to_dtype(rsqrt(r.deviation + eps), x.dtype())};
}

}  // namespace adjoint
