// Custom Functions: nodes whose backward is Python code, and the two halves of a call around the user's forward.
#include "callable.h"

namespace adjoint::engine::python {

// Observers see forward under the name of its class.
struct FunctionNode::Call {
  Call(std::string name, const Node* made) : name(std::move(name)), watch({.kind = Span::Kind::custom, .node = made, .name = this->name.c_str()}) {}
  const std::string name;
  Watch watch;
};
FunctionNode::FunctionNode() { tainted = true; }
FunctionNode::~FunctionNode() = default;

namespace {

// A backward through a node in this thread. Which gradients it wants is no fact of the node: other threads may run it too.
class Run {
 public:
  Run(const FunctionNode& f, const Vector<bool>& wanted) : node_(f), wanted_(wanted), outer_(std::exchange(innermost, this)) {}
  ~Run() { innermost = outer_; }
  Run(const Run&) = delete;
  static const Vector<bool>* of(const FunctionNode& f) {
    for (const Run* r = innermost; r; r = r->outer_)
      if (&r->node_ == &f) return &r->wanted_;
    return nullptr;
  }

 private:
  inline static thread_local const Run* innermost = nullptr;
  const FunctionNode& node_;
  const Vector<bool>& wanted_;
  const Run* outer_;
};

FunctionNode& function_node(NodeRef n) {
  auto* f = dynamic_cast<FunctionNode*>(n.p);
  if (!f) throw nb::type_error("expected the context of a custom Function");
  return *f;
}

bool is_tensor(nb::handle h) { return adjoint::python::is_tensor(h.ptr()); }
// What attributes of a context hold, and what methods give that a subclass may override, can be anything.
Tensor tensor(nb::handle h) {
  if (!is_tensor(h)) fail(ErrorKind::type, "custom Function: expected a Tensor, got ", kind_of(h));
  return adjoint::python::unwrap(h.ptr());
}
InputMeta meta_of(const Tensor& t) { return {t.sizes(), t.dtype(), t.device()}; }
bool contains(nb::handle tuple, nb::handle x) {
  for (nb::handle h : tuple)
    if (h.is(x)) return true;
  return false;
}

bool sums_to(const Dims& from, const Dims& to) {
  if (from.size() < to.size()) return false;
  for (int i = 1; i <= to.size(); i++)
    if (to[to.size() - i] != from[from.size() - i] && to[to.size() - i] != 1) return false;
  return true;
}

// The arguments, and the edges if `records` and one of them requires grad. True if so.
bool take_arguments(FunctionNode& f, nb::tuple args, bool records) {
  bool any = false;
  f.inputs.resize(args.size());
  for (size_t i = 0; i < args.size(); i++) {
    nb::handle h = args[i];
    FunctionNode::Slot& s = f.inputs[i];
    if (!(s.is_tensor = is_tensor(h))) continue;
    const Tensor t = tensor(h);
    s.meta = meta_of(t);
    s.wants = requires_grad(t);
    any = any || s.wants;
  }
  if (!any || !records) return false;
  f.edges = Array<Edge>(args.size());
  for (size_t i = 0; i < args.size(); i++)
    if (f.inputs[i].wants) {
      const Tensor x = fresh(tensor(args[i]));
      f.edges[i] = gradient_edge(x);
      if (f.edges[i].node && f.edges[i].node->outdated) fail_outdated(*f.edges[i].node);
      keep_stream(f, {&x, 1});
    }
  return true;
}

// Before forward.
bool open_context(NodeRef ctx, nb::tuple args, bool records) {
  FunctionNode& f = function_node(ctx);
  const bool made = take_arguments(f, args, records);
  if (watched()) f.call = std::make_unique<FunctionNode::Call>(nb::cast<std::string>(nb::handle(f.python()).attr("_forward_cls").attr("__name__")), made ? &f : nullptr);
  return made;
}

void save(FunctionNode& f, nb::handle ctx, nb::handle args, const Vector<nb::object>& outputs) {
  nb::object given = ctx.attr("to_save");
  if (nb::len(given)) ctx.attr("to_save") = nb::tuple();   // before a pack hook can raise: an output in it would close a cycle
  f.saved.reserve(f.saved.size() + nb::len(given));   // a pack hook may look at those before: they must not move
  for (nb::handle h : given) {
    uint32_t nr = 0;
    while (nr < outputs.size() && !outputs[nr].is(h)) nr++;
    const bool own = nr < outputs.size();
    if (!h.is_none() && !is_tensor(h)) fail(ErrorKind::type, "save_for_backward can only save variables, but argument ", f.saved.size(), " is of type ", nb::cast<std::string>(h.type().attr("__name__")));
    f.saved.push_back(h.is_none() ? Saved() : Saved(tensor(h), own));
    const bool intermediate = !own && !h.is_none() && tensor(h)->keys & key_intermediate && !contains(args, h);
    f.saved_nr.push_back(own ? nr : intermediate ? FunctionNode::intermediate : 0);
  }
}

void connect_output(FunctionNode& f, const Tensor& y, uint32_t nr) {
  set_history(y, Ref<Node>(&f), nr);
  y->keys &= ~key_intermediate;
  adjoint::python::api->track(*y.get());
}

// What forward says that it wrote to must be an argument and an output.
void check_dirty(nb::handle dirty, nb::handle args, nb::handle result) {
  for (nb::handle h : dirty) {
    expect(result.is(h) || (PyTuple_Check(result.ptr()) && contains(result, h)), "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace must all be outputs of the Function.");
    if (contains(args, h)) continue;
    constexpr auto why = "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be passed to ctx.mark_dirty().";
    if (is_tensor(h) && tensor(h)->view) fail(ErrorKind::runtime, why);
    if (PyErr_WarnEx(PyExc_UserWarning, why, 1)) throw nb::python_error();
  }
}

// After forward: history for the outputs, a view of its own where an input came back. Runs without recording.
nb::object close_context(NodeRef ref, nb::tuple args, nb::object result, bool records) {
  FunctionNode& f = function_node(ref);
  nb::handle ctx(f.python());
  const bool single = !PyTuple_Check(result.ptr());
  Vector<nb::object> outputs;
  if (single) outputs.push_back(result);
  else for (nb::handle h : result) outputs.push_back(nb::borrow(h));
  nb::object dirty = ctx.attr("dirty_tensors"), constant = ctx.attr("non_differentiable");
  if (nb::len(dirty)) check_dirty(dirty, args, result);
  f.output_count = static_cast<uint32_t>(outputs.size());
  f.results.resize(outputs.size());
  f.materialize = nb::cast<bool>(nb::bool_(ctx.attr("materialize_grads")));
  const bool fills_constant = nb::len(constant) == 0 || nb::cast<bool>(nb::bool_(ctx.attr("_materialize_non_diff_grads")));
  nb::object cls = ctx.attr("_forward_cls");
  f.clears_on_access = nb::cast<bool>(nb::bool_(cls.attr("clear_saved_tensors_on_access")));
  f.boxed = nb::cast<bool>(nb::bool_(cls.attr("boxed_grads_call")));
  for (uint32_t k = 0; k < outputs.size(); k++) {
    nb::object& o = outputs[k];
    if (!is_tensor(o)) continue;
    Tensor y = tensor(o);
    const bool connects = records && is_differentiable(y.dtype()) && !contains(constant, o);
    if (contains(dirty, o)) {
      if (connects) written_by(y, Ref<Node>(&f), k), adjoint::python::api->track(*y.get());
      else bump_version(*bottom(y));
      if (contains(constant, o) && requires_grad(y)) o = o.attr("detach")(), y = tensor(o);   // the argument keeps its history
    } else {
      if (contains(args, o)) o = o.attr("view_as")(o), y = tensor(o);
      if (connects) connect_output(f, y, k);
      if (y->view && !contains(constant, o)) view_info(*y)->creation = connects && outputs.size() > 1 ? Creation::several : Creation::custom;   // writes through it would bypass the Function's backward
    }
    f.results[k] = {!contains(constant, o) || fills_constant, false, meta_of(y)};
  }
  for (nb::handle o : outputs)   // what the Function itself wrote does not make them outdated
    if (is_tensor(o) && tensor(o)->view) view_info(*tensor(o))->seen = view_root(*tensor(o)).epoch;
  if (records) save(f, ctx, args, outputs);
  f.call.reset();
  if (single) return outputs[0];
  nb::list all;
  for (nb::object& o : outputs) all.append(o);
  return nb::tuple(all);
}

void drop_saved(FunctionNode& f) {
  for (Saved& s : f.saved) s = Saved();   // in place: SavedTensor objects may point to them
  f.freed = true;
}

nb::object saved_tensors(NodeRef ref) {
  FunctionNode& f = function_node(ref);
  if (f.freed) {
    if (f.clears_on_access && Run::of(f)) fail(ErrorKind::runtime, "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False.");
    fail_freed(f);
  }
  nb::handle ctx(f.python());
  if (f.saved.empty()) {
    nb::object open = ctx.attr("to_save");
    return nb::len(open) ? open : ctx.attr("saved_for_forward");
  }
  nb::object all = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(f.saved.size())));
  for (size_t i = 0; i < f.saved.size(); i++) {
    Tensor t;
    if (f.saved[i]) t = f.saved[i].unpack(f, f.saved_nr[i]);
    if (t && Run::of(f) && f.saved_nr[i] == FunctionNode::intermediate && grad_enabled()) t = with_refused_history(t, f, i);
    PyTuple_SetItem(all.ptr(), static_cast<Py_ssize_t>(i), none_or(t).release().ptr());
  }
  if (f.clears_on_access) drop_saved(f);
  return all;
}

