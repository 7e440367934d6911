// The callables behind direct calls: a function and a method with a vector call, in front of what nanobind bound.
#include "direct.h"

#include "convert.h"
#include "keywords.h"
#include "protocol.h"
#include "reference.h"
#include "value_types.h"

#include <adjoint/core/observer.h>
#include <adjoint/core/process.h>
#include <adjoint/core/settle.h>

#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace adjoint::python {

namespace {

// Public since Python 3.9, in the stable ABI since 3.12 only: found at run time.
constexpr size_t arguments_offset = size_t(1) << (8 * sizeof(size_t) - 1);
constexpr unsigned long no_instantiation = 1UL << 7, has_vectorcall = 1UL << 11, method_descriptor = 1UL << 17;
Vectorcall vectorcall = nullptr;

// A function that is an attribute of a class stays a function (self.act = ad.relu): only methods bind.
PyTypeObject *function_type = nullptr, *method_type = nullptr;
PyObject* bound_type = nullptr;

// Functions made of several records, or of one of another name, whose result has a node of its own in PyTorch.
constexpr std::pair<std::string_view, const char*> nodes[] = {
    {"addbmm", "AddbmmBackward0"}, {"addmv", "AddmvBackward0"}, {"addr", "AddrBackward0"}, {"aminmax", "AminmaxBackward0"},
    {"baddbmm", "BaddbmmBackward0"}, {"cross", "LinalgCrossBackward0"}, {"diag_embed", "DiagEmbedBackward0"},
    {"diagonal_scatter", "DiagonalScatterBackward0"}, {"flip", "FlipBackward0"}, {"index_fill", "IndexFillBackward0"},
    {"kthvalue", "KthvalueBackward0"}, {"masked_scatter", "MaskedScatterBackward0"}, {"masked_select", "MaskedSelectBackward0"},
    {"nansum", "NansumBackward0"}, {"polar", "PolarBackward0"}, {"repeat", "RepeatBackward0"}, {"roll", "RollBackward0"}, {"rot90", "Rot90Backward0"},
    {"rsub", "RsubBackward0"}, {"select_scatter", "SelectScatterBackward0"}, {"slice_scatter", "SliceScatterBackward0"},
    {"std_mean", "StdMeanBackward0"}, {"take", "TakeBackward0"}, {"tile", "RepeatBackward0"}, {"topk", "TopkBackward0"}, {"trace", "TraceBackward0"},
    {"var_mean", "VarMeanBackward0"}, {"vdot", "VdotBackward0"}};
const char* node_of(std::string_view name) {
  const auto found = std::ranges::find(nodes, name, &std::pair<std::string_view, const char*>::first);
  return found == std::end(nodes) ? nullptr : found->second;
}

struct DirectObject {
  PyObject_HEAD
  Vectorcall entry;
  PyObject* general;     // nanobind's function
  const Plain* plain;
  PyObject* inner;       // of a function of Python: it without what looks after wrong arguments, out= and half types
  bool rounds;           // half types are looked after
  DirectCall call;
  const void* f;
  const char* node;      // what PyTorch calls the node of the result, for functions made of several records
};
DirectObject* direct_object(PyObject* o) { return reinterpret_cast<DirectObject*>(o); }

// Null without an error: the arguments are not in an older order.
PyObject* in_older_order(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    const size_t named = names ? static_cast<size_t>(PyTuple_Size(names)) : 0;
    if (count + named < 3) return nullptr;
    nb::list given;
    nb::dict by_name;
    for (size_t i = 0; i < count; i++) given.append(nb::borrow(args[i]));
    for (size_t i = 0; i < named; i++) by_name[nb::handle(PyTuple_GetItem(names, static_cast<Py_ssize_t>(i)))] = nb::borrow(args[count + i]);
    nb::object found = nb::module_::import_("adjoint_core._older_forms").attr("call")(nb::borrow(self), nb::tuple(given), by_name);
    return found.is(nb::handle(Py_NotImplemented)) ? nullptr : found.release().ptr();
  });
}

// An error of its own where `device` is a word that is no device, or a device without memory.
bool names_no_device(PyObject* const* args, size_t count, PyObject* names) {
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < named; i++) {
    PyObject* given = args[count + static_cast<size_t>(i)];
    if (!names_device(given) || PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i), "device")) continue;
    const Reference device(guarded([&] { return device_object(required_device(given)); }));
    return !device.get();
  }
  return false;
}

// An error of its own where a whole number has more than 64 bits.
bool holds_too_large(PyObject* const* args, size_t n) {
  Scalar number{0};
  for (size_t i = 0; i < n; i++)
    if (PyLong_CheckExact(args[i]) && !to_scalar(args[i], number)) return true;
  return false;
}

