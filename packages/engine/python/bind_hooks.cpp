// Hooks: Python callables on tensors and nodes.
#include <algorithm>

#include "callable.h"

namespace adjoint::engine::python {

namespace {

template <class Base> struct PythonHook : Base {
  explicit PythonHook(nb::handle f) : f(std::make_shared<Callable>(f)) {}
  bool removed() const { return !*f; }
  nb::object held() const { return nb::borrow(f->get()); }   // it may remove itself while it runs
  template <class Self> Ref<Base> copy() { return removed() ? Ref<Base>(this) : Ref<Base>::take(new Self(held())); }
  void visit_refs(RefVisitor& v) const override { if (!removed()) v.python(f->get()); }
  void clear_refs() override { f->drop(); }
  const std::shared_ptr<Callable> f;
};

std::string named(nb::handle f) { return "hook '" + nb::cast<std::string>(nb::str(nb::getattr(f, "__name__", nb::str("hook")))) + "'"; }

void check_same(const Tensor& was, const Tensor& now, nb::handle f) {
  if (!was) fail(ErrorKind::runtime, "can't replace a None gradient with a non-None value: ", named(f), " was called with None");
  if (now.dtype() != was.dtype()) fail(ErrorKind::runtime, named(f), " has changed the type of value (was ", was.dtype(), " got ", now.dtype(), ")");
  if (now.sizes() != was.sizes()) fail(ErrorKind::runtime, named(f), " has changed the size of value: expected ", was.sizes(), ", got ", now.sizes());
}

struct OnTensor final : PythonHook<TensorHook> {
  using PythonHook::PythonHook;
  Tensor call(const Tensor& g) override {
    if (removed()) return {};
    const nb::object hook = held(), r = hook(none_or(g));
    if (r.is_none()) return {};
    if (!adjoint::python::is_tensor(r.ptr())) fail(ErrorKind::type, "expected Variable, but hook returned '", kind_of(r), "'");
    Tensor t = nb::cast<Tensor>(r);
    check_same(g, t, hook);
    return t;
  }
  Ref<TensorHook> as_now() override { return copy<OnTensor>(); }
};

nb::tuple as_tuple(const Vector<Tensor>& t) {
  nb::list l;
  for (const Tensor& g : t) l.append(g ? nb::cast(g) : nb::none());
  return nb::tuple(l);
}

void replace(Vector<Tensor>& t, nb::object r, nb::handle f) {
  if (r.is_none()) return;
  if (!PyTuple_Check(r.ptr())) fail(ErrorKind::type, "expected tuple, but hook returned '", kind_of(r), "'");
  if (nb::len(r) != t.size()) fail(ErrorKind::runtime, named(f), " has returned an incorrect number of values (got ", nb::len(r), ", but expected ", t.size(), ")");
  size_t i = 0;
  for (nb::handle g : r) {
    if (!g.is_none() && !adjoint::python::is_tensor(g.ptr())) fail(ErrorKind::type, "expected Variable, but hook returned '", kind_of(g), "'");
    Tensor now = g.is_none() ? Tensor{} : nb::cast<Tensor>(g);
    if (now) check_same(t[i], now, f);
    t[i++] = std::move(now);
  }
}

struct BeforeNode final : PythonHook<PreHook> {
  using PythonHook::PythonHook;
  void call(Vector<Tensor>& cotangents) override {
    if (removed()) return;
    const nb::object hook = held();
    replace(cotangents, hook(as_tuple(cotangents)), hook);
  }
  Ref<PreHook> as_now() override { return copy<BeforeNode>(); }
};
struct AfterNode final : PythonHook<PostHook> {
  AfterNode(nb::handle f, std::vector<size_t> edges) : PythonHook(f), edges(std::move(edges)) {}
  void call(Vector<Tensor>& grads, const Vector<Tensor>& cotangents) override {
    if (removed()) return;
    const nb::object hook = held();
    Vector<Tensor> seen;
    for (const size_t k : edges) seen.push_back(grads[k]);
    replace(seen, hook(as_tuple(seen), as_tuple(cotangents)), hook);
    for (size_t i = 0; i < edges.size(); i++) grads[edges[i]] = std::move(seen[i]);
  }
  Ref<PostHook> as_now() override { return removed() ? Ref<PostHook>(this) : Ref<PostHook>::take(new AfterNode(held(), edges)); }
  const std::vector<size_t> edges;
};
struct Accumulated final : PythonHook<AccumulatedHook> {
  using PythonHook::PythonHook;
  void call(const Tensor& leaf) override {
    if (removed()) return;
    const nb::object hook = held(), given = nb::cast(leaf), found = hook(given);   // who writes to the leaf may return it
    if (!found.is_none() && !found.is(given)) fail(ErrorKind::runtime, "Tensor post accumulate grad hooks should return None, ", named(hook), " did not");
  }
  Ref<AccumulatedHook> as_now() override { return copy<Accumulated>(); }
};

// What a RemovableHandle holds: it keeps nothing alive, since the hook may lead back to whoever keeps the handle.
struct HookEntry {
  std::weak_ptr<Callable> hook;
  void remove() { if (auto f = hook.lock()) f->drop(); }
};

template <class H> H& hook_of(const Ref<H>& h) { return *h; }
TensorHook& hook_of(const Hooks::OnTensor& h) { return *h.hook; }
template <class Entry> bool removed(const Entry& h) {
  auto& hook = hook_of(h);
  const auto* p = dynamic_cast<const PythonHook<std::remove_reference_t<decltype(hook)>>*>(&hook);
  return p && p->removed();
}

// Hooks on one output of a node stand together, where the first of them came.
template <class H> auto place_of(std::vector<H>& all, const H&) { return all.end(); }
auto place_of(std::vector<Hooks::OnTensor>& all, const Hooks::OnTensor& h) {
  const auto last = std::find_if(all.rbegin(), all.rend(), [&](const Hooks::OnTensor& other) { return other.nr == h.nr; });
  return last == all.rend() ? all.end() : last.base();
}

// In the place of those that were removed.
template <class Entry> void add(Node& n, std::vector<Entry> Hooks::*which, Entry h) {
  auto& all = n.hooks().*which;
  std::erase_if(all, removed<Entry>);
  all.insert(place_of(all, h), std::move(h));
  taint(n);
  if (const auto* leaf = dynamic_cast<const AccumulateGrad*>(&n)) adjoint::python::api->track(*leaf->variable.get());   // it keeps them
}

HookEntry register_tensor_hook(const Tensor& t, nb::handle f) {
  const Edge e = shown_edge(t);
  expect(bool(e.node), "cannot register a hook on a tensor that doesn't require gradient");
  auto* h = new OnTensor(f);
  add(*e.node, &Hooks::tensor, Hooks::OnTensor{e.nr, Ref<TensorHook>(h)});
  adjoint::python::api->track(*t.get());
  return {h->f};
}

// (entry, callable) of each hook on one tensor, in the order of registration.
nb::list tensor_hooks(const Tensor& t) {
  nb::list l;
  const Edge e = shown_edge(t);
  if (!e.node) return l;
  if (const Hooks* hooks = e.node->hooks_or_null())
    for (const Hooks::OnTensor& h : hooks->tensor)
      if (const auto* p = dynamic_cast<const OnTensor*>(h.hook.get()); p && !p->removed() && h.nr == e.nr) l.append(nb::make_tuple(HookEntry{p->f}, p->held()));
  return l;
}

HookEntry register_accumulated_hook(const Tensor& t, nb::handle f) {
  const Edge e = shown_edge(t);
  expect(bool(e.node), "cannot register a hook on a tensor that doesn't require gradient");
  expect(dynamic_cast<const AccumulateGrad*>(e.node.get()), "post accumulate grad hooks cannot be registered on non-leaf tensors");
  auto* h = new Accumulated(f);
  add(*e.node, &Hooks::accumulated, Ref<AccumulatedHook>(h));
  adjoint::python::api->track(*t.get());
  return {h->f};
}

HookEntry register_node_hook(NodeRef n, nb::handle f) {
  auto* h = new AfterNode(f, shown_edges(*n.p));
  add(*n.p, &Hooks::post, Ref<PostHook>(h));
  return {h->f};
}

HookEntry register_node_prehook(NodeRef n, nb::handle f) {
  auto* h = new BeforeNode(f);
  add(*n.p, &Hooks::pre, Ref<PreHook>(h));
  return {h->f};
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
