// Python's warnings.
#pragma once
#include <adjoint/core/ops.h>
#include <nanobind/nanobind.h>

#include <optional>

namespace adjoint::python {

// Raises where a filter makes an error of it.
inline void warn(const char* text) {
  if (PyErr_WarnEx(PyExc_UserWarning, text, 1) < 0) throw nanobind::python_error();
}

// At the line of the user, each time, and once in a process.
inline void warn_user(const char* text) { nanobind::module_::import_("adjoint_core._warnings").attr("warn")(text); }
inline void warn_once(const char* text) { nanobind::module_::import_("adjoint_core._warnings").attr("warn_once")(text); }

// Of a cast that the user asked for.
inline void warn_of_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to) && to != DType::bool_) [[unlikely]] warn_once("Casting complex values to real discards the imaginary part");
}

inline void warn_of_cast(const Tensor& x, std::optional<DType> to) {
  if (to) warn_of_cast(x.dtype(), *to);
}

// Of a number that no derivative follows.
inline void warn_of_number(const Tensor& x) {
  if (x->keys & key_tape && alias(x)->keys & key_tape) [[unlikely]]   // no_grad says that none should
    warn_once("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using tensor.detach() first.");
}

}  // namespace adjoint::python
