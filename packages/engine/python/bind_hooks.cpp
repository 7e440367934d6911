// Hooks: Python callables on tensors, nodes and saved tensors.
#include "node_type.h"

namespace adjoint::engine::python {

namespace {

// A reference to a Python object inside a C++ one; may be dropped from any thread.
class Callable {
 public:
  explicit Callable(nb::handle f) : f_(f.inc_ref().ptr()) {}
  ~Callable() { drop(); }
  Callable(const Callable&) = delete;
  void drop() {
    PyObject* f = std::exchange(f_, nullptr);
    if (!f) return;
    nb::gil_scoped_acquire gil;
    Py_DECREF(f);
  }
  explicit operator bool() const { return f_; }
  template <class... A> nb::object operator()(A&&... a) const { return nb::borrow(f_)(std::forward<A>(a)...); }
  PyObject* get() const { return f_; }

 private:
  PyObject* f_;
};

template <class Base> struct PythonHook : Base {
  explicit PythonHook(nb::handle f) : f(f) {}
  void visit_refs(RefVisitor& v) const override { if (f) v.python(f.get()); }
  void clear_refs() override { f.drop(); }
  Callable f;
};

struct OnTensor final : PythonHook<TensorHook> {
  using PythonHook::PythonHook;
  Tensor call(const Tensor& g) override {
    if (!f) return {};
    nb::object r = f(g);
    if (r.is_none()) return {};
    if (!adjoint::python::is_tensor(r.ptr())) fail(ErrorKind::type, "expected Variable, but hook returned '", nb::cast<std::string>(nb::str(r.type().attr("__name__"))), "'");
    Tensor t = nb::cast<Tensor>(r);
    expect(t.sizes() == g.sizes(), "hook '", nb::cast<std::string>(nb::str(nb::getattr(nb::borrow(f.get()), "__name__", nb::str("hook")))), "' has changed the size of value: expected ", g.sizes(), ", got ", t.sizes());
    expect(t.dtype() == g.dtype(), "hook has changed the type of value (was ", g.dtype(), " got ", t.dtype(), ")");
    return t;
  }
};

nb::tuple as_tuple(const std::vector<Tensor>& t) {
  nb::list l;
  for (const Tensor& g : t) l.append(g ? nb::cast(g) : nb::none());
  return nb::tuple(l);
}

void replace(std::vector<Tensor>& t, nb::object r, const char* what) {
  if (r.is_none()) return;
  if (adjoint::python::is_tensor(r.ptr())) r = nb::make_tuple(r);
  expect(nb::len(r) == t.size(), ErrorKind::type, what, " has returned an incorrect number of values (got ", nb::len(r), ", but expected ", t.size(), ")");
  size_t i = 0;
  for (nb::handle g : r) t[i++] = g.is_none() ? Tensor{} : nb::cast<Tensor>(g);
}

struct BeforeNode final : PythonHook<PreHook> {
  using PythonHook::PythonHook;
  void call(std::vector<Tensor>& cotangents) override { if (f) replace(cotangents, f(as_tuple(cotangents)), "prehook"); }
};
struct AfterNode final : PythonHook<PostHook> {
  using PythonHook::PythonHook;
  void call(std::vector<Tensor>& grads, const std::vector<Tensor>& cotangents) override { if (f) replace(grads, f(as_tuple(grads), as_tuple(cotangents)), "hook"); }
};
struct Accumulated final : PythonHook<AccumulatedHook> {
  using PythonHook::PythonHook;
  void call(const Tensor& leaf) override { if (f) f(leaf); }
};

// What a RemovableHandle holds.
struct HookEntry {
  Ref<Object> hook;
  void remove() { hook->clear_refs(); }
};

// Python hangs on the node now: it and the tensor must be visible to the collector.
void taint(Node& n) {
  n.tainted = true;
  expose_node(n);
}

template <class H> HookEntry keep(Ref<H> h) { return {Ref<Object>(h.get())}; }

HookEntry register_tensor_hook(const Tensor& t, nb::handle f) {
  expect(requires_grad(t), "cannot register a hook on a tensor that doesn't require gradient");
  Ref<TensorHook> h(new OnTensor(f));
  const Edge e = gradient_edge(t);
  e.node->hooks().tensor.push_back({e.nr, h});
  taint(*e.node);
  adjoint::python::api->track(*t.get());
  return keep(h);
}

HookEntry register_accumulated_hook(const Tensor& t, nb::handle f) {
  expect(requires_grad(t), "cannot register a hook on a tensor that doesn't require gradient");
  expect(!t->grad_fn, "post accumulate grad hooks cannot be registered on non-leaf tensors");
  Ref<AccumulatedHook> h(new Accumulated(f));
  const Edge e = gradient_edge(t);
  e.node->hooks().accumulated.push_back(h);
  taint(*e.node);
  adjoint::python::api->track(*t.get());
  return keep(h);
}

HookEntry register_node_hook(NodeRef n, nb::handle f) {
  Ref<PostHook> h(new AfterNode(f));
  n.p->hooks().post.push_back(h);
  taint(*n.p);
  return keep(h);
}

HookEntry register_node_prehook(NodeRef n, nb::handle f) {
  Ref<PreHook> h(new BeforeNode(f));
  n.p->hooks().pre.push_back(h);
  taint(*n.p);
  return keep(h);
}

// ---- saved tensors

struct PackHooks { PyObject *pack, *unpack; };
thread_local std::vector<PackHooks> pack_stack;      // references are held by the Python context managers
thread_local bool packing = false;                   // pack hooks do not see what they save themselves

struct PythonPacked final : Saved::Packed {
  PythonPacked(nb::handle value, PyObject* unpack) : value(value), unpack_hook(unpack) {}
  Tensor unpack() override {
    nb::object r = unpack_hook(nb::borrow(value.get()));
    if (!adjoint::python::is_tensor(r.ptr())) fail(ErrorKind::type, "Output of saved tensor unpack_hook expected to be a Tensor but got result of type ", nb::cast<std::string>(nb::str(r.type().attr("__name__"))));
    return nb::cast<Tensor>(r);
  }
  void visit_refs(RefVisitor& v) const override {
    Saved::Packed::visit_refs(v);
    if (value) v.python(value.get());
    if (unpack_hook) v.python(unpack_hook.get());
  }
  void clear_refs() override { value.drop(); unpack_hook.drop(); }
  Callable value, unpack_hook;
};

Ref<Saved::Packed> pack(const Tensor& t, void*) {
  if (pack_stack.empty() || packing) return {};
  struct Guard { Guard() { packing = true; } ~Guard() { packing = false; } } guard;
  const PackHooks h = pack_stack.back();
  nb::object packed = nb::borrow(h.pack)(t);
  return Ref<Saved::Packed>(new PythonPacked(packed, h.unpack));
}

}  // namespace

void bind_hooks(nb::module_& m) {
  saved_packer.pack = pack;
  nb::class_<HookEntry>(m, "HookEntry").def("remove", &HookEntry::remove);
  m.def("register_tensor_hook", register_tensor_hook);
  m.def("register_accumulated_hook", register_accumulated_hook);
  m.def("register_node_hook", register_node_hook);
  m.def("register_node_prehook", register_node_prehook);
  m.def("push_saved_hooks", [](nb::handle pack_hook, nb::handle unpack_hook) { pack_stack.push_back({pack_hook.ptr(), unpack_hook.ptr()}); });
  m.def("pop_saved_hooks", [] { pack_stack.pop_back(); });
}

}  // namespace adjoint::engine::python