nb::object needs_input_grad(NodeRef ref) {
  FunctionNode& f = function_node(ref);
  if (f.told) return nb::tuple(nb::cast(*f.told));
  const Vector<bool>* now = Run::of(f);
  nb::object all = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(f.inputs.size())));
  for (size_t i = 0; i < f.inputs.size(); i++) {
    const bool wanted = f.inputs[i].wants && (!now || (i < now->size() && (*now)[i]));
    PyTuple_SetItem(all.ptr(), static_cast<Py_ssize_t>(i), nb::bool_(wanted).release().ptr());
  }
  return all;
}

void set_needs_input_grad(NodeRef ref, nb::object given) {
  FunctionNode& f = function_node(ref);
  Vector<bool> told;
  for (nb::handle h : given) told.push_back(nb::cast<bool>(nb::bool_(h)));
  f.told = std::move(told);
}

}  // namespace

std::string FunctionNode::name() const { return nb::cast<std::string>(nb::handle(python()).type().attr("__name__")); }

void FunctionNode::visit_refs(RefVisitor& v) const {
  Node::visit_refs(v);
  for (const Saved& s : saved) s.visit_refs(v);
}
void FunctionNode::list_saved(std::vector<SavedEntry>& out) const {
  for (uint32_t i = 0; i < saved.size(); i++)
    if (saved[i]) out.push_back({&saved[i], false, i});
}
void FunctionNode::clear_refs() {
  for (Saved& s : saved) s = Saved();
  Node::clear_refs();
}
void FunctionNode::release_saved() { drop_saved(*this); }

