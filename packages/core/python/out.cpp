// `out=`: the result of any function of the module, written into a tensor that is given.
#include "out.h"

#include <sstream>
#include <vector>

#include "keywords.h"

namespace adjoint::python {

namespace {

// As PyTorch: in grad mode neither the operands nor `out` may require grad, as nothing is recorded.
void put(const std::string& name, const Tensor& y, nb::handle given) {
  expect(is_tensor(given.ptr()), ErrorKind::type, name, "(): argument 'out' must be Tensor, not ", nb::cast<std::string>(given.type().attr("__name__")));
  const Tensor out = nb::cast<Tensor>(given);
  expect(!(y->keys & key_tape) && !(alias(out)->keys & key_tape), name, "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.");
  expect(category(y.dtype()) <= category(out.dtype()), name, ": result type ", y.dtype(), " can't be cast to the desired output type ", out.dtype());
  if (!(out.sizes() == y.sizes())) {
    std::ostringstream text;
    text << "An output with one or more elements was resized since it had shape " << out.sizes() << ", which does not match the required output shape " << y.sizes() << ".";
    if (out.numel() && PyErr_WarnEx(PyExc_UserWarning, text.str().c_str(), 1) < 0) throw nb::python_error();
    given.attr("resize_")(y.sizes());
  }
  copy_(out, y);
}

}  // namespace

nb::object put_result(const std::string& name, nb::object result, nb::handle out) {
  if (is_tensor(result.ptr())) {
    put(name, nb::cast<Tensor>(result), out);
    return nb::borrow(out);
  }
  expect(PyTuple_Check(result.ptr()), ErrorKind::type, name, "() got an unexpected keyword argument 'out'");
  expect(PySequence_Check(out.ptr()) && nb::len(out) == nb::len(result), ErrorKind::type, name, "(): argument 'out' must be ", nb::len(result), " tensors");
  for (size_t i = 0; i < nb::len(result); i++) put(name, nb::cast<Tensor>(result[i]), out[i]);
  return nb::hasattr(result.type(), "_make") ? result.type().attr("_make")(out) : nb::object(nb::tuple(nb::borrow(out)));
}

// Whether a call makes a tensor of nothing but numbers: then it has the type of `out`, unless told otherwise.
static bool fits_out(PyObject* f, const std::vector<PyObject*>& args, const nb::list& names, nb::handle out) {
  for (PyObject* a : args) if (is_tensor(a)) return false;
  for (nb::handle name : names) if (nb::cast<std::string>(name) == "dtype") return false;
  return is_tensor(out.ptr()) && makes_tensors(f);
}

Py_ssize_t find_out(PyObject* names) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(names); i++)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i), "out") == 0) return i;
  return -1;
}

PyObject* call_with_out(Vectorcall call, PyObject* f, PyObject* const* args, size_t count, PyObject* names, Py_ssize_t at) {
  return guarded([&]() -> PyObject* {
    std::vector<PyObject*> rest(args, args + count + PyTuple_Size(names));
    rest.erase(rest.begin() + static_cast<Py_ssize_t>(count) + at);
    nb::list kept;
    for (Py_ssize_t i = 0; i < PyTuple_Size(names); i++)
      if (i != at) kept.append(nb::borrow(PyTuple_GetItem(names, i)));
    const nb::handle out = args[static_cast<Py_ssize_t>(count) + at];
    if (fits_out(f, rest, kept, out)) {
      kept.append(nb::str("dtype"));
      rest.push_back(api->dtypes[static_cast<int>(impl_of(out.ptr())->dtype)]);
    }
    PyObject* result = call(f, rest.data(), count, nb::len(kept) ? nb::tuple(kept).ptr() : nullptr);
    if (!result) return nullptr;
    if (out.is_none()) return result;
    return put_result(nb::cast<std::string>(nb::borrow(f).attr("__name__")), nb::steal(result), out).release().ptr();
  });
}

}  // namespace adjoint::python
