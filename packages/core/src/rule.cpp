// Rules of many steps: half types are computed in float.
#include <adjoint/core/ops.h>

#include "ops/in_float.h"

namespace adjoint::detail {

namespace {

bool any_half(Tensors x) {
  for (const Tensor& t : x)
    if (t && is_half(t.dtype())) return true;
  return false;
}

// Those of x that `wanted` says the rule looks at.
template <class Wanted> TensorVector widened(Tensors x, Wanted&& wanted) {
  TensorVector wide;
  for (size_t i = 0; i < x.size(); i++) wide.push_back(x[i] && wanted(i) ? in_float(x[i]) : x[i]);
  return wide;
}

}  // namespace

void call_in_float(const Rule& rule, const Call& c, Tensor* result) {
  if (!any_half(c.v) && !any_half(c.x) && !any_half(c.y)) return rule.f(c, result);
  const TensorVector x = widened(c.x, [&](size_t i) { return rule.saves & saves_all_inputs || (i < 32 && rule.saves & saves_input(static_cast<int>(i))); });
  const TensorVector y = widened(c.y, [&](size_t i) { return rule.saves & saves_output(static_cast<int>(i)); });
  const TensorVector v = widened(c.v, [](size_t) { return true; });
  rule.f({x, y, v, c.inputs, c.attrs, c.which}, result);
}

}  // namespace adjoint::detail