nb::object FunctionNode::call_backward(Vector<Tensor>& cotangents) {
  nb::handle ctx(python());
  if (boxed) {
    nb::list all;
    for (const Tensor& g : cotangents) all.append(none_or(g));
    return ctx.attr("apply_boxed")(all);
  }
  nb::object all = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(cotangents.size()) + 1));
  PyTuple_SetItem(all.ptr(), 0, nb::borrow(ctx).release().ptr());
  for (size_t k = 0; k < cotangents.size(); k++) PyTuple_SetItem(all.ptr(), static_cast<Py_ssize_t>(k) + 1, none_or(cotangents[k]).release().ptr());
  nb::object rule = ctx.attr("_forward_cls").attr("_rule");
  PyObject* r = PyObject_Call(rule.ptr(), all.ptr(), nullptr);
  if (!r) throw nb::python_error();
  return nb::steal(r);
}

// A leaf that asks for its gradients' own type, or for one that it casts to itself.
static bool accepts_any_type(const Node* n) {
  const auto* leaf = dynamic_cast<const AccumulateGrad*>(n);
  const Meta* m = leaf ? meta(leaf->variable) : nullptr;
  return m && m->grad_type != Meta::GradType::same;
}

// The gradient of argument i, in the argument's shape and type.
Tensor FunctionNode::checked(size_t i, nb::handle h) const {
  if (h.is_none()) return {};
  if (!is_tensor(h)) fail(ErrorKind::type, "function ", name(), " returned a gradient of type ", kind_of(h), " for input ", i, ": expected Variable or None (got ", kind_of(h), ")");
  const Slot& s = inputs[i];
  if (!s.is_tensor) fail(ErrorKind::runtime, "function ", name(), " returned a gradient different than None at position ", i + 1, ", but the corresponding forward input was not a Variable");
  Tensor g = tensor(h);
  if (!(g.sizes() == s.meta.sizes)) {
    if (!sums_to(g.sizes(), s.meta.sizes)) fail(ErrorKind::runtime, "Function ", name(), " returned an invalid gradient at index ", i, " - got ", g.sizes(), " but expected shape compatible with ", s.meta.sizes);
    g = unbroadcast(g, s.meta.sizes);
  }
  expect(!is_complex(g.dtype()) || is_complex(s.meta.dtype), ErrorKind::runtime, "Function ", name(), " returned an invalid gradient at index ", i, " - got a complex one (", g.dtype(), ") for a real input (", s.meta.dtype, ")");
  return g.dtype() == s.meta.dtype || accepts_any_type(edges[i].node.get()) ? g : to_dtype(g, s.meta.dtype);
}

