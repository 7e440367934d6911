// The small value types: dtype, device, Size.
#pragma once
#include <adjoint/python/api.h>

#include <nanobind/nanobind.h>

#include <string>

namespace adjoint::python {

struct DTypeObject { DType value; };
struct DeviceObject { Device value; bool meta = false; };   // meta: a name to compare with, where no memory is made

// What stands in front of names that are printed: `adjoint`, or what a program imported it as.
std::string printed(const char* name);

void bind_values(nanobind::module_& m, Api& api);
PyObject* device_object(Device device);

}  // namespace adjoint::python
