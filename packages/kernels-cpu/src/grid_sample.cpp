// Images at given positions, in float: core's loops, compiled for this processor's vectors.
#include "resample.h"

#include <adjoint/core/grid_sample.h>

#include "isa.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

using namespace sampling;

// Gathers are no faster in wider vectors.
template <class K> struct Narrow : K { static constexpr bool narrow = true; };

// f(operands, y, counts) on row-major floats where elements of an image have numbers of 29 bits.
template <class F> void with_floats(const Launch& l, F&& f) {
  const GridSample& a = l.attrs.as<GridSample>();
  const View& y = l.y[0];
  if (widened(y.dtype) != DType::float32 || y.numel == 0 || a.sizes.product() > int64_t(1) << 28) return reference(l);
  const Contiguous x(l.x[0], DType::float32), between(l.x[l.x.size() - 2], DType::float32), grid(l.x.back(), DType::float32);
  const Counts c{l.x[0].sizes[0], l.x[0].sizes[1], a.sizes.product(), l.x.back().numel / std::max<int64_t>(1, l.x[0].sizes[0] * a.sizes.size())};
  const float* const operands[] = {x.as<const float>(), between.as<const float>(), grid.as<const float>()};
  if (y.dtype == DType::float32) return f(operands, y.as<float>(), a, c);
  const Buffer memory(y.numel * static_cast<int64_t>(sizeof(float)));
  f(operands, memory.as<float>(), a, c);
  cast(y, {memory.as<char>(), y.sizes, y.strides, y.ndim, DType::float32, y.numel});
}

}  // namespace

void grid_sample_kernel(const Launch& l) {
  with_floats(l, [](const float* const* x, float* y, const GridSample& a, const Counts& c) {
    pool::parallel_for(c.tiles() * c.batch, tiles_each(c), [&](int64_t first, int64_t last) {
      isa::call<Narrow<Forward<float, int32_t>>, const GridSample*, const Counts*, const float*, const float*, float*, int64_t, int64_t>(&a, &c, x[0], x[2], y, first, last);
    });
  });
}
void grid_sample_image_vjp_kernel(const Launch& l) {
  with_floats(l, [](const float* const* x, float* y, const GridSample& a, const Counts& c) {
    pool::parallel_for(c.batch * c.channels, planes_each(c), [&](int64_t first, int64_t last) {
      isa::call<Narrow<Image<float, int32_t>>, const GridSample*, const Counts*, const float*, const float*, float*, int64_t, int64_t>(&a, &c, x[0], x[2], y, first, last);
    });
  });
}
void grid_sample_grid_vjp_kernel(const Launch& l) {
  with_floats(l, [](const float* const* x, float* y, const GridSample& a, const Counts& c) {
    pool::parallel_for(c.tiles() * c.batch, tiles_each(c), [&](int64_t first, int64_t last) {
      isa::call<Narrow<Grid<float, int32_t>>, const GridSample*, const Counts*, const float*, const float*, const float*, float*, int64_t, int64_t>(&a, &c, x[0], x[1], x[2], y, first, last);
    });
  });
}

}  // namespace adjoint::cpu
