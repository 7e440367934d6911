// What nn.functional is made of; the full signatures are in adjoint-functional.
#include <adjoint/core/attention.h>
#include <adjoint/core/distance.h>
#include <adjoint/core/embedding_bag.h>
#include <adjoint/core/grid_sample.h>
#include <adjoint/core/margin.h>
#include <adjoint/core/norms.h>
#include <adjoint/core/planes.h>
#include <adjoint/core/resize.h>
#include "direct.h"
#include "checked_types.h"
#include "fits.h"
#include "warn.h"

#include <adjoint/core/types.h>

namespace adjoint::python {

namespace {

using OptDType = std::optional<DType>;

Reduction reduction_of(const std::string& name) {
  const auto reduction = reduction_named(name);
  expect(reduction.has_value(), ErrorKind::value, name, " is not a valid value for reduction");
  return *reduction;
}

// The half type of all floating-point tensors among arguments, lists of them included; None if they have none in common.
void see(HalfType& half, nb::handle a) {
  if (is_tensor(a.ptr())) half.see(nb::cast<Tensor>(a));
  else if (nb::isinstance<nb::list>(a) || nb::isinstance<nb::tuple>(a))
    for (nb::handle part : a) see(half, part);
}
std::optional<DType> half_type_of(const nb::tuple& args, const nb::dict& kwargs) {
  HalfType half;
  for (nb::handle a : args) see(half, a);
  for (auto [name, a] : kwargs) see(half, a);
  return half.type();
}

void bind_activations(nb::module_& m) {
  function(m, "_half_type", half_type_of);
  function(m, "_expect_parameters", [](const std::string& op, const Tensor& x, const Tensor& w, const Tensor& b) { expect_parameters(op.c_str(), x, {{"weight", w}, {"bias", b}}); },
        "op"_a, "x"_a, "weight"_a.none(), "bias"_a.none());
  function(m, "_expect_type", [](const std::string& op, const std::string& what, const Tensor& t, const std::string& of, const Tensor& like) { expect_type(op.c_str(), what.c_str(), t, of.c_str(), like); },
        "op"_a, "what"_a, "tensor"_a.none(), "of"_a, "like"_a);
  both(m, "softmax", [](const Tensor& x, int64_t dim, OptDType dtype) { warn_of_cast(x, dtype); return softmax(x, dim, dtype); }, "dim"_a, "dtype"_a = nb::none());
  both(m, "log_softmax", [](const Tensor& x, int64_t dim, OptDType dtype) { warn_of_cast(x, dtype); return log_softmax(x, dim, dtype); }, "dim"_a, "dtype"_a = nb::none());
  function(m, "_logsigmoid", [](const Tensor& x) { return logsigmoid(x); });
  function(m, "_softsign", [](const Tensor& x) { return softsign(x); });
  function(m, "_gelu", [](const Tensor& x, bool tanh_form) { return gelu(x, tanh_form); });
  function(m, "_softplus", [](const Tensor& x, double beta, double threshold) { return softplus(x, beta, threshold); });
  for (auto [name, f] : {std::pair<const char*, Tensor (*)(const Tensor&)>("_silu", silu), {"_mish", mish}, {"_hardsigmoid", hardsigmoid}, {"_hardswish", hardswish}, {"_selu", selu}})
    function(m, name, [f = f](const Tensor& x, bool inplace) { return perhaps_into(x, inplace, f); });
  function(m, "_elu", [](const Tensor& x, double alpha, bool inplace) { return perhaps_into(x, inplace, [=](const Tensor& t) { return elu(t, alpha); }); });
  function(m, "_celu", [](const Tensor& x, double alpha, bool inplace) { return perhaps_into(x, inplace, [=](const Tensor& t) { return celu(t, alpha); }); });
  function(m, "_leaky_relu", [](const Tensor& x, double slope, bool inplace) { return perhaps_into(x, inplace, [=](const Tensor& t) { return leaky_relu(t, slope); }); });
  function(m, "_hardshrink", hardshrink);
  function(m, "_softshrink", softshrink);
  function(m, "_prelu", prelu);
  function(m, "_glu", glu);
  function(m, "_hardtanh", [](const Tensor& x, double lo, double hi, bool inplace) { return perhaps_into(x, inplace, [=](const Tensor& t) { return hardtanh(t, lo, hi); }); });
  function(m, "_threshold", [](const Tensor& x, const Scalar& bound, const Scalar& value, bool inplace) {
    return perhaps_into(x, inplace, [&](const Tensor& t) { return threshold(t, bound, value); });
  });
  function(m, "_dropout", [](const Tensor& x, double p, bool training) { return dropout(x, p, training, default_generator(x.device())); });
  function(m, "dropout", [](const Tensor& x, double p, bool train) { return dropout(x, p, train, default_generator(x.device())); }, "input"_a, "p"_a, "train"_a);
}

void bind_layers(nb::module_& m) {
  function(m, "_linear", [](const Tensor& x, const Tensor& w, const Tensor& b) { return linear(x, w, b); }, "x"_a, "weight"_a, "bias"_a.none());
  direct<Tensor, Tensor, Tensor>(m, "_linear", [](const Tensor& x, const Tensor& w, const Tensor& b) { return linear(x, w, b); });
  function(m, "_conv", [](const Tensor& x, const Tensor& w, const Tensor& b, const Dims& stride, const Dims& padding, const Dims& dilation, int64_t groups) {
    Dims kernel;
    for (int i = 2; i < w.dim(); i++) kernel.push_back(w.size(i));
    return conv(x, w, b, {kernel, stride, padding, dilation, groups, false, true});
  }, "x"_a, "weight"_a, "bias"_a.none(), "stride"_a, "padding"_a, "dilation"_a, "groups"_a);
  function(m, "_conv_transpose", [](const Tensor& x, const Tensor& w, const Tensor& b, const Dims& stride, const Dims& padding, const Dims& output_padding, const Dims& dilation, int64_t groups) {
    Dims kernel;
    for (int i = 2; i < w.dim(); i++) kernel.push_back(w.size(i));
    return conv_transpose(x, w, b, {kernel, stride, padding, dilation, groups, false, true}, output_padding);
  }, "x"_a, "weight"_a, "bias"_a.none(), "stride"_a, "padding"_a, "output_padding"_a, "dilation"_a, "groups"_a);
  function(m, "_max_pool", [](const Tensor& x, const Dims& kernel, const Dims& stride, const Dims& padding, const Dims& dilation, bool ceil_mode) {
    Values v = max_pool(x, {kernel, stride, padding, dilation, 1, ceil_mode, true});
    return nb::make_tuple(v.values, v.indices);
  });
  function(m, "_avg_pool", [](const Tensor& x, const Dims& kernel, const Dims& stride, const Dims& padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor) {
    return avg_pool(x, {kernel, stride, padding, Dims(kernel.size(), 1), 1, ceil_mode, count_include_pad}, divisor);
  }, "x"_a, "kernel"_a, "stride"_a, "padding"_a, "ceil_mode"_a, "count_include_pad"_a, "divisor"_a = nb::none());
  function(m, "_adaptive_avg_pool", [](const Tensor& x, const Dims& sizes) { return adaptive_avg_pool(x, sizes); });
  function(m, "_adaptive_max_pool", [](const Tensor& x, const Dims& sizes) {
    Values v = adaptive_max_pool(x, sizes);
    return nb::make_tuple(v.values, v.indices);
  });
}

void bind_planes(nb::module_& m) {
  function(m, "_grid_sample", [](const Tensor& x, const Tensor& grid, int mode, int padding, bool align) {
    expect_type("grid_sample", "grid", grid, "input", x);
    return grid_sample(x, grid, mode, padding, align);
  });
  function(m, "_resize", resize);
  function(m, "_resize_steps", resize_steps);
  function(m, "_pad", [](const Tensor& x, const Dims& before, const Dims& after, double value) {
    expect_fits(value, x.dtype());
    return pad(x, before, after, value);
  }, "input"_a, "before"_a, "after"_a, "value"_a);
  function(m, "_fractional_max_pool", [](const Tensor& x, const Tensor& samples, const Dims& kernel, const Dims& sizes) {
    Values v = fractional_max_pool(x, samples, kernel, sizes);
    return nb::make_tuple(v.values, v.indices);
  });
  function(m, "_distances", [](const Tensor& x, const Tensor& y, bool products, int power) { return distances(x, y, products, power); }, "input"_a, "other"_a, "products"_a = false, "power"_a = 2);
  function(m, "_pair_distances", [](const Tensor& x) { return pair_distances(x); }, "input"_a);
  function(m, "_margin", [](const Tensor& x, const Tensor& target, double margin, bool several) { return margin_rows(x, target, margin, several); }, "input"_a, "target"_a, "margin"_a, "several"_a);
  function(m, "_multi_margin_loss", [](const Tensor& x, const Tensor& target, double margin, const Tensor& weight, const std::string& how) {
    const auto reduction = reduction_named(how);
    expect(reduction.has_value(), ErrorKind::value, how, " is not a valid value for reduction");
    Dims lines = x.sizes();
    lines.resize(x.dim() - 1);
    const Tensor y = reshape(target, lines), rows = margin_rows(x, unsqueeze(y, -1), margin, false), loss = weight ? rows * index_select(weight, 0, y) : rows;
    return *reduction == Reduction::mean ? mean(loss) : *reduction == Reduction::sum ? sum(loss) : loss;
  }, "input"_a, "target"_a, "margin"_a, "weight"_a.none(), "reduction"_a);
  function(m, "_channel_shuffle", [](const Tensor& x, int64_t groups) {
    expect(x.dim() > 1 && groups > 0 && x.size(1) % groups == 0, "channel_shuffle: the number of channels must be divisible by groups, got ", x.sizes(), " and ", groups);
    Dims apart = x.sizes();
    apart[1] = x.size(1) / groups;
    apart.insert(1, groups);
    return reshape(transpose(reshape(x, apart), 1, 2), x.sizes());
  }, "input"_a, "groups"_a);
  function(m, "_pad_around", [](const Tensor& x, const Dims& before, const Dims& after, int64_t border) { return pad_around(x, before, after, static_cast<Border>(border)); },
           "input"_a, "before"_a, "after"_a, "border"_a);
  function(m, "_patches", [](const Dims& sizes, const Dims& kernel, const Dims& dilation, const Dims& stride, const Tensor& like) {
    const Patches p = patches(sizes, kernel, dilation, stride, like.device());
    return nb::make_tuple(p.positions, p.windows);
  });
}

void bind_normalisations(nb::module_& m) {
  const auto parts = [](const Normalised& r) { return nb::make_tuple(r.y, r.mean, r.deviation); };
  function(m, "_native_layer_norm", [=](const Tensor& x, const Dims& shape, const Tensor& w, const Tensor& b, double eps) { return parts(native_layer_norm(x, shape, w, b, eps)); },
        "x"_a, "shape"_a, "weight"_a.none(), "bias"_a.none(), "eps"_a);
  function(m, "_native_batch_norm", [=](const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& w, const Tensor& b, double momentum, double eps) { return parts(native_batch_norm(x, mean, var, w, b, momentum, eps)); },
        "x"_a, "mean"_a.none(), "var"_a.none(), "weight"_a.none(), "bias"_a.none(), "momentum"_a, "eps"_a);
  function(m, "_grouped_norm", [](const Tensor& x, int64_t groups, int64_t size, const Tensor& w, const Tensor& b, double eps) { return grouped_norm(x, groups, size, w, b, eps, false).y; },
        "x"_a, "groups"_a, "size"_a, "weight"_a.none(), "bias"_a.none(), "eps"_a);
  function(m, "_native_group_norm", [=](const Tensor& x, int64_t n, int64_t groups, int64_t size, const Tensor& w, const Tensor& b, double eps) {
    Normalised r = grouped_norm(x, n * groups, size, w, b, eps, true);
    for (Tensor* t : {&r.mean, &r.deviation}) *t = reshape(*t, {n, groups});
    return parts(r);
  }, "x"_a, "n"_a, "groups"_a, "size"_a, "weight"_a.none(), "bias"_a.none(), "eps"_a);
  function(m, "_layer_norm", [](const Tensor& x, const Dims& shape, const Tensor& w, const Tensor& b, double eps) { return checked_layer_norm(x, shape, w, b, eps); },
        "x"_a, "shape"_a, "weight"_a.none(), "bias"_a.none(), "eps"_a);
  function(m, "_attention", [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, double scale, bool causal, double p) { return attention(q, k, v, mask, scale, causal, p); },
        "query"_a, "key"_a, "value"_a, "mask"_a.none(), "scale"_a, "causal"_a, "dropout_p"_a = 0.0);
  function(m, "_rms_norm", [](const Tensor& x, const Dims& shape, const Tensor& w, std::optional<double> eps) { return rms_norm(x, shape, w, eps); }, "x"_a, "shape"_a, "weight"_a.none(), "eps"_a.none());
  function(m, "_batch_norm", [](const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& w, const Tensor& b, bool training, double momentum, double eps) {
    return checked_batch_norm(x, mean, var, w, b, training, momentum, eps);
  }, "x"_a, "mean"_a.none(), "var"_a.none(), "weight"_a.none(), "bias"_a.none(), "training"_a, "momentum"_a, "eps"_a);
  function(m, "_embedding", [](const Tensor& weight, const Tensor& index, int64_t padding, bool by_frequency, bool sparse) { return embedding(weight, index, padding, by_frequency, sparse); });
  function(m, "_embedding_bag", [](const Tensor& weight, const Tensor& index, const Tensor& offsets, const Tensor& weights, int mode, int64_t padding, bool closed) {
    return embedding_bag(weight, index, offsets, weights, static_cast<BagMode>(mode), padding, closed);
  }, "weight"_a, "input"_a, "offsets"_a.none(), "per_sample_weights"_a.none(), "mode"_a, "padding_idx"_a, "include_last_offset"_a);
  function(m, "_one_hot", [](const Tensor& index, int64_t classes) { return one_hot(index, classes); });
}

void bind_losses(nb::module_& m) {
  function(m, "_nll_loss", [](const Tensor& x, const Tensor& t, const Tensor& w, const std::string& r, int64_t ignore) { return checked_nll_loss(x, t, w, reduction_of(r), ignore); },
        "x"_a, "target"_a, "weight"_a.none(), "reduction"_a, "ignore_index"_a);
  function(m, "_cross_entropy", [](const Tensor& x, const Tensor& t, const Tensor& w, const std::string& r, int64_t ignore, double smoothing) { return checked_cross_entropy(x, t, w, reduction_of(r), ignore, smoothing); },
        "x"_a, "target"_a, "weight"_a.none(), "reduction"_a, "ignore_index"_a, "label_smoothing"_a);
  function(m, "_mse_loss", [](const Tensor& x, const Tensor& t, const std::string& r) { return checked_mse_loss(x, t, reduction_of(r)); });
  function(m, "_l1_loss", [](const Tensor& x, const Tensor& t, const std::string& r) { return l1_loss(x, t, reduction_of(r)); });
  function(m, "_rows_vjp", [](const Tensor& v, const Tensor& x, const Tensor& mean, const Tensor& square, const Tensor& w, int64_t n, double eps, bool sums) { return rows_vjp(v, x, mean, square, w, n, eps, sums); },
        "cotangent"_a, "input"_a, "mean"_a.none(), "square"_a, "weight"_a.none(), "n"_a, "eps"_a, "sums"_a);
  function(m, "_channels_vjp", [](const Tensor& v, const Tensor& x, const Tensor& mean, const Tensor& square, const Tensor& w, double eps, bool sums) { return channels_vjp(v, x, mean, square, w, eps, sums); },
        "cotangent"_a, "input"_a, "mean"_a, "square"_a, "weight"_a.none(), "eps"_a, "sums"_a);
  function(m, "_class_entropy", [](const Tensor& x, const Tensor& index, int dim, int64_t ignored) { return class_entropy(x, index, dim, ignored); }, "input"_a, "index"_a, "dim"_a, "ignore_index"_a);
  function(m, "_binary_cross_entropy", [](const Tensor& x, const Tensor& t, const Tensor& w, const std::string& r) { return checked_binary_cross_entropy(x, t, w, reduction_of(r)); },
        "x"_a, "target"_a, "weight"_a.none(), "reduction"_a);
  function(m, "_binary_cross_entropy_with_logits", [](const Tensor& x, const Tensor& t, const Tensor& w, const Tensor& p, const std::string& r) {
    return binary_cross_entropy_with_logits(x, t, w, p, reduction_of(r));
  }, "x"_a, "target"_a, "weight"_a.none(), "pos_weight"_a.none(), "reduction"_a);
  function(m, "_smooth_l1_loss", [](const Tensor& x, const Tensor& t, const std::string& r, double beta) { return smooth_l1_loss(x, t, reduction_of(r), beta); });
  function(m, "_huber_loss", [](const Tensor& x, const Tensor& t, const std::string& r, double delta) { return huber_loss(x, t, reduction_of(r), delta); });
  function(m, "_kl_div", [](const Tensor& x, const Tensor& t, const std::string& r, bool log_target) { return checked_kl_div(x, t, reduction_of(r), log_target); });
}

}  // namespace

void bind_nn(nb::module_& m) {
  bind_activations(m);
  bind_layers(m);
  bind_planes(m);
  bind_normalisations(m);
  bind_losses(m);
}

}  // namespace adjoint::python
