// Images at given positions. The samples are linear in the image; by the positions, a derivative is a sample with other weights, so three records
// hold derivatives of all orders: the samples, and the cotangents of the image and of the positions.
#include <adjoint/core/batch.h>
#include <adjoint/core/grid_sample.h>
#include <adjoint/core/parallel.h>
#include <adjoint/core/types.h>

#include "in_double.h"

namespace adjoint {

namespace {

using sampling::Counts;

Tensor samples(const Tensor& x, const Tensor& grid, const GridSample& a);
Tensor image_vjp(const Tensor& v, const Tensor& grid, const GridSample& a);
Tensor grid_vjp(const Tensor& v, const Tensor& x, const Tensor& grid, const GridSample& a);

GridSample raised(const GridSample& a, int coordinate) {
  GridSample r = a;
  r.orders[coordinate]++;
  return r;
}
// Coordinate j of what belongs to positions, as large as a channel.
Tensor coordinate(const Tensor& grid, int j) { return unsqueeze(select(grid, -1, j), 1); }

// The sum over all coordinates of f(coordinate, attributes with its order raised).
template <class F> Tensor over_coordinates(const GridSample& a, F&& f) {
  Tensor sum = f(0, raised(a, 0));
  for (int j = 1; j < a.orders.size(); j++) sum = add(sum, f(j, raised(a, j)));
  return sum;
}
// What the samples of x change by where positions change by t.
Tensor moved(const Tensor& t, const Tensor& x, const Tensor& grid, const GridSample& a) {
  return over_coordinates(a, [&](int j, const GridSample& next) { return mul(coordinate(t, j), samples(x, grid, next)); });
}
Tensor image_moved(const Tensor& t, const Tensor& v, const Tensor& grid, const GridSample& a) {
  return over_coordinates(a, [&](int j, const GridSample& next) { return image_vjp(mul(v, coordinate(t, j)), grid, next); });
}
// Symmetric, as second derivatives by the positions are: vjp and jvp both.
Tensor grid_moved(const Tensor& t, const Tensor& v, const Tensor& x, const Tensor& grid, const GridSample& a) {
  return over_coordinates(a, [&](int j, const GridSample& next) { return mul(unsqueeze(select(t, -1, j), -1), grid_vjp(v, x, grid, next)); });
}

Dims spatial(const Dims& sizes) { return Dims(std::span(sizes.begin() + 2, sizes.end())); }
Dims with_channels(const Tensor& x, std::span<const int64_t> sizes) {
  Dims r{x.size(0), x.size(1)};
  for (const int64_t m : sizes) r.push_back(m);
  return r;
}

// The kernels: in double, in one piece of code for all types.
Counts counts_of(const View& planes, const View& grid, const GridSample& a) {
  return {planes.sizes[0], planes.sizes[1], a.sizes.product(), grid.numel / std::max<int64_t>(1, planes.sizes[0] * a.sizes.size())};
}

void samples_kernel(const Launch& l) {
  if (l.y[0].numel == 0) return;
  const GridSample& a = l.attrs.as<GridSample>();
  const Counts c = counts_of(l.x[0], l.x[1], a);
  Wide x(l.x[0]), grid(l.x[1]), y(l.y[0], true);
  parallel_for(c.tiles() * c.batch, sampling::tiles_each(c), [&](int64_t first, int64_t last) {
    sampling::Forward<double, int64_t>::run<16>(&a, &c, sampling::Prepare<double, int64_t>::run<16>, x.data(), grid.data(), y.data(), first, last);
  });
  y.give(l.y[0]);
}
void image_vjp_kernel(const Launch& l) {
  if (l.y[0].numel == 0) return;
  const GridSample& a = l.attrs.as<GridSample>();
  const Counts c = counts_of(l.x[0], l.x[1], a);
  Wide v(l.x[0]), grid(l.x[1]), y(l.y[0], true);
  parallel_for(c.batch * c.channels, sampling::planes_each(c), [&](int64_t first, int64_t last) {
    sampling::Image<double, int64_t>::run<16>(&a, &c, sampling::Prepare<double, int64_t>::run<16>, v.data(), grid.data(), y.data(), first, last);
  });
  y.give(l.y[0]);
}
void grid_vjp_kernel(const Launch& l) {
  if (l.y[0].numel == 0) return;
  const GridSample& a = l.attrs.as<GridSample>();
  const Counts c = counts_of(l.x[0], l.x[2], a);
  Wide v(l.x[0]), x(l.x[1]), grid(l.x[2]), y(l.y[0], true);
  parallel_for(c.tiles() * c.batch, sampling::tiles_each(c), [&](int64_t first, int64_t last) {
    sampling::Grid<double, int64_t>::run<16>(&a, &c, sampling::Prepare<double, int64_t>::run<16>, v.data(), x.data(), grid.data(), y.data(), first, last);
  });
  y.give(l.y[0]);
}

// All operands and results begin with the images' number: lanes are more images.
void batch_images(const BatchCall& c, Tensor* out) {
  Vector<Tensor> x(c.x.size());
  for (size_t i = 0; i < x.size(); i++) x[i] = flatten(batch::spread(c, static_cast<int>(i)), 0, 1);
  const Tensor y = apply(c.op, {x[0], x[1], x.back()}, c.attrs);
  Dims sizes = y.sizes();
  sizes[0] /= std::max<int64_t>(1, c.size);
  sizes.insert(0, c.size);
  out[0] = reshape(y, sizes);
}

}  // namespace

const Op op_grid_sample{.name = "grid_sample", .torch = "GridSampler|input grid", .fields = fields_of<GridSample>, .kind = Kind::custom, .types = types::promoted,
    .shape = [](Tensors x, const Attrs&, Dims* out) { out[0] = with_channels(x[0], std::span(x[1].sizes().begin() + 1, x[1].sizes().end() - 1)); },
    .d = {rule([](V v, X<1> grid, const GridSample& a) { return image_vjp(v, grid, a); }),
          rule([](V v, X<0> x, X<1> grid, const GridSample& a) { return grid_vjp(v, x, grid, a); })},
    .t = {rule([](V v, X<1> grid, const GridSample& a) { return samples(v, grid, a); }),
          rule([](V t, X<0> x, X<1> grid, const GridSample& a) { return moved(t, x, grid, a); })},
    .batch = batch_images,
    .doc = "Images at positions, by the elements around each.", .reference = samples_kernel};

const Op op_grid_sample_image_vjp{.name = "grid_sample_image_vjp", .fields = fields_of<GridSample>, .kind = Kind::custom, .types = types::promoted,
    .shape = [](Tensors v, const Attrs& a, Dims* out) { out[0] = with_channels(v[0], a.as<GridSample>().sizes); },
    .d = {rule([](V u, X<1> grid, const GridSample& a) { return samples(u, grid, a); }),
          rule([](V u, X<0> v, X<1> grid, const GridSample& a) { return grid_vjp(v, u, grid, a); })},
    .t = {rule([](V t, X<1> grid, const GridSample& a) { return image_vjp(t, grid, a); }),
          rule([](V t, X<0> v, X<1> grid, const GridSample& a) { return image_moved(t, v, grid, a); })},
    .batch = batch_images,
    .doc = "The cotangent of grid_sample's images: each element of `v` shared out over the elements around its position.", .reference = image_vjp_kernel};

const Op op_grid_sample_grid_vjp{.name = "grid_sample_grid_vjp", .fields = fields_of<GridSample>, .kind = Kind::custom, .types = types::promoted,
    .shape = [](Tensors x, const Attrs&, Dims* out) { out[0] = x[2].sizes(); },
    .d = {rule([](V u, X<1> x, X<2> grid, const GridSample& a) { return moved(u, x, grid, a); }),
          rule([](V u, X<0> v, X<2> grid, const GridSample& a) { return image_moved(u, v, grid, a); }),
          rule([](V u, X<0> v, X<1> x, X<2> grid, const GridSample& a) { return grid_moved(u, v, x, grid, a); })},
    .t = {rule([](V t, X<1> x, X<2> grid, const GridSample& a) { return grid_vjp(t, x, grid, a); }),
          rule([](V t, X<0> v, X<2> grid, const GridSample& a) { return grid_vjp(v, t, grid, a); }),
          rule([](V t, X<0> v, X<1> x, X<2> grid, const GridSample& a) { return grid_moved(t, v, x, grid, a); })},
    .batch = batch_images,
    .doc = "The cotangent of grid_sample's positions.", .reference = grid_vjp_kernel};

namespace {

Tensor samples(const Tensor& x, const Tensor& grid, const GridSample& a) { return apply(op_grid_sample, {x, grid}, a); }
Tensor image_vjp(const Tensor& v, const Tensor& grid, const GridSample& a) { return apply(op_grid_sample_image_vjp, {v, grid}, a); }
Tensor grid_vjp(const Tensor& v, const Tensor& x, const Tensor& grid, const GridSample& a) { return apply(op_grid_sample_grid_vjp, {v, x, grid}, a); }

void check(const Tensor& x, const Tensor& grid, int mode, int outside) {
  const int n = x.dim() - 2;
  expect((n == 2 || n == 3) && grid.dim() == x.dim(), ErrorKind::shape, "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes ", x.sizes(), " and grid with sizes ", grid.sizes());
  expect(x.size(0) == grid.size(0), ErrorKind::shape, "grid_sampler(): expected grid and input to have same batch size, but got input with sizes ", x.sizes(), " and grid with sizes ", grid.sizes());
  expect(grid.size(-1) == n, ErrorKind::shape, "grid_sampler(): expected grid to have size ", n, " in last dimension, but got grid with sizes ", grid.sizes());
  for (int d = 2; d < n + 2; d++) expect(x.size(d) > 0, ErrorKind::shape, "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes ", x.sizes(), " with dimension ", d, " being empty");
  expect(mode >= sampling::linear && mode <= sampling::cubic && outside >= sampling::zeros && outside <= sampling::reflection, ErrorKind::value, "grid_sampler(): expected an interpolation and a padding of 0, 1 or 2, got ", mode, " and ", outside);
  expect(mode != sampling::cubic || n == 2, ErrorKind::shape, "grid_sampler(): bicubic interpolation only supports 4D input");
  expect(is_floating(x.dtype()) && is_floating(grid.dtype()), ErrorKind::not_implemented, "grid_sampler(): not implemented for ", x.dtype(), " at positions of ", grid.dtype());
}

}  // namespace

Tensor grid_sample(const Tensor& x, const Tensor& grid, int mode, int outside, bool aligned) {
  check(x, grid, mode, outside);
  return samples(x, grid, {spatial(x.sizes()), mode, outside, aligned, Dims(x.dim() - 2, 0)});
}

}  // namespace adjoint
