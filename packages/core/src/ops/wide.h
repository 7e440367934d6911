// Kernels that are compiled for the types that are computed in: float for half types, int64 for narrow integers. Operands of others are
// converted, and results rounded, or cut off, once.
#pragma once
#include <adjoint/core/elementwise.h>

namespace adjoint {

void cast_elements(const View& y, const View& x);
void in_wide_types(const Launch& l, Borrowed<const Launch&> kernel);

// f(tag of the type, launch) for any type.
template <class F> void in_wide(const Launch& l, F&& f) {
  in_wide_types(l, [&](const Launch& wide) { detail::with_wide_type(wide.x[0].dtype, [&](auto tag) { f(tag, wide); }); });
}
// For real numbers.
template <class F> void in_real(const Launch& l, F&& f) {
  if (!is_floating(l.x[0].dtype)) fail(ErrorKind::not_implemented, l.op, ": not implemented for ", l.x[0].dtype);
  in_wide_types(l, [&](const Launch& wide) {
    if (wide.x[0].dtype == DType::float32) f(TypeTag<float>{}, wide);
    else f(TypeTag<double>{}, wide);
  });
}
// For real and complex numbers.
template <class F> void in_inexact(const Launch& l, F&& f) {
  if (l.x[0].dtype == DType::complex64) f(TypeTag<Complex<float>>{}, l);
  else if (l.x[0].dtype == DType::complex128) f(TypeTag<Complex<double>>{}, l);
  else in_real(l, f);
}
// For real numbers and integers.
template <class F> void in_number(const Launch& l, F&& f) {
  const DType type = l.x[0].dtype;
  if (is_floating(type)) return in_real(l, f);
  if (!is_integral(type) || type == DType::bool_) fail(ErrorKind::not_implemented, l.op, ": not implemented for ", type);
  in_wide_types(l, [&](const Launch& wide) {
    if (type == DType::uint64) f(TypeTag<uint64_t>{}, wide);
    else f(TypeTag<int64_t>{}, wide);
  });
}

}  // namespace adjoint
