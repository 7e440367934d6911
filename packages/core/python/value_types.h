// The small value types: dtype, device, Size.
#pragma once
#include <adjoint/python/api.h>

#include <nanobind/nanobind.h>

#include <string>

namespace adjoint::python {

struct DTypeObject { DType value; };
// `elsewhere` names a kind of device that has a name and no memory here, such as "mps"; `said` is the index that a program gave where memory has none.
struct DeviceObject {
  Device value;
  const char* elsewhere = nullptr;
  int8_t said = -1;
  bool operator==(const DeviceObject&) const = default;   // each name is one object
};

// What stands in front of names that are printed: `adjoint`, or what a program imported it as.
std::string printed(const char* name);

void bind_values(nanobind::module_& m, Api& api);
PyObject* device_object(Device device);
Device required_device(PyObject* o);   // where memory is made, or an error that says why there is none
bool names_device(PyObject* o) noexcept;

}  // namespace adjoint::python
