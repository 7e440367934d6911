// adjoint.Tensor: allocation, identity, lifetime and garbage collection.
//
// A TensorImpl gets its Python object when Python first sees it; from then on the Python object owns it and every C++
// reference is a Python reference, so identity, attributes and weak references hold.
//
// Collection: graph edges point to older objects, so a cycle needs an edge that only Python can make (an attribute, a
// hook, a node written in Python). Tensors are untracked until they, or something upstream, has one (flag_tracked).
#include "tensor_type.h"

#include <adjoint/core/settle.h>
#include <adjoint/core/wrapper.h>

#include "protocol.h"

#include <adjoint/python/gc.h>
#include <structmember.h>

#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "convert.h"
#include "site.h"

namespace adjoint::python {

namespace {

PyTypeObject* type() { return api->tensor_type; }
TensorObject* tensor_object(PyObject* o) { return reinterpret_cast<TensorObject*>(o); }

// ---- allocation: a free list for the exact type

constexpr int kept = 512;
TensorObject* free_list[kept];
int free_count = 0;

PyObject* allocate_object() {
  if (free_count > 0) return PyObject_Init(reinterpret_cast<PyObject*>(free_list[--free_count]), type());
  return reinterpret_cast<PyObject*>(PyObject_GC_New(TensorObject, type()));  // neither zeroed nor tracked
}

// The object takes over all references that C++ holds; `x`'s own becomes the returned one. No other thread counts
// meanwhile: where there is an interpreter, counting needs its lock, and kernels, which run without it, see memory only.
PyObject* adopt(PyObject* o, Tensor x) {
  TensorImpl* impl = x.get();
  tensor_object(o)->impl = impl;
  for (size_t n = impl->use_count(); n > 1; n--) Py_INCREF(o);
  impl->set_python(o);
  new (&x) Tensor();  // its reference lives on as the returned one
  return o;
}

void dealloc(PyObject* self) {
  PyTypeObject* t = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  TensorObject* o = tensor_object(self);
  if (o->weakrefs) PyObject_ClearWeakRefs(self);
  Py_CLEAR(o->dict);
  if (TensorImpl* impl = std::exchange(o->impl, nullptr)) impl->destroy();
  if (t == type() && free_count < kept) free_list[free_count++] = o;
  else PyObject_GC_Del(self);
  Py_DECREF(reinterpret_cast<PyObject*>(t));
}

// ---- garbage collection

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  Py_VISIT(tensor_object(self)->dict);
  return tensor_object(self)->impl ? Traversal(visit, arg).run(*tensor_object(self)->impl) : 0;
}

int clear(PyObject* self) {
  Py_CLEAR(tensor_object(self)->dict);
  if (tensor_object(self)->impl) tensor_object(self)->impl->clear_refs();
  return 0;
}

// Attribute writes and __dict__ are the only doors to the instance dict. Our own properties do not count.
int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  const int r = PyObject_GenericSetAttr(self, name, value);
  if (r == 0 && value && is_tensor(value)) track_tensor(*impl_of(value));   // it may lead back here
  if (r == 0 && (tensor_object(self)->dict || (Py_TYPE(self) != type() && !PyObject_HasAttr(reinterpret_cast<PyObject*>(type()), name)))) track_tensor(*tensor_object(self)->impl);
  return r;
}
PyObject* get_dict(PyObject* self, void*) { track_tensor(*tensor_object(self)->impl); return PyObject_GenericGetDict(self, nullptr); }
int set_dict(PyObject* self, PyObject* value, void*) { track_tensor(*tensor_object(self)->impl); return PyObject_GenericSetDict(self, value, nullptr); }

Py_hash_t hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(self) >> 4); }

Py_ssize_t length(PyObject* self) {
  const TensorImpl* t = impl_of(self);
  if (t->ndim() > 0) return t->sizes[0];
  PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
  return -1;
}

PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

// ---- what core calls through python_hooks, from any thread

// Python ends a thread that asks for the lock of an interpreter that is ending, by unwinding it: here the thread waits for the end of
// the process instead, as from Python 3.14 on.
template <class F> auto or_wait_for_the_end(F acquire) noexcept {
  try {
    return acquire();
  } catch (...) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}
