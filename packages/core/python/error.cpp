// C++ exceptions become Python ones.
#include <adjoint/core/linalg.h>
#include <nanobind/nanobind.h>

#include <new>
#include <stdexcept>

#include "tensor_type.h"

namespace nb = nanobind;

namespace adjoint::python {

namespace {

PyObject* type_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::runtime: return PyExc_RuntimeError;
    case ErrorKind::shape: return api->shape_error;
    case ErrorKind::index: return api->index_error;
    case ErrorKind::type: return PyExc_TypeError;
    case ErrorKind::value: return PyExc_ValueError;
    case ErrorKind::not_implemented: return PyExc_NotImplementedError;
  }
  return PyExc_RuntimeError;
}

PyObject* type_of(nb::exception_type type) {
  switch (type) {
    case nb::exception_type::stop_iteration: return PyExc_StopIteration;
    case nb::exception_type::index_error: return PyExc_IndexError;
    case nb::exception_type::key_error: return PyExc_KeyError;
    case nb::exception_type::value_error: return PyExc_ValueError;
    case nb::exception_type::type_error: return PyExc_TypeError;
    case nb::exception_type::buffer_error: return PyExc_BufferError;
    case nb::exception_type::import_error: return PyExc_ImportError;
    case nb::exception_type::attribute_error: return PyExc_AttributeError;
    default: return PyExc_RuntimeError;
  }
}

}  // namespace

void raise() noexcept {
  try { throw; }
  catch (const LinAlgError& e) { PyErr_SetString(api->linalg_error, e.what()); }
  catch (const Error& e) { PyErr_SetString(type_of(e.kind()), e.what()); }
  catch (nb::python_error& e) { e.restore(); }
  catch (const nb::builtin_exception& e) { PyErr_SetString(type_of(e.type()), e.what()); }
  catch (const OutOfMemory& e) { PyErr_SetString(api->memory_error, e.what()); }
  catch (const std::bad_alloc&) { PyErr_SetString(api->memory_error, "out of memory"); }
  catch (const std::length_error&) { PyErr_SetString(api->memory_error, "out of memory: more elements than any memory holds"); }
  catch (const std::exception& e) { PyErr_SetString(PyExc_RuntimeError, e.what()); }
  catch (...) { PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception"); }
}

}  // namespace adjoint::python
