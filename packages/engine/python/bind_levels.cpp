// Levels as Python's transforms use them: a level is named by an integer handle while it lasts.
#include "callable.h"

namespace adjoint::engine::python {

namespace {

Slot* slot(uintptr_t handle) { return reinterpret_cast<Slot*>(handle); }

// The number of the innermost level that the user entered; -1 without one.
int64_t dual_level() {
  const auto levels = level_stack();
  return std::count_if(levels.begin(), levels.end(), [](const Slot* s) { return s->kind == LevelKind::dual && !s->strict; }) - 1;
}

constexpr const char* random_names[] = {"same", "different", "error"};
Randomness randomness(const std::string& name) {
  const auto found = std::find(std::begin(random_names), std::end(random_names), name);
  expect(found != std::end(random_names), "randomness: expected 'error', 'different' or 'same', got '", name, "'");
  return static_cast<Randomness>(found - random_names);
}

// What left a batch level: the batch dimension at out_dim, or the value repeated if it never depended on the batch.
Tensor unbatch(const Tensor& y, uintptr_t handle, int64_t out_dim) {
  Slot* s = slot(handle);
  if (at(fresh(y), s)) {
    const Tensor f = fresh(y);
    return movedim(face(f)->value, face(f)->batch_dim, out_dim);
  }
  Dims sizes = y.sizes();
  sizes.insert(0, s->batch);
  return movedim(expand(y, sizes), 0, out_dim);
}

// What levels a tensor belongs to.
void bind_layers(nb::module_& m) {
  m.def("innermost_slot", [](nb::list tensors) {
    Slot* best = nullptr;
    for (nb::handle h : tensors) {
      const Tensor t = fresh(nb::cast<Tensor>(h));
      if (t->keys & key_lifted && (!best || level(t) > best->serial)) best = face(t)->slot;
    }
    return reinterpret_cast<uintptr_t>(best);
  });
  m.def("batches_of", [](const Tensor& x) {
    nb::list slots;
    for (Tensor t = fresh(x); t->keys & key_lifted; t = fresh(face(t)->value))
      if (face(t)->slot->kind == LevelKind::batch) slots.append(reinterpret_cast<uintptr_t>(face(t)->slot));
    return slots;
  }, "The levels of vmap that the tensor belongs to, those inside of other transforms too.");
  m.def("slot_info", [](uintptr_t handle) {
    const Slot* s = slot(handle);
    return nb::make_tuple(s->kind == LevelKind::tape ? "tape" : s->kind == LevelKind::dual ? "dual" : "batch", s->strict, s->batch, random_names[static_cast<int>(s->randomness)]);
  });
  m.def("records_at", [](nb::list tensors) {
    uint32_t m = 0;
    for (nb::handle h : tensors)
      if (adjoint::python::is_tensor(h.ptr())) m = std::max(m, level(nb::cast<Tensor>(h)));
    return recording(m);
  });
  m.def("fresh", [](const Tensor& x) { return fresh(x); }, "The tensor without the faces of levels that have ended.");
  m.def("layer", [](const Tensor& x) -> nb::object {
    const Tensor t = fresh(x);
    if (!(t->keys & key_lifted)) return nb::none();
    const auto levels = level_stack();
    const auto place = std::find(levels.begin(), levels.end(), face(t)->slot) - levels.begin() + 1;
    face(t)->owns_tangent = false;
    return nb::make_tuple(face(t)->slot->strict ? place : 0, face(t)->batch_dim, face(t)->value, none_or(face(t)->tangent));
  }, "The level of a transform that the tensor belongs to, counted from 1 (0: of a dual tensor), its batch dimension or -1, its value and tangent; None for any other.");
}

// The dimension of x that holds the lanes. A mode or a Function's `vmap` can answer with any shape.
int lanes_at(const Tensor& x, int64_t dim, int64_t lanes) {
  expect(-x.dim() <= dim && dim < x.dim(), ErrorKind::index, "vmap: dimension ", dim, " of a tensor of shape ", x.sizes(), " should hold the lanes, and there is none");
  if (dim < 0) dim += x.dim();
  expect(x.sizes()[static_cast<int>(dim)] == lanes, "vmap: dimension ", dim, " of a tensor of shape ", x.sizes(), " should hold ", lanes, " lanes");
  return static_cast<int>(dim);
}

}  // namespace

void bind_levels(nb::module_& m) {
  bind_layers(m);
  m.def("enter_level", [](const std::string& kind, int64_t batch, const std::string& random, bool strict) {
    return reinterpret_cast<uintptr_t>(enter_level(kind == "tape" ? LevelKind::tape : kind == "dual" ? LevelKind::dual : LevelKind::batch, strict, batch, randomness(random)));
  }, nb::arg("kind"), nb::arg("batch") = 0, nb::arg("randomness") = "same", nb::arg("strict") = true);
  m.def("set_randomness", [](uintptr_t s, const std::string& random) { slot(s)->randomness = randomness(random); });
  m.def("leave_level", [] {
    expect(!level_stack().empty(), "leave_level: no level is open in this thread");
    leave_level();
  });
  m.def("lift_batch", [](const Tensor& x, uintptr_t s, int64_t dim) { return lift(slot(s), x, {}, lanes_at(x, dim, slot(s)->batch)); });
  m.def("unbatch", unbatch);
  m.def("is_batched", [](const Tensor& x, uintptr_t s) { return at(fresh(x), slot(s)); });
  m.def("batch_dim", [](const Tensor& x, uintptr_t s) { Tensor f = fresh(x); return at(f, slot(s)) ? face(f)->batch_dim : -1; });
  m.def("lift_dual", [](const Tensor& x, const Tensor& t, uintptr_t s) { return lift(slot(s), alias(x), t); });
  m.def("lift_tape", [](const Tensor& x, uintptr_t s) {
    Tensor leaf = lift(slot(s), alias(x));
    set_requires_grad(leaf, true);
    return leaf;
  });
  m.def("value_at", [](const Tensor& y, uintptr_t s) { return value_at(fresh(y), slot(s)); });
  m.def("tangent_at", [](const Tensor& y, uintptr_t s) { return tangent_at(fresh(y), slot(s)); });
  m.def("has_tape", [](const Tensor& y, uintptr_t s) { Tensor f = fresh(y); return at(f, slot(s)) && f->keys & key_tape; });
  m.def("grad_of_level", [](nb::list ys, nb::list xs, nb::list vs, uintptr_t s) {
    Vector<Tensor> outputs, inputs, cotangents;
    for (nb::handle h : ys) outputs.push_back(nb::cast<Tensor>(h));
    for (nb::handle h : xs) inputs.push_back(nb::cast<Tensor>(h));
    for (nb::handle h : vs) cotangents.push_back(nb::cast<Tensor>(h));
    nb::list l;
    for (const Tensor& g : grad_of_level(outputs, inputs, cotangents, slot(s))) l.append(g ? nb::cast(s ? value_at(g, slot(s)) : fresh(g)) : nb::none());
    return l;
  });
  m.def("lift", [](const Tensor& x, uintptr_t s) { return lift(slot(s), x); });
  m.def("fresh", [](const Tensor& x) { return fresh(x); });
  m.def("level_depth", [] { return level_stack().size(); });
  m.def("enter_dual_level", enter_dual_level);
  m.def("dual_level", dual_level);
  m.def("exit_dual_level", exit_dual_level);
  m.def("make_dual", [](const Tensor& x, const Tensor& t, int64_t level) { return make_dual(x, t, level); });
  m.def("unpack_dual", [](const Tensor& x, int64_t level) { Dual d = unpack_dual(x, level); return nb::make_tuple(d.primal, d.tangent ? nb::cast(d.tangent) : nb::none()); });
  m.def("is_lifted", [](const Tensor& x) { return bool(fresh(x)->keys & key_lifted); });
  m.def("on_level", [](const Tensor& x) {
    const Tensor t = fresh(x);
    return t->keys & key_lifted && level(t) > 0;
  }, "Whether the tensor belongs to a level; one of a class with __torch_dispatch__ that has no memory stands below them all.");
}

}  // namespace adjoint::engine::python
