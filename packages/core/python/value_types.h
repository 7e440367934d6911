// The small value types: dtype, device, Size.
#pragma once
#include <adjoint/python/api.h>

#include <nanobind/nanobind.h>

#include <string>

namespace adjoint::python {

struct DTypeObject { DType value; };
struct DeviceObject { Device value; };

// What stands in front of names that are printed: `adjoint`, or what a program imported it as.
std::string printed(const char* name);

void bind_values(nanobind::module_& m, Api& api);
PyObject* device_object(Device device);

}  // namespace adjoint::python
