// An owned reference to a Python object.
#pragma once
#include <Python.h>

#include <utility>

namespace adjoint::python {

class Reference {
 public:
  Reference() noexcept = default;
  explicit Reference(PyObject* o) noexcept : o_(o) {}  // takes over
  Reference(Reference&& r) noexcept : o_(r.release()) {}
  Reference& operator=(Reference&& r) noexcept { std::swap(o_, r.o_); return *this; }
  ~Reference() { Py_XDECREF(o_); }
  PyObject* get() const noexcept { return o_; }
  PyObject* release() noexcept { return std::exchange(o_, nullptr); }
  explicit operator bool() const noexcept { return o_; }

 private:
  PyObject* o_ = nullptr;
};

}  // namespace adjoint::python
