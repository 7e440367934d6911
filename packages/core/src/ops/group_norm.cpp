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
  Tensor s[max_outputs];
  static const Op& op = *find_op("layer_norm");
  const int64_t each = w && x.size(0) ? groups / x.size(0) : 0, channels = x.dim() > 1 && each ? x.size(1) / each : 0;   // of a sample, of a group
  if (w && channels && x.device().type != DeviceType::cuda) {   // kernels of other devices take a weight for each element of a line
    const Dims spread{1, each, channels, 1};
    TensorVector in{reshape(x, {x.size(0), each, channels, size / channels}), reshape(w, spread)};
    if (b) in.push_back(reshape(b, spread));
    apply(op, in, Normalize{{2, 3}, eps}, s);
    return {as_result(reshape(s[0], x.sizes())), reshape(s[1], {groups, 1}), reshape(s[2], {groups, 1})};
  }
  const Tensor lines = reshape(x, {groups, size});
  apply(op, {&lines, 1}, Normalize{{1}, eps}, s);
  const Tensor y = as_result(reshape(s[0], x.sizes()));
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
