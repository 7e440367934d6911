// Python's warnings.
#pragma once
#include <nanobind/nanobind.h>

namespace adjoint::python {

// Raises where a filter makes an error of it.
inline void warn(const char* text) {
  if (PyErr_WarnEx(PyExc_UserWarning, text, 1) < 0) throw nanobind::python_error();
}

// At the line of the user, once in a process.
inline void warn_once(const char* text) { nanobind::module_::import_("adjoint_core._warnings").attr("warn_once")(text); }

}  // namespace adjoint::python
