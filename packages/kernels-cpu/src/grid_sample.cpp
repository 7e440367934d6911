// Images at given positions: core's loops, compiled for this processor's vectors.
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

template <class C> using Prepared = typename Prepare<C, int32_t>::Call;
template <class C> Prepared<C> prepare() { return isa::at_level<Narrow<Prepare<C, int32_t>>, Tile<C, int32_t>*, const C*, int, bool>(); }

// f(operands, y, attributes, counts) on row-major floats or doubles where elements of an image have numbers of 29 bits.
template <class C, class F> void in_order(const Launch& l, F&& f) {
  const GridSample& a = l.attrs.as<GridSample>();
  const View& y = l.y[0];
  constexpr DType type = dtype_of<C>();
  const Contiguous x(l.x[0], type), between(l.x[l.x.size() - 2], type), grid(l.x.back(), type);
  const Counts c{l.x[0].sizes[0], l.x[0].sizes[1], a.sizes.product(), l.x.back().numel / std::max<int64_t>(1, l.x[0].sizes[0] * a.sizes.size())};
  const C* const operands[] = {x.as<const C>(), between.as<const C>(), grid.as<const C>()};
  if (y.dtype == type) return f(operands, y.as<C>(), a, c);
  const Buffer memory(y.numel * static_cast<int64_t>(sizeof(C)));
  f(operands, memory.as<C>(), a, c);
  cast(y, {memory.as<char>(), y.sizes, y.strides, y.ndim, type, y.numel});
}
template <class F> void with_order(const Launch& l, F&& f) {
  const View& y = l.y[0];
  const DType type = widened(y.dtype);
  if ((type != DType::float32 && type != DType::float64) || y.numel == 0 || l.attrs.as<GridSample>().sizes.product() > int64_t(1) << 28) return reference(l);
  if (type == DType::float32) in_order<float>(l, f);
  else in_order<double>(l, f);
}

}  // namespace

void grid_sample_kernel(const Launch& l) {
  with_order(l, []<class C>(const C* const* x, C* y, const GridSample& a, const Counts& c) {
    pool::parallel_for(c.tiles() * c.batch, tiles_each(c), [&](int64_t first, int64_t last) {
      isa::call<Narrow<Forward<C, int32_t>>, const GridSample*, const Counts*, Prepared<C>, const C*, const C*, C*, int64_t, int64_t>(&a, &c, prepare<C>(), x[0], x[2], y, first, last);
    });
  });
}
void grid_sample_image_vjp_kernel(const Launch& l) {
  with_order(l, []<class C>(const C* const* x, C* y, const GridSample& a, const Counts& c) {
    pool::parallel_for(c.batch * c.channels, planes_each(c), [&](int64_t first, int64_t last) {
      isa::call<Narrow<Image<C, int32_t>>, const GridSample*, const Counts*, Prepared<C>, const C*, const C*, C*, int64_t, int64_t>(&a, &c, prepare<C>(), x[0], x[2], y, first, last);
    });
  });
}
void grid_sample_grid_vjp_kernel(const Launch& l) {
  with_order(l, []<class C>(const C* const* x, C* y, const GridSample& a, const Counts& c) {
    pool::parallel_for(c.tiles() * c.batch, tiles_each(c), [&](int64_t first, int64_t last) {
      isa::call<Narrow<Grid<C, int32_t>>, const GridSample*, const Counts*, Prepared<C>, const C*, const C*, const C*, C*, int64_t, int64_t>(&a, &c, prepare<C>(), x[0], x[1], x[2], y, first, last);
    });
  });
}

}  // namespace adjoint::cpu