PyGILState_STATE ensure_gil() noexcept { return or_wait_for_the_end([] { return PyGILState_Ensure(); }); }

void hook_inc(PyObject* o) noexcept {
  if (site::attached()) { Py_INCREF(o); return; }
  const auto state = ensure_gil();
  Py_INCREF(o);
  PyGILState_Release(state);
}

void hook_dec(PyObject* o) noexcept {
  if (site::attached()) { Py_DECREF(o); return; }
  if (!Py_IsInitialized()) return;  // a thread outlived the interpreter
  const auto state = ensure_gil();
  Py_DECREF(o);
  PyGILState_Release(state);
}

void* release_gil() noexcept { return site::attached() ? PyEval_SaveThread() : nullptr; }
void acquire_gil(void* state) noexcept {
  or_wait_for_the_end([state] { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); });
}
int attach() noexcept { return ensure_gil(); }
void detach(int state) noexcept { PyGILState_Release(static_cast<PyGILState_STATE>(state)); }

}  // namespace

PyObject* wrap_as(PyTypeObject* t, Tensor x) {
  if (t == type()) return wrap_tensor(std::move(x));
  expect(PyType_Check(reinterpret_cast<PyObject*>(t)) && PyType_IsSubtype(t, type()), ErrorKind::type, "as_subclass: expected a subclass of Tensor, got ", type_name(reinterpret_cast<PyObject*>(t)));
  expect(!x->python(), "as_subclass: the tensor is already an object of another class");
  if (answers_below(t)) x->keys |= key_dispatch;
  auto alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(t, Py_tp_alloc));
  PyObject* o = alloc(t, 0);  // zeroed and tracked
  if (!o) throw nanobind::python_error();
  x->flags |= flag_tracked;
  return adopt(o, std::move(x));
}

PyObject* wrap_tensor(Tensor x) {
  if (!x) Py_RETURN_NONE;
  if (PyObject* o = x->python()) {
    new (&x) Tensor();  // a C++ reference to an exposed object already is a Python reference
    return o;
  }
  settle(*x);
  PyObject* o = allocate_object();
  if (!o) return nullptr;
  tensor_object(o)->dict = tensor_object(o)->weakrefs = nullptr;
  const bool tracked = x->flags & flag_tracked;
  adopt(o, std::move(x));
  if (tracked) PyObject_GC_Track(o);
  return o;
}

void track_tensor(TensorImpl& x) {
  x.flags |= flag_tracked;
  PyObject* o = x.python();
  if (o && !PyObject_GC_IsTracked(o)) PyObject_GC_Track(o);
}

void install_hooks() { python_hooks = {hook_inc, hook_dec, site::capture, release_gil, acquire_gil, attach, detach}; }

PyTypeObject* make_tensor_type() {
  // Descriptors keep pointing into the table: it lives as long as the type.
  auto* attributes = new std::vector<PyGetSetDef>{{"__dict__", get_dict, set_dict, nullptr, nullptr}};
  for (PyGetSetDef* d = tensor_getset(); d->name; d++) attributes->push_back(*d);
  attributes->push_back({});
  std::vector<PyType_Slot> slots{
      {Py_tp_doc, const_cast<char*>("A strided array of one element type, with derivatives.")},
      {Py_tp_new, reinterpret_cast<void*>(tensor_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_setattro, reinterpret_cast<void*>(set_attribute)},
      {Py_tp_hash, reinterpret_cast<void*>(hash)},
      {Py_mp_length, reinterpret_cast<void*>(length)},
      {Py_sq_length, reinterpret_cast<void*>(length)},
      {Py_mp_subscript, reinterpret_cast<void*>(tensor_getitem)},
      {Py_mp_ass_subscript, reinterpret_cast<void*>(tensor_setitem)},
      {Py_tp_members, members},
      {Py_tp_getset, attributes->data()}};
  for (const PyType_Slot& s : number_slots()) slots.push_back(s);
  slots.push_back({0, nullptr});
  PyType_Spec spec{"adjoint.Tensor", sizeof(TensorObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, slots.data()};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

}  // namespace adjoint::python
