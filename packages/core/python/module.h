// The parts of adjoint_core._core, one function a file.
#pragma once
#include <adjoint/python/caster.h>

namespace adjoint::python {

namespace nb = nanobind;
using namespace nb::literals;

// Adds methods to the raw Tensor type, and functions to the module.
struct Methods {
  nb::handle type = reinterpret_cast<PyObject*>(api->tensor_type);
  template <class F, class... Extra> const Methods& def(const char* name, F&& f, const Extra&... extra) const {
    nb::cpp_function_def(std::forward<F>(f), nb::scope(type), nb::name(name), nb::is_method(), extra...);
    return *this;
  }
};

// The same callable as function and as method; the first parameter is called `input` in the function.
template <class F, class... Extra> void both(nb::module_& m, const char* name, F&& f, const Extra&... extra) {
  m.def(name, f, "input"_a, extra...);
  nb::cpp_function_def(f, nb::scope(reinterpret_cast<PyObject*>(api->tensor_type)), nb::name(name), nb::is_method(), extra...);
}

// view(2, -1) and view((2, -1)).
Dims dims_of(const nb::args& args, const char* op);

void bind_memory(nb::module_& m);
void bind_numpy(nb::module_& m);
void bind_dlpack(nb::module_& m);
void bind_create(nb::module_& m);
void bind_random(nb::module_& m);
void bind_elementwise(nb::module_& m);
void bind_reduce(nb::module_& m);
void bind_view(nb::module_& m);
void bind_select(nb::module_& m);
void bind_linalg(nb::module_& m);
void bind_nn(nb::module_& m);
void bind_registry(nb::module_& m);

}  // namespace adjoint::python
