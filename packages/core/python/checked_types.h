// What layers and losses say of operands of different types, for plain calls and for those by way of Python.
#pragma once
#include <adjoint/core/one_type.h>

#include <initializer_list>
#include <utility>

namespace adjoint::python {

// Parameters and statistics of a normalisation: of the type of x, or in single precision beside halves.
inline void expect_parameters(const char* op, const Tensor& x, std::initializer_list<std::pair<const char*, const Tensor&>> given) {
  for (auto [what, t] : given)
    if (t && !(t.dtype() == DType::float32 && is_half(x.dtype()))) expect_type(op, what, t, "input", x);
}

inline Tensor checked_layer_norm(const Tensor& x, const Dims& shape, const Tensor& w, const Tensor& b, double eps) {
  expect_parameters("layer_norm", x, {{"weight", w}, {"bias", b}});
  return layer_norm(x, shape, w, b, eps);
}

inline Tensor checked_batch_norm(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& w, const Tensor& b, bool training, double momentum, double eps) {
  expect(is_differentiable(x.dtype()), ErrorKind::not_implemented, "batch_norm: not implemented for ", x.dtype());
  expect_parameters("batch_norm", x, {{"running_mean", mean}, {"running_var", var}, {"weight", w}, {"bias", b}});
  return batch_norm(x, mean, var, w, b, training, momentum, eps);
}

inline Tensor checked_nll_loss(const Tensor& x, const Tensor& t, const Tensor& w, Reduction r, int64_t ignore) {
  expect_type("nll_loss", "weight", w, "input", x);
  return nll_loss(x, t, w, r, ignore);
}

inline Tensor checked_cross_entropy(const Tensor& x, const Tensor& t, const Tensor& w, Reduction r, int64_t ignore, double smoothing) {
  if (is_integral(t.dtype())) expect_type("cross_entropy", "weight", w, "input", x);   // beside probabilities weights are factors
  return cross_entropy(x, t, w, r, ignore, smoothing);
}

inline Tensor checked_binary_cross_entropy(const Tensor& x, const Tensor& t, const Tensor& w, Reduction r) {
  if (t.sizes() == x.sizes()) expect_type("binary_cross_entropy", "target", t, "input", x);   // else that is said first
  return binary_cross_entropy(x, t, w, r);
}

inline Tensor checked_mse_loss(const Tensor& x, const Tensor& t, Reduction r) {
  expect(!is_complex(x.dtype()) && !is_complex(t.dtype()), ErrorKind::not_implemented, "mse_loss: not implemented for complex numbers, got ", x.dtype(), " and ", t.dtype());
  return mse_loss(x, t, r);
}

inline Tensor checked_kl_div(const Tensor& x, const Tensor& t, Reduction r, bool log_target) {
  expect(is_floating(x.dtype()) && is_floating(t.dtype()), "kl_div: expected floating-point input and target, but got ", x.dtype(), " and ", t.dtype());
  return kl_div(x, t, r, log_target);
}

}  // namespace adjoint::python
