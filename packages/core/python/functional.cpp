// Plain calls of nn.functional: activations, lines, layers, losses.
#include <adjoint/core/observer.h>
#include <adjoint/core/planes.h>

#include <algorithm>
#include <string_view>

#include "checked_types.h"
#include "fits.h"
#include "plain_space.h"
#include "warn.h"

namespace adjoint::python {

namespace {

void bind_plain_activations(const Space& s) {
  using Unary = Tensor (*)(const Tensor&);
  for (auto [name, f] : {std::pair<const char*, Unary>("relu", relu), {"sigmoid", sigmoid}, {"tanh", tanh}, {"softsign", softsign}, {"logsigmoid", logsigmoid}})
    s.def(name, [f = f](const Tensor& x) { return f(x); });
  for (auto [name, f] : {std::pair<const char*, Unary>("silu", silu), {"mish", mish}, {"hardsigmoid", hardsigmoid}, {"hardswish", hardswish}, {"selu", selu}})
    s.def(name, [f = f](const Tensor& x, bool inplace) { return perhaps_into(x, inplace, f); }, "inplace"_a = false);
  using Parametrised = Tensor (*)(const Tensor&, double);
  for (auto [name, parameter, otherwise, f] : {std::tuple<const char*, const char*, double, Parametrised>("elu", "alpha", 1.0, elu), {"celu", "alpha", 1.0, celu}, {"leaky_relu", "negative_slope", 0.01, leaky_relu}})
    s.def(name, [f = f](const Tensor& x, double p, bool inplace) { return perhaps_into(x, inplace, [=](const Tensor& t) { return f(t, p); }); }, nb::arg(parameter) = otherwise, "inplace"_a = false);
  s.def("gelu", [](const Tensor& x, const std::string& form) -> Perhaps {
    if (form != "none" && form != "tanh") return {};
    return gelu(x, form == "tanh");
  }, "approximate"_a = "none");
  s.def("softplus", [](const Tensor& x, double beta, double threshold) { return softplus(x, beta, threshold); }, "beta"_a = 1, "threshold"_a = 20);
  s.def("hardshrink", [](const Tensor& x, double lambd) { return hardshrink(x, lambd); }, "lambd"_a = 0.5);
  s.def("softshrink", [](const Tensor& x, double lambd) -> Perhaps { return lambd < 0 ? Perhaps() : softshrink(x, lambd); }, "lambd"_a = 0.5);
  s.def("hardtanh", [](const Tensor& x, double lo, double hi, bool inplace) -> Perhaps {
    if (lo > hi) return {};
    return perhaps_into(x, inplace, [=](const Tensor& t) { return hardtanh(t, lo, hi); });
  }, "min_val"_a = -1.0, "max_val"_a = 1.0, "inplace"_a = false);
  s.def("relu6", [](const Tensor& x, bool inplace) { return perhaps_into(x, inplace, [](const Tensor& t) { return hardtanh(t, 0, 6); }); }, "inplace"_a = false);
  s.def("glu", glu, "dim"_a = -1);
}

void bind_plain_lines(const Space& s) {
  using OptDType = std::optional<DType>;
  s.def("softmax", [](const Tensor& x, int64_t dim, OptDType t) { warn_of_cast(x, t); return softmax(x, dim, t); }, "dim"_a, nb::kw_only(), "dtype"_a = nb::none());
  s.def("softmin", [](const Tensor& x, int64_t dim, OptDType t) { return softmax(neg(x), dim, t); }, "dim"_a, nb::kw_only(), "dtype"_a = nb::none());
  s.def("log_softmax", [](const Tensor& x, int64_t dim, OptDType t) { warn_of_cast(x, t); return log_softmax(x, dim, t); }, "dim"_a, nb::kw_only(), "dtype"_a = nb::none());
  s.def("layer_norm", [](const Tensor& x, const Dims& shape, const Tensor& w, const Tensor& b, double eps) { return checked_layer_norm(x, shape, w, b, eps); },
        "normalized_shape"_a, none("weight"), none("bias"), "eps"_a = 1e-5);
  s.def("rms_norm", [](const Tensor& x, const Dims& shape, const Tensor& w, std::optional<double> eps) { return rms_norm(x, shape, w, eps); }, "normalized_shape"_a, none("weight"), "eps"_a = nb::none());
  s.def("batch_norm", [](const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& w, const Tensor& b, bool training, double momentum, double eps) -> Perhaps {
    if (x.dim() < 2 || (training && x.numel() == x.size(1))) return {};
    return checked_batch_norm(x, mean, var, w, b, training, momentum, eps);
  }, nb::arg("running_mean").none(), nb::arg("running_var").none(), none("weight"), none("bias"), "training"_a = false, "momentum"_a = 0.1, "eps"_a = 1e-5);
}

Dims kernel_of(const Tensor& w) {
  Dims kernel;
  for (int i = 2; i < w.dim(); i++) kernel.push_back(w.size(i));
  return kernel;
}

void bind_plain_layers(const Space& s) {
  s.def("linear", [](const Tensor& x, const Tensor& w, const Tensor& b) { return linear(x, w, b); }, "weight"_a, none("bias"));
  s.def("dropout", [](const Tensor& x, double p, bool training, bool inplace) -> Perhaps {
    if (!(p >= 0 && p <= 1) || inplace) return {};
    return dropout(x, p, training, default_generator(x.device()));
  }, "p"_a = 0.5, "training"_a = true, "inplace"_a = false);
  s.def("embedding", [](const Tensor& index, const Tensor& weight, std::optional<int64_t> padding, std::optional<double> max_norm, double, bool by_frequency, bool sparse) -> Perhaps {
    if (max_norm || (by_frequency && sparse) || weight.dim() == 0 || (padding && (*padding < -weight.size(0) || *padding >= weight.size(0)))) return {};
    return embedding(weight, index, !padding ? -1 : *padding < 0 ? *padding + weight.size(0) : *padding, by_frequency, sparse);
  }, "weight"_a, "padding_idx"_a = nb::none(), "max_norm"_a = nb::none(), "norm_type"_a = 2.0, "scale_grad_by_freq"_a = false, "sparse"_a = false);
  for (int n = 1; n <= 3; n++) {
    s.def("conv" + std::to_string(n) + "d", [n](const Tensor& x, const Tensor& w, const Tensor& b, Dims stride, Dims padding, Dims dilation, int64_t groups) -> Perhaps {
      if (x.dim() != n + 2 || w.dim() != n + 2 || !per_dimension(stride, n) || !per_dimension(padding, n) || !per_dimension(dilation, n)) return {};
      return conv(x, w, b, {kernel_of(w), stride, padding, dilation, groups, false, true});
    }, "weight"_a, none("bias"), "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1, "groups"_a = 1);
    s.def("conv_transpose" + std::to_string(n) + "d", [n](const Tensor& x, const Tensor& w, const Tensor& b, Dims stride, Dims padding, Dims output_padding, int64_t groups, Dims dilation) -> Perhaps {
      if (!per_dimension(stride, n) || !per_dimension(padding, n) || !per_dimension(output_padding, n) || !per_dimension(dilation, n)) return {};
      return conv_transpose(x, w, b, {kernel_of(w), stride, padding, dilation, groups, false, true}, output_padding);
    }, "weight"_a, none("bias"), "stride"_a = 1, "padding"_a = 0, "output_padding"_a = 0, "groups"_a = 1, "dilation"_a = 1);
  }
}

// The distances are of tensors of one size: of others the functions warn.
bool alike(const Tensor& x, const Tensor& t) { return x.sizes() == t.sizes() && (x.dtype() == DType::bool_) == (t.dtype() == DType::bool_); }

void bind_plain_pad(const Space& s) {
  s.def("pad", [](const Tensor& x, const Dims& amounts, const std::string& mode, std::optional<double> value) -> Perhaps {
    const int n = amounts.size() / 2;
    if (amounts.size() % 2 || n > x.dim()) return {};
    Dims before(x.dim(), 0), after(x.dim(), 0);
    for (int i = 0; i < n; i++) before[x.dim() - 1 - i] = amounts[2 * i], after[x.dim() - 1 - i] = amounts[2 * i + 1];
    if (mode == "constant") {
      expect_fits(value.value_or(0), x.dtype());
      return pad(x, before, after, value.value_or(0));
    }
    const std::string_view modes[] = {"replicate", "reflect", "circular"};
    const auto border = std::ranges::find(modes, mode) - modes;
    if (border == std::ssize(modes) || value.value_or(0) != 0 || !(n < x.dim() && x.dim() <= n + 2)) return {};
    return pad_around(x, before, after, static_cast<Border>(border));
  }, "pad"_a, "mode"_a = "constant", "value"_a = nb::none());
}

void bind_plain_losses(const Space& s) {
  using Loss = Tensor (*)(const Tensor&, const Tensor&, Reduction);
  for (auto [name, f] : {std::pair<const char*, Loss>("mse_loss", checked_mse_loss), {"l1_loss", l1_loss}})
    s.def(name, [f = f](const Tensor& x, const Tensor& t, const std::string& r) -> Perhaps {
      const auto reduction = reduction_named(r);
      return reduction && alike(x, t) ? Perhaps(f(x, t, *reduction)) : Perhaps();
    }, "target"_a, nb::kw_only(), "reduction"_a = "mean");
  using Rounded = Tensor (*)(const Tensor&, const Tensor&, Reduction, double);
  for (auto [name, parameter, f] : {std::tuple<const char*, const char*, Rounded>("smooth_l1_loss", "beta", smooth_l1_loss), {"huber_loss", "delta", huber_loss}})
    s.def(name, [f = f](const Tensor& x, const Tensor& t, const std::string& r, double p) -> Perhaps {
      const auto reduction = reduction_named(r);
      return reduction && alike(x, t) ? Perhaps(f(x, t, *reduction, p)) : Perhaps();
    }, "target"_a, nb::kw_only(), "reduction"_a = "mean", nb::arg(parameter) = 1.0);
  s.def("nll_loss", [](const Tensor& x, const Tensor& t, const Tensor& w, int64_t ignore, const std::string& r) -> Perhaps {
    const auto reduction = reduction_named(r);
    return reduction ? Perhaps(checked_nll_loss(x, t, w, *reduction, ignore)) : Perhaps();
  }, "target"_a, none("weight"), nb::kw_only(), "ignore_index"_a = -100, "reduction"_a = "mean");
  s.def("cross_entropy", [](const Tensor& x, const Tensor& t, const Tensor& w, int64_t ignore, const std::string& r, double smoothing) -> Perhaps {
    const auto reduction = reduction_named(r);
    return reduction ? Perhaps(checked_cross_entropy(x, t, w, *reduction, ignore, smoothing)) : Perhaps();
  }, "target"_a, none("weight"), nb::kw_only(), "ignore_index"_a = -100, "reduction"_a = "mean", "label_smoothing"_a = 0.0);
  s.def("binary_cross_entropy", [](const Tensor& x, const Tensor& t, const Tensor& w, const std::string& r) -> Perhaps {
    const auto reduction = reduction_named(r);
    return reduction ? Perhaps(checked_binary_cross_entropy(x, t, w, *reduction)) : Perhaps();
  }, "target"_a, none("weight"), nb::kw_only(), "reduction"_a = "mean");
  s.def("binary_cross_entropy_with_logits", [](const Tensor& x, const Tensor& t, const Tensor& w, const std::string& r, const Tensor& p) -> Perhaps {
    const auto reduction = reduction_named(r);
    return reduction && alike(x, t) ? Perhaps(binary_cross_entropy_with_logits(x, t, w, p, *reduction)) : Perhaps();
  }, "target"_a, none("weight"), nb::kw_only(), "reduction"_a = "mean", none("pos_weight"));
  s.def("kl_div", [](const Tensor& x, const Tensor& t, const std::string& r, bool log_target) -> Perhaps {
    const auto reduction = reduction_named(r);
    return reduction && r != "mean" && !is_half(x.dtype()) ? Perhaps(checked_kl_div(x, t, *reduction, log_target)) : Perhaps();   // of a mean it is warned
  }, "target"_a, nb::kw_only(), "reduction"_a = "mean", "log_target"_a = false);
}

}  // namespace

void bind_functional(nb::module_& m) {
  const Space s{m, "nn.functional"};
  bind_plain_activations(s);
  bind_plain_lines(s);
  bind_plain_layers(s);
  bind_plain_pad(s);
  bind_plain_losses(s);
  bind_plain_planes(s);
}

}  // namespace adjoint::python
