// Somebody beside the door of a thread: sees each op on plain memory with its results, and may give results that it kept, so that the op does not run.
#include <adjoint/core/observer.h>
#include <adjoint/engine/autograd.h>

#include "fields.h"

namespace adjoint::engine::python {

namespace {

// before(name, ranks) gives a list of results, or None for the op to run; after(name, ranks, in place, operands, attributes, results) is told of the rest.
class Supply final : public Observer {
 public:
  Supply(nb::object before, nb::object after) : before_(before), after_(after) {}

  void begin(const Span&) noexcept override {}
  void fail(const Span&) noexcept override {}

  bool supply(const Span& s, Tensor* y) override {
    if (!plain(s) || s.kind != Span::Kind::op) return false;
    nb::gil_scoped_acquire gil;
    const nb::object kept = before_(s.op->name, ranks(s));
    if (kept.is_none()) return false;
    const size_t n = nb::len(kept);
    expect(n == static_cast<size_t>(s.op->outputs), s.op->name, ": ", s.op->outputs, " results must be supplied, got ", n);
    for (size_t k = 0; k < n; k++) y[k] = nb::cast<Tensor>(kept[k]);
    record_results(*s.op, s.x, *s.attrs, {y, n});
    return true;
  }

  void end(const Span& s, Tensors y) override {
    if (!plain(s)) return;
    nb::gil_scoped_acquire gil;
    nb::list operands, results;
    for (const Tensor& t : s.x) operands.append(t->flags & flag_wrapped && t->storage ? nb::cast(item(t)) : nb::cast(t));
    for (const Tensor& t : y) results.append(nb::cast(detach(t)));
    after_(s.op->name, ranks(s), s.kind == Span::Kind::in_place, operands, attributes(*s.op, *s.attrs), results);
  }

 private:
  // Levels call again with the values below them.
  static bool plain(const Span& s) {
    if (s.kind != Span::Kind::op && s.kind != Span::Kind::in_place) return false;
    for (const Tensor& t : s.x)
      if (!t || t->keys & key_lifted) return false;
    return true;
  }
  static nb::object ranks(const Span& s) { return nb::make_tuple(s.x.size() > 0 ? s.x[0].dim() : -1, s.x.size() > 1 ? s.x[1].dim() : -1); }

  Callable before_, after_;
};

}  // namespace

void bind_supply(nb::module_& m) {
  nb::class_<Supply>(m, "Supply")
      .def(nb::init<nb::object, nb::object>(), nb::arg("before"), nb::arg("after"))
      .def("start", [](nb::handle_t<Supply> self) {
        add_observer(*nb::inst_ptr<Supply>(self));
        self.inc_ref();
      })
      .def("stop", [](nb::handle_t<Supply> self) {
        if (remove_observer(*nb::inst_ptr<Supply>(self))) self.dec_ref();
      });
}

}  // namespace adjoint::engine::python
