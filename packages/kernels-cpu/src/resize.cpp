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
template <class S> using RunForward = Narrow<Forward<float, S>>;
using RunBackward = Narrow<Backward<float>>;

template <class S> void resize_stored(const Launch& l) {
  const Contiguous x(l.x[0]);
  const Tables<float> t(l.x[0].sizes, l.y[0].sizes, l.x[0].ndim, l.attrs.as<Resize>());
  const int64_t room = t.room() + t.axis[2].out;
  pool::parallel_for(t.planes * t.rows(), resizing::grain(room), [&](int64_t first, int64_t last) {
    const Buffer line(room * static_cast<int64_t>(sizeof(float)));
    isa::call<RunForward<S>, const Tables<float>*, const S*, S*, float*, int64_t, int64_t>(&t, x.template as<const S>(), l.y[0].template as<S>(), line.as<float>(), first, last);
  });
}

}  // namespace

void resize_kernel(const Launch& l) {
  if (l.y[0].numel == 0) return reference(l);
  switch (l.y[0].dtype) {
    case DType::float32: return resize_stored<float>(l);
    case DType::float16: return resize_stored<Half>(l);
    case DType::bfloat16: return resize_stored<BFloat16>(l);
    default: return reference(l);
  }
}
void resize_vjp_kernel(const Launch& l) {
  if (widened(l.y[0].dtype) != DType::float32 || l.y[0].numel == 0) return reference(l);
  with_dense(l.x[0], l.y[0], [&](const View& v, const View& y) {
    const Tables<float> t(l.y[0].sizes, l.x[0].sizes, l.x[0].ndim, l.attrs.as<Resize>());
    pool::parallel_for(t.planes, resizing::grain(t.in() + t.out()), [&](int64_t first, int64_t last) {
      const Buffer line(t.room() * static_cast<int64_t>(sizeof(float)));
      isa::call<RunBackward, const Tables<float>*, const float*, float*, float*, int64_t, int64_t>(&t, v.as<const float>(), y.as<float>(), line.as<float>(), first, last);
    });
  });
}

}  // namespace adjoint::cpu
