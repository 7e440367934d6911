// Plain calls of nn.functional: windows, other sizes, channels in other orders.
#include <adjoint/core/norms.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/resize.h>

#include <algorithm>
#include <cmath>

#include "checked_types.h"
#include "plain_space.h"

namespace adjoint::python {

namespace {

std::string of_dims(const char* name, int n) { return name + std::to_string(n) + "d"; }

void bind_plain_pools(const Space& s) {
  for (int n = 1; n <= 3; n++) {
    const auto window = [n](const Tensor& x, Dims& kernel, Dims& stride, Dims& padding, Dims& dilation) {
      return x.dim() == n + 2 && per_dimension(kernel, n) && (stride.empty() ? (stride = kernel, true) : per_dimension(stride, n)) && per_dimension(padding, n) && per_dimension(dilation, n);
    };
    s.def(of_dims("max_pool", n), [window](const Tensor& x, Dims kernel, std::optional<Dims> stride, Dims padding, Dims dilation, bool ceil_mode, bool indices) -> Perhaps {
      Dims step = stride.value_or(Dims());
      if (indices || !window(x, kernel, step, padding, dilation)) return {};
      return max_pool_values(x, {kernel, step, padding, dilation, 1, ceil_mode, true});
    }, "kernel_size"_a, "stride"_a = nb::none(), "padding"_a = 0, "dilation"_a = 1, "ceil_mode"_a = false, "return_indices"_a = false);
    const auto average = [window, n](const Tensor& x, Dims kernel, std::optional<Dims> stride, Dims padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor) -> Perhaps {
      Dims step = stride.value_or(Dims()), dilation(n, 1);
      if (!window(x, kernel, step, padding, dilation)) return {};
      return avg_pool(x, {kernel, step, padding, dilation, 1, ceil_mode, count_include_pad}, divisor);
    };
    if (n > 1) s.def(of_dims("avg_pool", n), average, "kernel_size"_a, "stride"_a = nb::none(), "padding"_a = 0, "ceil_mode"_a = false, "count_include_pad"_a = true, "divisor_override"_a = nb::none());
    else
      s.def("avg_pool1d", [average](const Tensor& x, const Dims& kernel, const std::optional<Dims>& stride, const Dims& padding, bool ceil_mode, bool count_include_pad) { return average(x, kernel, stride, padding, ceil_mode, count_include_pad, {}); },
            "kernel_size"_a, "stride"_a = nb::none(), "padding"_a = 0, "ceil_mode"_a = false, "count_include_pad"_a = true);
    s.def(of_dims("adaptive_avg_pool", n), [n](const Tensor& x, Dims sizes) -> Perhaps {
      if (x.dim() != n + 2 || !is_floating(x.dtype()) || is_half(x.dtype()) || x.device().type == DeviceType::cuda || x->keys & key_sparse || !per_dimension(sizes, n)) return {};
      return adaptive_avg_pool(x, sizes);
    }, "output_size"_a);
  }
}

// The kinds that one kernel makes, of floating-point images; a number scales all dimensions.
void bind_plain_resizing(const Space& s) {
  static constexpr std::pair<const char*, int> kinds[] = {{"nearest", 0}, {"nearest-exact", 1}, {"linear", 2}, {"bilinear", 2}, {"trilinear", 2}, {"bicubic", 3}};
  s.def("interpolate", [](const Tensor& x, std::optional<Dims> size, std::optional<double> scale, const std::string& mode, std::optional<bool> corners, std::optional<bool> anew, bool antialias) -> Perhaps {
    const auto* kind = std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& k) { return mode == k.first; });
    const int n = x.dim() - 2;
    if (kind == std::end(kinds) || n < 1 || n > 3 || antialias || size.has_value() == scale.has_value() || (size && anew.value_or(false)) || !is_floating(x.dtype())) return {};
    if (kind->second < 2 ? corners.has_value() : n != (mode == "linear" ? 1 : mode == "trilinear" ? 3 : 2)) return {};
    Dims sizes = size.value_or(Dims(n, 0));
    if (!per_dimension(sizes, n)) return {};
    std::vector<std::optional<double>> scales(static_cast<size_t>(n), anew.value_or(false) ? std::nullopt : scale);
    for (int i = 0; i < n; i++) {
      if (scale) sizes[i] = static_cast<int64_t>(std::floor(static_cast<double>(x.size(2 + i)) * *scale));
      if (sizes[i] <= 0 || x.size(2 + i) == 0) return {};
    }
    return resize(x, sizes, resize_steps(x.sizes(), sizes, scales, kind->second, corners.value_or(false)), kind->second, corners.value_or(false));
  }, "size"_a = nb::none(), "scale_factor"_a = nb::none(), "mode"_a = "nearest", "align_corners"_a = nb::none(), "recompute_scale_factor"_a = nb::none(), "antialias"_a = false);
}

// In memory of its own.
Tensor apart(const Tensor& x, const Tensor& y) { return y->storage == x->storage && y->storage ? clone(y) : y; }

void bind_plain_channels(const Space& s) {
  s.def("prelu", [](const Tensor& x, const Tensor& weight) -> Perhaps {
    if (weight.dim() > 1) return {};
    if (weight.numel() == 1) return prelu(x, weight.dim() ? reshape(weight, Dims()) : weight);
    if (weight.numel() != (x.dim() > 1 ? x.size(1) : 1)) return {};
    Dims channels(std::max(x.dim() - 1, 1), 1);
    channels[0] = weight.numel();
    return prelu(x, x.dim() > 2 ? view(weight, channels) : weight);
  }, "weight"_a);
  s.def("pixel_shuffle", [](const Tensor& x, int64_t r) -> Perhaps {
    if (x.dim() != 4 || r < 2 || r > (1 << 15) || x.size(1) % (r * r)) return {};
    const NodeName named("PixelShuffleBackward0");
    const int64_t n = x.size(0), c = x.size(1) / (r * r), h = x.size(2), w = x.size(3);
    return apart(x, reshape(permute(reshape(x, {n, c, r, r, h, w}), {0, 1, 4, 2, 5, 3}), {n, c, h * r, w * r}));
  }, "upscale_factor"_a);
  s.def("pixel_unshuffle", [](const Tensor& x, int64_t r) -> Perhaps {
    if (x.dim() != 4 || r < 2 || r > (1 << 15) || x.size(2) % r || x.size(3) % r) return {};
    const NodeName named("PixelUnshuffleBackward0");
    const int64_t n = x.size(0), c = x.size(1), h = x.size(2) / r, w = x.size(3) / r;
    return apart(x, reshape(permute(reshape(x, {n, c, h, r, w, r}), {0, 1, 3, 5, 2, 4}), {n, c * r * r, h, w}));
  }, "downscale_factor"_a);
  s.def("group_norm", [](const Tensor& x, int64_t groups, const Tensor& w, const Tensor& b, double eps) -> Perhaps {
    if (x.dim() < 2 || groups <= 0 || x.size(1) % groups || x.numel() <= x.size(0) * groups) return {};
    const NodeName named("NativeGroupNormBackward0");
    expect_parameters("group_norm", x, {{"weight", w}, {"bias", b}});
    return grouped_norm(x, x.size(0) * groups, x.numel() / (x.size(0) * groups), w, b, eps, false).y;
  }, "num_groups"_a, none("weight"), none("bias"), "eps"_a = 1e-5);
}

}  // namespace

void bind_plain_planes(const Space& s) {
  bind_plain_pools(s);
  bind_plain_resizing(s);
  bind_plain_channels(s);
}

}  // namespace adjoint::python
