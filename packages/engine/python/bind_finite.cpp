// The watch for nan and inf: what Python says of a suspect is an exception, raised if the harm is done.
#include <adjoint/engine/finite.h>

#include "callable.h"

namespace adjoint::engine::python {

namespace {

class PythonFiniteWatch final : public FiniteWatch {
 public:
  PythonFiniteWatch(nb::object describe, bool inf) : FiniteWatch(inf), describe_(describe) {}
  ~PythonFiniteWatch() override { remove_observer(*this); }
  void start() {
    remove_observer(*this);   // twice is once
    add_observer(*this);
  }
  void stop() {
    remove_observer(*this);
    forget();
  }

 private:
  bool suspect(const Span& s, const Finding& found) override {
    nb::gil_scoped_acquire gil;
    const Node* n = static_cast<const Node*>(s.node);
    const bool elementwise = s.op && !s.op->shape;
    const Op* of = pushed(s.op);
    nb::object e = describe_(n ? n->name() : std::string(s.op->name), elementwise, s.kind == Span::Kind::in_place, list(s.x), found.where, found.what == Bad::nan ? "nan" : "inf", NodeRef{n ? const_cast<Node*>(n) : running_node()}, of ? nb::cast(of->name) : nb::none());
    if (e.is_none()) return false;
    found_ = std::move(e);
    return true;
  }
  bool suspects() const noexcept override { return found_.is_valid(); }
  void forget() noexcept override {
    if (!found_.is_valid()) return;
    nb::gil_scoped_acquire gil;
    found_.reset();
  }
  [[noreturn]] void accuse() override {
    nb::gil_scoped_acquire gil;
    const nb::object e = std::move(found_);
    found_ = {};
    PyErr_SetObject(e.type().ptr(), e.ptr());
    throw nb::python_error();
  }
  static nb::list list(Tensors all) {
    nb::list l;
    for (const Tensor& t : all) l.append(t ? nb::cast(t) : nb::none());
    return l;
  }

  nb::object describe_, found_;
};

}  // namespace

void bind_finite(nb::module_& m) {
  nb::class_<PythonFiniteWatch>(m, "FiniteWatch", "Calls `describe(name, elementwise, in_place, operands, result, what, node, tangent_of)` for results that are not finite.")
      .def(nb::init<nb::object, bool>(), nb::arg("describe"), nb::arg("inf"))
      .def("start", &PythonFiniteWatch::start)
      .def("stop", &PythonFiniteWatch::stop);
  m.def("plain", [](const Tensor& t) { return alias_of(bottom(t)); }, nb::arg("t"), "The memory of a tensor below all levels, without history.");
  m.def("is_number", [](const Tensor& t) { return bool(t->flags & flag_wrapped); }, nb::arg("t"), "Was it made from a Python number?");
}

}  // namespace adjoint::engine::python
