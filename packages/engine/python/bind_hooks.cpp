// Hooks: Python callables on tensors and nodes.
#include "callable.h"

namespace adjoint::engine::python {

namespace {

template <class Base> struct PythonHook : Base {
  explicit PythonHook(nb::handle f) : f(f) {}
  nb::object held() const { return nb::borrow(f.get()); }   // it may remove itself while it runs
  void visit_refs(RefVisitor& v) const override { if (f) v.python(f.get()); }
  void clear_refs() override { f.drop(); }
  Callable f;
};

std::string named(nb::handle f) { return "hook '" + nb::cast<std::string>(nb::str(nb::getattr(f, "__name__", nb::str("hook")))) + "'"; }

struct OnTensor final : PythonHook<TensorHook> {
  using PythonHook::PythonHook;
  Tensor call(const Tensor& g) override {
    if (!f) return {};
    const nb::object hook = held(), r = hook(g);
    if (r.is_none()) return {};
    if (!adjoint::python::is_tensor(r.ptr())) fail(ErrorKind::type, "expected Variable, but hook returned '", kind_of(r), "'");
    Tensor t = nb::cast<Tensor>(r);
    if (t.sizes() != g.sizes()) fail(ErrorKind::runtime, named(hook), " has changed the size of value: expected ", g.sizes(), ", got ", t.sizes());
    if (t.dtype() != g.dtype()) fail(ErrorKind::runtime, named(hook), " has changed the type of value (was ", g.dtype(), " got ", t.dtype(), ")");
    return t;
  }
};

nb::tuple as_tuple(const std::vector<Tensor>& t) {
  nb::list l;
  for (const Tensor& g : t) l.append(g ? nb::cast(g) : nb::none());
  return nb::tuple(l);
}

void replace(std::vector<Tensor>& t, nb::object r, nb::handle f) {
  if (r.is_none()) return;
  if (!PyTuple_Check(r.ptr())) fail(ErrorKind::type, "expected tuple, but hook returned '", kind_of(r), "'");
  if (nb::len(r) != t.size()) fail(ErrorKind::runtime, named(f), " has returned an incorrect number of values (got ", nb::len(r), ", but expected ", t.size(), ")");
  size_t i = 0;
  for (nb::handle g : r) {
    if (!g.is_none() && !adjoint::python::is_tensor(g.ptr())) fail(ErrorKind::type, "expected Variable, but hook returned '", kind_of(g), "'");
    t[i++] = g.is_none() ? Tensor{} : nb::cast<Tensor>(g);
  }
}

struct BeforeNode final : PythonHook<PreHook> {
  using PythonHook::PythonHook;
  void call(std::vector<Tensor>& cotangents) override {
    if (!f) return;
    const nb::object hook = held();
    replace(cotangents, hook(as_tuple(cotangents)), hook);
  }
};
struct AfterNode final : PythonHook<PostHook> {
  using PythonHook::PythonHook;
  void call(std::vector<Tensor>& grads, const std::vector<Tensor>& cotangents) override {
    if (!f) return;
    const nb::object hook = held();
    replace(grads, hook(as_tuple(grads), as_tuple(cotangents)), hook);
  }
};
struct Accumulated final : PythonHook<AccumulatedHook> {
  using PythonHook::PythonHook;
  void call(const Tensor& leaf) override {
    if (!f) return;
    const nb::object hook = held(), given = nb::cast(leaf), found = hook(given);   // who writes to the leaf may return it
    if (!found.is_none() && !found.is(given)) fail(ErrorKind::runtime, "Tensor post accumulate grad hooks should return None, ", named(hook), " did not");
  }
};

// What a RemovableHandle holds.
struct HookEntry {
  Ref<Object> hook;
  void remove() { hook->clear_refs(); }
};

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

// (entry, callable) of each hook on one tensor, in the order of registration.
nb::list tensor_hooks(const Tensor& t) {
  nb::list l;
  if (!requires_grad(t)) return l;
  const Edge e = gradient_edge(t);
  if (const Hooks* hooks = e.node->hooks_or_null())
    for (const Hooks::OnTensor& h : hooks->tensor)
      if (const auto* p = dynamic_cast<const OnTensor*>(h.hook.get()); p && p->f && h.nr == e.nr) l.append(nb::make_tuple(keep(h.hook), nb::borrow(p->f.get())));
  return l;
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

}  // namespace

void bind_hooks(nb::module_& m) {
  nb::class_<HookEntry>(m, "HookEntry").def("remove", &HookEntry::remove);
  m.def("register_tensor_hook", register_tensor_hook);
  m.def("tensor_hooks", tensor_hooks);
  m.def("register_accumulated_hook", register_accumulated_hook);
  m.def("register_node_hook", register_node_hook);
  m.def("register_node_prehook", register_node_prehook);
}

}  // namespace adjoint::engine::python
