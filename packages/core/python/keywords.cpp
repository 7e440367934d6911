// Other names of keyword arguments: tried only after a call that did not fit, so that the ordinary call does not pay for them.
#include "keywords.h"

#include <adjoint/core/cuda/memory.h>

#include <vector>

namespace adjoint::python {

namespace {

constexpr std::pair<const char*, const char*> other_names[] = {{"axis", "dim"}, {"axes", "dims"}, {"keepdims", "keepdim"}, {"axis0", "dim0"}, {"axis1", "dim1"}, {"x", "input"}, {"a", "input"}, {"x1", "input"}, {"x2", "other"}, {"self", "input"}, {"exponent", "other"}, {"from", "from_"}};

bool is(PyObject* name, const char* text) { return PyUnicode_CompareWithASCIIString(name, text) == 0; }

// What says of a factory what is so anyway: layout=strided.
bool says_nothing(PyObject* f, PyObject* name, PyObject* value) {
  if (!is(name, "layout") || !makes_tensors(f)) return false;
  return value == Py_None || nb::module_::import_("adjoint_core._tensor.layouts").attr("strided").is(value);
}

// zeros and empty of a sparse layout: tensors without values.
bool starts_empty(PyObject* f) {
  const nb::object name = nb::handle(f).attr("__name__");
  return name.equal(nb::str("zeros")) || name.equal(nb::str("empty"));
}

struct Keywords { nb::list names; std::vector<PyObject*> args; bool changed = false, pinned = false; PyObject* layout = nullptr; };

Keywords translated(PyObject* f, PyObject* const* args, size_t count, PyObject* names) {
  Keywords k;
  k.args.assign(args, args + count);
  for (Py_ssize_t i = 0; i < PyTuple_Size(names); i++) {
    PyObject *name = PyTuple_GetItem(names, i), *value = args[static_cast<Py_ssize_t>(count) + i];
    const bool pins = is(name, "pin_memory") && PyBool_Check(value) && makes_tensors(f);
    const bool nothing = says_nothing(f, name, value), lays_out = !nothing && is(name, "layout") && starts_empty(f);
    if (pins) k.pinned = value == Py_True;
    if (lays_out) k.layout = value;
    if (pins || nothing || lays_out) { k.changed = true; continue; }
    const char* own = nullptr;
    for (auto [other, usual] : other_names) if (is(name, other)) own = usual;
    k.names.append(own ? nb::object(nb::str(own)) : nb::borrow(name));
    k.args.push_back(value);
    k.changed = k.changed || own;
  }
  return k;
}

// Of zeros and empty with a sparse layout.
PyObject* without_values(const Keywords& k, size_t count) {
  nb::list args;
  nb::dict options;
  for (size_t i = 0; i < count; i++) args.append(nb::borrow(k.args[i]));
  for (size_t i = 0; i < nb::len(k.names); i++) options[k.names[i]] = nb::borrow(k.args[count + i]);
  options["layout"] = nb::borrow(k.layout);
  return nb::module_::import_("adjoint_core._tensor.compressed").attr("without_values")(*nb::tuple(args), **options).release().ptr();
}

// Of a factory with pin_memory=True.
PyObject* pinned(nb::object made) {
  expect(cuda::driver_found(), "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on this system.");
  const bool requires_grad = nb::hasattr(made, "requires_grad") && nb::cast<bool>(made.attr("requires_grad"));
  nb::object result = nb::steal(wrap(cuda::pinned(alias_of(unwrap(made.ptr())))));
  if (requires_grad) result.attr("requires_grad") = true;
  return result.release().ptr();
}

}  // namespace

bool makes_tensors(PyObject* f) {
  const nb::object doc = nb::handle(f).attr("__doc__");
  return !doc.is_none() && nb::cast<std::string>(doc).find("requires_grad") != std::string::npos;
}

PyObject* call_with_names(Vectorcall call, PyObject* f, PyObject* const* args, size_t count, PyObject* names) {
  PyObject* result = call(f, args, count, names);
  if (result || !names || !PyErr_ExceptionMatches(PyExc_TypeError)) return result;
  nb::python_error error;
  return guarded([&]() -> PyObject* {
    const Keywords k = translated(f, args, count, names);
    if (k.layout) return without_values(k, count);
    if (k.changed) {
      result = call(f, k.args.data(), count, nb::len(k.names) ? nb::tuple(k.names).ptr() : nullptr);
      if (result && k.pinned) return pinned(nb::steal(result));
      if (result || !PyErr_ExceptionMatches(PyExc_TypeError)) return result;
      PyErr_Clear();
    }
    error.restore();
    return nullptr;
  });
}

}  // namespace adjoint::python
