// A Python number as an operand of one call.
#pragma once
#include <nanobind/nanobind.h>

#include <adjoint/core/ops.h>

#include "convert.h"

namespace adjoint::python {

// What two numbers alone give, as a tensor: fractions in the default type.
inline Tensor of_numbers(Tensor y) {
  if (!(y->flags & flag_wrapped)) [[likely]] return y;
  y = cast_memory(y, is_floating(y.dtype()) ? default_dtype() : is_complex(y.dtype()) ? complex_of(default_dtype()) : y.dtype());
  y->flags = static_cast<uint16_t>(y->flags & ~flag_wrapped);
  return y;
}

// Its tensor is lent to one call at a time and used again unless the call kept it.
class Number {
 public:
  static bool is(PyObject* o) noexcept { return PyFloat_CheckExact(o) || PyLong_CheckExact(o); }
  explicit Number(PyObject* o) {
    Scalar value{0};
    if (!to_scalar(o, value)) throw nanobind::python_error();
    if (!spare) { t_ = wrapped(value); return; }
    t_ = Tensor::take(std::exchange(spare, nullptr));
    set_number(*t_, value);
  }
  Number(const Number&) = delete;
  ~Number() {
    if (spare || t_->use_count() != 1 || t_->keys || t_->storage->refs != 1) return;
    spare = t_.get();
    new (&t_) Tensor();   // its reference is spare's
  }
  TensorImpl* get() const { return t_.get(); }

 private:
  Tensor t_;
  static inline TensorImpl* spare = nullptr;   // guarded by the interpreter's lock
};

}  // namespace adjoint::python
