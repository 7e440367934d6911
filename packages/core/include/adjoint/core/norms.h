// Normalisations that give the means and the inverse deviations they took, and those of groups of channels.
#pragma once
#include <adjoint/core/op_fields.h>
#include <adjoint/core/ops.h>

namespace adjoint {

// Of standardise_vjp. sums: what the weight gets. Row r has the weights of r % groups, each for `each` elements.
struct StandardiseVjp { int dim; double eps; bool centred, sums; int64_t groups = 1, each = 1; };
inline void describe(const StandardiseVjp& a, FieldList& f) { f.add("dim", a.dim); f.add("eps", a.eps); f.add("centred", a.centred); f.add("sums", a.sums); f.add("groups", a.groups); f.add("each", a.each); }

struct ChannelsVjpOf { Dims dims; double eps; bool sums; };   // of batch_norm_vjp
inline void describe(const ChannelsVjpOf& a, FieldList& f) { f.add("dims", a.dims); f.add("eps", a.eps); f.add("sums", a.sums); }

struct Normalised { Tensor y, mean, deviation; };   // deviation: 1 / sqrt(var + eps)
ADJOINT_API Normalised native_layer_norm(const Tensor& x, const Dims& shape, const Tensor& weight, const Tensor& bias, double eps);
ADJOINT_API Normalised native_batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight, const Tensor& bias, double momentum, double eps);   // in training
// `groups` parts of x, of `size` elements each, then weight and bias of its channels. Without `statistics` y alone.
ADJOINT_API Normalised grouped_norm(const Tensor& x, int64_t groups, int64_t size, const Tensor& weight, const Tensor& bias, double eps, bool statistics);

}  // namespace adjoint
