// The small value types: dtype, device, Size.
#pragma once
#include <adjoint/python/api.h>

#include <nanobind/nanobind.h>

namespace adjoint::python {

struct DTypeObject { DType value; };
struct DeviceObject { Device value; };

void bind_values(nanobind::module_& m, Api& api);
PyObject* device_object(Device device);

}  // namespace adjoint::python
