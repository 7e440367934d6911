// The type `Node`: a raw heap type that owns its C++ node once exposed. Each kind of node gets a subclass of its name.
#include "node_type.h"

#include <adjoint/python/gc.h>
#include <structmember.h>

#include <cstddef>
#include <map>

namespace adjoint::engine::python {

using adjoint::python::Traversal;

PyTypeObject* node_type = nullptr;

namespace {

NodeObject* object(PyObject* o) { return reinterpret_cast<NodeObject*>(o); }

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(object(self)->dict);
  return object(self)->node ? Traversal(visit, arg).run(*object(self)->node) : 0;
}

int clear(PyObject* self) {
  Py_CLEAR(object(self)->dict);
  if (Node* n = object(self)->node) n->clear_refs();
  return 0;
}

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (object(self)->weakrefs) PyObject_ClearWeakRefs(self);
  Py_CLEAR(object(self)->dict);
  Node* n = std::exchange(object(self)->node, nullptr);
  auto release = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  release(self);
  if (n) n->destroy();
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

// Only subclasses made in Python (contexts of custom Functions) are instantiated from Python.
PyObject* create(PyTypeObject* type, PyObject*, PyObject*) {
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* self = allocate(type, 0);
  if (!self) return nullptr;
  object(self)->node = new FunctionNode;
  object(self)->node->set_python(self);
  return self;
}

PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(NodeObject, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(NodeObject, weakrefs), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef getset[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {nullptr, nullptr, nullptr, nullptr, nullptr}};

// Of the name alone, as in PyTorch, whose nodes' classes lie in no module.
PyObject* representation(PyObject* self) {
  const nb::object name = nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(self))).attr("__name__");
  return PyUnicode_FromFormat("<%U object at %p>", name.ptr(), self);
}

PyType_Slot base_slots[] = {{Py_tp_repr, reinterpret_cast<void*>(representation)}, {Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {Py_tp_clear, reinterpret_cast<void*>(clear)}, {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                            {Py_tp_new, reinterpret_cast<void*>(create)}, {Py_tp_members, members}, {Py_tp_getset, getset},
                            {Py_tp_doc, const_cast<char*>("A node of the backward graph.")}, {0, nullptr}};
PyType_Spec base_spec = {"adjoint.autograd.graph.Node", sizeof(NodeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, base_slots};

// MulBackward0, AccumulateGrad, ...: made at first sight, kept for ever.
PyTypeObject* type_named(const std::string& name) {
  static auto* types = new std::map<std::string, PyTypeObject*>;
  PyTypeObject*& t = (*types)[name];
  if (t) return t;
  const std::string qualified = "adjoint.autograd.graph." + name;
  PyType_Slot slots[] = {{0, nullptr}};
  auto* kept = new std::string(qualified);   // the spec's name must outlive the type on older interpreters
  PyType_Spec spec = {kept->c_str(), sizeof(NodeObject), 0, Py_TPFLAGS_DEFAULT, slots};   // collection is inherited
  t = reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(node_type)));
  if (!t) throw nb::python_error();
  return t;
}

}  // namespace

PyObject* wrap_node(Node* n) {
  if (!n) Py_RETURN_NONE;
  if (PyObject* p = n->python()) return Py_NewRef(p);
  PyTypeObject* type = type_named(n->name());
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* self = allocate(type, 0);
  if (!self) throw nb::python_error();
  object(self)->node = n;
  for (size_t i = n->use_count(); i > 0; i--) Py_INCREF(self);   // C++ references become Python references
  n->set_python(self);
  return self;
}

void make_node_type(nb::module_& m) {
  node_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&base_spec));
  if (!node_type) throw nb::python_error();
  m.attr("Node") = nb::borrow(reinterpret_cast<PyObject*>(node_type));
  m.attr("AccumulateGrad") = nb::borrow(reinterpret_cast<PyObject*>(type_named("AccumulateGrad")));
  python_references = [](PyObject* o) { return static_cast<size_t>(Py_REFCNT(o)); };
  expose_node = [](Node& n) {
    // wrap_node's own reference goes: the C++ references, now Python's, keep it.
    n.inc_ref();
    PyObject* o = wrap_node(&n);
    Py_DECREF(o);
    n.dec_ref();
  };
}

}  // namespace adjoint::engine::python