// The call did not fit: an object that is no tensor may answer it. Else, a cast deep in a function failed: what was called, and with
// what, is known here.
PyObject* explained(PyObject* result, PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  if (result || !PyErr_ExceptionMatches(PyExc_TypeError)) return result;
  nb::python_error error;
  if (is_answered(args, count, names)) return answer(self, args, count, names);
  if (PyObject* found = in_older_order(self, args, count, names)) return found;
  if (PyErr_Occurred() || names_no_device(args, count, names)) return nullptr;
  PyObject* general = direct_object(self)->general;
  const auto said = nb::cast<std::string>(nb::str(error.value()));
  const bool fits_none = said.find("incompatible function arguments") != std::string::npos;
  if (fits_none && holds_too_large(args, count + (names ? static_cast<size_t>(PyTuple_Size(names)) : 0))) return nullptr;
  if (said != misfit) {
    error.restore();
    return nullptr;
  }
  std::string types;
  for (size_t i = 0; i < count; i++) types += (i ? ", " : "") + nb::cast<std::string>(nb::handle(args[i]).type().attr("__name__"));
  PyErr_Format(PyExc_TypeError, "%U(): %s, got (%s)", nb::str(nb::handle(general).attr("__name__")).ptr(), misfit, types.c_str());
  return nullptr;
}

PyObject* call_general(PyObject* general, PyObject* const* args, size_t count, PyObject* names) { return call_with_names(vectorcall, general, args, count, names); }

// f(..., out=y) where the result has the type and the shape of y. Null without an error: anything else.
PyObject* call_with_fitting_out(const DirectObject* d, PyObject* const* args, size_t n, PyObject* names) {
  if (PyTuple_Size(names) != 1 || n == 0 || !is_tensor(args[0]) || !is_tensor(args[n])) return nullptr;   // what makes tensors of numbers looks at `out`
  Reference result(d->call ? d->call(d->f, args, n) : nullptr);
  if (!result && !PyErr_Occurred()) result = Reference(call_plainly(d->plain, args, n, nullptr));
  if (!result) return nullptr;
  return guarded([&]() -> PyObject* {
    if (put_plainly(result.get(), args[n])) return Py_NewRef(args[n]);
    const std::string name = nb::cast<std::string>(nb::handle(d->general).attr("__name__"));
    return computes_as_out(name) ? nullptr : put_result(name, nb::steal(result.release()), args[n]).release().ptr();
  });
}

PyObject* enter(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  const DirectObject* d = direct_object(self);
  const size_t n = count & ~arguments_offset;
  if (d->call && !names) {
    if (PyObject* r = d->call(d->f, args, n)) return r;
    if (PyErr_Occurred()) return nullptr;
  }
  if (d->plain) {
    if (PyObject* r = call_plainly(d->plain, args, n, names)) return r;
    if (PyErr_Occurred()) return explained(nullptr, self, args, n, names);
  }
  if (names) {
    const Py_ssize_t at = find_out(names);
    if (at >= 0) {
      if (PyObject* r = call_with_fitting_out(d, args, n, names)) return r;
      if (PyErr_Occurred()) return explained(nullptr, self, args, n, names);
    }
    if (at >= 0) return explained(call_with_out(call_general, d->general, args, n, names, at), self, args, n, names);
    return explained(call_general(d->general, args, n, names), self, args, n, names);
  }
  return explained(vectorcall(d->general, args, count, nullptr), self, args, n, nullptr);
}

bool is_half_tensor(PyObject* o) { return is_tensor(o) && is_half(impl_of(o)->dtype); }

bool hold_half(PyObject* const* args, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (is_half_tensor(args[i])) return true;
    if (!is_sequence(args[i])) continue;
    const bool list = PyList_Check(args[i]);
    for (Py_ssize_t k = 0, n = sequence_size(args[i]); k < n; k++)
      if (is_half_tensor(list ? PyList_GetItem(args[i], k) : PyTuple_GetItem(args[i], k))) return true;
  }
  return false;
}

// What the wrappers of a function say of an error that it gave.
PyObject* explained_by_wrappers(const DirectObject& d, PyObject* const* args, size_t count, PyObject* names, const nb::python_error& error) {
  return guarded([&]() -> PyObject* {
    const size_t named = names ? static_cast<size_t>(PyTuple_Size(names)) : 0;
    nb::list given;
    nb::dict keywords;
    for (size_t i = 0; i < count - named; i++) given.append(nb::borrow(args[i]));
    for (size_t i = 0; i < named; i++) keywords[nb::borrow(PyTuple_GetItem(names, static_cast<Py_ssize_t>(i)))] = nb::borrow(args[count - named + i]);
    PyException_SetTraceback(error.value().ptr(), error.traceback().ptr());
    return nb::module_::import_("adjoint_core._compose").attr("explain")(nb::borrow(d.general), given, keywords, error.value()).release().ptr();
  });
}

