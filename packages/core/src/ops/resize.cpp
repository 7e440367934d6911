// Lines, images and volumes in other sizes, and the transpose.
#include <adjoint/core/batch.h>
#include <adjoint/core/parallel.h>
#include <adjoint/core/resize.h>
#include <adjoint/core/types.h>

#include "in_double.h"

namespace adjoint {

namespace {

Dims ending_with(const Dims& sizes, const Dims& last) {
  Dims r = sizes;
  for (int i = 0; i < last.size(); i++) r[r.size() - last.size() + i] = last[i];
  return r;
}
void resized(Tensors x, const Attrs& a, Dims* out) { out[0] = ending_with(x[0].sizes(), a.as<Resize>().sizes); }

void resize_kernel(const Launch& l) {
  if (l.y[0].numel == 0) return;
  const resizing::Tables<double> t(l.x[0].sizes, l.y[0].sizes, l.x[0].ndim, l.attrs.as<Resize>());
  const resizing::Place at(t);
  Wide x(l.x[0]), y(l.y[0], true);
  parallel_for(t.planes * t.rows(), resizing::grain(t.room() + t.axis[2].out), [&](int64_t first, int64_t last) {
    std::vector<double> line(static_cast<size_t>(t.room()));
    resizing::Forward<double>::run<16>(&t, &at, x.data(), y.data(), line.data(), first, last);
  });
  y.give(l.y[0]);
}
void resize_vjp_kernel(const Launch& l) {
  if (l.y[0].numel == 0) return;
  const resizing::Tables<double> t(l.y[0].sizes, l.x[0].sizes, l.x[0].ndim, l.attrs.as<Resize>());
  Wide v(l.x[0]), y(l.y[0], true);
  parallel_for(t.planes, resizing::grain(t.in() + t.out()), [&](int64_t first, int64_t last) {
    std::vector<double> line(static_cast<size_t>(t.room()));
    resizing::Backward<double>::run<16>(&t, v.data(), y.data(), line.data(), first, last);
  });
  y.give(l.y[0]);
}

Resize with_sizes(const Resize& a, std::span<const int64_t> sizes) { return {Dims(sizes), a.steps, a.mode, a.aligned}; }

}  // namespace

const Op op_resize{.name = "resize", .torch = "Upsample", .fields = fields_of<Resize>, .kind = Kind::linear, .types = types::first, .shape = resized,
    .d = {rule([](V v, XShape<0> x, const Resize& a) { return apply(op_resize_vjp, {v}, with_sizes(a, std::span(x.sizes.end() - a.sizes.size(), x.sizes.end()))); })},
    .batch = batch::leading,
    .doc = "The last dimensions in other sizes, by the nearest elements or by polynomials between them.", .reference = resize_kernel};

const Op op_resize_vjp{.name = "resize_vjp", .fields = fields_of<Resize>, .kind = Kind::linear, .types = types::first, .shape = resized,
    .d = {rule([](V u, XShape<0> v, const Resize& a) { return apply(op_resize, {u}, with_sizes(a, std::span(v.sizes.end() - a.sizes.size(), v.sizes.end()))); })},
    .batch = batch::leading,
    .doc = "The cotangent of what was resized: each element of `v` shared out over those it was made of.", .reference = resize_vjp_kernel};

std::vector<double> resize_steps(const Dims& given, const Dims& sizes, const std::vector<std::optional<double>>& scales, int mode, bool aligned) {
  expect(given.size() == sizes.size() + 2 && scales.size() == static_cast<size_t>(sizes.size()), ErrorKind::shape, "interpolate: expected a size for each dimension behind the first two of ", given, ", got ", sizes);
  std::vector<double> steps;
  for (int i = 0; i < sizes.size(); i++) {
    const auto n = static_cast<double>(given[2 + i]), out = static_cast<double>(sizes[i]);
    const bool image = mode == 0 && sizes.size() == 2;
    const double scale = scales[static_cast<size_t>(i)].value_or(0);
    // In PyTorch sizes decide here, whatever the scale.
    if ((out == n && (mode == 2 || image)) || (out == 2 * n && image)) steps.push_back(n / out);
    else if (aligned) steps.push_back(out > 1 ? (n - 1) / (out - 1) : 0.0);
    else steps.push_back(scale != 0 ? 1 / scale : n / out);
  }
  return steps;
}

Tensor resize(const Tensor& x, const Dims& sizes, const std::vector<double>& steps, int mode, bool aligned) {
  expect(is_floating(x.dtype()), ErrorKind::not_implemented, "interpolate: not implemented for ", x.dtype());
  expect(sizes.size() <= 3 && sizes.size() <= x.dim() && steps.size() == static_cast<size_t>(sizes.size()), ErrorKind::shape, "interpolate: sizes must be of at most 3 of the last dimensions, each with a step, got ", sizes, " for ", x.sizes());
  Resize a{sizes, {}, mode, aligned};
  for (int i = 0; i < sizes.size(); i++) {
    const double step = steps[static_cast<size_t>(i)];
    a.steps.push_back(std::bit_cast<int64_t>(resizing::single(mode, sizes[i]) ? static_cast<float>(step) : step));
  }
  return apply(op_resize, {x}, a);
}

}  // namespace adjoint
