// Lines, images and volumes in other sizes, in float: core's loops, compiled for this processor's vectors.
#include "resample.h"

#include <adjoint/core/resize.h>

#include "isa.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

using resizing::Backward, resizing::Forward, resizing::Tables;

template <class K> struct Narrow : K { static constexpr bool narrow = true; };
using RunForward = Narrow<Forward<float>>;
using RunBackward = Narrow<Backward<float>>;

// f(x, y) on row-major floats.
template <class F> void with_floats(const Launch& l, F&& f) {
  if (widened(l.y[0].dtype) != DType::float32 || l.y[0].numel == 0) return reference(l);
  with_dense(l.x[0], l.y[0], [&](const View& x, const View& y) { f(x.as<const float>(), y.as<float>()); });
}

}  // namespace

void resize_kernel(const Launch& l) {
  with_floats(l, [&](const float* x, float* y) {
    const Tables<float> t(l.x[0].sizes, l.y[0].sizes, l.x[0].ndim, l.attrs.as<Resize>());
    pool::parallel_for(t.planes * t.rows(), resizing::grain(t.room() + t.axis[2].out), [&](int64_t first, int64_t last) {
      const Buffer line(t.room() * static_cast<int64_t>(sizeof(float)));
      isa::call<RunForward, const Tables<float>*, const float*, float*, float*, int64_t, int64_t>(&t, x, y, line.as<float>(), first, last);
    });
  });
}
void resize_vjp_kernel(const Launch& l) {
  with_floats(l, [&](const float* v, float* y) {
    const Tables<float> t(l.y[0].sizes, l.x[0].sizes, l.x[0].ndim, l.attrs.as<Resize>());
    pool::parallel_for(t.planes, resizing::grain(t.in() + t.out()), [&](int64_t first, int64_t last) {
      const Buffer line(t.room() * static_cast<int64_t>(sizeof(float)));
      isa::call<RunBackward, const Tables<float>*, const float*, float*, float*, int64_t, int64_t>(&t, v, y, line.as<float>(), first, last);
    });
  });
}

}  // namespace adjoint::cpu
