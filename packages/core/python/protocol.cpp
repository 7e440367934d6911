// Who answers a call: found here, asked in Python (adjoint_core/_protocol.py).
#include "protocol.h"

#include "convert.h"
#include "reference.h"
#include "tensor_type.h"

namespace adjoint::python {

namespace {

thread_local int off = 0;     // 1: subclasses do not answer, 2: nobody does
thread_local int modes = 0;   // on this thread's stack
bool armed = false;
PyTypeObject* silent = nullptr;   // a class of tensors that takes no part, most of whose tensors are of it: Parameter
PyObject* disabled = nullptr; // the __torch_function__ of classes that take no part
bool below = false;           // there is a class with __torch_dispatch__

// Types of usual arguments, which nobody makes answer.
bool plain(PyTypeObject* t) {
  if (t == api->tensor_type || t == &PyLong_Type || t == &PyFloat_Type || t == Py_TYPE(Py_None) || t == &PyBool_Type || t == &PyUnicode_Type || t == &PyDict_Type) return true;
  return t == silent || t == Py_TYPE(api->dtypes[0]) || t == api->size_type || t == &PyComplex_Type;
}

// Types that were found without __torch_function__ and get none: those of the interpreter, of extensions and of ours. To look for an attribute
// that there is not costs more than a small operation.
constexpr int most_silent = 32;
PyTypeObject* found_silent[most_silent];   // they live as long as the process
int silent_count = 0;
bool is_fixed(PyTypeObject* t) {
  if (!(PyType_GetFlags(t) & Py_TPFLAGS_HEAPTYPE)) return true;
  Reference module(PyObject_GetAttrString(reinterpret_cast<PyObject*>(t), "__module__"));
  if (!module || !PyUnicode_Check(module.get())) return PyErr_Clear(), false;
  return nb::cast<std::string>(nb::handle(module.get())).starts_with("adjoint_core.");
}

bool answers(PyObject* o) {
  PyTypeObject* const type = Py_TYPE(o);
  if (plain(type) || PyType_Check(o)) return false;
  for (int i = 0; i < silent_count; i++)
    if (found_silent[i] == type) return false;
  static PyObject* const name = PyUnicode_InternFromString("__torch_function__");
  Reference f(PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name));
  if (!f) {
    PyErr_Clear();
    if (silent_count < most_silent && is_fixed(type)) found_silent[silent_count++] = reinterpret_cast<PyTypeObject*>(Py_NewRef(reinterpret_cast<PyObject*>(type)));
  }
  return f && f.get() != disabled;
}

bool answers_or_holds(PyObject* o) {
  const bool list = PyList_CheckExact(o);
  if (!list && !PyTuple_CheckExact(o)) return answers(o);
  const Py_ssize_t n = list ? PyList_Size(o) : PyTuple_Size(o);
  for (Py_ssize_t i = 0; i < n; i++)
    if (answers(list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i))) return true;
  return false;
}

}  // namespace

bool is_answered(PyObject* const* args, size_t count, PyObject* names) {
  if (off == 2) return false;
  if (modes) return true;
  if (off) return false;
  const size_t n = count + (names ? static_cast<size_t>(PyTuple_Size(names)) : 0);
  for (size_t i = 0; i < n; i++)
    if (answers_or_holds(args[i])) return true;
  return false;
}

bool answers_below(PyTypeObject* t) {
  if (!below) return false;
  Reference own(PyObject_GetAttrString(reinterpret_cast<PyObject*>(t), "__torch_dispatch__"));
  Reference usual(PyObject_GetAttrString(reinterpret_cast<PyObject*>(api->tensor_type), "__torch_dispatch__"));
  if (!own || !usual) throw nb::python_error();
  return own.get() != usual.get();
}

PyObject* answer(PyObject* f, PyObject* const* args, size_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    nb::list given;
    for (size_t i = 0; i < count; i++) given.append(nb::borrow(args[i]));
    nb::dict keywords;
    for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); i++)
      keywords[nb::borrow(PyTuple_GetItem(names, i))] = nb::borrow(args[count + static_cast<size_t>(i)]);
    return nb::module_::import_("adjoint_core._protocol").attr("answer")(nb::borrow(f), nb::tuple(given), keywords).release().ptr();
  });
}

bool may_be_answered() { return armed; }

PyObject* answer_item(const char* method, PyObject* x, PyObject* key, PyObject* value) {
  PyObject* args[] = {x, key, value};
  const size_t n = value ? 3 : 2;
  if (!is_answered(args, n, nullptr)) return nullptr;
  Reference f(PyObject_GetAttrString(reinterpret_cast<PyObject*>(api->tensor_type), method));
  return f ? answer(f.get(), args, n, nullptr) : nullptr;
}

PyObject* answer_operator(const char* method, PyObject* a, PyObject* b) {
  PyObject* args[] = {a, b};
  if (!is_answered(args, 2, nullptr)) return Py_NewRef(Py_NotImplemented);
  Reference f(PyObject_GetAttrString(reinterpret_cast<PyObject*>(api->tensor_type), method));
  PyObject* result = f ? answer(f.get(), args, 2, nullptr) : nullptr;
  if (result || !PyErr_ExceptionMatches(PyExc_TypeError)) return result;
  PyErr_Clear();   // nobody has an answer: the other operand's own operator may
  return Py_NewRef(Py_NotImplemented);
}

void bind_protocol(nb::module_& m, void (*arm)()) {
  m.def("_takes_no_part", [](nb::handle f) { disabled = Py_NewRef(f.ptr()); }, "f"_a, "Classes whose __torch_function__ it is are not asked.");
  m.def("_is_silent", [](nb::handle type) { silent = reinterpret_cast<PyTypeObject*>(Py_NewRef(type.ptr())); }, "type"_a, "The class of tensors takes no part, for good: its tensors are not looked at.");
  m.def("_arm_protocol", [arm] { armed = true; arm(); }, "From now on functions look for __torch_function__ among their arguments before they run.");
  m.def("_arm_dispatch", [] { below = true; }, "From now on tensors of classes with __torch_dispatch__ are marked.");
  m.def("_protocol_off", [] { return off; });
  m.def("_set_protocol_off", [](int level) { return std::exchange(off, level); }, "level"_a, "1: subclasses do not answer, 2: nobody does; gives what was set.");
  m.def("_set_modes", [](int count) { modes = count; }, "count"_a);
  m.def("_is_answered", [](nb::tuple args) {
    for (nb::handle o : args) {
      PyObject* p = o.ptr();
      if (is_answered(&p, 1, nullptr)) return true;
    }
    return false;
  }, "args"_a, "Whether a mode, or one of the objects, answers a call.");
  m.def("_answers", [](nb::handle o) { return answers(o.ptr()); }, "o"_a.none());
}

}  // namespace adjoint::python
