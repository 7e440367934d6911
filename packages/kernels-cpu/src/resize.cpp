// Lines, images and volumes in other sizes: core's loops, compiled for this processor's vectors.
#include "resample.h"

#include <adjoint/core/resize.h>

#include "isa.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

using resizing::Backward, resizing::Forward, resizing::Place, resizing::Tables;

template <class K> struct Narrow : K { static constexpr bool narrow = true; };
template <class C, class S> using RunForward = Narrow<Forward<C, S>>;
template <class C> using RunBackward = Narrow<Backward<C>>;

// x as it lies, where that is cheaper than to put it in order first: as no element is read more than once.
template <class C> bool find_place(const View& x, int n, const Tables<C>& t, Place& at) {
  const int lead = x.ndim - n;
  if (x.contiguous()) return true;
  if (lead > 2 || t.rows() * t.axis[0].taps * t.axis[1].taps * t.room() > t.in()) return false;
  for (int i = 0; i < n; i++) at.steps[3 - n + i] = x.strides[lead + i];
  if (lead > 0) at.channel = x.strides[lead - 1], at.count = x.sizes[lead - 1];
  if (lead > 1) at.batch = x.strides[0];
  return true;
}

template <class C, class S> void resize_stored(const Launch& l) {
  const Resize& a = l.attrs.as<Resize>();
  const Tables<C> t(l.x[0].sizes, l.y[0].sizes, l.x[0].ndim, a);
  Place at(t);
  std::optional<Contiguous> ordered;
  const S* x = l.x[0].as<const S>();
  if (!find_place(l.x[0], a.sizes.size(), t, at)) x = ordered.emplace(l.x[0]).template as<const S>();
  const int64_t room = t.room() + t.axis[2].out;
  pool::parallel_for(t.planes * t.rows(), resizing::grain(room), [&](int64_t first, int64_t last) {
    const Buffer line(room * static_cast<int64_t>(sizeof(C)));
    isa::call<RunForward<C, S>, const Tables<C>*, const Place*, const S*, S*, C*, int64_t, int64_t>(&t, &at, x, l.y[0].template as<S>(), line.as<C>(), first, last);
  });
}

template <class C> void resize_vjp_dense(const View& v, const View& y, const Tables<C>& t) {
  pool::parallel_for(t.planes, resizing::grain(t.in() + t.out()), [&](int64_t first, int64_t last) {
    const Buffer line(t.room() * static_cast<int64_t>(sizeof(C)));
    isa::call<RunBackward<C>, const Tables<C>*, const C*, C*, C*, int64_t, int64_t>(&t, v.as<const C>(), y.as<C>(), line.as<C>(), first, last);
  });
}

}  // namespace

void resize_kernel(const Launch& l) {
  if (l.y[0].numel == 0) return reference(l);
  switch (l.y[0].dtype) {
    case DType::float32: return resize_stored<float, float>(l);
    case DType::float64: return resize_stored<double, double>(l);
    case DType::float16: return resize_stored<float, Half>(l);
    case DType::bfloat16: return resize_stored<float, BFloat16>(l);
    default: return reference(l);
  }
}
void resize_vjp_kernel(const Launch& l) {
  const DType type = widened(l.y[0].dtype);
  if ((type != DType::float32 && type != DType::float64) || l.y[0].numel == 0) return reference(l);
  with_dense(l.x[0], l.y[0], [&](const View& v, const View& y) {
    with_real(type, [&]<class C>(C) { resize_vjp_dense<C>(v, y, Tables<C>(l.y[0].sizes, l.x[0].sizes, l.x[0].ndim, l.attrs.as<Resize>())); });
  });
}

}  // namespace adjoint::cpu
