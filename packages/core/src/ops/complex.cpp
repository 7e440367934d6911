// Complex numbers: their parts, and views between them and pairs of real numbers. Conventions are PyTorch's:
// a gradient is the direction of steepest ascent, the conjugate of the holomorphic derivative.
#include <adjoint/core/batch.h>
#include <adjoint/core/elementwise.h>
#include <adjoint/core/functors/complex.h>
#include <adjoint/core/types.h>

#include "families.h"
#include "keep.h"

namespace adjoint {

namespace {

Types angle_type(Tensors x, const Attrs&) {
  const DType t = to_floating(x[0].dtype());
  return {t, {real_of(t)}};
}
Types joined(Tensors x, const Attrs&) {
  expect(x[0].dtype() == x[1].dtype(), "complex: Expected object of scalar type ", x[0].dtype(), " but got scalar type ", x[1].dtype(), " for second argument");
  expect(x[0].dtype() == DType::float32 || x[0].dtype() == DType::float64, "complex: Expected both inputs to be Float or Double tensors but got ", x[0].dtype());
  return {x[0].dtype(), {complex_of(x[0].dtype())}};
}
// Batch dimensions in front, ranks made equal behind them.
void joined_batch(const BatchCall& c, Tensor* out) {
  Tensor x[] = {batch::front(c, 0), batch::front(c, 1)};
  const int rank[] = {x[0].dim() - (c.dims[0] >= 0), x[1].dim() - (c.dims[1] >= 0)};
  for (int i : {0, 1})
    for (int k = rank[i]; c.dims[i] >= 0 && k < rank[1 - i]; k++) x[i] = unsqueeze(x[i], 1);
  out[0] = complex(x[0], x[1]);
}

// i x / |x|^2, the gradient of the angle; 0 at 0.
Tensor turning(const Tensor& x) {
  const Tensor r = abs(x), none = eq(r, wrapped(0.));
  return sgn(x) * wrapped(Complex<double>(0, 1)) / where(none, wrapped(1.), r);
}

}  // namespace

const Op op_conj{.name = "conj", .kind = Kind::custom, .types = types::first,
    .d = {rule([](V v) { return conj(v); })}, .t = {rule([](V v) { return conj(v); })}, .batch = batch::leading,
    .doc = "Complex conjugate of each element of `x`.", .reference = elementwise<functors::Conj, 1>};
Tensor conj(const Tensor& x) { return is_complex(x.dtype()) ? apply(op_conj, {x}) : x; }

const Op op_angle{.name = "angle", .kind = Kind::custom, .types = angle_type,
    .d = {rule([](V v, X<0> x) { return is_complex(x.dtype()) ? v * turning(x) : zeros_like(v); })},
    .t = {rule([](V v, X<0> x) { return is_complex(x.dtype()) ? real(v * conj(turning(x))) : zeros_like(v); })}, .batch = batch::leading,
    .doc = "Angle of each element of `x` in the complex plane.", .reference = elementwise<functors::Angle, 1>};
Tensor angle(const Tensor& x) { return apply(op_angle, {x}); }

const Op op_complex{.name = "complex", .torch = "|real imag", .kind = Kind::custom, .types = joined,
    .d = {rule([](V v) { return real(v); }), rule([](V v) { return imag(v); })},
    .t = {rule([](V v) { return complex(v, zeros_like(v)); }), rule([](V v) { return complex(zeros_like(v), v); })}, .batch = joined_batch,
    .doc = "Complex numbers from their real and imaginary parts.", .reference = elementwise<functors::MakeComplex, 2>};
Tensor complex(const Tensor& re, const Tensor& im) { return apply(op_complex, {re, im}); }
Tensor polar(const Tensor& abs, const Tensor& angle) { return complex(abs * cos(angle), abs * sin(angle)); }

const Op op_view_as_real{.name = "view_as_real", .kind = Kind::linear,
    .d = {rule([](V v) { return view_as_complex(contiguous(v)); })}, .batch = batch::leading,
    .alias = [](const TensorImpl& x, const Attrs&, TensorImpl& y) {
      y.dtype = real_of(x.dtype);
      y.sizes = x.sizes;
      y.sizes.push_back(2);
      y.strides = x.strides;
      for (int64_t& s : y.strides) s *= 2;
      y.strides.push_back(1);
    },
    .doc = "A view of complex `x` as real numbers, with a last dimension of the two parts."};
Tensor view_as_real(const Tensor& x) {
  expect(is_complex(x.dtype()), "view_as_real: view_as_real is only supported for complex tensors, got ", x.dtype());
  return apply(op_view_as_real, {x});
}

const Op op_view_as_complex{.name = "view_as_complex", .kind = Kind::linear,
    .d = {rule([](V v) { return view_as_real(v); })}, .batch = batch::leading,
    .alias = [](const TensorImpl& x, const Attrs&, TensorImpl& y) {
      const int n = x.ndim() - 1;
      expect(x.strides[n] == 1, "view_as_complex: Tensor must have a last dimension with stride 1, got ", x.strides[n]);
      expect(x.offset() % 2 == 0, "view_as_complex: Tensor must have a storage_offset divisible by 2, got ", x.offset());
      y.dtype = complex_of(x.dtype);
      y.sizes.resize(n);
      y.strides.resize(n);
      for (int i = 0; i < n; i++) {
        expect(x.strides[i] % 2 == 0, "view_as_complex: Tensor must have a stride divisible by 2 for all but last dimension, got ", x.strides);
        y.sizes[i] = x.sizes[i];
        y.strides[i] = x.strides[i] / 2;
      }
    },
    .doc = "A view of real `x`, whose last dimension holds two parts, as complex numbers."};
Tensor view_as_complex(const Tensor& x) {
  expect(x.dtype() == DType::float32 || x.dtype() == DType::float64, "view_as_complex: view_as_complex is only supported for float32 and float64 tensors, but got a tensor of scalar type ", x.dtype());
  expect(x.dim() > 0, "view_as_complex: Input tensor must have one or more dimensions");
  expect(x.size(-1) == 2, "view_as_complex: Tensor must have a last dimension of size 2, got ", x.size(-1));
  return apply(op_view_as_complex, {x});
}

// Views, as in PyTorch: writing to them writes to x.
Tensor real(const Tensor& x) { return is_complex(x.dtype()) ? select(view_as_real(x), -1, 0) : x; }
Tensor imag(const Tensor& x) {
  expect(is_complex(x.dtype()), "imag: imag is not implemented for tensors with non-complex dtypes, got ", x.dtype());
  return select(view_as_real(x), -1, 1);
}

const Op* const complex_ops[] = {
    &op_angle, &op_complex, &op_conj, &op_view_as_complex, &op_view_as_real,
};
Ops families::complex() { return complex_ops; }

}  // namespace adjoint