// What is wrapped around a function is called when there is something for it to do.
PyObject* call_inner(const DirectObject& d, PyObject* const* args, size_t count, PyObject* names) {
  const size_t n = (count & ~arguments_offset) + (names ? static_cast<size_t>(PyTuple_Size(names)) : 0);
  if (d.inner && (!names || find_out(names) < 0) && !(d.rounds && hold_half(args, n))) {
    const NodeName named(d.node);
    PyObject* result = vectorcall(d.inner, args, count, names);
    if (result || !(PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_AttributeError))) return result;
    const nb::python_error error;
    if (error.traceback().is_valid()) return explained_by_wrappers(d, args, n, names, error);   // it has run, and is not run again
  }
  return vectorcall(d.general, args, count, names);
}

// A tensor that somebody else knows, as an argument that is given back, stays what it is.
void settle_new(PyObject* o) {
  if (is_tensor(o) && Py_REFCNT(o) == 1) settle(*impl_of(o));
}
PyObject* settled(PyObject* result) {
  if (!result) return result;
  settle_new(result);
  for (Py_ssize_t i = 0; PyTuple_Check(result) && i < PyTuple_Size(result); i++) settle_new(PyTuple_GetItem(result, i));
  return result;
}

// The entry of functions written in Python.
PyObject* ask_and_call(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  const size_t n = count & ~arguments_offset;
  if (is_answered(args, n, names)) return answer(self, args, n, names);
  if (const Plain* plain = direct_object(self)->plain) {
    if (PyObject* r = call_plainly(plain, args, n, names)) return r;
    if (PyErr_Occurred()) return nullptr;
  }
  return settled(call_inner(*direct_object(self), args, count, names));
}

// The entry of all others once a class or a mode may answer calls.
PyObject* ask_and_enter(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  const size_t n = count & ~arguments_offset;
  return is_answered(args, n, names) ? answer(self, args, n, names) : enter(self, args, count, names);
}
Vectorcall entry_of_all = enter;

PyObject* enter_named(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  if (entry_of_all == ask_and_enter && is_answered(args, count & ~arguments_offset, names)) return answer(self, args, count & ~arguments_offset, names);
  const NodeName named(direct_object(self)->node);
  return enter(self, args, count, names);
}

std::vector<DirectObject*> live;   // that live: functions of modules live as long as the process

// f(*args, **keywords)
PyObject* call(PyObject* self, PyObject* args, PyObject* keywords) {
  const auto n = static_cast<size_t>(PyTuple_Size(args));
  std::vector<PyObject*> given;
  for (size_t i = 0; i < n; i++) given.push_back(PyTuple_GetItem(args, static_cast<Py_ssize_t>(i)));
  nb::list names;
  PyObject *name, *value;
  for (Py_ssize_t at = 0; keywords && PyDict_Next(keywords, &at, &name, &value);) {
    names.append(nb::borrow(name));
    given.push_back(value);
  }
  return direct_object(self)->entry(self, given.data(), n, nb::len(names) ? nb::tuple(names).ptr() : nullptr);
}

// x.exp without a call: a bound method of Python.
PyObject* bind(PyObject* self, PyObject* instance, PyObject*) {
  if (!instance || instance == Py_None) return Py_NewRef(self);
  return PyObject_CallFunctionObjArgs(bound_type, self, instance, nullptr);
}

// What nanobind says of a function, with the sentence and the example that stand in documentation.txt.
PyObject* documentation(PyObject* general) {
  return guarded([=]() -> PyObject* {
    nb::object doc = nb::handle(general).attr("__doc__");
    if (!nb::hasattr(nb::handle(general), "__nb_signature__")) return doc.release().ptr();
    return nb::module_::import_("adjoint_core._documentation").attr("documentation")(nb::handle(general).attr("__name__"), doc).release().ptr();
  });
}

// All attributes are those of nanobind's function, which is `__wrapped__`.
PyObject* attribute(PyObject* self, PyObject* name) {
  for (const char* own : {"__class__", "__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__"})
    if (PyUnicode_CompareWithASCIIString(name, own) == 0) return PyObject_GenericGetAttr(self, name);
  if (PyUnicode_CompareWithASCIIString(name, "__doc__") == 0) return documentation(direct_object(self)->general);
  if (PyUnicode_CompareWithASCIIString(name, "__wrapped__") == 0) return Py_NewRef(direct_object(self)->general);
  return PyObject_GetAttr(direct_object(self)->general, name);
}

PyObject* representation(PyObject* self) { return PyObject_Repr(direct_object(self)->general); }