void FunctionNode::apply(Vector<Tensor>& cotangents, Vector<Tensor>& grads, const Vector<bool>& wanted) {
  nb::gil_scoped_acquire gil;
  if (materialize)
    for (size_t k = 0; k < std::min(cotangents.size(), results.size()); k++)
      if (!cotangents[k] && results[k].is_tensor) cotangents[k] = zeros(results[k].meta.sizes, results[k].meta.dtype, results[k].meta.device);
  const Run run(*this, wanted);
  nb::object found = call_backward(cotangents);
  const bool several = PyTuple_Check(found.ptr()) || PyList_Check(found.ptr());
  nb::tuple all = several ? nb::tuple(found) : nb::make_tuple(found);
  size_t n = all.size();
  while (n > inputs.size() && all[n - 1].is_none()) n--;
  if (n != inputs.size()) fail(ErrorKind::runtime, "function ", name(), " returned an incorrect number of gradients (expected ", inputs.size(), ", got ", n, ")");
  for (size_t i = 0; i < n; i++) {
    Tensor g = checked(i, all[i]);
    if (i < grads.size()) grads[i] = std::move(g);
  }
}

void bind_functions(nb::module_& m) {
  m.def("any_lifted", [](nb::tuple args) {
    for (nb::handle h : args)
      if (is_tensor(h) && adjoint::python::impl_of(h.ptr())->keys & key_lifted) return true;
    return false;
  });
  m.def("any_not_plain", [](nb::tuple args) {  // what other code may read as memory of the host
    for (nb::handle h : args) {
      if (!is_tensor(h)) return true;
      const auto& t = *adjoint::python::impl_of(h.ptr());
      if (t.keys & (key_lifted | key_sparse) || t.device != Device{}) return true;
    }
    return false;
  });
  m.def("begin_write", [](nb::handle h) {  // whether other code may write to the memory as it lies, which then counts as written
    if (!is_tensor(h)) return false;
    auto& t = *adjoint::python::impl_of(h.ptr());
    if (t.keys & (key_tape | key_lifted | key_sparse) || t.device != Device{} || !(t.flags & flag_contiguous)) return false;
    bump_version(t);
    return true;
  });
  m.def("open_context", open_context);
  m.def("close_context", close_context, nb::arg("ctx"), nb::arg("args"), nb::arg("result").none(), nb::arg("records"));
  m.def("saved_tensors", saved_tensors);
  m.def("release_saved", [](NodeRef ctx) { drop_saved(function_node(ctx)); });
  m.def("needs_input_grad", needs_input_grad);
  m.def("set_needs_input_grad", set_needs_input_grad);
}

}  // namespace adjoint::engine::python