void dealloc_direct(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  std::erase(live, direct_object(self));
  Py_XDECREF(direct_object(self)->general);
  Py_XDECREF(direct_object(self)->inner);
  PyObject_Free(self);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

// Copies are the function itself; pickles hold its name.
PyObject* same(PyObject* self, PyObject*) { return Py_NewRef(self); }
PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([=]() -> PyObject* {
    if (direct_object(self)->entry != ask_and_call) return nb::object(nb::handle(self).attr("__name__")).release().ptr();
    return nb::module_::import_("adjoint_core._compose").attr("reduced")(nb::borrow(direct_object(self)->general)).release().ptr();
  });
}
PyMethodDef methods[] = {{"__copy__", same, METH_NOARGS, nullptr}, {"__deepcopy__", same, METH_O, nullptr}, {"__reduce__", reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};

PyMemberDef direct_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(DirectObject, entry), READONLY, nullptr}, {nullptr, 0, 0, 0, nullptr}};

PyTypeObject* make_type(const char* name, unsigned long flags, PyType_Slot last) {
  PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(call)}, {Py_tp_getattro, reinterpret_cast<void*>(attribute)},
                         {Py_tp_repr, reinterpret_cast<void*>(representation)}, {Py_tp_dealloc, reinterpret_cast<void*>(dealloc_direct)},
                         {Py_tp_members, direct_members}, {Py_tp_methods, methods}, last, {0, nullptr}};
  PyType_Spec spec{name, sizeof(DirectObject), 0, static_cast<unsigned int>(Py_TPFLAGS_DEFAULT | no_instantiation | has_vectorcall | flags), slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw nb::python_error();
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

void make_direct_types() {
  vectorcall = reinterpret_cast<Vectorcall>(find_symbol(nullptr, "PyObject_Vectorcall"));
  bound_type = nb::object(nb::module_::import_("types").attr("MethodType")).release().ptr();
  function_type = make_type("adjoint_core._core.DirectFunction", 0, {0, nullptr});
  method_type = make_type("adjoint_core._core.DirectMethod", method_descriptor, {Py_tp_descr_get, reinterpret_cast<void*>(bind)});
}

Dims separate_dims(PyObject* const* args, size_t count) {
  Dims dims;
  if (count == 1 && is_sequence(args[0])) {
    if (to_dims(args[0], dims)) return dims;
    PyErr_Clear();
    return {};
  }
  dims.resize(static_cast<int>(count));
  for (size_t i = 0; i < count; i++) {
    Direct<int64_t> d;
    if (!d.load(args[i])) return {};
    dims[static_cast<int>(i)] = d.value();
  }
  return dims;
}

nb::object make_asking(nb::object f, const std::optional<std::string>& plain, nb::object inner, bool rounds, const std::optional<nb::capsule>& node) {
  auto* d = reinterpret_cast<DirectObject*>(PyType_GenericAlloc(function_type, 0));
  if (!d) throw nb::python_error();
  d->entry = ask_and_call;
  if (!inner.is(f)) d->inner = inner.release().ptr();
  d->rounds = rounds;
  if (node) d->node = static_cast<const char*>(node->data());
  d->general = f.release().ptr();
  if (plain) d->plain = find_plain(nb::module_::import_("adjoint_core._core"), *plain);
  return nb::steal(reinterpret_cast<PyObject*>(d));
}

void make_direct(nb::handle scope, const char* name, DirectCall call, const void* f) {
  if (!vectorcall) return;
  nb::object general = scope.attr(name);
  PyTypeObject* type = PyType_GetSlot(Py_TYPE(general.ptr()), Py_tp_descr_get) ? method_type : function_type;
  auto* d = reinterpret_cast<DirectObject*>(PyType_GenericAlloc(type, 0));
  if (!d) throw nb::python_error();
  d->node = node_of(name);
  d->entry = d->node ? enter_named : entry_of_all;
  live.push_back(d);
  d->general = general.release().ptr();
  d->plain = find_plain(scope, name);
  d->call = call;
  d->f = f;
  scope.attr(name) = nb::steal(reinterpret_cast<PyObject*>(d));
}

void ask_before_calls() {
  entry_of_all = ask_and_enter;
  for (DirectObject* d : live)
    if (!d->node) d->entry = ask_and_enter;
}

void make_all_direct(nb::handle scope) {
  // about types and sizes; and the class that as_subclass is told is the answer
  const auto asks_nobody = [](const std::string& name) { return name == "is_tensor" || name == "broadcast_shapes" || name == "as_subclass"; };
  const nb::object contents = nb::module_::import_("builtins").attr("dict")(scope.attr("__dict__"));
  for (nb::handle name : nb::list(contents)) {
    const std::string text = nb::cast<std::string>(name), type = nb::cast<std::string>(nb::object(contents[name]).type().attr("__name__"));
    if (text[0] != '_' && !asks_nobody(text) && (type == "nb_func" || type == "nb_method")) make_direct(scope, text.c_str(), nullptr, nullptr);
  }
}

}  // namespace adjoint::python
